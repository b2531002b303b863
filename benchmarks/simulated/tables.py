"""The tables of the page, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from benchmarks.markdown import table
from benchmarks.simulated.measured import (
    AS_IT_FITS,
    GUIDES,
    Findings,
    areas,
    rank_table,
)
from benchmarks.simulated.published import MEANS, legible, ranks
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.study import CRITERIA, STRATEGIES, StudyRun
from kanon.learning.predicting import spearman
from kanon.metrics import METRICS
from kanon.strategies import SCOPES

__all__ = [
    "S5",
    "agreement",
    "agreements",
    "alike",
    "apart",
    "distances",
    "known",
    "mean_areas",
    "mean_ranks",
    "moved",
    "off",
]

TITLES = ("alteration ↓", "l ↑", "t ↓")
S5 = STRATEGIES.index("s5")
_READINGS = ("published", *SCOPES)
_NONE = "not legible"


def mean_areas(found: Findings, guide: str) -> str:
    """The mean area of each strategy, published beside ours at both scopes, by criterion."""
    ours = [areas(found.of(guide, scope)) for scope in SCOPES]
    return _side_by_side([MEANS[guide], *ours], 2)


def mean_ranks(found: Findings, guide: str) -> str:
    """The mean rank of each strategy, published beside ours at both scopes, by criterion."""
    published = [np.array([_mean(row) for row in ranks(guide, name)]) for name in CRITERIA]
    ours = [
        np.array([rank_table(found.of(guide, scope), name).mean(axis=1) for name in CRITERIA]).T
        for scope in SCOPES
    ]
    return _side_by_side([np.array(published).T, *ours], 2)


def _mean(row: np.ndarray) -> float:
    """The mean of what is known, if more than half is."""
    known_cells = row[~np.isnan(row)]
    return float(known_cells.mean()) if 2 * len(known_cells) > len(row) else float("nan")


def _side_by_side(readings: Sequence[np.ndarray], digits: int) -> str:
    head = [f"{title}: {name}" for title, name in product(TITLES, _READINGS)]
    body = [
        [
            name.upper(),
            *(
                _NONE if np.isnan(each[place, figure]) else f"{each[place, figure]:.{digits}f}"
                for figure, each in product(range(len(CRITERIA)), readings)
            ),
        ]
        for place, name in enumerate(STRATEGIES)
    ]
    return table(["strategy", *head], body)


def agreement(
    found: Findings, guide: str, criterion: str, scope: str, all_of_them: bool = True, seed: int = 0
) -> tuple[float, int, int]:
    """Spearman's correlation of published ranks and ours, how many are equal, of how many known.

    Without ``all_of_them`` S5 is left out, of which something else was published.
    """
    its = ranks(guide, criterion)
    own = rank_table(found.of(guide, scope, seed), criterion)
    if not all_of_them:
        its, own = (np.delete(each, S5, axis=0) for each in (its, own))
    there = ~np.isnan(its)
    equal = int((its == own).sum())
    return spearman(its[there], own[there]), equal, int(there.sum())


def agreements(found: Findings, guide: str) -> str:
    """How far the ranks agree, by criterion and by what ours are made with."""
    scopes = (*SCOPES, AS_IT_FITS)
    head = [
        "criterion",
        "known",
        *(f"{scope}: {each}" for scope in scopes for each in ("all", "without S5", "equal")),
    ]
    body = []
    for title, criterion in zip(TITLES, CRITERIA, strict=True):
        row = [title, str(known(guide, criterion)[1])]
        for scope in scopes:
            whole, equal, _ = agreement(found, guide, criterion, scope)
            others, _, _ = agreement(found, guide, criterion, scope, all_of_them=False)
            row += [f"{whole:.2f}", f"{others:.2f}", str(equal)]
        body.append(row)
    return table(head, body)


def known(guide: str, criterion: str) -> tuple[int, int]:
    """How many of the 147 ranks can be read, and how many are known with those that are left."""
    read, all_known = legible(guide, criterion), ranks(guide, criterion)
    return int((~np.isnan(read)).sum()), int((~np.isnan(all_known)).sum())


def apart(found: Findings, guide: str, published: str, ours: str, scope: str) -> np.ndarray:
    """Our mean areas minus the published ones: alteration, l and t, in points."""
    own = areas(found.of(guide, scope))
    return own[STRATEGIES.index(ours)] - MEANS[guide][STRATEGIES.index(published)]


def off(
    found: Findings,
    strategies: Sequence[str],
    scope: str,
    figures: Sequence[int] = (0, 1, 2),
    guides: Sequence[str] = GUIDES,
) -> float:
    """The mean absolute difference of mean areas, in points, over those that are legible."""
    results = [
        apart(found, guide, name, name, scope)[list(figures)]
        for guide, name in product(guides, strategies)
    ]
    return float(np.nanmean(np.abs(results)))


def distances(found: Findings) -> str:
    """How far our mean areas are from the published ones, by criterion and by what ours are."""
    scopes = (*SCOPES, AS_IT_FITS)
    head = [f"{METRICS[guide].card.title}, {scope}" for guide, scope in product(GUIDES, scopes)]
    body = [
        [
            title,
            *(
                f"{off(found, STRATEGIES, scope, [place], [guide]):.2f}"
                for guide, scope in product(GUIDES, scopes)
            ),
        ]
        for place, title in enumerate(TITLES)
    ]
    return table(["criterion", *head], body)


def alike(found: Findings, guide: str, one: str, other: str) -> int:
    """On how many columns two strategies have the same areas at table scope."""
    by = {each.run: each.areas for each in found.of(guide, "table")}
    return sum(
        np.allclose(by[StudyRun(column, one)], by[StudyRun(column, other)], atol=0.005)
        for column in COLUMNS
    )


def moved(found: Findings) -> tuple[np.ndarray, float]:
    """How far another draw and other ties move at most a mean area, per criterion, and a rank."""
    of_areas, of_ranks = [], []
    for scope in SCOPES:
        first, second = (found.of("nllm", scope, seed) for seed in (0, 1))
        of_areas.append(np.abs(areas(first) - areas(second)).max(axis=0))
        for name in CRITERIA:
            one, other = (rank_table(each, name).mean(axis=1) for each in (first, second))
            of_ranks.append(np.abs(one - other).max())
    return np.max(of_areas, axis=0), float(max(of_ranks))
