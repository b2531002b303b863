"""The published areas of the strategies beside ours: ``python -m benchmarks.strategies``."""
