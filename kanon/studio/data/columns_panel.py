"""The role, kind and hierarchy of each column."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.base.date_patterns import MixedDates, find_date_patterns
from kanon.base.formatting import count_noun, write_count
from kanon.base.kinds import AND_ALSO, CODE, TEXT, ColumnKind, find_fitting_kinds, find_other_kinds
from kanon.errors import TableError
from kanon.hierarchy import Hierarchy
from kanon.schema import Role
from kanon.sources.coarsening import Coarsening
from kanon.sources.memory import MemoryTable
from kanon.sources.text_form import PLAIN
from kanon.studio.data.reading_panel import try_on_table
from kanon.studio.data.repairs_panel import show_repairs
from kanon.studio.data.singling_out_panel import show_singling
from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, HierarchyChoice, suggest_first_choice
from kanon.studio.session.hierarchy_choices import (
    set_builder,
    set_coarsening,
    set_coarsening_level,
    set_hierarchy,
    set_role,
    update_hierarchies,
)
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_loading import restart_with_table
from kanon.studio.session.text import (
    escape_for_badge,
    escape_markdown,
    strip_for_screen_reader,
    trim_title,
)
from kanon.studio.session.work import SessionState
from kanon.studio.shell.undecided import show_undecided_roles
from kanon.studio.widgets.controls import (
    draw_builder_fields,
    draw_upload_field,
    get_builder_entries,
)
from kanon.studio.widgets.tree_edits import describe_tree, find_proposed_spellings

_NAMED = 5  # so many values that are no dates are listed, with their records

BADGES: dict[Role, tuple[Literal["red", "orange", "violet", "gray"], str]] = {
    Role.IDENTIFIER: ("red", ":material/badge:"),
    Role.QUASI_IDENTIFIER: ("orange", ":material/fingerprint:"),
    Role.SENSITIVE: ("violet", ":material/lock:"),
    Role.INSENSITIVE: ("gray", ":material/remove:"),
}
NOT_DECIDED: tuple[Literal["blue"], str] = "blue", ":material/help:"
COLUMNS_AT_ONCE = 30


def show_columns(work: SessionState) -> None:
    st.subheader("What each column says about people, and how it can be generalised")
    show_undecided_roles(work)
    show_singling(work)
    columns = choose_visible_columns(work)
    with st.container(gap="xxsmall"):
        for position, (name, role) in columns:
            show_column_row(work, position, name, role)
    show_repairs(work)


def take_choice(version: int, name: str, prefix: str) -> None:
    fields = get_builder_entries(prefix)
    file = state.get_widget_value(f"{prefix}-file")
    if file is not None:
        fields |= {"content": file.getvalue(), "name": file.name}
    builder = state.get_widget_value(f"{prefix}-builder")
    try_on_table(version, set_coarsening_or_builder, name, builder, fields)


def set_coarsening_or_builder(
    work: SessionState, name: str, builder: str, fields: Mapping[str, object]
) -> SessionState:
    take = set_coarsening if work.table.roles[name] is Role.SENSITIVE else set_builder
    return take(work, name, builder, fields)


def show_builder_fields(version: int, name: str, choice: HierarchyChoice, prefix: str) -> None:
    draw_builder_fields(choice, prefix, take_choice, version, name, prefix, fine=False)
    if choice.builder == "file":
        about, title = "CSV with lines leaf;level 1;…;* or JSON with nodes", escape_markdown(name)
        place = st.container()
        if choice.tree:  # then this is within Details, where no other popover fits
            about = f"Another file for {title}: {about}"
        else:
            icon = ":material/upload:"
            place = st.popover(f"Choose a file for {title}", icon=icon, type="tertiary")
        with place:
            draw_upload_field(
                about,
                "hierarchies_megabytes",
                key=f"{prefix}-file",
                on_change=take_choice,
                args=(version, name, prefix),
            )
    if choice.hint:
        st.caption(escape_markdown(choice.hint))


def choose_visible_columns(work: SessionState) -> Sequence[tuple[int, tuple[str, Role]]]:
    """The columns on screen with their positions: all, or one page of a wide table."""
    version = work.version
    columns = list(enumerate(work.table.roles.items()))
    if len(columns) > COLUMNS_AT_ONCE:  # each line has up to seven controls
        starts = range(0, len(columns), COLUMNS_AT_ONCE)
        start = st.selectbox(
            "Columns",
            starts,
            format_func=lambda first: (
                f"{first + 1} to {min(first + COLUMNS_AT_ONCE, len(work.table.roles))}"
            ),
            key=f"columns-{version}",
        )
        columns = columns[start : start + COLUMNS_AT_ONCE]
    return columns


def show_column_row(work: SessionState, position: int, name: str, role: Role) -> None:
    version = work.version
    badge, roles, kind, builder, rest, more = st.columns(
        [4, 4.5, 5, 5, 6, 4.5], gap="xsmall", vertical_alignment="center"
    )
    undecided = name in work.table.undecided
    colour, icon = NOT_DECIDED if undecided else BADGES[role]
    about = get_variable_label(work, name)
    badge.badge(escape_for_badge(name), color=colour, icon=icon, help=about)
    roles.selectbox(
        f"Role of {strip_for_screen_reader(name)}",
        [*([""] if undecided else []), *(role.value for role in Role)],
        **attach_widget(
            f"role-{version}-{position}",
            "" if undecided else role.value,
            lambda value: try_on_table(version, set_role, name, Role(value)),
        ),
        format_func=lambda value: value if value else "not decided",
        label_visibility="collapsed",
    )
    guess, reason = choose_column_kind(work, position, name, kind), work.table.reasons[name]
    # An engine cannot coarsen, and says so.
    coarse = isinstance(work.table.records, MemoryTable) or name in work.table.columns_to_coarsen
    chosen = role is Role.QUASI_IDENTIFIER or name in work.table.columns_to_coarsen
    if undecided:  # then the reason is in sight, as is a guess
        guess, reason = f"{guess} {reason}".strip(), ""
    if guess:
        rest.caption(escape_markdown(guess))
    more = more.container(horizontal=True, gap="small")
    has_details = reason or (chosen and work.table.choices[name].tree is not None)
    details = more.popover("Details", type="tertiary") if has_details else more
    prefix = f"{'coarse' if role is Role.SENSITIVE else 'hierarchy'}-{version}-{position}"
    if name in work.table.kinds:  # another kind brings other proposals, which a closed popover's
        prefix += f"-{work.table.kinds[name]}"  # fields would miss
    if role is Role.QUASI_IDENTIFIER or (role is Role.SENSITIVE and coarse):
        choose_hierarchy(work, name, prefix, builder, rest, details)
    if reason:
        details.caption(escape_markdown(reason))
    if chosen:
        show_edit_button(name, prefix, more)


def get_variable_label(work: SessionState, name: str) -> str | None:
    """The label that a file of SPSS, Stata or SAS gives a column."""
    labels = getattr(work.table.records, "form", PLAIN).labels
    return escape_markdown(labels[name].title) or None if name in labels else None


def show_edit_button(name: str, prefix: str, place: DeltaGenerator) -> None:
    if place.button(
        "Edit",
        key=f"{prefix}-draw",
        icon=":material/account_tree:",
        type="tertiary",
        help=f"See and change the hierarchy of {escape_markdown(name)} on the Hierarchies page.",
    ):
        state.update_sections(replace(state.get_session().shared, column=name))
        st.switch_page("pages/hierarchies.py")


def choose_hierarchy(
    work: SessionState,
    name: str,
    prefix: str,
    builder: DeltaGenerator,
    rest: DeltaGenerator,
    details: DeltaGenerator,
) -> None:
    """Draw how a quasi-identifier is generalised, or a sensitive column coarsened."""
    version, title = work.version, strip_for_screen_reader(name)
    is_sensitive = work.table.roles[name] is Role.SENSITIVE
    has_choice = not is_sensitive or name in work.table.columns_to_coarsen
    builder.selectbox(
        f"How {title} is released" if is_sensitive else f"Hierarchy of {title}",
        [*([""] if is_sensitive else []), *BUILDERS],
        **attach_widget(
            f"{prefix}-builder",
            work.table.choices[name].builder if has_choice else "",
            lambda _: take_choice(version, name, prefix),
        ),
        format_func=lambda kind: BUILDERS[kind].title if kind else "Released unchanged",
        label_visibility="collapsed",
    )
    if has_choice:
        choice = work.table.choices[name]
        show_choice(work, name, choice, prefix, rest, details)
        if is_sensitive and choice.plan is not None:
            with rest:
                choose_level(work, name, choice.tree, prefix)


def show_choice(
    work: SessionState,
    name: str,
    choice: HierarchyChoice,
    prefix: str,
    rest: DeltaGenerator,
    details: DeltaGenerator,
) -> None:
    """What a builder made, in the line of the column; its fields too until it has made a tree."""
    if choice.tree is not None:
        rest.caption(f"{describe_tree(choice)}.")
        origin = f"{choice.typed['name']}: " if choice.builder == "file" else ""
        facts = [f"{origin}{describe_tree(choice)}.", *choice.remarks]
        details.caption(escape_markdown(" ".join(facts)))
    with details if choice.tree is not None else rest:
        show_builder_fields(work.version, name, choice, prefix)
    with rest:
        if choice.problem:
            st.error(escape_markdown(choice.problem), icon=":material/error:")
        if proposals := find_proposed_spellings(work, name):
            groups = count_noun(len(proposals), "group of values looks", "groups of values look")
            st.caption(f"{groups} like spellings of the same thing. Press Edit to join them.")


def choose_level(work: SessionState, name: str, tree: Hierarchy | None, prefix: str) -> None:
    if tree is None or tree.height < 2:
        return
    values = {
        level: count_noun(Coarsening(name, tree, level).n_groups, "value")
        for level in range(1, tree.height)
    }
    version, chosen = work.version, min(work.table.levels[name], tree.height - 1)
    st.selectbox(
        "Level in the release and in every model",
        [*values, 0],
        **attach_widget(
            f"{prefix}-level", chosen, try_on_table, version, set_coarsening_level, name
        ),
        format_func=lambda level: (
            f"level {level} of {len(values)}: {values[level]}"
            if level
            else "unchanged; the hierarchy is for distances"
        ),
    )


# --- kinds ------------------------------------------------------------------------------------
def choose_column_kind(work: SessionState, position: int, name: str, place: DeltaGenerator) -> str:
    """Draw the kind of a column; returns a sentence if it is a guess or dates are mixed."""
    if work.table.roles[name] is Role.IDENTIFIER:
        return ""
    version = work.version
    key = (work.table.digest, version)
    try:
        kinds = state.get_or_compute(f"kinds-{position}", key, partial(list_kinds, work, name))
        dates = state.get_or_compute(
            f"dates-{position}", key, partial(find_mixed_dates, work, name)
        )
    except TableError:  # the engine has too many values of it to read them
        return ""
    chosen_kind = work.table.kinds.get(name)
    kind = chosen_kind or kinds[0]
    place.selectbox(
        f"Kind of {strip_for_screen_reader(name)}",
        list(dict.fromkeys([*map(str, kinds), str(kind)])),
        **attach_widget(
            f"kind-{version}-{position}",
            str(kind),
            lambda value: try_on_table(
                version, lambda work: set_kind(work, name, ColumnKind.parse(value))
            ),
        ),
        label_visibility="collapsed",
        help="How its values are read. A release writes them unchanged.",
    )
    if dates is not None:
        return _describe_dates(dates, chosen_kind)
    others = find_other_kinds(kinds)
    if chosen_kind is not None or not others:
        return ""
    return f"Read as {kind}. This is a guess; it could also be {', '.join(map(str, others))}."


def _describe_dates(dates: MixedDates, chosen_kind: ColumnKind | None) -> str:
    kind = chosen_kind if chosen_kind in dates.kinds else dates.kinds[0]
    ways = [
        (
            f"{pattern} ({count_noun(dated.values, 'value')}, "
            f"{dated.example} is {format(kind.moment(dated.example) or dated.moment, '%Y-%m-%d')})"
        )
        for pattern, dated in zip(kind.pattern.split(AND_ALSO), dates.patterns, strict=True)
    ]
    patterns = ", ".join(ways)
    if not dates.rest:
        about = f"Its values are dates, written {patterns}."
        if chosen_kind in dates.kinds:
            return about
        kinds = " or ".join(map(str, dates.kinds))
        return f"{about} To read them together, choose {kinds}."
    about = f"Most values are dates, written {patterns}."
    examples = [
        f"{trim_title(text)} ({write_count(n)})" for text, n in list(dates.rest.items())[:_NAMED]
    ]
    listed = ", ".join([*examples, *(["…"] if len(dates.rest) > _NAMED else [])])
    return (
        f"{about} {count_noun(len(dates.rest), 'value fits', 'values fit')} no such pattern: "
        f"{listed}. Add what means missing to 'Cells that count as missing' under 'How it was "
        "read'. Then the others can be read as dates."
    )


_BY_KIND = ("suppression", "intervals", "quantiles", "dates", "ages", "mask")
"""The builders that depend on the kind of a column."""


def list_kinds(work: SessionState, column: str) -> tuple[ColumnKind, ...]:
    dates = find_mixed_dates(work, column)
    together = () if dates is None or dates.rest else dates.kinds
    return (*find_fitting_kinds(work.table.records.count_column_values(column).texts), *together)


def find_mixed_dates(work: SessionState, column: str) -> MixedDates | None:
    counts = work.table.records.count_column_values(column).counts
    eight_digits = all(len(text) == 8 and text.isdecimal() for text in counts)
    if find_fitting_kinds(list(counts))[0] not in (TEXT, CODE) and not eight_digits:
        return None
    dates = find_date_patterns(counts)
    return dates if dates and (dates.rest or len(dates.patterns) > 1) else None


def set_kind(work: SessionState, column: str, kind: ColumnKind) -> SessionState:
    values = work.table.records.count_column_values(column)
    kind.check(column, values.texts)
    kinds = {name: kept_kind for name, kept_kind in work.table.kinds.items() if name != column}
    if kind != find_fitting_kinds(values.texts)[0]:
        kinds[column] = kind
    table = replace(work.table, kinds=kinds)
    work = work.replace_sections(table, replace(work.message, problem=None))
    if any(step.column == column and step.compares_numbers for step in table.repairs):
        kind.check(column, table.records.count_column_values(column).texts)
        work = restart_with_table(work, table)  # the step may drop other records
    else:
        work = update_hierarchies(work)
    old = work.table.choices.get(column)
    if old is None or old.builder not in _BY_KIND:
        return work
    return set_hierarchy(
        work,
        column,
        suggest_first_choice(column, work.table.complete_records.count_column_values(column)),
    )
