"""The page Anonymise: what does k cost here?"""
