"""The role, kind and hierarchy of each column."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.base.date_patterns import MixedDates, find_date_patterns
from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.kinds import AND_ALSO, CODE, TEXT, ColumnKind, doubts, fitting
from kanon.errors import TableError
from kanon.schema import Role
from kanon.sources.memory import MemoryTable
from kanon.studio.data.reading_panel import replaced
from kanon.studio.data.singling_out_panel import show_singling
from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, HierarchyChoice, start_with
from kanon.studio.session.hierarchy_choices import (
    with_builder,
    with_choice,
    with_choices,
    with_coarsening,
    with_level,
    with_role,
)
from kanon.studio.session.state import bound
from kanon.studio.session.text import in_badge, plain, shortened, spoken
from kanon.studio.session.work import Work
from kanon.studio.shell.undecided import undecided_roles
from kanon.studio.widgets.controls import builder_fields, typed_fields, upload_field
from kanon.studio.widgets.remarks import remarked_table
from kanon.studio.widgets.tree_edits import proposed_spellings, summary

_NAMED = 5  # so many values that are no dates are listed, with their records

BADGES: dict[Role, tuple[Literal["red", "orange", "violet", "gray"], str]] = {
    Role.IDENTIFIER: ("red", ":material/badge:"),
    Role.QUASI_IDENTIFIER: ("orange", ":material/fingerprint:"),
    Role.SENSITIVE: ("violet", ":material/lock:"),
    Role.INSENSITIVE: ("gray", ":material/remove:"),
}
NOT_DECIDED: tuple[Literal["blue"], str] = "blue", ":material/help:"
COLUMNS_AT_ONCE = 30


def roles_and_hierarchies(work: Work) -> None:
    st.subheader("What each column says about people, and how it may be generalised")
    undecided_roles(work)
    remarked_table(work)
    show_singling(work)
    for position, (name, role) in columns_shown(work):
        column_row(work, position, name, role)


def take_role(version: int, name: str, value: Any) -> None:
    if not replaced(version):
        state.attempt(lambda: with_role(state.work(), name, Role(value)))


def take_choice(version: int, name: str, prefix: str) -> None:
    if replaced(version):
        return
    fields = typed_fields(prefix)
    file = state.typed(f"{prefix}-file")
    if file is not None:
        fields |= {"content": file.getvalue(), "name": file.name}
    now = state.work()
    take = with_coarsening if now.table.roles[name] is Role.SENSITIVE else with_builder
    state.attempt(lambda: take(now, name, state.typed(f"{prefix}-builder"), fields))


def take_level(version: int, name: str, level: int) -> None:
    if not replaced(version):
        state.attempt(lambda: with_level(state.work(), name, level))


def parameters(version: int, name: str, choice: HierarchyChoice, prefix: str) -> None:
    builder_fields(choice, prefix, take_choice, version, name, prefix, fine=False)
    if choice.builder == "file":
        label = (
            f"Another file for {plain(name)}" if choice.tree else f"Choose a file for {plain(name)}"
        )
        with st.popover(label, icon=":material/upload:", type="tertiary"):
            upload_field(
                "CSV with lines leaf;level 1;…;* or JSON with nodes",
                "hierarchies_megabytes",
                key=f"{prefix}-file",
                on_change=take_choice,
                args=(version, name, prefix),
            )
    if choice.hint:
        st.caption(plain(choice.hint))
    if choice.problem:
        st.error(plain(choice.problem), icon=":material/error:")


def facts(choice: HierarchyChoice) -> str:
    if choice.tree is None:
        return ""
    origin = f"{choice.typed['name']}: " if choice.builder == "file" else ""
    return " ".join([f"{origin}{summary(choice)}.", *choice.remarks])


def columns_shown(work: Work) -> Sequence[tuple[int, tuple[str, Role]]]:
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


def column_row(work: Work, position: int, name: str, role: Role) -> None:
    version = work.version
    badge, roles, kind, builder, rest, draw = st.columns(
        [4, 5, 5, 5, 6, 2], gap="xsmall", vertical_alignment="center"
    )
    undecided = name in work.table.undecided
    colour, icon = NOT_DECIDED if undecided else BADGES[role]
    badge.badge(in_badge(name), color=colour, icon=icon)
    roles.selectbox(
        f"Role of {spoken(name)}",
        [*([""] if undecided else []), *(role.value for role in Role)],
        **bound(
            f"role-{version}-{position}", "" if undecided else role.value, take_role, version, name
        ),
        format_func=lambda value: value if value else "not decided",
        label_visibility="collapsed",
    )
    why = f"{column_kind(work, position, name, kind)} {work.table.reasons[name]}".strip()
    coarse = isinstance(work.table.records, MemoryTable) or name in work.table.coarse_columns
    if role is Role.SENSITIVE and coarse:  # an engine cannot, and says so
        prefix = f"coarse-{version}-{position}"
        coarsening_choice(work, name, prefix, builder, rest, why)
        if name in work.table.coarse_columns:
            edit_button(name, prefix, draw)
        return
    if role is not Role.QUASI_IDENTIFIER:
        rest.caption(plain(why))
        return
    prefix = f"hierarchy-{version}-{position}"
    hierarchy_choice(work, name, prefix, builder, rest, why)
    edit_button(name, prefix, draw)


def edit_button(name: str, prefix: str, draw: DeltaGenerator) -> None:
    if draw.button(
        "Edit",
        key=f"{prefix}-draw",
        icon=":material/account_tree:",
        type="tertiary",
        help=f"See and change the hierarchy of {plain(name)} on the page Hierarchies.",
    ):
        state.change(replace(state.work().shared, column=name))
        st.switch_page("pages/hierarchies.py")


def hierarchy_choice(
    work: Work, name: str, prefix: str, builder: DeltaGenerator, rest: DeltaGenerator, why: str
) -> None:
    version = work.version
    choice = work.table.choices[name]
    builder.selectbox(
        f"Hierarchy of {spoken(name)}",
        list(BUILDERS),
        **bound(f"{prefix}-builder", choice.builder, lambda _: take_choice(version, name, prefix)),
        format_func=lambda kind: BUILDERS[kind].title,
        label_visibility="collapsed",
    )
    with rest:
        st.caption(plain(f"{facts(choice)} {why}"))
        parameters(version, name, choice, prefix)
        mention_spellings(work, name)


def mention_spellings(work: Work, name: str) -> None:
    proposals = proposed_spellings(work, name)
    if proposals:
        st.caption(
            one_or_many(
                len(proposals),
                "{count} group of values looks like spellings of the same thing. Press Edit to "
                "join them.",
                "{count} groups of values look like spellings of the same thing. Press Edit to "
                "join them.",
            )
        )


def coarsening_choice(
    work: Work, name: str, prefix: str, builder: DeltaGenerator, rest: DeltaGenerator, why: str
) -> None:
    version, coarse = work.version, name in work.table.coarse_columns
    chosen = work.table.choices[name].builder if coarse else ""
    builder.selectbox(
        f"How {spoken(name)} is released",
        ["", *BUILDERS],
        **bound(f"{prefix}-builder", chosen, lambda _: take_choice(version, name, prefix)),
        format_func=lambda kind: BUILDERS[kind].title if kind else "Released unchanged",
        label_visibility="collapsed",
    )
    if not coarse:
        rest.caption(plain(why))
        return
    choice, coarsened = work.table.choices[name], work.table.coarsened.get(name)
    with rest:
        st.caption(plain(f"{facts(choice)} {why}"))
        parameters(version, name, choice, prefix)
        mention_spellings(work, name)
        if coarsened is None:
            return
        values = {
            level: counted(replace(coarsened, level=level).n_groups, "value")
            for level in range(1, coarsened.tree.height)
        }
        st.selectbox(
            "Level in the release and in every model",
            list(values),
            **bound(f"{prefix}-level", coarsened.level, take_level, version, name),
            format_func=lambda level: f"level {level} of {len(values)}: {values[level]}",
        )


# --- kinds ------------------------------------------------------------------------------------
def column_kind(work: Work, position: int, name: str, place: DeltaGenerator) -> str:
    """Draw the kind of a column; returns a sentence if it is a guess or dates are mixed."""
    if work.table.roles[name] is Role.IDENTIFIER:
        return ""
    version = work.version
    key = (work.table.digest, version)
    try:
        kinds = state.remembered(f"kinds-{position}", key, partial(kinds_of, work, name))
        dates = state.remembered(f"dates-{position}", key, partial(find_mixed_dates, work, name))
    except TableError:  # the engine has too many values of it to read them
        return ""
    chosen_kind = work.table.kinds.get(name)
    kind = chosen_kind or kinds[0]
    place.selectbox(
        f"Kind of {spoken(name)}",
        list(dict.fromkeys([*map(str, kinds), str(kind)])),
        **bound(f"kind-{version}-{position}", str(kind), take_kind, version, name),
        label_visibility="collapsed",
        help="How its values are read. A release writes them unchanged.",
    )
    if dates is not None:
        return _describe_dates(dates, chosen_kind)
    others = doubts(kinds)
    if chosen_kind is not None or not others:
        return ""
    return f"Read as {kind}, a guess: it could also be {', '.join(map(str, others))}."


def _describe_dates(dates: MixedDates, chosen_kind: ColumnKind | None) -> str:
    kind = chosen_kind if chosen_kind in dates.kinds else dates.kinds[0]
    ways = [
        (
            f"{pattern} ({counted(dated.values, 'value')}, "
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
    examples = [f"{shortened(text)} ({thin(n)})" for text, n in list(dates.rest.items())[:_NAMED]]
    others = one_or_many(
        len(dates.rest),
        "{count} value has no such pattern: {listed}. If it means missing, add it to 'Cells that "
        "count as missing' under 'How it was read'. Then the others can be dates.",
        "{count} values have no such pattern: {listed}. If they mean missing, add them to 'Cells "
        "that count as missing' under 'How it was read'. Then the others can be dates.",
        listed=", ".join([*examples, *(["…"] if len(dates.rest) > _NAMED else [])]),
    )
    return f"{about} {others}"


def take_kind(version: int, name: str, kind: str) -> None:
    if state.work().version == version:
        state.attempt(lambda: with_kind(state.work(), name, ColumnKind.parse(kind)))


_BY_KIND = ("suppression", "intervals", "quantiles", "dates", "ages", "mask")
"""The builders that depend on the kind of a column."""


def kinds_of(work: Work, column: str) -> tuple[ColumnKind, ...]:
    dates = find_mixed_dates(work, column)
    together = () if dates is None or dates.rest else dates.kinds
    return (*fitting(work.table.records.counted(column).texts), *together)


def find_mixed_dates(work: Work, column: str) -> MixedDates | None:
    counts = work.table.records.counted(column).counts
    eight_digits = all(len(text) == 8 and text.isdecimal() for text in counts)
    if fitting(list(counts))[0] not in (TEXT, CODE) and not eight_digits:
        return None
    dates = find_date_patterns(counts)
    return dates if dates and (dates.rest or len(dates.patterns) > 1) else None


def with_kind(work: Work, column: str, kind: ColumnKind) -> Work:
    values = work.table.file.records.counted(column)
    kind.check(column, values.texts)
    kinds = {name: kept_kind for name, kept_kind in work.table.kinds.items() if name != column}
    if kind != fitting(values.texts)[0]:
        kinds[column] = kind
    work = with_choices(
        work.with_parts(replace(work.table, kinds=kinds), replace(work.message, problem=None))
    )
    old = work.table.choices.get(column)
    if old is None or old.builder not in _BY_KIND:
        return work
    return with_choice(
        work, column, start_with(column, work.table.complete_records.counted(column))
    )
