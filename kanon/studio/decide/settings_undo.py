"""Settings that a button of the page Decide has taken over, and the way back.

Pure functions from one state of a session to the next; nothing here knows Streamlit.
"""

from dataclasses import replace

from kanon.studio.decide.state import DecidePart, DecideView
from kanon.studio.session.changed_settings import change_to, still_stands
from kanon.studio.session.parts import Message, SessionPart
from kanon.studio.session.work import Work


def with_taken(work: Work, part: DecidePart, notice: str, *settings: SessionPart) -> Work:
    """The work with other settings, as if they had been chosen by hand, and with the way back."""
    change = change_to(work, work.view(DecideView).taken.get(part), *settings)
    taken = {**work.view(DecideView).taken, part: change}
    deciding = replace(work.view(DecideView), taken=taken)
    return work.with_parts(*settings, deciding, Message(notice=notice))


def can_go_back(work: Work, part: DecidePart) -> bool:
    """Whether all that a part changed last is still as it left it."""
    return still_stands(work, work.view(DecideView).taken.get(part))


def as_before(work: Work, part: DecidePart) -> Work:
    """The work with the settings from before a part changed them; the same if there is no way."""
    if not can_go_back(work, part):
        return work
    before = work.view(DecideView).taken[part].undo(work)
    others = {name: one for name, one in work.view(DecideView).taken.items() if name != part}
    deciding = replace(work.view(DecideView), taken=others)
    return before.with_parts(deciding, Message(notice="As it was before."))
