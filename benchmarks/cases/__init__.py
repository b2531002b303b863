"""The cases: one file per family, found by this folder."""
