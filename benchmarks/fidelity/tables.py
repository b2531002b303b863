"""The tables of the page, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.fidelity.measured import GROUPINGS, OURS, READINGS, Findings, Reading
from benchmarks.fidelity.published import (
    AVERAGES,
    CRITERIA,
    CURVES,
    FIGURES,
    ONE_CLASS,
    PUBLISHED_AREAS,
    PUBLISHED_RANKS,
    PUBLISHED_TABLES,
    REQUESTED,
    SAID,
    Order,
    to_whole,
)
from benchmarks.markdown import signed, table, thousands
from kanon.learning.predicting import spearman
from kanon.measures.comparing import rank_values
from kanon.metrics import METRICS, PUBLISHED

__all__ = [
    "TITLES",
    "areas",
    "areas_order",
    "every_grouping",
    "misfits",
    "order",
    "readings",
    "requested",
    "said_of_curves",
    "side_by_side",
    "summary",
    "tried",
]

TITLES = [METRICS[name].card.title for name in PUBLISHED]
"""The metrics as the papers print them, in the order of the tables."""


def summary(found: Findings, several: Sequence[Reading]) -> str:
    """Per reading and figure how far the cells are apart, and whether their order is the same."""
    body = []
    for reading in several:
        for k, published in PUBLISHED_TABLES.items():
            apart, ours = found.apart(reading, k), found.results[reading].tables[k]
            far = np.abs(apart)
            (measured, guide), *others = np.argwhere(far == far.max())
            more = f", {len(others)} more" if others else ""
            body.append([
                f"`{reading.grouping}`", f"`{reading.algorithm}`", f"{FIGURES[k]}, k = {k}",
                f"{far.mean():.2f}", f"{apart.std(ddof=1):.2f}", signed(apart.mean(), 2),
                f"{far.max():.0f}", f"{TITLES[measured]} under {TITLES[guide]}{more}",
                f"{found.off(reading, k, rounded=False):.2f}",
                f"{spearman(ours.ravel(), published.ravel()):.2f}",
                f"{order(found, reading, k):.2f}",
            ])  # fmt: skip
    head = ["hierarchies", "algorithm", "figure", "mean", "sd", "signed", "largest", "where"]
    return table([*head, "mean, unrounded", "order of cells", "of averages"], body)


def order(found: Findings, reading: Reading, k: int) -> float:
    """The rank correlation of the averages of the metrics that guided, ours unrounded."""
    ours = found.results[reading].tables[k].mean(axis=0)
    return spearman(ours, PUBLISHED_TABLES[k].mean(axis=0))


def side_by_side(found: Findings, reading: Reading, k: int) -> str:
    """A figure cell by cell: published / ours in whole percent, the rank in its row in brackets."""
    ours, published = found.results[reading].tables[k], PUBLISHED_TABLES[k]
    rows = zip(
        [*TITLES, "Average"],
        [*published, AVERAGES[k]],
        [*ours, ours.mean(axis=0)],
        [*published, published.mean(axis=0)],
        strict=True,
    )
    body = []
    for title, printed, own, exact in rows:
        shown = to_whole(own)
        theirs, its = rank_values(printed), rank_values(shown)
        body.append([
            f"**{title}**",
            *(
                f"{a} ({i}) / {b:.0f} ({j})"
                for a, i, b, j in zip(printed, theirs, shown, its, strict=True)
            ),
            f"{spearman(own, exact):.2f}",
        ])  # fmt: skip
    return table(["measured ↓ guided by →", *TITLES, "order"], body)


def misfits() -> list[str]:
    """The printed ranks that are not those of the printed cells."""
    results = []
    for k, cells in PUBLISHED_TABLES.items():
        rows = zip([*TITLES, "Average"], [*cells, AVERAGES[k]], PUBLISHED_RANKS[k], strict=True)
        for measured, row, printed in rows:
            for guide, rank, said in zip(TITLES, rank_values(row), printed, strict=True):
                if rank != said:
                    results.append(f"{FIGURES[k]}, {measured} under {guide}: {said}, not {rank}")
    return results


def requested(found: Findings) -> str:
    """The records of the smallest class by requested k: the text of fig. 9 beside ours."""
    several = [Reading(), Reading(algorithm="gaa-small")]
    body = []
    for k in REQUESTED:
        least = [found.results[reading].least[k] for reading in several]
        spans = [
            thousands(each.min())
            + (f" to {thousands(each.max())}" if each.max() > each.min() else "")
            for each in least
        ]
        said = "equal or very close" if k <= 1000 else "relatively close" if k <= 4000 else ""
        named = {guide: number for (guide, at), number in ONE_CLASS.items() if at == k}
        if len(named) == len(PUBLISHED):
            said, named = thousands(max(named.values())), {}
        body.append([f"{thousands(k)}, all metrics", said, *spans])
        for guide, number in named.items():
            place = PUBLISHED.index(guide)
            own = [thousands(each[place]) for each in least]
            body.append([f"{thousands(k)}, {TITLES[place]}", thousands(number), *own])
    return table(["requested k", "published", "`gaa`", "`gaa-small`"], body)


def said_of_curves(found: Findings) -> str:
    """What the text says of figs. 10 to 13, and at how many of the k it names ours do the same."""
    curves = found.results[Reading()].curves
    body = []
    for said in SAID:
        ks = [k for k in REQUESTED if said.low <= k <= said.high]
        held = [k for k in ks if _stands_apart(said, curves[said.curve][k])]
        missed = ", ".join(thousands(k) for k in ks if k not in held)
        names = [METRICS[name].card.title for name in said.metrics]
        where = "above" if said.above else "below"
        body.append(
            [
                CURVES[said.curve],
                f"{', '.join(names)} {where} all others",
                f"{thousands(said.low)} to {thousands(said.high)}",
                f"{len(held)} of {len(ks)}",
                missed,
            ]
        )
    return table(["figure", "said", "k", "so in ours", "not at k ="], body)


def _stands_apart(said: Order, values: np.ndarray) -> bool:
    """Whether the metrics are all above, or below, or level with, every other one.

    >>> _stands_apart(Order("root_percent", 2, 50, ("llm",)), np.array([5, 5, 5, 1, 5, 5, 5]))
    True
    """
    inside = np.isin(PUBLISHED, said.metrics)
    if said.above:
        return bool(values[inside].min() >= values[~inside].max())
    return bool(values[inside].max() <= values[~inside].min())


def areas(found: Findings, reading: Reading) -> str:
    """Table 3 cell by cell: published / ours / difference; the metrics in the published order."""
    ours = found.areas(reading)
    body = [
        [f"**{TITLES[place]}**"]
        + [
            f"{theirs:.2f} / {own:.2f} / {signed(own - theirs, 2)}"
            for theirs, own in zip(PUBLISHED_AREAS[:, place], ours[:, place], strict=True)
        ]
        for place in np.argsort(PUBLISHED_AREAS[0])
    ]
    body.append(["order", *(f"{each:.2f}" for each in areas_order(ours))])
    return table(["guided by", *CRITERIA.values()], body)


def areas_order(ours: np.ndarray) -> list[float]:
    """Per criterion of Table 3 the rank correlation of the metrics."""
    return [spearman(own, theirs) for own, theirs in zip(ours, PUBLISHED_AREAS, strict=True)]


def every_grouping(found: Findings) -> str:
    """Table 3 with each grouping: how far, and whether the order of the metrics is the same."""
    body = []
    for grouping in GROUPINGS:
        ours = found.areas(Reading(grouping))
        apart = ours - PUBLISHED_AREAS
        criterion, guide = np.unravel_index(np.abs(apart).argmax(), apart.shape)
        body.append([
            f"`{grouping}`", f"{np.abs(apart).mean():.2f}", f"{apart.std(ddof=1):.2f}",
            signed(apart.mean(), 2), f"{np.abs(apart).max():.1f}",
            f"{list(CRITERIA.values())[criterion]}, {TITLES[guide]}",
            *(f"{each:.2f}" for each in areas_order(ours)),
        ])  # fmt: skip
    head = ["hierarchies", "mean", "sd", "signed", "largest", "where"]
    return table([*head, *(f"order: {title}" for title in CRITERIA.values())], body)


def tried(values: np.ndarray, digits: int = 2) -> str:
    """One value, or of several the mean, the least and the largest.

    >>> tried(np.array([1.0])), tried(np.array([1.0, 2.0])), tried(np.array([np.nan]))
    ('1.00', '1.50 (1.00 to 2.00)', '')
    """
    if np.isnan(values).any():
        return ""
    text = f"{values.mean():.{digits}f}"
    if len(values) > 1:
        text += f" ({values.min():.{digits}f} to {values.max():.{digits}f})"
    return text


def readings(found: Findings, grouping: str = OURS) -> str:
    """How far every reading is from figs. 6, 7, 8 and from Table 3."""
    body = []
    for title, several in READINGS.items():
        chosen = [replace(each, grouping=grouping) for each in several]
        bias = np.array([found.apart(each, 100).mean() for each in chosen])
        off = found.row(title, grouping)
        body.append([title, *(tried(column) for column in off.T), signed(bias.mean(), 1)])
    head = ["reading", *FIGURES.values(), "Table 3", "fig. 7, signed"]
    return table(head, body)
