"""Which settings differ from those that something was made with, in the words of their controls."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kanon.errors import KanonError
from kanon.studio.session.findings import SessionResults
from kanon.studio.session.parts import SavedItems, StateSection
from kanon.studio.session.work import SessionState


@dataclass(frozen=True)
class SettingsChange:
    """What a button last changed in the settings."""

    version: int  # Of the state then
    # The old and the new value, by the class of a section and the name of its field.
    changed: Mapping[tuple[type[StateSection], str], tuple[Any, Any]]

    def undo(self, work: SessionState) -> SessionState:
        for (kind, name), (before, _) in self.changed.items():
            work = work.replace_sections(replace(work.view(kind), **{name: before}))
        return work


def describe_change(
    work: SessionState, earlier: SettingsChange | None, *parts: StateSection
) -> SettingsChange:
    """Describe a change of settings, merged with the one the same button made just before."""
    first = earlier.changed if earlier is not None and is_still_current(work, earlier) else {}
    changed: dict[tuple[type[StateSection], str], tuple[Any, Any]] = {}
    for part in parts:
        current = work.view(type(part))
        for name in (field.name for field in fields(part)):
            key, new = (type(part), name), getattr(part, name)
            old = first[key][0] if key in first else getattr(current, name)
            if old != new:
                changed[key] = old, new
    return SettingsChange(work.version, changed)


def is_still_current(work: SessionState, change: SettingsChange | None) -> bool:
    """Whether nothing was changed since, so that going back loses nothing."""
    if change is None or change.version != work.version or not change.changed:
        return False
    changes = change.changed.items()
    return all(getattr(work.view(kind), name) == after for (kind, name), (_, after) in changes)


def record_start_state(work: SessionState, job_name: str, began: SessionState) -> SessionState:
    start_work = replace(
        began, findings=SessionResults(), running={}, made_with={}, kept=SavedItems()
    )
    return replace(work, made_with={**work.made_with, job_name: start_work})


def list_changed_labels(
    work: SessionState, job_name: str, get_inputs: Callable[[SessionState], object]
) -> list[str]:
    """The labels of what was changed since a calculation began, if it depends on them."""
    before = work.made_with.get(job_name)
    if before is None or before.version != work.version:
        return []
    current = _compute_or_explain(get_inputs, work)
    labels = (
        name
        for name, other in _iterate_reversions(before, work)
        if _compute_or_explain(get_inputs, other) != current
    )
    return list(dict.fromkeys(labels))


def _compute_or_explain(depends: Callable[[SessionState], object], work: SessionState) -> object:
    try:
        return depends(work)
    except KanonError as error:
        return error.sentence


def _iterate_reversions(
    before: SessionState, work: SessionState
) -> Iterator[tuple[str, SessionState]]:
    """Each difference, with the current state in which it alone is as before."""
    for column, role in before.table.roles.items():
        if work.table.roles.get(column) is not role:
            roles = {**work.table.roles, column: role}
            yield f"Role of {column}", work.replace_sections(replace(work.table, roles=roles))
    for column, choice in before.table.choices.items():
        if work.table.choices.get(column) is not choice:
            choices = {**work.table.choices, column: choice}
            yield (
                f"Hierarchy of {column}",
                work.replace_sections(replace(work.table, choices=choices)),
            )
    for kind in {**before.parts, **work.parts}:
        for name, label in kind.LABELS.items():
            value = getattr(before.view(kind), name)
            if getattr(work.view(kind), name) != value:
                yield label, work.replace_sections(replace(work.view(kind), **{name: value}))
