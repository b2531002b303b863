"""The Anonymise page: what does k cost here?"""
