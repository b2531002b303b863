"""What the page Compare shows."""

from __future__ import annotations

from dataclasses import dataclass

from kanon.studio.session.settings_change import SettingsChange


@dataclass(frozen=True)
class CompareView:
    """What is shown.

    Attributes
    ----------
    filling
        The place of the panel that fills the screen; None while the whole board is shown.
    taken
        What a preset changed last, while it can be given back.
    """

    filling: int | None = None
    taken: SettingsChange | None = None
