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
    kept, person = work.table.complete_records, work.table.person_known
    if person is not None and kept.incomplete([person]):  # said beside the choice of the column
        person = None
    classes = kept.classes_of(work.table.quasi_identifiers, person=person)
    return ExposureNumbers(exposure(classes), unique_without_each(classes))
