"""Settings that a button of the page Decide has taken over, and the way back.

Pure functions from one state of a session to the next; nothing here knows Streamlit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kanon.base.language import say
from kanon.studio.decide.state import DecidePart, DecideView, SettingsChange
from kanon.studio.session.work import Work, value_of, with_fields


def with_taken(work: Work, part: DecidePart, notice: str, **settings: Any) -> Work:
    """The work with other settings, as if they had been chosen by hand, and with the way back.

    Parameters
    ----------
    part
        The part of the page whose button takes them. What it takes twice in a row is given back at
        once.
    settings
        The settings, by the names of the work's fields.
    """
    first = work.view(DecideView).taken[part].changed if can_go_back(work, part) else {}
    both = {
        name: (first[name][0] if name in first else value_of(work, name), value)
        for name, value in settings.items()
    }
    changed = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
    taken = {**work.view(DecideView).taken, part: SettingsChange(work.version, changed)}
    deciding = replace(work.view(DecideView), taken=taken)
    return with_fields(work, **settings, view=deciding, problem=None, notice=notice)


def can_go_back(work: Work, part: DecidePart) -> bool:
    """Whether all that a part changed last is still as it left it.

    Whatever was chosen since, by hand or by another button, would else be lost. Another table, and
    a project, are another version.
    """
    taken = work.view(DecideView).taken.get(part)
    return (
        taken is not None
        and taken.version == work.version
        and bool(taken.changed)
        and all(value_of(work, name) == after for name, (_, after) in taken.changed.items())
    )


def as_before(work: Work, part: DecidePart) -> Work:
    """The work with the settings from before a part changed them; the same if there is no way."""
    if not can_go_back(work, part):
        return work
    changed = work.view(DecideView).taken[part].changed
    before = {name: before for name, (before, _) in changed.items()}
    others = {name: one for name, one in work.view(DecideView).taken.items() if name != part}
    deciding = replace(work.view(DecideView), taken=others)
    return with_fields(work, **before, view=deciding, problem=None, notice=say("As it was before."))
