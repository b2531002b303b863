"""Algorithms, one per file, found by their ``CARD``: a task in, a recoding out."""
