"""The tables of the page, from what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.markdown import table
from benchmarks.strategies.measured import COLUMNS, GUIDES, NAMES, Areas, Findings
from benchmarks.strategies.published import FIGURES, PUBLISHED_AREAS
from kanon.metrics import METRICS
from kanon.strategies import SCOPES, Scope

__all__ = [
    "NEAR",
    "ORDERS",
    "Order",
    "areas",
    "counted",
    "distance",
    "fits",
    "inside",
    "named",
    "nearest",
    "orders",
    "widths",
    "widths_of",
    "yardsticks",
]

NUMBERED = tuple(PUBLISHED_AREAS[COLUMNS[0]])
"""The strategies that have published figures."""

ALTERATION, L, T = range(3)

NEAR = 0.5
"""Readings so many points farther than the nearest one are named with it."""


@dataclass(frozen=True)
class Order:
    """What one would expect of two groups of strategies: each of the first is ahead of each other.

    Attributes
    ----------
    first, second
        The strategies.
    figure
        The place of the figure: alteration, l or t.
    higher
        Whether that of the first is higher.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    figure: int
    higher: bool

    @property
    def text(self) -> str:
        """Which is higher or lower than which."""
        names = [_listed(each) for each in (self.first, self.second)]
        kind = ("alteration", "l", "t")[self.figure]
        return f"{names[0]}: {'higher' if self.higher else 'lower'} {kind} than {names[1]}"


_CHEAP, _PRIVATE = ("s1", "s2", "s4"), ("s3", "s6")
ORDERS = (
    Order(_CHEAP, _PRIVATE, ALTERATION, False),
    Order(_PRIVATE, _CHEAP, L, True),
    Order(_PRIVATE, _CHEAP, T, False),
    Order(_PRIVATE, ("s7",), L, True),
    Order(_PRIVATE, ("s7",), T, False),
    Order(("s5",), _PRIVATE, ALTERATION, True),
    Order(("s5",), _PRIVATE, L, True),
    Order(("s5",), _PRIVATE, T, False),
    Order(("s4",), ("s1",), L, True),
    Order(("s4",), ("s1",), T, False),
    Order(("s7",), ("s1",), L, True),
    Order(("s7",), ("s1",), T, False),
)
"""What is compared between the published figures and ours: the order of strategies."""


def areas(found: Findings, column: str, guide: str, figure: int) -> str:
    """One figure: a row per strategy; published beside ours at both scopes, with the bands."""
    known = guide == GUIDES[0]
    head = ["strategy", *(["published"] if known else []), "table scope", "class scope"]
    body = []
    for name in NAMES:
        row = [name.upper()]
        if known:
            its = PUBLISHED_AREAS[column].get(name)
            row.append("" if its is None else f"{its[figure]:.2f}")
        for scope in SCOPES:
            alone = name == "s1" and scope == "class"
            row.append("as left" if alone else _cell(found.of(column, name, scope, guide), figure))
        body.append(row)
    return table(head, body)


def _cell(its: Areas, figure: int) -> str:
    """The canonical order, and least to most over all orders of ties."""
    own, low, high = (each[figure] for each in (its.own, its.low, its.high))
    return f"{own:.2f} ({low:.1f} to {high:.1f})"


def counted(
    order: Order, value: Callable[[str, str], np.ndarray], columns: Sequence[str] = COLUMNS
) -> tuple[int, int]:
    """In how many pairs an order holds, and of how many; ``value`` of a column and a strategy."""
    pairs = list(product(columns, order.first, order.second))
    held = 0
    for column, one, other in pairs:
        apart = value(column, one)[order.figure] - value(column, other)[order.figure]
        held += bool(apart > 0 if order.higher else apart < 0)
    return held, len(pairs)


def orders(found: Findings) -> str:
    """In how many pairs of strategies an order holds: published, and ours by metric and scope."""
    head = ["order", "published"]
    head += [f"{METRICS[guide].card.title}, {scope}" for guide in GUIDES for scope in SCOPES]
    body = []
    for order in ORDERS:
        row = [order.text]
        held, pairs = counted(order, lambda column, name: PUBLISHED_AREAS[column][name])
        row.append(f"{held} of {pairs}")
        for guide, scope in product(GUIDES, SCOPES):
            held, pairs = counted(
                order, lambda column, name, g=guide, s=scope: found.of(column, name, s, g).own
            )
            row.append(f"{held} of {pairs}")
        body.append(row)
    return table(head, body)


def distance(
    found: Findings,
    published: str,
    ours: str,
    scope: Scope,
    columns: Sequence[str] = COLUMNS,
) -> float:
    """The mean absolute difference of published figures and ours, in points, canonical order."""
    apart = [
        found.of(column, ours, scope).own - PUBLISHED_AREAS[column][published] for column in columns
    ]
    return float(np.abs(apart).mean())


def inside(found: Findings, published: str, ours: str, scope: Scope) -> int:
    """How many published figures of a strategy lie in the band of one of ours."""
    held = 0
    for column in COLUMNS:
        its, row = found.of(column, ours, scope), PUBLISHED_AREAS[column][published]
        low, high = its.low.round(2), its.high.round(2)  # as the published ones are
        held += int(((low <= row) & (row <= high)).sum())
    return held


def nearest(
    found: Findings, published: str, columns: Sequence[str] = COLUMNS
) -> list[tuple[str, Scope]]:
    """The strategies and scopes of ours that the published figures of one lie nearest to.

    The nearest one first, then all that are at most half a point farther.
    """
    away = {
        (name, scope): distance(found, published, name, scope, columns)
        for name, scope in product(NAMES, SCOPES)
        if (name, scope) != ("s1", "class")
    }
    least = min(away.values())
    return sorted((each for each in away if away[each] <= least + NEAR), key=away.__getitem__)


def fits(found: Findings) -> str:
    """Per published strategy its distance to ours at both scopes, and the reading nearest to it."""
    figures = len(COLUMNS) * len(FIGURES)
    body = []
    for name in NUMBERED:
        row = [name.upper()]
        for scope in SCOPES:
            if name == "s1" and scope == "class":
                row += ["as left", ""]
                continue
            row.append(f"{distance(found, name, name, scope):.1f}")
            row.append(f"{inside(found, name, name, scope)} of {figures}")
        best = nearest(found, name)
        row.append(named(best))
        row.append(f"{distance(found, name, *best[0]):.1f}")
        row.append(f"{inside(found, name, *best[0])} of {figures}")
        body.append(row)
    head = ["published", "table scope", "in band", "class scope", "in band"]
    return table([*head, "nearest of ours", "distance", "in band"], body)


def widths(found: Findings) -> str:
    """How far ties alone move each figure: the mean and the largest width of a band."""
    body = []
    for name in NAMES:
        row = [name.upper()]
        for scope in SCOPES:
            if name == "s1" and scope == "class":
                row += ["as left", "", ""]
                continue
            wide = widths_of(found, name, scope)
            row += [f"{wide[:, f].mean():.1f}, {wide[:, f].max():.1f}" for f in range(len(FIGURES))]
        body.append(row)
    return table(["strategy", *(f"{scope}: {f}" for scope in SCOPES for f in FIGURES)], body)


def widths_of(found: Findings, strategy: str, scope: Scope) -> np.ndarray:
    """The widths of the bands of each figure, a row per column and metric. Shape (4, 3)."""
    every = [found.of(column, strategy, scope, guide) for column, guide in product(COLUMNS, GUIDES)]
    return np.array([each.high - each.low for each in every])


def named(readings: Sequence[tuple[str, Scope]]) -> str:
    """Strategies and scopes in a few words.

    >>> named([("s6", "class"), ("t", "table")])
    'S6 at class scope; T at table scope'
    """
    return "; ".join(f"{name.upper()} at {scope} scope" for name, scope in readings)


def yardsticks(found: Findings) -> dict[str, float]:
    """Mean absolute differences over all strategies but S5, both columns and both scopes.

    Of alteration, as the ``mean`` over the metrics and as the metric that guides (``guide``); of t,
    ``half`` of norm 1 and norm 1 (``norm``). What is published for S5 is not S5's.
    """
    apart: dict[str, list[float]] = {"mean": [], "guide": [], "half": [], "norm": []}
    for column, name, scope in product(COLUMNS, NUMBERED, SCOPES):
        if name == "s5":
            continue
        ours, row = found.of(column, name, scope), PUBLISHED_AREAS[column][name]
        apart["mean"].append(ours.own[ALTERATION] - row[ALTERATION])
        apart["guide"].append(ours.as_guide - row[ALTERATION])
        apart["half"].append(ours.own[T] - row[T])
        apart["norm"].append(2 * ours.own[T] - row[T])
    return {name: float(np.abs(each).mean()) for name, each in apart.items()}


def _listed(names: Sequence[str]) -> str:
    *others, last = (name.upper() for name in names)
    return f"{', '.join(others)} and {last}" if others else last
