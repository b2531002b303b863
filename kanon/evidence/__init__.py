"""What an attacker gains from a release: figures, their baselines and controls."""
