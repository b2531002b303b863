"""Changes of settings by a button of the page Decide, and their undo."""

from dataclasses import replace

from kanon.studio.decide.state import DecidePart, DecideView
from kanon.studio.session.changed_settings import change_to, still_stands
from kanon.studio.session.parts import Message, SessionPart
from kanon.studio.session.work import Work


def with_taken(work: Work, part: DecidePart, notice: str, *settings: SessionPart) -> Work:
    change = change_to(work, work.view(DecideView).taken.get(part), *settings)
    changes = {**work.view(DecideView).taken, part: change}
    deciding = replace(work.view(DecideView), taken=changes)
    return work.with_parts(*settings, deciding, Message(notice=notice))


def can_go_back(work: Work, part: DecidePart) -> bool:
    return still_stands(work, work.view(DecideView).taken.get(part))


def as_before(work: Work, part: DecidePart) -> Work:
    if not can_go_back(work, part):
        return work
    before = work.view(DecideView).taken[part].undo(work)
    others = {name: change for name, change in work.view(DecideView).taken.items() if name != part}
    deciding = replace(work.view(DecideView), taken=others)
    return before.with_parts(deciding, Message(notice="The previous settings are back."))
