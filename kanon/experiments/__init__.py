"""Many runs of one table: over k, metrics, strategies, algorithms, and on simulated columns."""
