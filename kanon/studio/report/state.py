"""What the Report page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kanon.studio.session.parts import StateSection


@dataclass(frozen=True)
class ReportView(StateSection):
    public: bool = False  # the form for publication, else the internal one
    publish: tuple[str, ...] = ()  # the names of the published figures of the table
    preview: bool = False  # whether the report is shown on the page
    in_context: bool = False  # whether the release is checked against its purpose (page Decide)

    LABELS: ClassVar[Mapping[str, str]] = {"in_context": "Check the release against its purpose"}
