"""The published areas under the curves of the strategies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["FIGURES", "INTERVAL", "PUBLISHED_AREAS"]

FIGURES = ("alteration", "l", "t")
"""What each row holds: alteration, l and t, in percent; only of l more is better."""

INTERVAL = (3, 15_000)
"""The k between which the areas are taken."""

PUBLISHED_AREAS: Mapping[str, Mapping[str, np.ndarray]] = {
    "age": {
        "s1": np.array([84.51, 82.16, 17.88]),
        "s2": np.array([79.97, 81.99, 20.60]),
        "s3": np.array([90.87, 95.71, 5.18]),
        "s4": np.array([85.93, 88.60, 13.59]),
        "s5": np.array([99.60, 98.56, 1.36]),
        "s6": np.array([92.42, 95.17, 6.22]),
        "s7": np.array([83.90, 90.61, 11.47]),
    },
    "marital-status": {
        "s1": np.array([78.39, 73.78, 18.24]),
        "s2": np.array([83.96, 78.25, 17.12]),
        "s3": np.array([93.26, 96.01, 6.37]),
        "s4": np.array([78.96, 82.25, 13.24]),
        "s5": np.array([99.83, 99.16, 0.43]),
        "s6": np.array([92.93, 96.40, 3.80]),
        "s7": np.array([90.13, 95.98, 2.45]),
    },
}
"""Source: Mauger, Le Mahec, Dequen 2023, Table 5; guided by Total."""
