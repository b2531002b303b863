"""The tables of the page, from what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.markdown import table
from benchmarks.strategies.measured import COLUMNS, CURVE_KS, GUIDES, NAMES, Areas, Findings
from benchmarks.strategies.published import FIGURES, PUBLISHED_AREAS, PUBLISHED_BEST_L
from kanon.metrics import METRICS
from kanon.strategies import SCOPES, Scope

__all__ = [
    "ALTERATION",
    "COMPARED",
    "NEAR",
    "NUMBERED",
    "ORDERS",
    "L",
    "Order",
    "T",
    "all_counted",
    "areas",
    "at_k",
    "counted",
    "distance",
    "fits",
    "inside",
    "named",
    "nearest",
    "of_text",
    "orders",
    "widths",
    "widths_of",
    "yardsticks",
]

NUMBERED = tuple(PUBLISHED_AREAS[GUIDES[0]][COLUMNS[0]])
"""The strategies that have published figures."""

ALTERATION, L, T, MEAN = range(4)

NEAR = 0.5
"""Readings so many points farther than the nearest one are named with it."""

AS_LEFT = "as left"
"""Of S1 at class scope: it looks at no class, so it is that of table scope."""

COMPARED = len(GUIDES) * len(COLUMNS) * len(FIGURES)
"""So many figures of each strategy are published."""


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
    """One figure: a row per strategy; published beside ours at both scopes, with the bands.

    Beside the alteration as the metric that guides counts it stands the mean over the seven.
    """
    means = figure == ALTERATION
    head = ["strategy", "published", *(f"{scope} scope" for scope in SCOPES)]
    head += [f"mean of the seven, {scope} scope" for scope in SCOPES if means]
    body = []
    for name in NAMES:
        its = PUBLISHED_AREAS[guide][column].get(name)
        row = [name.upper(), "" if its is None else f"{its[figure]:.2f}"]
        ours = {scope: found.of(column, name, scope, guide) for scope in SCOPES}
        alone = {scope: name == "s1" and scope == "class" for scope in SCOPES}
        row += [AS_LEFT if alone[scope] else _cell(ours[scope], figure) for scope in SCOPES]
        if means:
            row += [AS_LEFT if alone[scope] else f"{ours[scope].own[MEAN]:.2f}" for scope in SCOPES]
        body.append(row)
    return table(head, body)


def _cell(its: Areas, figure: int) -> str:
    """The canonical order, and least to most over all orders of ties."""
    own, low, high = (each[figure] for each in (its.own, its.low, its.high))
    return f"{own:.2f} ({low:.1f} to {high:.1f})"


def counted(
    order: Order,
    value: Callable[[str, str, str], np.ndarray],
    guides: Sequence[str] = GUIDES,
    columns: Sequence[str] = COLUMNS,
) -> tuple[int, int]:
    """In how many pairs an order holds, and of how many.

    ``value`` is that of a metric that guides, a column and a strategy.
    """
    pairs = list(product(guides, columns, order.first, order.second))
    held = 0
    for guide, column, one, other in pairs:
        apart = value(guide, column, one)[order.figure] - value(guide, column, other)[order.figure]
        held += bool(apart > 0 if order.higher else apart < 0)
    return held, len(pairs)


def all_counted(found: Findings, order: Order) -> list[tuple[int, int]]:
    """In how many pairs an order holds, of how many: by metric published, then at each scope."""

    def published(guide: str, column: str, name: str) -> np.ndarray:
        return PUBLISHED_AREAS[guide][column][name]

    def ours(scope: Scope) -> Callable[[str, str, str], np.ndarray]:
        return lambda guide, column, name: found.of(column, name, scope, guide).own

    readings = [published, *map(ours, SCOPES)]
    return [counted(order, value, [guide]) for guide, value in product(GUIDES, readings)]


def orders(found: Findings) -> str:
    """In how many pairs of strategies an order holds: published, and ours at both scopes."""
    readings = ("published", *SCOPES)
    head = ["order", *(f"{METRICS[g].card.title}, {each}" for g, each in product(GUIDES, readings))]
    body = [
        [order.text, *(f"{held} of {pairs}" for held, pairs in all_counted(found, order))]
        for order in ORDERS
    ]
    return table(head, body)


def distance(
    found: Findings,
    published: str,
    ours: str,
    scope: Scope,
    columns: Sequence[str] = COLUMNS,
    figures: Sequence[int] = (ALTERATION, L, T),
) -> float:
    """The mean absolute difference of published figures and ours, in points, canonical order.

    Over some of alteration, l and t, with either metric that guides.
    """
    apart = [
        found.of(column, ours, scope, guide).own[f] - PUBLISHED_AREAS[guide][column][published][f]
        for guide, column, f in product(GUIDES, columns, figures)
    ]
    return float(np.abs(apart).mean())


def inside(found: Findings, published: str, ours: str, scope: Scope) -> int:
    """How many published figures of a strategy lie in the band of one of ours."""
    held = 0
    for guide, column in product(GUIDES, COLUMNS):
        its = found.of(column, ours, scope, guide)
        low, high = (each[: len(FIGURES)].round(2) for each in (its.low, its.high))
        row = PUBLISHED_AREAS[guide][column][published]  # of two digits too
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
    body = []
    for name in NUMBERED:
        row = [name.upper()]
        for scope in SCOPES:
            if name == "s1" and scope == "class":
                row += [AS_LEFT, ""]
                continue
            row.append(f"{distance(found, name, name, scope):.1f}")
            row.append(f"{inside(found, name, name, scope)} of {COMPARED}")
        best = nearest(found, name)
        row.append(named(best))
        row.append(f"{distance(found, name, *best[0]):.1f}")
        row.append(f"{inside(found, name, *best[0])} of {COMPARED}")
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
                row += [AS_LEFT, "", ""]
                continue
            wide = widths_of(found, name, scope)
            row += [f"{wide[:, f].mean():.1f}, {wide[:, f].max():.1f}" for f in range(len(FIGURES))]
        body.append(row)
    return table(["strategy", *(f"{scope}: {f}" for scope in SCOPES for f in FIGURES)], body)


def widths_of(found: Findings, strategy: str, scope: Scope) -> np.ndarray:
    """The widths of the bands of each figure, a row per column and metric. Shape (4, 3)."""
    every = [found.of(column, strategy, scope, guide) for column, guide in product(COLUMNS, GUIDES)]
    return np.array([(each.high - each.low)[: len(FIGURES)] for each in every])


def named(readings: Sequence[tuple[str, Scope]]) -> str:
    """Strategies and scopes in a few words.

    >>> named([("s6", "class"), ("t", "table")])
    'S6 at class scope; T at table scope'
    """
    return "; ".join(f"{name.upper()} at {scope} scope" for name, scope in readings)


def yardsticks(found: Findings) -> dict[str, float]:
    """Mean absolute differences over all strategies but S5, both columns, metrics and scopes.

    Of alteration, as the metric that guides counts it (``guide``) and as the ``mean`` over the
    seven; of t, ``half`` of norm 1 and norm 1 (``norm``). What is published for S5 is not S5's.
    """
    apart: dict[str, list[float]] = {"guide": [], "mean": [], "half": [], "norm": []}
    for guide, column, name, scope in product(GUIDES, COLUMNS, NUMBERED, SCOPES):
        if name == "s5":
            continue
        own = found.of(column, name, scope, guide).own
        row = PUBLISHED_AREAS[guide][column][name]
        apart["guide"].append(own[ALTERATION] - row[ALTERATION])
        apart["mean"].append(own[MEAN] - row[ALTERATION])
        apart["half"].append(own[T] - row[T])
        apart["norm"].append(2 * own[T] - row[T])
    return {name: float(np.abs(each).mean()) for name, each in apart.items()}


def at_k(found: Findings, column: str, strategy: str, scope: Scope, figure: int, k: int) -> float:
    """Alteration as NLLM counts it, l or t of the release for one k, in the canonical order."""
    curve = found.curve(column, strategy, scope, "nllm")
    return float(curve[figure][CURVE_KS.index(k)])


def of_text(found: Findings) -> str:
    """What the text says of single releases, beside ours at both scopes."""
    body = [
        [
            f"l of `{column}`, the table as one class",
            f"{best:.2f}",
            *[f"{found.best_l[column]:.2f}"] * 2,
        ]
        for column, best in PUBLISHED_BEST_L.items()
    ]
    said = (
        ("marital-status", "s1", ALTERATION, 3, "about 2.77"),
        ("marital-status", "l", ALTERATION, 3, "close to 60"),
        ("marital-status", "t", ALTERATION, 3, "close to 60"),
        ("marital-status", "l", L, 50, "100: the highest from here on"),
        ("marital-status", "t", T, 50, "close to 0 from here on"),
        ("age", "l", L, 500, "100: the highest from here on"),
        ("age", "t", T, 500, "0 from here on"),
    )
    for column, name, figure, k, text in said:
        what = ("alteration as NLLM counts", "l", "t")[figure]
        ours = [f"{at_k(found, column, name, scope, figure, k):.2f}" for scope in SCOPES]
        if name == "s1":
            ours[1] = AS_LEFT
        body.append([f"{name.upper()} for `{column}`, k = {k}: {what}, %", text, *ours])
    return table(["what", "text", *(f"{scope} scope" for scope in SCOPES)], body)


def _listed(names: Sequence[str]) -> str:
    *others, last = (name.upper() for name in names)
    return f"{', '.join(others)} and {last}" if others else last
