"""A hierarchy to start from, suggested from the values; the user sees it and changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kanon.errors import HierarchyError
from kanon.hierarchy.build import dates
from kanon.values import numbers

__all__ = ["Proposal", "suggest_builder"]

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
    parsed = numbers(list(values))
    if parsed is not None and not (np.all(parsed >= 10_000) and _same_length(values)):
        widths = _ladder(float(parsed.max() - parsed.min()))
        return Proposal("intervals", "Its values are numbers.", {"widths": widths})
    try:
        dates(values, ["year"])
    except HierarchyError:
        pass
    else:
        levels = ["month", "quarter", "year", "decade"]
        return Proposal("dates", "Its values are dates.", {"levels": levels})
    if _same_length(values) and 4 <= len(values[0]) <= 12 and " " not in "".join(values):
        keep = list(range(len(values[0]) - 1, 1, -1))
        return Proposal("mask", "Its values are codes of equal length.", {"keep": keep})
    return Proposal("suppression", "Its values have no order: each is kept or lost.")


def _same_length(values: Sequence[str]) -> bool:
    return len({len(value) for value in values}) == 1


def _ladder(span: float) -> list[float]:
    """Three widths of 1, 2 or 5 times a power of ten that nest, for a range of numbers."""
    unit = 10.0 ** np.floor(np.log10(span / 20)) if span > 0 else 1.0
    factor = next(step for step in (1, 2, 5, 10) if unit * step >= span / 20)
    narrow = unit * factor
    steps = (narrow, narrow * 2, narrow * 4)
    return [int(step) if float(step).is_integer() else float(f"{step:.12g}") for step in steps]
