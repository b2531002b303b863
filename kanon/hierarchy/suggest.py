"""A hierarchy to start from, suggested from the values; the user sees it and changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kanon.errors import HierarchyError
from kanon.hierarchy.build import dates
from kanon.values import numbers

__all__ = ["Proposal", "starting_parameters", "strays", "suggest_builder"]

_FEW = 12
"""Up to so many distinct values, keeping or losing a value is a fair start."""


@dataclass(frozen=True)
class Proposal:
    """A builder with its parameters, as a plan names it, and why in one sentence."""

    builder: str
    reason: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def suggest_builder(values: Sequence[str]) -> Proposal:
    """Suggest a builder for the distinct values of a column.

    Many numbers become intervals, dates periods, long codes of equal length are masked; anything
    else is kept or lost.

    >>> suggest_builder([str(age) for age in range(17, 91)]).parameters
    {'widths': [5, 10, 20]}
    >>> suggest_builder(["F", "M"]).builder
    'suppression'
    """
    if len(values) <= _FEW:
        return Proposal("suppression", "It has few values: each is kept or lost.")
    builder, reason = "suppression", "Its values have no order: each is kept or lost."
    codes = _same_length(values) and " " not in "".join(values)
    parsed = numbers(list(values))
    if parsed is not None and not (codes and np.all(parsed >= 10_000)):
        builder, reason = "intervals", "Its values are numbers."
    elif _are_dates(values):
        builder, reason = "dates", "Its values are dates."
    elif codes and 4 <= len(values[0]) <= 12:
        builder, reason = "mask", "Its values are codes of equal length."
    return Proposal(builder, reason, starting_parameters(builder, values))


def starting_parameters(builder: str, values: Sequence[str]) -> dict[str, Any]:
    """Parameters to start a builder with, whether or not it is the one that fits best.

    >>> starting_parameters("mask", ["47601", "47602"])
    {'keep': [4, 3, 2]}
    """
    if builder == "intervals":
        parsed = numbers([value for value in values if numbers([value]) is not None])
        return {} if parsed is None else {"widths": _ladder(float(parsed.max() - parsed.min()))}
    if builder == "mask":
        longest = max(map(len, values), default=0)
        return {"keep": list(range(longest - 1, max(longest - 5, 1), -1)) or [1]}
    if builder == "dates":
        return {"levels": ["month", "quarter", "year", "decade"]}
    return {}


def strays(values: Sequence[str]) -> list[str]:
    """The few texts among numbers: perhaps they stand for missing.

    >>> strays([*map(str, range(40)), "k.A."])
    ['k.A.']
    """
    texts = [value for value in values if numbers([value]) is None]
    few = 0 < len(texts) <= 3 and len(texts) <= 0.1 * len(values)
    return texts if few and not any(text.isdigit() for text in texts) else []


def _are_dates(values: Sequence[str]) -> bool:
    try:
        dates(values, ["year"])
    except HierarchyError:
        return False
    return True


def _same_length(values: Sequence[str]) -> bool:
    return len({len(value) for value in values}) == 1


def _ladder(span: float) -> list[float]:
    """Three widths of 1, 2 or 5 times a power of ten that nest, for a range of numbers."""
    unit = 10.0 ** np.floor(np.log10(span / 20)) if span > 0 else 1.0
    factor = next(step for step in (1, 2, 5, 10) if unit * step >= span / 20)
    narrow = unit * factor
    steps = (narrow, narrow * 2, narrow * 4)
    return [int(step) if float(step).is_integer() else float(f"{step:.12g}") for step in steps]
