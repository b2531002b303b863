"""What the page Report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kanon.base.language import say


@dataclass(frozen=True)
class ReportView:
    """What is shown.

    Attributes
    ----------
    public
        Whether the form for publication is wanted.
    publish
        The figures of the table that are published in it, by their names.
    preview
        Whether the report is shown on the page.
    in_context
        Whether the report says what is asked of the release by what it is for, as on the page
        Decide.
    """

    public: bool = False
    publish: tuple[str, ...] = ()
    preview: bool = False
    in_context: bool = False

    LABELS: ClassVar[Mapping[str, str]] = {
        "in_context": say("Say whether the release has what its purpose asks for")
    }
