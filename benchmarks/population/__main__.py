"""Simulate populations, estimate, and write docs/figures/population-uniqueness.md."""

from __future__ import annotations

from benchmarks.population.measured import measure
from benchmarks.population.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(measure()), "utf-8")
    print(f"Written: {PAGE}")
