"""The published areas under the curves of the strategies, and what the text says of single k."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["FIGURES", "INTERVAL", "PUBLISHED_AREAS", "PUBLISHED_BEST_L", "TABLES"]

FIGURES = ("alteration", "l", "t")
"""What each row holds: alteration, l and t, in percent; only of l more is better."""

INTERVAL = (3, 15_000)
"""The k between which the areas are taken."""

TABLES = {"nllm": "Table 4", "total": "Table 5"}
"""Where the areas stand, by the metric that guides and that counts the alteration."""

PUBLISHED_AREAS: Mapping[str, Mapping[str, Mapping[str, np.ndarray]]] = {
    "nllm": {
        "age": {
            "s1": np.array([71.19, 83.35, 17.63]),
            "s2": np.array([70.07, 82.22, 20.13]),
            "s3": np.array([88.02, 94.90, 7.15]),
            "s4": np.array([69.71, 86.65, 17.44]),
            "s5": np.array([99.60, 98.56, 1.36]),
            "s6": np.array([89.77, 96.29, 4.65]),
            "s7": np.array([79.46, 90.41, 12.14]),
        },
        "marital-status": {
            "s1": np.array([76.58, 73.97, 20.69]),
            "s2": np.array([73.37, 72.64, 24.99]),
            "s3": np.array([90.43, 89.46, 9.40]),
            "s4": np.array([72.92, 66.77, 24.48]),
            "s5": np.array([99.28, 97.85, 1.20]),
            "s6": np.array([92.45, 93.85, 3.70]),
            "s7": np.array([83.35, 94.01, 4.95]),
        },
    },
    "total": {
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
    },
}
"""By the metric that guides, the sensitive column and the strategy. Source: Mauger, Le Mahec,
Dequen 2023, Tables 4 and 5."""

PUBLISHED_BEST_L = {"age": 50.03, "marital-status": 3.53}
"""The entropy l of the table as one class. Source: the same, section 4.3.2."""
