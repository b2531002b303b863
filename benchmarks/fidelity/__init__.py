"""The published alteration tables beside ours: ``python -m benchmarks.fidelity`` says how near."""
