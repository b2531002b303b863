"""What the sentences of the page say, each as a question to the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from benchmarks.strategies.measured import COLUMNS, GUIDES, Findings
from benchmarks.strategies.published import FIGURES, PUBLISHED_AREAS
from benchmarks.strategies.tables import (
    ALTERATION,
    COMPARED,
    NEAR,
    ORDERS,
    L,
    T,
    all_counted,
    at_k,
    distance,
    inside,
    widths_of,
    yardsticks,
)
from kanon.strategies import SCOPES, Scope

__all__ = ["CLAIMS"]


def _always(found: Findings, places: range) -> bool:
    return all(
        held == pairs for place in places for held, pairs in all_counted(found, ORDERS[place])
    )


def _s5_is_turned(found: Findings) -> bool:
    readings = 1 + len(SCOPES)
    for order in ORDERS[5:8]:
        for place, (held, pairs) in enumerate(all_counted(found, order)):
            published = place % readings == 0
            if held != (pairs if published else 0):
                return False
    return True


def _nearer(found: Findings, strategy: str, scope: Scope, other: Scope, by: float = 1.0) -> bool:
    one, two = (distance(found, strategy, strategy, each) for each in (scope, other))
    return by * one < two


def _nearer_in_each(found: Findings) -> bool:
    each = range(len(FIGURES))
    return all(
        distance(found, name, name, "table", figures=[figure])
        < distance(found, name, name, "class", figures=[figure])
        for name, figure in product(("s3", "s6"), each)
    )


def _one_for_age(found: Findings) -> bool:
    for guide in GUIDES:
        one, other = (found.of("age", name, "class", guide).own for name in ("s6", "t"))
        if not np.allclose(one, other, atol=0.01):
            return False
    return True


def _alters_less(found: Findings) -> bool:
    exceptions = []
    for guide, column, name, scope in product(GUIDES, COLUMNS, ("s3", "s6"), SCOPES):
        published, ours = PUBLISHED_AREAS[guide][column][name], found.of(column, name, scope, guide)
        if published[ALTERATION] >= ours.own[ALTERATION]:
            return False
        if published[ALTERATION] >= ours.low[ALTERATION]:
            exceptions.append((guide, column, name, scope))
    return exceptions == [("nllm", "marital-status", "s6", "table")]


def _wide_where_cost_comes_first(found: Findings) -> bool:
    first = min(widths_of(found, name, "table")[:, 0].mean() for name in ("s1", "s2", "s5"))
    last = max(widths_of(found, name, "table")[:, 0].mean() for name in ("s3", "s6"))
    return bool(first > last)


def _moved(found: Findings) -> bool:
    apart = distance(found, "s4", "s4", "table") - distance(found, "s4", "s4", "class")
    return bool(0 < apart < np.mean([widths_of(found, "s4", scope).mean() for scope in SCOPES]))


def _one_metric_for_s5(found: Findings) -> bool:
    one, other = (PUBLISHED_AREAS[guide]["age"]["s5"] for guide in GUIDES)
    return bool((one == other).all())


def _text_fits_class(found: Findings) -> bool:
    """What is said of L and T lies nearer to class scope, every time."""
    said = (
        ("marital-status", "l", ALTERATION, 3, 60.0),
        ("marital-status", "t", ALTERATION, 3, 60.0),
        ("marital-status", "l", L, 50, 100.0),
        ("marital-status", "t", T, 50, 0.0),
        ("age", "t", T, 500, 0.0),
    )
    for column, name, figure, k, text in said:
        table, alone = (
            abs(at_k(found, column, name, scope, figure, k) - text) for scope in ("table", "class")
        )
        if alone >= table:
            return False
    return True


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "S1, S2 and S4 alter less than S3 and S6": lambda found: _always(found, range(1)),
    "S3 and S6 keep l and t better than S1, S2 and S4": lambda found: _always(found, range(1, 3)),
    "the published S5 is opposite to ours": _s5_is_turned,
    "the published S5 for age is the same with both metrics": _one_metric_for_s5,
    "the published S5 for age is our S6 at class scope": lambda found: (
        distance(found, "s5", "s6", "class", ["age"]) < 0.05
    ),
    "S6 and T are one for age at class scope": _one_for_age,
    "the published S3 and S6 alter less than ours, in other orders of ties with one exception": (
        _alters_less
    ),
    "a band is wide where cost comes first": _wide_where_cost_comes_first,
    "S7 fits class scope": lambda found: _nearer(found, "s7", "class", "table", 2.0),
    "S2 is as near at either scope": lambda found: (
        abs(np.subtract(*[distance(found, "s2", "s2", scope) for scope in SCOPES])) < NEAR
    ),
    "all published figures of S2 lie in its bands at class scope": lambda found: (
        inside(found, "s2", "s2", "class") == COMPARED
    ),
    "S4 is nearer at class scope, by less than ties move it": _moved,
    "S3 and S6 are nearer at table scope in alteration, l and t": _nearer_in_each,
    "S5 fits neither scope": lambda found: (
        min(distance(found, "s5", "s5", scope) for scope in SCOPES) > 10
    ),
    "the figures do not tell which alteration was published": lambda found: (
        abs(yardsticks(found)["guide"] - yardsticks(found)["mean"]) < NEAR
    ),
    "the total variation distance fits t": lambda found: (
        yardsticks(found)["half"] < yardsticks(found)["norm"] / 2
    ),
    "what the text says of L and T is nearer to class scope": _text_fits_class,
    "T for age has t = 0 from k = 500 at class scope": lambda found: (
        at_k(found, "age", "t", "class", T, 500) == 0 < at_k(found, "age", "t", "class", T, 250)
    ),
    "L for age is not at its highest l at k = 500 at class scope": lambda found: (
        at_k(found, "age", "l", "class", L, 500) < 99
    ),
}
"""Per sentence of the page, in short, whether the figures bear it out."""
