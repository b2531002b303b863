"""The tables and sentences of docs/figures/algorithms.md, from what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.algorithms.measured import LIMITS, MEASURED, NOT_RUN, Findings, Result, Side, Way
from benchmarks.markdown import seconds, table, thousands
from kanon.algorithms.catalogue import algorithm_named, algorithms, short_title, uses
from kanon.experiments.searches import SEARCHES, Searches, count_comparisons
from kanon.metrics import METRICS

__all__ = [
    "GROUPS",
    "LEVELS",
    "LOST",
    "NEWER",
    "OLDER",
    "comparisons",
    "full_domain",
    "guided",
    "least",
    "listed",
    "losses",
    "mean",
    "nodes",
    "over_columns",
    "said_least",
    "searched",
    "searches_title",
    "times",
]

HEAD = (
    "algorithm",
    "may suppress",
    *(METRICS[name].card.title for name in MEASURED),
    "mean",
    "general loss",
    "classes",
    "min k",
    "suppressed",
    "seconds",
)

NEWER = "improved-greedy"
OLDER = tuple(name for name in SEARCHES if name != NEWER)

LEVELS, LOST = "level_of_generalisation", "iloss_mean"
"""What the three searches are compared by."""


def losses(side: Side, k: int) -> str:
    """What every algorithm lost at one k: a row per way."""
    body = []
    for way in side.ways:
        its = side.results[way, k]
        body.append(
            [
                way.title,
                way.allowed,
                *(f"{its.alteration[name]:.2f}" for name in MEASURED),
                f"{its.mean:.2f}",
                f"{its.general_loss:.2f}",
                thousands(its.classes),
                thousands(its.min_k),
                thousands(its.suppressed),
                seconds(its.seconds),
            ]
        )
    return table(HEAD, body)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def guided() -> tuple[str, str]:
    """The algorithms that the metric guides, and the others."""
    run = [name for name in algorithms() if name not in NOT_RUN]
    return (
        listed([short_title(name) for name in run if uses(name, "metric")]),
        listed([short_title(name) for name in run if not uses(name, "metric")]),
    )


def full_domain(way: Way) -> bool:
    """Whether a way raises each column to one level."""
    return bool(algorithm_named(way.algorithm).CARD.family == "levels")


Measure = Callable[[Result], float]

GROUPS = "groups of the hierarchies, nothing suppressed"

WHICH: Mapping[str, Callable[[Way], bool]] = {
    "all": lambda way: True,
    GROUPS: lambda way: way.groups and not way.suppresses,
    "one level per column, nothing suppressed": lambda way: full_domain(way) and not way.suppresses,
    "one level per column, 5 % suppressed": lambda way: full_domain(way) and way.limit == LIMITS[1],
}
"""Among which the least is looked for."""


def best(side: Side, k: int, measure: Measure, among: Callable[[Way], bool]) -> list[Way]:
    """The ways of least loss at one k; several where they lose the same."""
    results = {way: measure(side.results[way, k]) for way in side.ways if among(way)}
    lowest = min(results.values())
    return [way for way, value in results.items() if value <= lowest * (1 + 1e-9)]


def _names(ways: Sequence[Way]) -> str:
    return listed([f"{way.title} ({way.allowed})" if way.limit else way.title for way in ways])


def least(side: Side, measure: Measure) -> str:
    """Per k what loses least, of all and of those that take one level per column."""
    body = []
    for k in side.ks:
        row = [thousands(k)]
        for among in WHICH.values():
            ways = best(side, k, measure, among)
            row.append(f"{_names(ways)}: {measure(side.results[ways[0], k]):.2f}")
        body.append(row)
    return table(["k", *WHICH], body)


def said_least(side: Side, measure: Measure, among: str = "all") -> str:
    """What loses least, in part of a sentence: at every k, or at which."""
    by_name: dict[str, list[int]] = {}
    for k in side.ks:
        by_name.setdefault(_names(best(side, k, measure, WHICH[among])), []).append(k)
    if len(by_name) == 1:
        return f"{next(iter(by_name))} at every k"
    parts = [f"{name} at k = {listed([thousands(k) for k in ks])}" for name, ks in by_name.items()]
    return "; ".join(parts)


def nodes(side: Side) -> str:
    """How many nodes each search counted, and how long it took: a row per way."""
    searching = [way for way in side.ways if any(side.results[way, k].evaluated for k in side.ks)]
    body = [
        [
            way.title,
            way.allowed,
            *(thousands(side.results[way, k].evaluated) for k in side.ks),
            *(seconds(side.results[way, k].seconds) for k in side.ks),
        ]
        for way in searching
    ]
    head = [f"{what} {thousands(k)}" for what in ("nodes, k =", "s, k =") for k in side.ks]
    return table(["algorithm", "may suppress", *head], body)


def mean(found: Searches, measure: str, name: str) -> float:
    """The mean over k of a measure of one search; of iloss in percent of a cell."""
    return float(np.mean(found.get_values(measure, name))) * (100 if measure == LOST else 1)


def comparisons(found: Findings, measure: str) -> str:
    """At how many k Improved greedy has less, as much and more; the means: a row per run."""
    body = []
    for place, its in found.searches.items():
        counts = [
            str(each) for other in OLDER for each in count_comparisons(its, measure, NEWER, other)
        ]
        means = [f"{mean(its, measure, name):.2f}" for name in (NEWER, *OLDER)]
        body.append([searches_title(place), *counts, *means])
    head = [f"{what} {short_title(other)}" for other in OLDER for what in "<=>"]
    means = [f"mean: {short_title(name)}" for name in (NEWER, *OLDER)]
    return table(["Improved greedy", *head, *means], body)


def searched(found: Searches) -> str:
    """Level of generalisation and loss per cell in percent of the three searches, a row per k."""
    order = (NEWER, *OLDER)
    body = [
        [
            thousands(k),
            *(str(int(found.get_values(LEVELS, name)[place])) for name in order),
            *(f"{100 * found.get_values(LOST, name)[place]:.2f}" for name in order),
        ]
        for place, k in enumerate(found.ks)
    ]
    head = [f"{short_title(name)}: {what}" for what in ("levels", "iloss") for name in order]
    return table(["k", *head], body)


def times(found: Searches) -> str:
    """Seconds of the three searches, a row per k."""
    rows = zip(found.ks, *(found.get_values("seconds", name) for name in SEARCHES), strict=True)
    body = [[thousands(k), *map(seconds, taken)] for k, *taken in rows]
    return table(["k", *(f"{short_title(name)}, s" for name in SEARCHES)], body)


def over_columns(found: Searches) -> str:
    """Seconds and nodes of the three searches, a row per number of quasi-identifiers."""
    body = []
    for number, own in found.over_columns.groupby("columns"):
        by_name, added = own.set_index("algorithm"), own["adds"].iloc[0]
        body.append(
            [
                f"{number}, with `{added}`",
                *(seconds(by_name.loc[name, "seconds"]) for name in SEARCHES),
                *(thousands(by_name.loc[name, "nodes_evaluated"]) for name in SEARCHES),
                thousands(own["lattice_nodes"].iloc[0]),
            ]
        )
    head = [f"{short_title(name)}, {what}" for what in ("s", "nodes") for name in SEARCHES]
    return table(["quasi-identifiers", *head, "all nodes"], body)


def _limit(limit: float) -> str:
    return f"at most {100 * limit:g} % suppressed" if limit else "nothing suppressed"


def searches_title(place: tuple[str, float]) -> str:
    """A table and how much was suppressed."""
    name, limit = place
    return f"{name}, {_limit(limit)}"
