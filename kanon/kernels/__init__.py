"""Compiled loops over arrays, shared by algorithms and measures; they know nothing of kanon."""
