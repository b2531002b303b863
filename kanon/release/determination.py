"""Whether quasi-identifiers decide a sensitive value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from kanon.base.formatting import percent
from kanon.errors import PlanError, quoted
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive
from kanon.sources.tables import Table

_FOLLOWS = 0.9
"""A sensitive value follows from other columns if so much of what chance leaves open is decided."""

_EVIDENCE = 20
"""Pairs of records that chance alone would have to make different, for that to be evidence."""


def determined_by(column: str, recoding: Recoding, table: Table) -> str:
    """By which quasi-identifiers a sensitive value is nearly decided; nothing if by none."""
    for what, grouped in _groupings(column, recoding, table):
        found = same_value(grouped)
        if found is not None and found[0] - found[1] >= _FOLLOWS * (1 - found[1]):
            return (
                f"it follows from {what}: two records alike there share it in "
                f"{percent(100 * found[0])} of the cases, any two in {percent(100 * found[1])}"
            )
    return ""


def _groupings(column: str, recoding: Recoding, table: Table) -> Iterator[tuple[str, Sensitive]]:
    """The sensitive column by each quasi-identifier, and by all."""
    classes = recoding.classes
    if classes.in_engine:
        for name in classes.attributes:
            with suppress(PlanError):  # more pairs of values than come here
                yield quoted(name), table.classes_of([name], [column]).sensitive_named(column)
        return
    sensitive = classes.sensitive_named(column)
    for j, name in enumerate(classes.attributes):
        group = np.unique(classes.nodes[:, j], return_inverse=True)[1]
        yield quoted(name), sensitive.grouped(group, int(group.max(initial=-1)) + 1)
    yield "all quasi-identifiers", sensitive


def same_value(grouped: Sensitive) -> tuple[float, float] | None:
    """How often two records of one group, and any two records, share a sensitive value.

    >>> group, value = [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> same_value(Sensitive.from_records("ill", ["a", "b"], False, group * 9, value * 9, 2))
    (1.0, 0.490566...)
    """
    n, sizes, total = grouped.count, grouped.sizes, grouped.total
    pairs = float(sizes @ (sizes - 1))
    if not pairs:
        return None
    overall = float(total @ (total - 1)) / float(total.sum() * (total.sum() - 1))
    if (1 - overall) * pairs / 2 < _EVIDENCE:
        return None
    return float(n @ (n - 1)) / pairs, overall
