"""The page Data: which columns describe a person?"""
