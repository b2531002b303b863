"""How exposed the table of a session is, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon.sources.exposure import Exposure, exposure, unique_without_each
from kanon.studio.session.work import Work


@dataclass(frozen=True)
class ExposureNumbers:
    """The class sizes by all quasi-identifiers, and how many are unique without each of them."""

    exposure: Exposure
    unique_without: Mapping[str, int]


def exposed(work: Work) -> ExposureNumbers:
    """Measure the table as it is, without the records that a run would drop."""
    table = work.table
    classes = table.complete_records.classes_of(
        table.quasi_identifiers, person=table.person_counted
    )
    return ExposureNumbers(exposure(classes), unique_without_each(classes))
