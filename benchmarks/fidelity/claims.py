"""What the sentences of the page say, each as a question to the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.fidelity.measured import GROUPINGS, OURS, READINGS, Findings, Reading
from benchmarks.fidelity.published import (
    AVERAGES,
    ONE_CLASS,
    PUBLISHED_AREAS,
    PUBLISHED_TABLES,
    to_whole,
)
from benchmarks.fidelity.tables import order
from kanon.experiments.comparison import TIE_SEEDS
from kanon.metrics import PUBLISHED

__all__ = ["CLAIMS", "DIAGONAL", "diagonal"]

DIAGONAL = np.eye(len(PUBLISHED), dtype=bool)
"""Where a metric measures what it guided."""

_WRITTEN, _LEAF, _REVERSED, _SEEDS, _JOINT, _ONCE, _SMALL, _SMALL_ONCE = READINGS
_UNEQUAL = [PUBLISHED.index(name) for name in ("distortion", "wnllm")]
_LEAVES = [PUBLISHED.index(name) for name in ("llm", "wllm")]


def diagonal(found: Findings, grouping: str, k: int) -> tuple[float, float]:
    """How far the cells of the diagonal are off on average, and how far all others."""
    apart = np.abs(found.apart(Reading(grouping), k))
    return float(apart[DIAGONAL].mean()), float(apart[~DIAGONAL].mean())


def _means(found: Findings, title: str, grouping: str) -> np.ndarray:
    return found.row(title, grouping).mean(axis=0)


def _always_farther(found: Findings, title: str, places: slice = slice(None)) -> bool:
    """Whether a reading is farther off than the one as written, with every grouping."""
    return all(
        (_means(found, title, grouping) > _means(found, _WRITTEN, grouping))[places].all()
        for grouping in GROUPINGS
    )


def _none_wins(found: Findings) -> bool:
    """Whether no reading of gaa is at least as near as any other in every table."""
    for grouping in GROUPINGS:
        every = np.array([_means(found, title, grouping) for title in READINGS])
        every = every[~np.isnan(every[:, 3])]
        if (every <= every.min(axis=0)).all(axis=1).any():
            return False
    return True


def _nearer_in_figures(found: Findings, grouping: str) -> list[bool]:
    apart = _means(found, _SMALL_ONCE, grouping) - _means(found, _WRITTEN, grouping)
    return [bool(each) for each in apart[:3] < 0]


def _united_nations(found: Findings) -> bool:
    apart = _means(found, _WRITTEN, GROUPINGS[2]) - _means(found, _WRITTEN, OURS)
    return bool((apart[:3] < 0).all() and abs(apart[3]) < 0.1)


def _loses_less(found: Findings) -> bool:
    ties: list[str | int] = ["canonical", "reversed", *TIE_SEEDS]
    return all(
        found.apart(Reading(grouping, ties=order), 100).mean() < 0
        for grouping in GROUPINGS
        for order in ties
    )


def _rows_alike(found: Findings) -> bool:
    rows = found.apart(Reading(), 100).mean(axis=1)
    return bool(np.ptp(rows) < 1.5)


def _leaf_sets_rows_apart(found: Findings) -> bool:
    rows = found.apart(Reading(leaf=1), 100).mean(axis=1)
    return bool(rows[_LEAVES].max() < np.delete(rows, _LEAVES).min() - 3)


def _averages_fit(found: Findings) -> bool:
    return all(
        (to_whole(cells.mean(axis=0)) == AVERAGES[k]).all() for k, cells in PUBLISHED_TABLES.items()
    )


def _text_does_not_fit(found: Findings) -> bool:
    cells = PUBLISHED_TABLES[100].copy()
    place = PUBLISHED.index("distortion"), PUBLISHED.index("nllm")
    cells[place] = 24
    return bool(to_whole(cells.mean(axis=0))[place[1]] != AVERAGES[100][place[1]])


def _diagonal_apart(found: Findings) -> bool:
    return all(
        np.subtract(*diagonal(found, grouping, 1500)) > 4
        and all(np.subtract(*diagonal(found, grouping, k)) < 0.1 for k in (2, 100))
        for grouping in GROUPINGS
    )


def _unequal_on_the_diagonal(found: Findings) -> bool:
    distortion, wnllm = PUBLISHED_TABLES[1500][_UNEQUAL]
    gap = np.abs(distortion - wnllm)
    return bool((gap[_UNEQUAL] >= 9).all() and (np.delete(gap, _UNEQUAL) <= 2).all())


def _one_class(found: Findings, algorithm: str) -> list[bool]:
    """Per published single class whether ours is one too."""
    least = found.results[Reading(algorithm=algorithm)].least
    return [
        least[k][PUBLISHED.index(guide)] == number
        for (guide, k), number in ONE_CLASS.items()
        if k >= 10_000
    ]


def _with_one_class(found: Findings, algorithm: str, k: int) -> list[str]:
    least = found.results[Reading(algorithm=algorithm)].least[k]
    whole = ONE_CLASS["total", 10_000]
    return [name for name, records in zip(PUBLISHED, least, strict=True) if records == whole]


def _best_and_worst(areas: np.ndarray) -> list[tuple[int, int]]:
    return [(int(row.argmin()), int(row.argmax())) for row in areas]


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "the printed averages are those of the printed cells": _averages_fit,
    "the cell that the text quotes otherwise fits its average, and the text does not": (
        _text_does_not_fit
    ),
    "nl(leaf) = 1 is farther off in every table with every grouping": (
        lambda found: _always_farther(found, _LEAF)
    ),
    "nl(leaf) = 1 sets the rows LLM and WLLM apart": _leaf_sets_rows_apart,
    "the rows of fig. 7 lie within 1.5 points": _rows_alike,
    "representatives are farther off in fig. 6, fig. 7 and Table 3": (
        lambda found: (
            _always_farther(found, _ONCE, slice(0, 2))
            and _always_farther(found, _ONCE, slice(3, 4))
        )
    ),
    "the joint cost is nearer in fig. 7 with every grouping": lambda found: all(
        _means(found, _JOINT, each)[1] < _means(found, _WRITTEN, each)[1] for each in GROUPINGS
    ),
    "the joint cost is farther off in Table 3 with every grouping": (
        lambda found: _always_farther(found, _JOINT, slice(3, 4))
    ),
    "no reading is the nearest in every table": _none_wins,
    "ours loses less at k = 100 with every grouping and order of ties": _loses_less,
    "every cell of ours is lower at k = 100": lambda found: bool(
        (found.apart(Reading(), 100, rounded=False) < 0).all()
    ),
    "other orders of ties are nearer in fig. 7 with every grouping": lambda found: all(
        _means(found, title, each)[1] < _means(found, _WRITTEN, each)[1]
        for each in GROUPINGS
        for title in (_REVERSED, _SEEDS)
    ),
    "gaa-small is nearer in fig. 6 with every grouping": lambda found: all(
        _means(found, _SMALL, each)[0] < _means(found, _WRITTEN, each)[0] for each in GROUPINGS
    ),
    "gaa-small is farther off in figs. 7 and 8 with every grouping": (
        lambda found: _always_farther(found, _SMALL, slice(1, 3))
    ),
    "gaa has one class for every metric at k = 15,000": lambda found: all(
        _one_class(found, "gaa")[2:]
    ),
    "at k = 10,000 gaa has one class for NCP and Total, two for Distortion": lambda found: (
        _with_one_class(found, "gaa", 10_000) == ["ncp", "total"]
        and 2 * found.results[Reading()].least[10_000][0] < ONE_CLASS["total", 10_000]
    ),
    "gaa-small has more at k = 10,000, and at k = 15,000 for LLM": lambda found: (
        not any(_one_class(found, "gaa-small")[:2])
        and set(PUBLISHED) - set(_with_one_class(found, "gaa-small", 15_000)) == {"llm"}
    ),
    "gaa has more of the published single classes": lambda found: (
        sum(_one_class(found, "gaa")) > sum(_one_class(found, "gaa-small"))
    ),
    "neither has the published least class of LLM at 7,500": lambda found: all(
        found.results[Reading(algorithm=name)].least[7500][PUBLISHED.index("llm")]
        != ONE_CLASS["llm", 7500]
        for name in ("gaa", "gaa-small")
    ),
    "gaa-small with representatives is nearer than gaa in figs. 6 and 7, not in fig. 8": (
        lambda found: _nearer_in_figures(found, OURS) == [True, True, False]
    ),
    "the diagonal of fig. 8 is farther off than its other cells, and only there": _diagonal_apart,
    "Distortion and WNLLM part in fig. 8 where one of them guides, and only there": (
        _unequal_on_the_diagonal
    ),
    "the United Nations' grouping is nearer than ours in figs. 6 to 8, as near in Table 3": (
        _united_nations
    ),
    "the averages of fig. 8 stand better in the published order with the other groupings": (
        lambda found: all(
            order(found, Reading(each), 1500) > order(found, Reading(), 1500) + 0.1
            for each in GROUPINGS[1:]
        )
    ),
    "the best and the worst metric of Table 3 are the published ones but at the root": (
        lambda found: (
            _best_and_worst(found.areas())[:2] == _best_and_worst(PUBLISHED_AREAS)[:2]
            and _best_and_worst(found.areas())[2] != _best_and_worst(PUBLISHED_AREAS)[2]
        )
    ),
    "on the voters sample Total is first and LLM and WLLM are last": lambda found: all(
        order[0] == PUBLISHED.index("total") and set(order[-2:]) == set(_LEAVES)
        for order in np.argsort(found.voters, axis=1).tolist()
    ),
}
"""Per sentence of the page, in short, whether the figures bear it out."""
