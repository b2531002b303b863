"""States of a session with other values of some fields, by their names alone."""

from dataclasses import fields, replace
from typing import Any

from kanon.studio.session.findings import SessionResults
from kanon.studio.session.parts import (
    CompareSettings,
    Message,
    Purpose,
    RunSettings,
    SavedItems,
    SharedView,
    StateSection,
)
from kanon.studio.session.table_state import TableState
from kanon.studio.session.work import SessionState

PARTS = (
    TableState, RunSettings, CompareSettings, SavedItems, Purpose, SessionResults, Message,
    SharedView,
)  # fmt: skip
PART_OF: dict[str, type[StateSection]] = {
    each.name: kind for kind in PARTS for each in fields(kind)
}
"""The part that a field stands in, by its name."""


def with_fields(
    work: SessionState, view: StateSection | None = None, **values: Any
) -> SessionState:
    """The work with other values of some fields, its own and those of its parts."""
    own = {name: value for name, value in values.items() if name not in PART_OF}
    work = replace(work, **own)
    for name in values.keys() - own.keys():
        work = work.replace_sections(replace(work.view(PART_OF[name]), **{name: values[name]}))
    return work if view is None else work.replace_sections(view)


def value_of(work: SessionState, name: str) -> Any:
    """The value of a field of a part, by its name."""
    return getattr(work.view(PART_OF[name]), name)
