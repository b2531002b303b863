"""The page Hierarchies: how may the values of a column be blurred?"""
