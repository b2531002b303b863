"""All algorithms side by side: ``python -m benchmarks.algorithms``."""
