"""How exposed the table of a session is, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon.sources.memory import Exposure, exposure, without_missing
from kanon.studio.work import Work

__all__ = ["Exposed", "exposed"]


@dataclass(frozen=True)
class Exposed:
    """The class sizes by all quasi-identifiers, and the unique records without each of them."""

    exposure: Exposure
    unique_without: Mapping[str, int]


def exposed(work: Work) -> Exposed:
    """Measure the table as it is, without the records that a run would drop."""
    columns = work.quasi_identifiers
    table = work.table
    if work.missing == "drop-records":
        table = without_missing(table, columns)
    without = {}
    if len(columns) > 1:
        for left_out in columns:
            rest = [column for column in columns if column != left_out]
            without[left_out] = exposure(table, rest).unique_records
    return Exposed(exposure(table, columns), without)
