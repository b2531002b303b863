"""The page Learn: algorithms step by step, attacks and exercises for a class."""
