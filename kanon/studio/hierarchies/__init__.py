"""The Hierarchies page: how may the values of a column be blurred?"""
