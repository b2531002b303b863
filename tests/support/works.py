"""States of a session with other values of some fields, by their names alone."""

from dataclasses import fields, replace
from typing import Any

from kanon.studio.session.findings import Findings
from kanon.studio.session.parts import (
    Collection,
    CompareSettings,
    Message,
    Purpose,
    RunSettings,
    SessionPart,
    SharedView,
)
from kanon.studio.session.table_state import TableState
from kanon.studio.session.work import Work

PARTS = (
    TableState, RunSettings, CompareSettings, Collection, Purpose, Findings, Message, SharedView
)  # fmt: skip
PART_OF: dict[str, type[SessionPart]] = {each.name: kind for kind in PARTS for each in fields(kind)}
"""The part that a field stands in, by its name."""


def with_fields(work: Work, view: SessionPart | None = None, **values: Any) -> Work:
    """The work with other values of some fields, its own and those of its parts."""
    own = {name: value for name, value in values.items() if name not in PART_OF}
    work = replace(work, **own)
    for name in values.keys() - own.keys():
        work = work.with_parts(replace(work.view(PART_OF[name]), **{name: values[name]}))
    return work if view is None else work.with_parts(view)


def value_of(work: Work, name: str) -> Any:
    """The value of a field of a part, by its name."""
    return getattr(work.view(PART_OF[name]), name)
