"""Engines: where rows live. One counts the classes of a table and joins a recoding back to it."""
