"""Privacy models, one per file: the level of a release, and whether it meets the model."""
