"""The hierarchies of a session: choose, build, undo, and rebuild them for other records."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kanon.base.values import ValueCounts
from kanon.errors import HierarchyError
from kanon.schema import Role, singles_out
from kanon.studio.session.choices import (
    HierarchyChoice,
    choose,
    drawn,
    remade,
    start_with,
    starting_text,
)
from kanon.studio.session.parts import Message
from kanon.studio.session.samples import ADULT_FOLDER, bundled_file
from kanon.studio.session.table_state import ChangedChoice, History, Missing
from kanon.studio.session.work import Work


def with_role(work: Work, column: str, role: Role) -> Work:
    return with_roles(work, [column], role)


def with_roles(work: Work, columns: Iterable[str], role: Role) -> Work:
    """Set the role of some columns; new quasi-identifiers get a first hierarchy."""
    roles, reasons = dict(work.table.roles), dict(work.table.reasons)
    for column in columns:
        sentences = ["Set by you.", singles_out(work.table.records.distinct_of(column))]
        roles[column], reasons[column] = role, " ".join(filter(None, sentences))
    undecided = work.table.undecided.difference(columns)
    table = replace(work.table, roles=roles, reasons=reasons, undecided=undecided)
    return with_choices(work.with_parts(table, replace(work.message, problem=None)))


def with_missing(work: Work, missing: Missing) -> Work:
    table = replace(work.table, missing=missing)
    return with_choices(work.with_parts(table, replace(work.message, problem=None)))


def with_choice(work: Work, column: str, choice: HierarchyChoice) -> Work:
    return with_chosen(work, {column: choice})


def with_chosen(work: Work, choices: Mapping[str, HierarchyChoice]) -> Work:
    """Set the hierarchies of some columns; one undo brings all back."""
    press = object()
    for column, choice in choices.items():
        old, history = work.table.choices.get(column), work.table.history(column)
        after = history if old is None else history.after(old, press)
        work = _set_hierarchy(work, column, choice, after)
    return work


def _set_hierarchy(work: Work, column: str, choice: HierarchyChoice, history: History) -> Work:
    choices = {**work.table.choices, column: choice}
    histories = {**work.table.histories, column: history}
    return work.with_parts(replace(work.table, choices=choices, histories=histories), Message())


def with_builder(work: Work, column: str, builder: str, typed: Mapping[str, object]) -> Work:
    choice = built(work, column, work.table.choices[column], builder, typed)
    return with_choice(work, column, choice)


def with_coarsening(work: Work, column: str, builder: str, typed: Mapping[str, object]) -> Work:
    """Coarsen a sensitive column by a builder's hierarchy; without a builder, not at all."""
    if not builder:
        return with_level(work, column, 0)
    work = with_level(work, column, work.table.levels.get(column, 1))
    return with_builder(work, column, builder, typed)


def with_level(work: Work, column: str, level: int) -> Work:
    """Set the level that a sensitive column is coarsened to; 0 releases it unchanged."""
    levels = {name: old for name, old in work.table.levels.items() if name != column}
    if level:
        levels[column] = level
    return with_choices(work.with_parts(replace(work.table, levels=levels), Message()))


def built(
    work: Work, column: str, old: HierarchyChoice, builder: str, typed: Mapping[str, object]
) -> HierarchyChoice:
    values = work.table.complete_records.counted(column)
    entered = {**old.typed, **{key: value for key, value in typed.items() if value is not None}}
    if "content" in typed:
        entered.pop("imported", None)  # another file takes its place
    if builder == "drawn":
        tree = old.typed.get("drawn", old.tree)  # what was drawn before is not lost
        return old if tree is None else drawn(old, tree)
    if builder != old.builder:
        filled_in = {key: value for key, value in entered.items() if value != ""}
        entered = {**starting_text(builder, values), **filled_in}
    return choose(builder, entered, column, values)


def undone(work: Work, column: str) -> Work:
    """Undo the last change of a column's hierarchy, and of others by the same press."""
    if not work.table.history(column).past:
        raise HierarchyError("There is nothing to undo.")
    return _step_histories(work, column, lambda history: history.past, History.back)


def redone(work: Work, column: str) -> Work:
    if not work.table.history(column).future:
        raise HierarchyError("There is nothing to redo.")
    return _step_histories(work, column, lambda history: history.future, History.forward)


def _step_histories(
    work: Work,
    column: str,
    steps: Callable[[History], tuple[ChangedChoice, ...]],
    step: Callable[[History, HierarchyChoice], tuple[HierarchyChoice, History]],
) -> Work:
    press = steps(work.table.history(column))[-1].press
    for name, history in work.table.histories.items():
        if not steps(history) or steps(history)[-1].press is not press:
            continue
        choice, after = step(history, work.table.choices[name])
        # The records may have changed meanwhile: what the tree lacks is counted again.
        values = work.table.complete_records.counted(name)
        work = _set_hierarchy(work, name, remade(choice, name, values), after)
    return work


def with_choices(work: Work, folder: str = ADULT_FOLDER) -> Work:
    """Build the missing hierarchies and rebuild all others for the current records."""
    records = work.table.complete_records
    choices, histories = dict(work.table.choices), dict(work.table.histories)
    for column in work.table.hierarchy_columns:
        old = choices.get(column)
        if old is None:
            choices[column] = _suggest_first(folder, column, records.counted(column))
            continue
        choices[column] = remade(old, column, records.counted(column))
        if choices[column].tree != old.tree:  # what was drawn on the old one is outdated
            history = work.table.history(column)
            histories[column] = replace(history, version=history.version + 1)
    previews = {
        column: remade(preview, column, records.counted(column))
        for column, preview in work.table.previews.items()
        if column in work.table.hierarchy_columns
    }
    table = replace(work.table, choices=choices, histories=histories, previews=previews)
    return work.with_parts(table)


def _suggest_first(folder: str, column: str, values: ValueCounts) -> HierarchyChoice:
    """The hierarchy of that name that comes with kanon if it covers the column; else a builder."""
    path = bundled_file(folder, column)
    if path is not None:
        typed = {"name": f"{folder}/{path.name}", "content": path.read_bytes()}
        choice = choose("file", typed, column, values)
        if choice.plan is not None:
            if folder != ADULT_FOLDER:
                return choice
            return replace(choice, notes=(*choice.notes, "It comes with kanon."))
    return start_with(column, values)
