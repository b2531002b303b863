"""Which settings differ from those that something was made with, in the words of their controls."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kanon.errors import KanonError
from kanon.studio.session.findings import Findings
from kanon.studio.session.parts import Collection, SessionPart
from kanon.studio.session.work import Work


@dataclass(frozen=True)
class SettingsChange:
    """What a button changed at the settings last."""

    version: int  # That of the work then
    # By the class of a part and the name of its field what it was before and what it became.
    changed: Mapping[tuple[type[SessionPart], str], tuple[Any, Any]]

    def undo(self, work: Work) -> Work:
        for (kind, name), (before, _) in self.changed.items():
            work = work.with_parts(replace(work.view(kind), **{name: before}))
        return work


def change_to(work: Work, earlier: SettingsChange | None, *parts: SessionPart) -> SettingsChange:
    """What other settings change; with what the same button changed just before, as one step."""
    first = earlier.changed if earlier is not None and still_stands(work, earlier) else {}
    changed: dict[tuple[type[SessionPart], str], tuple[Any, Any]] = {}
    for part in parts:
        now = work.view(type(part))
        for name in (each.name for each in fields(part)):
            key, new = (type(part), name), getattr(part, name)
            old = first[key][0] if key in first else getattr(now, name)
            if old != new:
                changed[key] = old, new
    return SettingsChange(work.version, changed)


def still_stands(work: Work, change: SettingsChange | None) -> bool:
    """Whether all that was changed is still as it was left, so that going back loses nothing."""
    if change is None or change.version != work.version or not change.changed:
        return False
    left = change.changed.items()
    return all(getattr(work.view(kind), name) == after for (kind, name), (_, after) in left)


def made_with(now: Work, doing: str, began: Work) -> Work:
    chosen = replace(began, findings=Findings(), running={}, made_with={}, kept=Collection())
    return replace(now, made_with={**now.made_with, doing: chosen})


def changed_since(work: Work, doing: str, depends: Callable[[Work], object]) -> list[str]:
    """What was changed since, of that which matters to it; nothing if that is not known."""
    before = work.made_with.get(doing)
    if before is None or before.version != work.version:
        return []
    now = _tried(depends, work)
    told = (name for name, other in _one_as_before(before, work) if _tried(depends, other) != now)
    return list(dict.fromkeys(told))


def _tried(depends: Callable[[Work], object], work: Work) -> object:
    try:
        return depends(work)
    except KanonError as error:
        return error.sentence


def _one_as_before(before: Work, now: Work) -> Iterator[tuple[str, Work]]:
    """What differs, each with the work of now in which that alone is as it was."""
    for column, role in before.table.roles.items():
        if now.table.roles.get(column) is not role:
            roles = {**now.table.roles, column: role}
            yield f"Role of {column}", now.with_parts(replace(now.table, roles=roles))
    for column, choice in before.table.choices.items():
        if now.table.choices.get(column) is not choice:
            choices = {**now.table.choices, column: choice}
            yield f"Hierarchy of {column}", now.with_parts(replace(now.table, choices=choices))
    for kind in {**before.parts, **now.parts}:
        for name, label in kind.LABELS.items():
            value = getattr(before.view(kind), name)
            if getattr(now.view(kind), name) != value:
                yield label, now.with_parts(replace(now.view(kind), **{name: value}))
