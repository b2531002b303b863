"""What the Compare page shows."""

from dataclasses import dataclass

from kanon.studio.session.changed_settings import SettingsChange
from kanon.studio.session.parts import StateSection


@dataclass(frozen=True)
class CompareView(StateSection):
    filling: int | None = None  # its place; None while the whole board is shown
    opened: str = ""  # the title of the kept comparison on the board; empty for the current one
    beside: str = ""  # the title of the kept comparison that stands beside it
    taken: SettingsChange | None = None  # the change by the last preset, while it can be undone
