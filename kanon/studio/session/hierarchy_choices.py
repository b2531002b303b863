"""The hierarchies of a session: choose, build, undo, and rebuild them for other records."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kanon.base.values import ValueCounts
from kanon.errors import HierarchyError
from kanon.schema import Role, singles_out
from kanon.studio.session.choices import (
    HierarchyChoice,
    build_choice,
    build_choice_again,
    get_start_parameters,
    set_drawn_tree,
    suggest_first_choice,
)
from kanon.studio.session.parts import Message
from kanon.studio.session.samples import ADULT_FOLDER, find_bundled_file
from kanon.studio.session.table_state import History, Missing, Steps
from kanon.studio.session.work import SessionState


def set_role(work: SessionState, column: str, role: Role) -> SessionState:
    return set_roles(work, [column], role)


def set_roles(work: SessionState, columns: Iterable[str], role: Role) -> SessionState:
    """Set the role of some columns; new quasi-identifiers get a first hierarchy."""
    roles, reasons = dict(work.table.roles), dict(work.table.reasons)
    for column in columns:
        sentences = ["Set by you.", singles_out(work.table.records.count_distinct(column))]
        roles[column], reasons[column] = role, " ".join(filter(None, sentences))
    undecided = work.table.undecided.difference(columns)
    table = replace(work.table, roles=roles, reasons=reasons, undecided=undecided)
    return update_hierarchies(work.replace_sections(table, replace(work.message, problem=None)))


def set_missing_rule(work: SessionState, missing: Missing) -> SessionState:
    table = replace(work.table, missing=missing)
    return update_hierarchies(work.replace_sections(table, replace(work.message, problem=None)))


def set_hierarchy(work: SessionState, column: str, choice: HierarchyChoice) -> SessionState:
    return set_hierarchies(work, {column: choice})


def set_hierarchies(work: SessionState, choices: Mapping[str, HierarchyChoice]) -> SessionState:
    """Set the hierarchies of some columns; one undo brings all back."""
    press = object()
    for column, choice in choices.items():
        old, history = work.table.choices.get(column), work.table.get_history(column)
        after = history if old is None else history.after(old, press)
        work = _set_hierarchy(work, column, choice, after)
    return work


def _set_hierarchy(
    work: SessionState, column: str, choice: HierarchyChoice, history: History
) -> SessionState:
    choices = {**work.table.choices, column: choice}
    histories = {**work.table.histories, column: history}
    return work.replace_sections(
        replace(work.table, choices=choices, histories=histories), Message()
    )


def set_builder(
    work: SessionState, column: str, builder: str, typed: Mapping[str, object]
) -> SessionState:
    choice = build_with_builder(work, column, work.table.choices[column], builder, typed)
    return set_hierarchy(work, column, choice)


def set_coarsening(
    work: SessionState, column: str, builder: str, typed: Mapping[str, object]
) -> SessionState:
    """Coarsen a sensitive column by a builder's hierarchy; without a builder, not at all."""
    if not builder:
        return set_coarsening_level(work, column, None)
    work = set_coarsening_level(work, column, work.table.levels.get(column, 1))
    return set_builder(work, column, builder, typed)


def set_coarsening_level(work: SessionState, column: str, level: int | None) -> SessionState:
    """Set the level that a sensitive column is coarsened to; None drops its hierarchy."""
    levels = {name: old for name, old in work.table.levels.items() if name != column}
    if level is not None:
        levels[column] = level
    return update_hierarchies(work.replace_sections(replace(work.table, levels=levels), Message()))


def build_with_builder(
    work: SessionState, column: str, old: HierarchyChoice, builder: str, typed: Mapping[str, object]
) -> HierarchyChoice:
    values = work.table.complete_records.count_column_values(column)
    entered = {**old.typed, **{key: value for key, value in typed.items() if value is not None}}
    if "content" in typed:
        entered.pop("imported", None)  # another file takes its place
    if builder == "drawn":
        tree = old.typed.get("drawn", old.tree)  # what was drawn before is not lost
        return old if tree is None else set_drawn_tree(old, tree)
    if builder != old.builder:
        filled_in = {key: value for key, value in entered.items() if value != ""}
        entered = {**get_start_parameters(builder, values), **filled_in}
    return build_choice(builder, entered, column, values)


def undo_hierarchy(work: SessionState, column: str) -> SessionState:
    """Undo the last change of a column's hierarchy, and of others by the same press."""
    if not work.table.get_history(column).past:
        raise HierarchyError("There is nothing to undo.")
    return _step_histories(work, column, "past")


def redo_hierarchy(work: SessionState, column: str) -> SessionState:
    if not work.table.get_history(column).future:
        raise HierarchyError("There is nothing to redo.")
    return _step_histories(work, column, "future")


def _step_histories(work: SessionState, column: str, steps: Steps) -> SessionState:
    press = getattr(work.table.get_history(column), steps)[-1].press
    for name, history in work.table.histories.items():
        if not any(past.press is press for past in getattr(history, steps)[-1:]):
            continue
        choice, after = history.step_through(work.table.choices[name], steps)
        # The records may have changed meanwhile: what the tree lacks is counted again.
        values = work.table.complete_records.count_column_values(name)
        work = _set_hierarchy(work, name, build_choice_again(choice, name, values), after)
    return work


def update_hierarchies(work: SessionState, folder: str = ADULT_FOLDER) -> SessionState:
    """Build the missing hierarchies and rebuild all others for the current records."""
    records = work.table.complete_records
    choices, histories = dict(work.table.choices), dict(work.table.histories)
    for column in work.table.hierarchy_columns:
        old = choices.get(column)
        if old is None:
            choices[column] = _suggest_first(folder, column, records.count_column_values(column))
            continue
        choices[column] = build_choice_again(old, column, records.count_column_values(column))
        if choices[column].tree != old.tree:  # what was drawn on the old one is outdated
            history = work.table.get_history(column)
            histories[column] = replace(history, version=history.version + 1)
    previews = {
        column: build_choice_again(preview, column, records.count_column_values(column))
        for column, preview in work.table.previews.items()
        if column in work.table.hierarchy_columns
    }
    table = replace(work.table, choices=choices, histories=histories, previews=previews)
    return work.replace_sections(table)


def _suggest_first(folder: str, column: str, values: ValueCounts) -> HierarchyChoice:
    """The hierarchy of that name that comes with kanon if it covers the column; else a builder."""
    path = find_bundled_file(folder, column)
    if path is not None:
        typed = {"name": f"{folder}/{path.name}", "content": path.read_bytes()}
        choice = build_choice("file", typed, column, values)
        if choice.plan is not None:
            if folder != ADULT_FOLDER:
                return choice
            return replace(choice, notes=(*choice.notes, "It comes with kanon."))
    return suggest_first_choice(column, values)
