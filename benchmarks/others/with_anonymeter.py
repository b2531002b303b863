"""Run anonymeter; imported by a Python that has it, not by kanon's."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["estimate_rates"]


def estimate_rates(pairs: Sequence[Sequence[int]]) -> list[list[float]]:
    """The 95 % intervals of so many successes in so many attacks."""
    from anonymeter.stats.confidence import success_rate

    rates = [success_rate(total, successes, 0.95) for total, successes in pairs]
    return [[rate.value - rate.error, rate.value + rate.error] for rate in rates]
