"""What the page Report shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kanon.studio.session.parts import SessionPart


@dataclass(frozen=True)
class ReportView(SessionPart):
    public: bool = False  # whether the form for publication is wanted
    publish: tuple[str, ...] = ()  # the names of the figures of the table published in it
    preview: bool = False  # whether the report is shown on the page
    in_context: bool = False  # whether it says what its purpose, as on Decide, asks for

    LABELS: ClassVar[Mapping[str, str]] = {
        "in_context": "Say whether the release has what its purpose asks for"
    }
