"""The published ranks and mean areas of the strategies on simulated columns of Adult.

The scan that was read has lost some cells. What cannot be read is absent; a column that lacks one
rank alone gets the one that its other six leave.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["FIGURES", "LEGIBLE", "MEANS", "completed", "legible", "ranks"]

FIGURES = {"nllm": "Figure 14a", "total": "Figure 15a"}
"""Where they stand, by the metric that guides."""

# Not legible with NLLM: the ranks of S2 in alteration and l. With Total: those of S6, and of S7 in
# t; where S1 and S4 both seem to be second in alteration, one of them is third. Of S5 not every
# cell can be read either; the text has it last in alteration, first in l and t on every column.
LEGIBLE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "nllm": {
        "alteration": (
            "1111111 1111112 2111111",
            "....... ....... .......",
            "5555565 6666666 6566555",
            "2332236 3222444 3322224",
            "7777777 7777777 7777777",
            "4466654 5555555 5655666",
            "6644442 4443223 4443443",
        ),
        "l_percent": (
            "6667476 6645346 6777546",
            "....... ....... .......",
            "422.324 4222.23 32226.4",
            "5545542 7776434 7555432",
            "1111111 1111111 1111111",
            "3373233 2363677 2333.73",
            "2434667 3434552 4444355",
        ),
        "t_percent": (
            "6766474 7674776 7777666",
            "7657656 6566555 6655777",
            ".222.25 .322222 ...2.24",
            "5575742 5757437 5566433",
            "1111111 1111111 1111111",
            "4343233 2233.64 2223542",
            "2434567 4445643 4444255",
        ),
    },
    "total": {
        "alteration": (
            "32..213 2231.13 .2222.2",
            "2311121 3323422 1331111",
            "6555434 6666644 4565534",
            "11..666 1114.56 .114466",
            "7777777 7777777 7777777",
            "....... ....... .......",
            "4644342 4442161 6643345",
        ),
        "l_percent": (
            "7757576 5556366 6656655",
            "5676767 6643435 7567766",
            "4422233 3422244 4322243",
            "6565422 7764552 5775422",
            "1111111 1111111 1111111",
            "....... ....... .......",
            "2334654 437.723 224453.",
        ),
        "t_percent": (
            "5767465 6676473 6666465",
            "7676777 5567655 7557777",
            "2423.33 3333244 443.353",
            "65556.2 775552. 5774522",
            "1111111 1111111 1111111",
            "....... ....... .......",
            "....... ....... .......",
        ),
    },
}
"""By the metric that guides and the criterion: a row per strategy, S1 first; a rank per column, in
the order of the study; a point where none can be read. Source: Mauger, Le Mahec, Dequen 2023,
Figures 14a and 15a."""

_ABSENT = np.nan
MEANS: Mapping[str, np.ndarray] = {
    "nllm": np.array([
        [51.974, 93.829, 9.628],
        [55.989, 93.775, _ABSENT],
        [77.286, 94.860, 8.031],
        [56.619, 94.189, 9.191],
        [99.938, 99.528, 0.455],
        [75.462, 94.186, 8.290],
        [63.345, 94.168, 8.887],
    ]),
    "total": np.array([
        [71.088, 94.089, 9.143],
        [71.028, 94.004, 9.356],
        [83.542, 95.011, 7.961],
        [70.478, 95.095, 7.283],
        [99.939, _ABSENT, 0.455],
        [84.474, 94.390, _ABSENT],
        [79.973, 94.421, _ABSENT],
    ]),
}  # fmt: skip
"""The mean areas, %: a row per strategy, S1 first; alteration, l and t. Source: the same."""


def legible(guide: str, criterion: str) -> np.ndarray:
    """The ranks that can be read. Shape (strategies, columns); not a number where none can."""
    rows = [row.replace(" ", "") for row in LEGIBLE[guide][criterion]]
    return np.array([[np.nan if cell == "." else float(cell) for cell in row] for row in rows])


def completed(ranks: np.ndarray) -> np.ndarray:
    """The same, with the rank that is left where one alone is absent from a column.

    Where two strategies shared a place that would be wrong; none do in what can be read.

    >>> completed(np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 1.0]])).tolist()
    [[1.0, nan], [3.0, nan], [2.0, 1.0]]
    """
    found = ranks.copy()
    for column in found.T:
        absent = np.isnan(column)
        if absent.sum() == 1:
            (left,) = set(range(1, len(column) + 1)) - set(column[~absent])
            column[absent] = left
    return found


def ranks(guide: str, criterion: str) -> np.ndarray:
    """All ranks that are known. Shape (strategies, columns)."""
    return completed(legible(guide, criterion))
