"""How far estimates of population uniqueness are from the truth of simulated populations."""
