"""The published simulated study beside ours: ``python -m benchmarks.simulated``."""
