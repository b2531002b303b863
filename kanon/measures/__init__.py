"""Measures of a release, one per file: what was lost, in numbers.

A measure is a module with a ``CARD`` and a function ``value(recoding)``; some take a metric too.
All work on classes alone.
"""
