"""How exposed the table of a session is, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon.sources.exposure import (
    Exposure,
    exposure,
    exposure_of_sizes,
    unique_without_each,
)
from kanon.sources.suppressed_rows import find_suppressed
from kanon.studio.session.engine_classes import classes_kept
from kanon.studio.session.work import Work


@dataclass(frozen=True)
class ExposureNumbers:
    """The class sizes by all quasi-identifiers, and how many are unique without each of them."""

    exposure: Exposure
    unique_without: Mapping[str, int]
    suppressed: int = 0  # by whoever made the table: they are in none of the numbers


def exposed(work: Work) -> ExposureNumbers:
    """Measure the table as it is, without the records that a run would drop."""
    table = work.table
    if classes_kept(work) is not None:
        sizes = table.complete_records.group_sizes(table.quasi_identifiers)
        return ExposureNumbers(exposure_of_sizes(sizes), {})
    classes = table.complete_records.classes_of(
        table.quasi_identifiers, person=table.person_counted
    )
    silent = find_suppressed(table.complete_records, classes)
    suppressed, classes = int(classes.counts[silent].sum()), classes.without(silent)
    return ExposureNumbers(exposure(classes), unique_without_each(classes), suppressed)
