"""What the sentences of the page say, each as a question to the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from benchmarks.strategies.measured import COLUMNS, GUIDES, Findings
from benchmarks.strategies.published import PUBLISHED_AREAS
from benchmarks.strategies.tables import ORDERS, counted, distance, inside, widths_of, yardsticks
from kanon.strategies import SCOPES

__all__ = ["CLAIMS"]


def _held(found: Findings, place: int) -> list[tuple[int, int]]:
    """In how many pairs an order holds, of how many: published, then by metric and scope."""
    order = ORDERS[place]
    ours = [
        counted(order, lambda column, name, g=guide, s=scope: found.of(column, name, s, g).own)
        for guide, scope in product(GUIDES, SCOPES)
    ]
    return [counted(order, lambda column, name: PUBLISHED_AREAS[column][name]), *ours]


def _always(found: Findings, places: range) -> bool:
    return all(held == pairs for place in places for held, pairs in _held(found, place))


def _s5_is_turned(found: Findings) -> bool:
    for place in range(5, 8):
        (held, pairs), *ours = _held(found, place)
        if held < pairs or any(ours_held for ours_held, _ in ours):
            return False
    return True


def _nearer(found: Findings, strategy: str, scope: str, other: str, by: float = 1.0) -> bool:
    one, two = (distance(found, strategy, strategy, each) for each in (scope, other))
    return by * one < two


def _alters_less(found: Findings) -> bool:
    return all(
        PUBLISHED_AREAS[column][name][0] < found.of(column, name, scope).low[0]
        for column, name, scope in product(COLUMNS, ("s3", "s6"), SCOPES)
    )


def _tossed_up(found: Findings) -> bool:
    more = inside(found, "s2", "s2", "class") > inside(found, "s2", "s2", "table")
    return more and _nearer(found, "s2", "table", "class")


def _wide_where_cost_comes_first(found: Findings) -> bool:
    first = min(widths_of(found, name, "table")[:, 0].mean() for name in ("s1", "s2", "s5"))
    last = max(widths_of(found, name, "table")[:, 0].mean() for name in ("s3", "s6"))
    return bool(first > last)


def _moved(found: Findings) -> bool:
    apart = distance(found, "s4", "s4", "table") - distance(found, "s4", "s4", "class")
    return bool(apart < np.mean([widths_of(found, "s4", scope).mean() for scope in SCOPES]))


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "S1, S2 and S4 alter less than S3 and S6": lambda found: _always(found, range(1)),
    "S3 and S6 keep l and t better than S1, S2 and S4": lambda found: _always(found, range(1, 3)),
    "the published S5 is opposite to ours": _s5_is_turned,
    "the published S5 for age is our S6 at class scope": lambda found: (
        distance(found, "s5", "s6", "class", ["age"]) < 0.05
    ),
    "S6 and T are one for age at class scope": lambda found: np.allclose(
        *(found.of("age", name, "class").own for name in ("s6", "t")), atol=0.01
    ),
    "the published S3 and S6 alter less than ours in every order of ties": _alters_less,
    "a band is wide where cost comes first": _wide_where_cost_comes_first,
    "S7 fits class scope": lambda found: _nearer(found, "s7", "class", "table", 3.0),
    "S4 is nearer at class scope": lambda found: _nearer(found, "s4", "class", "table"),
    "ties move S4 by more than the scope does": _moved,
    "S3 is nearer at table scope": lambda found: _nearer(found, "s3", "table", "class"),
    "S6 is nearer at table scope": lambda found: _nearer(found, "s6", "table", "class"),
    "S2 does not decide between the scopes": _tossed_up,
    "S5 fits neither scope": lambda found: (
        min(distance(found, "s5", "s5", scope) for scope in SCOPES) > 10
    ),
    "the total variation distance fits t": lambda found: (
        yardsticks(found)["half"] < yardsticks(found)["norm"] / 2
    ),
}
"""Per sentence of the page, in short, whether the figures bear it out."""
