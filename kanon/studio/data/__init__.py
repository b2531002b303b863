"""The Data page: which columns describe a person?"""
