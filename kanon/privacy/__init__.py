"""Privacy models, one per file: how far a release meets them, and whether it does."""
