"""Compiled inner loops, each with a slow and obvious reference in the tests."""
