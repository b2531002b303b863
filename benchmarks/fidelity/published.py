"""The published figures, and how near to them we aim."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kanon.metrics import PUBLISHED

__all__ = [
    "AIMS",
    "AREAS_AIM",
    "AVERAGES",
    "CRITERIA",
    "FIGURES",
    "INTERVAL",
    "ONE_CLASS",
    "PUBLISHED_AREAS",
    "PUBLISHED_RANKS",
    "PUBLISHED_TABLES",
    "REQUESTED",
    "to_whole",
]

FIGURES = {2: "fig. 6", 100: "fig. 7", 1500: "fig. 8"}
"""Per k the figure of Mauger, Le Mahec, Dequen 2020 (PPAI)."""

_PRINTED = {
    2: """
2 (1) 2 (1) 3 (5) 5 (7) 2 (1) 4 (6) 2 (1)
4 (3) 3 (1) 4 (3) 5 (6) 3 (1) 5 (6) 4 (3)
5 (1) 5 (1) 5 (1) 7 (7) 5 (1) 6 (5) 6 (5)
8 (6) 5 (2) 5 (2) 3 (1) 6 (5) 5 (2) 8 (6)
3 (2) 3 (2) 3 (2) 5 (7) 2 (1) 4 (6) 3 (2)
4 (3) 4 (3) 5 (7) 3 (1) 4 (3) 3 (1) 4 (3)
2 (1) 3 (4) 4 (5) 5 (7) 2 (1) 4 (5) 2 (1)
4 (2) 4 (2) 4 (2) 5 (7) 3 (1) 4 (2) 4 (2)
""",
    100: """
24 (1) 34 (5) 30 (4) 56 (7) 27 (2) 47 (6) 28 (3)
35 (2) 38 (4) 38 (4) 52 (7) 34 (1) 50 (6) 37 (3)
35 (1) 42 (5) 39 (3) 58 (7) 37 (2) 54 (6) 39 (3)
54 (6) 48 (3) 52 (4) 30 (1) 53 (5) 43 (2) 57 (1)
28 (2) 33 (5) 32 (4) 57 (7) 27 (1) 53 (6) 30 (3)
39 (3) 45 (7) 43 (4) 32 (7) 43 (4) 26 (1) 43 (4)
28 (1) 35 (5) 33 (4) 56 (7) 28 (1) 47 (6) 30 (3)
35 (1) 39 (5) 38 (3) 49 (7) 36 (2) 46 (6) 38 (3)
""",
    1500: """
72 (5) 68 (4) 61 (2) 86 (7) 58 (1) 73 (2) 65 (3)
67 (2) 82 (7) 67 (2) 81 (6) 63 (1) 78 (5) 70 (4)
67 (2) 72 (4) 73 (5) 86 (7) 63 (1) 79 (2) 70 (3)
83 (4) 86 (7) 80 (3) 59 (1) 83 (4) 65 (2) 85 (6)
60 (3) 65 (5) 59 (1) 85 (7) 59 (1) 80 (2) 63 (4)
79 (4) 85 (7) 75 (3) 58 (2) 80 (5) 52 (1) 82 (2)
63 (3) 69 (4) 62 (2) 85 (7) 59 (1) 75 (5) 75 (5)
70 (3) 75 (6) 68 (2) 77 (7) 66 (1) 72 (4) 73 (5)
""",
}
"""As printed: a row per metric measured and one of averages, a column per metric that guided, both
in the order of :data:`kanon.metrics.PUBLISHED`; percent, and the rank in its row."""


def _read(text: str) -> np.ndarray:
    """Percentages and ranks. Shape (2, 8, 7).

    >>> _read("2 (1) 3 (2)" * 28).shape
    (2, 8, 7)
    """
    pairs = re.findall(r"(\d+) \((\d)\)", text)
    return np.array(pairs, dtype=int).reshape(8, 7, 2).transpose(2, 0, 1)


PUBLISHED_TABLES: Mapping[int, np.ndarray] = {k: _read(text)[0][:7] for k, text in _PRINTED.items()}
"""Per k the alteration in percent, shape (7, 7): measured by guiding."""

AVERAGES: Mapping[int, np.ndarray] = {k: _read(text)[0][7] for k, text in _PRINTED.items()}
"""Per k the last row: the mean over the seven metrics of each that guided."""

PUBLISHED_RANKS: Mapping[int, np.ndarray] = {k: _read(text)[1] for k, text in _PRINTED.items()}
"""Per k the printed ranks, those of the averages last. Shape (8, 7)."""

REQUESTED = (2, 50, 100, 500, 750, 1000, 1500, 4000, 5000, 7500, 10000, 15000)
"""The requested k that the text of the same paper names."""

ONE_CLASS: Mapping[tuple[str, int], int] = {
    ("llm", 7500): 12_307,
    ("distortion", 10_000): 30_162,
    ("total", 10_000): 30_162,
    **{(name, 15_000): 30_162 for name in PUBLISHED},
}
"""What that text says of its fig. 9: the least class by metric and requested k."""

CURVES: Mapping[str, str] = {
    "mean_alteration": "fig. 10, mean alteration",
    "generalised_percent": "fig. 11, modified values",
    "root_percent": "fig. 12, deleted values",
    "deleted_among_modified_percent": "fig. 13, deleted among modified",
}
"""The curves of [M20] that are printed without numbers, by their names in ``CURVES.csv``."""


@dataclass(frozen=True)
class Order:
    """What the text says of a curve: some metrics stand apart from all others.

    Attributes
    ----------
    curve
        A key of :data:`CURVES`.
    low, high
        The requested k between which it is said, both ends too.
    metrics
        The metrics that stand apart.
    above
        Whether they are above the others; below, if not.
    """

    curve: str
    low: int
    high: int
    metrics: tuple[str, ...]
    above: bool = False


SAID: tuple[Order, ...] = (
    Order("mean_alteration", 2, 750, ("distortion", "nllm")),
    Order("mean_alteration", 2, 100, ("llm", "wllm"), above=True),
    Order("mean_alteration", 500, 750, ("ncp", "llm", "wllm"), above=True),
    Order("mean_alteration", 1000, 7500, ("nllm",)),
    Order("generalised_percent", 2, 750, ("distortion", "nllm")),
    Order("generalised_percent", 2, 750, ("llm", "wllm"), above=True),
    Order("generalised_percent", 1000, 7500, ("nllm",)),
    Order("root_percent", 2, 7500, ("llm", "wllm"), above=True),
    Order("root_percent", 2, 7500, ("nllm", "wnllm")),
    Order("deleted_among_modified_percent", 2, 50, ("ncp", "nllm", "total")),
    Order("deleted_among_modified_percent", 100, 750, ("distortion",)),
    Order("deleted_among_modified_percent", 1000, 7500, ("llm", "wllm")),
)
"""What the text of [M20] says of its figs. 10 to 13. Where it names no end, that is 7500: above it
the text calls the curves chaotic."""

CRITERIA: Mapping[str, str] = {
    "mean_alteration": "mean alteration",
    "generalised_percent": "generalised",
    "root_percent": "generalised at the root",
}
"""The criteria of Table 3, by their names in ``CURVES.csv``."""

INTERVAL = (3, 2000)
"""The k between which the areas are taken."""

PUBLISHED_AREAS = np.array(
    [
        [57.3, 64.65, 60.06, 68.12, 56.07, 66.6, 59.29],
        [63.66, 66.28, 63.59, 84.43, 59.63, 80.06, 63.24],
        [48.35, 59.64, 54.96, 66.93, 49.74, 68.03, 53.1],
    ]
)
"""A row per criterion, a column per metric that guided, in percent.

Source: Mauger, Le Mahec, Dequen 2023, Table 3, Adult."""

AIMS: Mapping[int, Mapping[str, float]] = {
    2: {"mean": 0.45, "largest": 1},
    100: {"mean": 3.0, "sd": 1.4, "largest": 7},
    1500: {"mean": 5.7},
}
"""For our hierarchies and gaa: per k the most that the rounded cells may be off, in percentage
points. ``sd`` is the standard deviation of the 49 differences."""

AREAS_AIM = 3.5
"""The same for the mean over the cells of Table 3."""


def to_whole(percent: np.ndarray) -> np.ndarray:
    """Whole percent, halves upwards.

    >>> to_whole(np.array([1.49, 1.5, 2.5])).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.floor(percent + 0.5)
