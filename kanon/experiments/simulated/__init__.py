"""Simulated sensitive columns, and what the strategies of greedy merging make of them."""
