"""Generated sensitive columns: values that depend on no other column."""

from __future__ import annotations

from typing import Literal

import numpy as np

__all__ = ["Distribution", "chances", "simulated"]

Distribution = Literal["uniform", "geometric"]


def chances(values: int, distribution: Distribution) -> np.ndarray:
    """P(i) of each value: all the same, or proportional to (1 - p)^i with p = 1 - 0.01^(1/v).

    Geometric, the last of v values is about a hundred times rarer than the first. Mauger, Le Mahec,
    Dequen 2023, section 4.3.3, name the distributions; the parameter is ours.

    >>> chances(4, "uniform").tolist()
    [0.25, 0.25, 0.25, 0.25]
    >>> found = chances(500, "geometric")
    >>> round(float(found[0] / found[-1]), 1)
    99.1
    """
    base = 1.0 if distribution == "uniform" else 0.01 ** (1.0 / values)
    weights = base ** np.arange(values)
    return weights / weights.sum()


def simulated(records: int, values: int, distribution: Distribution, seed: int = 1) -> list[str]:
    """Draw the cells of a sensitive column; the same seed gives the same cells.

    >>> simulated(3, 500, "uniform") == simulated(3, 500, "uniform")
    True
    """
    drawn = np.random.default_rng(seed).choice(values, records, p=chances(values, distribution))
    return [f"value {place:03d}" for place in drawn]
