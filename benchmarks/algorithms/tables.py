"""The tables and sentences of docs/algorithms.md, from what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.algorithms.measured import LIMITS, MEASURED, Findings, Result, Side, Way
from benchmarks.markdown import seconds, table, thousands
from kanon.metrics import METRICS
from kanon.run import algorithm_named, algorithms, short_title, uses
from kanon.searches import SEARCHES, Searches, tally

__all__ = [
    "GROUPS",
    "claim",
    "comparisons",
    "full_domain",
    "guided",
    "iloss",
    "least",
    "listed",
    "losses",
    "nodes",
    "said_least",
    "searches_title",
    "verdict",
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
    run = [name for name in algorithms() if name != "levels"]
    return (
        listed([short_title(name) for name in run if uses(name, "metric")]),
        listed([short_title(name) for name in run if not uses(name, "metric")]),
    )


def full_domain(way: Way) -> bool:
    """Whether a way raises each column to one level."""
    return bool(algorithm_named(way.algorithm).FAMILY == "levels")


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


def iloss(found: Searches) -> str:
    """Loss per cell in percent and level of generalisation of the three searches, a row per k."""
    order = (NEWER, *OLDER)
    lost = {name: found.along("iloss_mean", name) for name in order}
    level = {name: found.along("level_of_generalisation", name) for name in order}
    body = [
        [
            thousands(k),
            *(f"{100 * lost[name][place]:.2f}" for name in order),
            *(str(int(level[name][place])) for name in order),
        ]
        for place, k in enumerate(found.ks)
    ]
    titles = [short_title(name) for name in order]
    head = [*(f"{title}: iloss" for title in titles), *(f"{title}: levels" for title in titles)]
    return table(["k", *head], body)


def claim(found: Searches, other: str) -> bool:
    """Whether Improved greedy never loses more than another search, and somewhere less."""
    held = tally(found, "iloss", NEWER, other)
    return held.more == 0 and held.less > 0


def verdict(found: Findings) -> str:
    """Whether the published order holds."""
    held = [claim(its, other) for its in found.searches.values() for other in OLDER]
    if all(held):
        return f"The published order holds in all {len(held)} comparisons made here."
    if not any(held):
        return f"The published order holds in none of the {len(held)} comparisons made here."
    return (
        f"The published order holds in {sum(held)} of the {len(held)} comparisons made here, and "
        f"not in the other {len(held) - sum(held)}."
    )


def comparisons(found: Findings) -> str:
    """At how many k Improved greedy loses less, as much and more: a row per comparison."""
    body = []
    for place, its in found.searches.items():
        for other in OLDER:
            held = tally(its, "iloss", NEWER, other)
            row = [f"{searches_title(place)}: against {short_title(other)}", *map(str, held)]
            body.append([*row, "yes" if claim(its, other) else "no"])
    return table(["Improved greedy", "less", "as much", "more", "order holds"], body)


def _limit(limit: float) -> str:
    return f"at most {100 * limit:g} % suppressed" if limit else "nothing suppressed"


def searches_title(place: tuple[str, float]) -> str:
    """A table and how much was suppressed."""
    name, limit = place
    return f"{name}, {_limit(limit)}"
