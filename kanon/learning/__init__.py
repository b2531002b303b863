"""Releases as numbers for classifiers, and what classifiers learn from them."""
