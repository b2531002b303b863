"""What is in this table, and how exposed is it? Load a table, say what its columns are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.sentences import records_said
from kanon.charts.exposure import (
    class_size_chart,
    class_size_table,
    singling_out_chart,
    singling_out_table,
)
from kanon.schema import Role
from kanon.settings import settings
from kanon.sources.adult import ADULT_ATTRIBUTION, ADULT_LICENCE
from kanon.sources.formats import FORMATS
from kanon.sources.memory import MemoryTable
from kanon.sources.suppressed_rows import describe_suppressed
from kanon.studio.data.column_kind import column_kind
from kanon.studio.data.missing_panel import missing_cells
from kanon.studio.data.person_column import person_choice
from kanon.studio.data.reading_panel import how_read, replaced
from kanon.studio.data.singling_out_panel import show_singling
from kanon.studio.data.table_location import place_tab, table_tabs
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import exposed, preview_rows
from kanon.studio.jobs.upload import AT_ONCE, upload_request
from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, HierarchyChoice
from kanon.studio.session.engine_classes import classes_kept, said_kept, uncounted
from kanon.studio.session.hierarchy_choices import (
    with_builder,
    with_coarsening,
    with_level,
    with_role,
)
from kanon.studio.session.run_choices import incomplete_records
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import bound
from kanon.studio.session.table_loading import (
    adult_work,
    sample_work,
)
from kanon.studio.session.text import in_badge, plain, spoken
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import counting, head
from kanon.studio.shell.undecided import undecided_roles
from kanon.studio.widgets.builder_fields import builder_fields, typed_fields
from kanon.studio.widgets.numbers import of_table
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.preview import by_role
from kanon.studio.widgets.remarks import remarked_table
from kanon.studio.widgets.tree_edits import proposed_spellings, summary
from kanon.studio.widgets.uploads import upload_field

BADGES: dict[Role, tuple[Literal["red", "orange", "violet", "gray"], str]] = {
    Role.IDENTIFIER: ("red", ":material/badge:"),
    Role.QUASI_IDENTIFIER: ("orange", ":material/fingerprint:"),
    Role.SENSITIVE: ("violet", ":material/lock:"),
    Role.INSENSITIVE: ("gray", ":material/remove:"),
}
NOT_DECIDED: tuple[Literal["blue"], str] = "blue", ":material/help:"
COLUMNS_AT_ONCE = 30


def next_version() -> int:
    """The version of the next table: a worker may have opened one since the page was drawn."""
    return state.work().version + 1


# --- choose a table -------------------------------------------------------------------------
def take_upload(version: int) -> None:
    """Work on the file that was just uploaded; if it is no table, keep the old one."""
    file = state.typed(f"upload-{version}")
    if file is not None:
        runner.run(upload_request, file.getvalue(), file.name, wait=AT_ONCE)


def take_sample(name: str) -> None:
    """Work on a sample."""
    state.attempt(lambda: sample_work(name, next_version()))


def table_choice(work: Work) -> None:
    """The ways to a table, a tab each."""
    version = work.version
    ways, way = table_tabs(work)
    upload, samples, adult, *places = st.tabs(ways, default=way)
    *titles, last = (its.title for its in FORMATS.values())
    with upload:
        upload_field(
            f"{', '.join(titles)} or {last}, up to {thin(settings().upload_megabytes)} "
            "MB. It stays in the memory of the machine that runs kanon.",
            key=f"upload-{version}",
            on_change=take_upload,
            args=(version,),
        )
    with samples:
        for column, sample in zip(st.columns(len(SAMPLES)), SAMPLES.values(), strict=True):
            column.button(
                sample.title,
                key=f"sample-{sample.name}",
                type="primary" if work.table.origin == sample.name else "secondary",
                on_click=take_sample,
                args=(sample.name,),
                width="stretch",
            )
            column.caption(sample.about)
    with adult:
        st.markdown(
            "The table of the papers: 32,561 records of the 1994 U.S. census, fetched from "
            "the UCI repository only when you ask for it, checked by its hash, and not kept "
            f"on disk.\n\n{ADULT_ATTRIBUTION} Licence: {ADULT_LICENCE}."
        )
        if st.button("Download Adult", icon=":material/cloud_download:"):
            with st.spinner("Downloading from the UCI repository"):
                state.attempt(lambda: adult_work(next_version()))
            st.rerun()
    for tab in places:
        with tab:
            place_tab(work)


# --- the table ------------------------------------------------------------------------------
def table_preview(work: Work) -> None:
    """The first records, tinted by role."""
    version, rows = work.version, preview_rows(work.table.records.n_records, len(work.table.roles))
    st.subheader(
        "{records}, {columns}".format(
            records=records_said(work.table.records.n_records),
            columns=counted(len(work.table.roles), "column"),
        )
    )
    st.dataframe(
        state.remembered(
            "by-role",
            (work.table.digest, version, tuple(work.table.roles.items())),
            lambda: by_role(work.table.records, work.table.roles),
        ),
        height=420,
        column_config={
            name: st.column_config.Column(
                f"{name} · {'not decided' if name in work.table.undecided else role.value}"
            )
            for name, role in work.table.roles.items()
        },
        hide_index=True,
        key="table",
    )
    st.caption(
        f"The first {thin(rows)} records, tinted by role: red identifier, amber quasi-identifier, "
        "violet sensitive, grey insensitive or not decided."
    )


# --- roles and hierarchies ------------------------------------------------------------------
def take_role(version: int, name: str, value: Any) -> None:
    """Give a column another role."""
    if not replaced(version):
        state.attempt(lambda: with_role(state.work(), name, Role(value)))


def take_choice(version: int, name: str, prefix: str) -> None:
    """Build the hierarchy that was asked for; what was typed stays, whatever comes of it."""
    if replaced(version):
        return
    entered = typed_fields(prefix)
    file = state.typed(f"{prefix}-file")
    if file is not None:
        entered |= {"content": file.getvalue(), "name": file.name}
    now = state.work()
    take = with_coarsening if now.table.roles[name] is Role.SENSITIVE else with_builder
    state.attempt(lambda: take(now, name, state.typed(f"{prefix}-builder"), entered))


def take_level(version: int, name: str, level: int) -> None:
    """Coarsen a sensitive column to another level of its hierarchy."""
    if not replaced(version):
        state.attempt(lambda: with_level(state.work(), name, level))


def parameters(version: int, name: str, choice: HierarchyChoice, prefix: str) -> None:
    """The controls of a builder, and what came of it."""
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
    """What a hierarchy looks like."""
    if choice.tree is None:
        return ""
    origin = f"{choice.typed['name']}: " if choice.builder == "file" else ""
    return " ".join([f"{origin}{summary(choice)}.", *choice.remarks])


def columns_shown(work: Work) -> Sequence[tuple[int, tuple[str, Role]]]:
    """The columns whose roles are shown, with their places: of many, a part."""
    version = work.version
    listed = list(enumerate(work.table.roles.items()))
    if len(listed) > COLUMNS_AT_ONCE:  # each line has up to seven controls
        starts = range(0, len(listed), COLUMNS_AT_ONCE)
        start = st.selectbox(
            "Columns shown",
            starts,
            format_func=lambda first: (
                f"{first + 1} to {min(first + COLUMNS_AT_ONCE, len(work.table.roles))}"
            ),
            key=f"columns-{version}",
        )
        listed = listed[start : start + COLUMNS_AT_ONCE]
    return listed


def column_row(work: Work, position: int, name: str, role: Role) -> None:
    """One column: its role, and of a quasi-identifier how it may be blurred."""
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
    """The way to the hierarchy of a column."""
    if draw.button(
        "Edit",
        key=f"{prefix}-draw",
        icon=":material/account_tree:",
        type="tertiary",
        help=f"Look at the hierarchy of {plain(name)} and change it on the page Hierarchies.",
    ):
        state.change(replace(state.work().shared, column=name))
        st.switch_page("pages/hierarchies.py")


def hierarchy_choice(
    work: Work, name: str, prefix: str, builder: DeltaGenerator, rest: DeltaGenerator, why: str
) -> None:
    """How a column may be blurred, and what came of it."""
    version = work.version
    choice = work.table.choices[name]
    builder.selectbox(
        f"Hierarchy of {spoken(name)}",
        list(BUILDERS),
        **bound(f"{prefix}-builder", choice.builder, lambda _: take_choice(version, name, prefix)),
        format_func=lambda one: BUILDERS[one].title,
        label_visibility="collapsed",
    )
    with rest:
        st.caption(plain(f"{facts(choice)} {why}"))
        parameters(version, name, choice, prefix)
        mention_spellings(work, name)


def mention_spellings(work: Work, name: str) -> None:
    """How many groups of spellings can be joined in the hierarchy of a column."""
    found = proposed_spellings(work, name)
    if found:
        st.caption(
            one_or_many(
                len(found),
                "{count} group of values looks like spellings of one; Edit shows it, to be joined.",
                "{count} groups of values look like spellings of one; Edit shows them, to be "
                "joined.",
            )
        )


def coarsening_choice(
    work: Work, name: str, prefix: str, builder: DeltaGenerator, rest: DeltaGenerator, why: str
) -> None:
    """Whether a sensitive column is released as it is, or at a level of which hierarchy."""
    version, coarse = work.version, name in work.table.coarse_columns
    chosen = work.table.choices[name].builder if coarse else ""
    builder.selectbox(
        f"How {spoken(name)} is released",
        ["", *BUILDERS],
        **bound(f"{prefix}-builder", chosen, lambda _: take_choice(version, name, prefix)),
        format_func=lambda one: BUILDERS[one].title if one else "Released as it is",
        label_visibility="collapsed",
    )
    if not coarse:
        rest.caption(plain(why))
        return
    choice, one = work.table.choices[name], work.table.coarsened.get(name)
    with rest:
        st.caption(plain(f"{facts(choice)} {why}"))
        parameters(version, name, choice, prefix)
        mention_spellings(work, name)
        if one is None:
            return
        levels = {level: replace(one, level=level) for level in range(1, one.tree.height)}
        st.selectbox(
            "Released, and counted by every model, at",
            list(levels),
            **bound(f"{prefix}-level", one.level, take_level, version, name),
            format_func=lambda level: one_or_many(
                levels[level].n_groups,
                "level {level} of {top}: {count} value",
                "level {level} of {top}: {count} values",
                level=level,
                top=one.tree.height - 1,
            ),
        )


def roles_and_hierarchies(work: Work) -> None:
    """What each column is, and how it may be blurred."""
    st.subheader("What each column is to the people in it, and how it may be blurred")
    undecided_roles(work)
    remarked_table(work)
    show_singling(work)
    for position, (name, role) in columns_shown(work):
        column_row(work, position, name, role)


# --- how exposed it is ----------------------------------------------------------------------
def exposure(work: Work, incomplete: int) -> None:
    """How exposed the records are, or what there is to do to see it."""
    if not work.table.quasi_identifiers:
        st.subheader("How exposed it is")
        st.info("Choose at least one quasi-identifier below to see how exposed the records are.")
    elif incomplete == work.table.records.n_records and work.table.missing == "drop-records":
        st.subheader("How exposed it is")
        st.info(
            "Every record lacks a quasi-identifier, so dropping those records leaves none. "
            "Keep them with missing as a value, or choose other roles."
        )
    elif uncounted(work):
        st.subheader("How exposed it is")
        counting(work)
    else:
        with st.spinner("Counting how exposed the records are"):
            seen = state.remembered(
                "exposed",
                (
                    work.table.digest,
                    work.version,
                    tuple(work.table.quasi_identifiers),
                    work.table.missing,
                    work.table.person,
                ),
                lambda: exposed(work),
            )
        numbers = of_table(seen)
        widths = [len(number.label) + 6 for number in numbers]  # and the help beside it
        for place, number in zip(st.columns(widths), numbers, strict=True):
            place.metric(number.label, number.value, help=number.help)
        if seen.suppressed:
            st.caption(plain(describe_suppressed(seen.suppressed)))
        about = f"{work.table.quasi_identifiers}{work.table.missing}{work.table.person}"
        settings = PictureSettings.of_table(work)
        before, without = seen.exposure, seen.unique_without
        picture(
            class_size_chart(before),
            lambda: class_size_table(before),
            "class-sizes",
            about,
            settings,
        )
        kept = classes_kept(work)
        if kept is not None:
            st.caption(
                f"{said_kept(kept)} Which column singles people out most is not counted by "
                "itself; which columns do together can be looked for below."
            )
        if without:
            picture(
                singling_out_chart(without, before),
                lambda: singling_out_table(without, before),
                "singling-out",
                about,
                settings,
            )


def page() -> None:
    """Draw the page."""
    work = head("What is in this table, and how exposed is it?")
    table_choice(work)
    incomplete = incomplete_records(work)
    missing_cells(work, incomplete)
    how_read(work)
    left, right = st.columns(2, gap="medium")
    with left:
        table_preview(work)
    roles_and_hierarchies(work)
    person_choice(work)
    st.page_link(
        "pages/anonymise.py", label="Anonymise this table", icon=":material/arrow_forward:"
    )
    with right:  # last, as to count a large table may take some seconds
        exposure(work, incomplete)
