"""Settings that one press has changed, and the way back. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon.studio.session.work import Work, value_of


@dataclass(frozen=True)
class SettingsChange:
    """What a button changed at the settings last."""

    version: int  # That of the work then
    # By the name of a field of the work what it was before and what it became.
    changed: Mapping[str, tuple[Any, Any]]

    @property
    def before(self) -> dict[str, Any]:
        """The settings as they were."""
        return {name: before for name, (before, _) in self.changed.items()}


def change_to(
    work: Work, earlier: SettingsChange | None, settings: Mapping[str, Any]
) -> SettingsChange:
    """What other settings change; with what the same button changed just before, as one step."""
    first = earlier.before if earlier is not None and still_stands(work, earlier) else {}
    both = {name: (first.get(name, value_of(work, name)), new) for name, new in settings.items()}
    changed = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
    return SettingsChange(work.version, changed)


def still_stands(work: Work, change: SettingsChange | None) -> bool:
    """Whether all that was changed is still as it was left, so that going back loses nothing.

    Whatever was chosen since, by hand or by another button, would else be lost. Another table, and
    a project, are another version.
    """
    return (
        change is not None
        and change.version == work.version
        and bool(change.changed)
        and all(value_of(work, name) == after for name, (_, after) in change.changed.items())
    )
