"""What is in this table, and how exposed is it? Load a table and choose the roles of columns."""

from dataclasses import replace

import streamlit as st

from kanon.base.formatting import count_noun, write_count
from kanon.base.sentences import write_records
from kanon.charts.exposure import (
    build_class_size_table,
    build_singling_out_table,
    draw_class_sizes,
    draw_singling_out,
)
from kanon.schema import Role, tells_persons
from kanon.sources.exposure import describe_suppressed
from kanon.sources.memory import MemoryTable
from kanon.studio.data.columns_panel import show_columns
from kanon.studio.data.reading_panel import ask_first_line, show_missing_cells, show_reading
from kanon.studio.data.table_location import choose_table_source
from kanon.studio.jobs.stored_table import count_preview_rows, start_exposure
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import (
    SessionState,
    count_classes_in_engine,
    count_incomplete_records,
    describe_classes_in_engine,
    needs_class_count,
)
from kanon.studio.shell.frame import draw_page_head, show_class_count
from kanon.studio.widgets.numbers import list_table_numbers
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.remarks import show_table_remarks
from kanon.studio.widgets.tables import highlight_roles


def show_table_preview(work: SessionState) -> None:
    version = work.version
    rows = count_preview_rows(work.table.records.n_records, len(work.table.roles))
    columns = count_noun(len(work.table.roles), "column")
    st.subheader(f"{write_records(work.table.records.n_records)}, {columns}")
    st.dataframe(
        state.get_or_compute(
            "by-role",
            (work.table.digest, version, tuple(work.table.roles.items())),
            lambda: highlight_roles(work.table.records, work.table.roles),
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
        f"The first {write_count(rows)} records, tinted by role: red identifier, "
        "amber quasi-identifier, violet sensitive, grey insensitive or not decided."
    )


def choose_person(work: SessionState) -> None:
    identifiers = [name for name, role in work.table.roles.items() if role is Role.IDENTIFIER]
    person = work.table.person
    if person is None and (not identifiers or not isinstance(work.table.records, MemoryTable)):
        return
    former = [person] if person is not None and person not in identifiers else []
    none = "none: k counts records"
    key = f"person-{work.version}-{'|'.join(identifiers)}-{person}"
    st.selectbox(
        "Which column identifies the person?",
        ["", *identifiers, *former],
        **attach_widget(
            key,
            person or "",
            lambda value: state.update_sections(
                replace(state.get_session().table, person=value or None)
            ),
        ),
        format_func=lambda name: name or none,
        help="If a person has several records, five records may belong to fewer than five people. "
        "Choose the column that identifies the person, and k will count people.",
        width=420,
    )
    if former:
        st.error(
            f"{escape_markdown(former[0])} is no longer an "
            "identifier: make it one again, or choose another column.",
            icon=":material/error:",
        )
    elif person is not None:
        _describe_persons(work, person)
    elif column := find_repeating(work, identifiers):
        _warn_of_repeats(work, column)


def find_repeating(work: SessionState, identifiers: list[str]) -> str | None:
    """The identifier with the most records that share their value; None if no value repeats."""
    repeats = {}
    for name in identifiers:
        often = work.table.records.frequencies(name)
        several = often.distinct.n_filled - often.count_rarer_than(2)
        if several and tells_persons(often.distinct):
            repeats[name] = several
    return max(repeats, key=lambda name: repeats[name], default=None)


def _warn_of_repeats(work: SessionState, column: str) -> None:
    distinct, name = work.table.records.frequencies(column).distinct, escape_markdown(column)
    cover = count_noun(distinct.values, f"value of {name} covers", f"values of {name} cover")
    st.warning(
        f"{cover} {write_count(distinct.n_filled)} rows. k counts each row as a different person. "
        f"If each value stands for one person, choose {name} here.",
        icon=":material/group:",
    )


def _describe_persons(work: SessionState, column: str) -> None:
    lacking = work.table.complete_records.incomplete([column])
    if lacking:
        st.error(
            f"{count_noun(lacking, 'record has', 'records have')} no value in "
            f"{escape_markdown(column)}, so not every person is known. Fill in what is missing, or "
            "remove such records from the table.",
            icon=":material/error:",
        )
        return
    people = work.table.complete_records.count_distinct(column).values
    have = count_noun(people, "person has", "persons have")
    st.caption(f"k counts people: {have} {write_records(work.table.complete_records.n_records)}.")


def show_exposure(work: SessionState, incomplete: int) -> None:
    if not work.table.quasi_identifiers:
        st.info("Choose at least one quasi-identifier below to see how exposed the records are.")
    elif incomplete == work.table.records.n_records and work.table.missing == "drop-records":
        st.info(
            "Every record lacks a value in at least one quasi-identifier, so dropping such records "
            "leaves none. Keep them and count missing as a value of its own, or choose other roles."
        )
    elif needs_class_count(work):
        show_class_count(work)
    else:
        table = work.table
        settings_key = (tuple(table.quasi_identifiers), table.missing, table.person)
        with st.spinner("Counting how exposed the records are"):
            key = (table.digest, work.version, *settings_key)
            exposed_table = state.get_or_compute("exposed", key, lambda: start_exposure(work))
        numbers = list_table_numbers(exposed_table)
        widths = [len(number.label) + 6 for number in numbers]  # and the help beside it
        for place, number in zip(st.columns(widths), numbers, strict=True):
            place.metric(number.label, number.value, help=number.help)
        if exposed_table.suppressed:
            st.caption(escape_markdown(describe_suppressed(exposed_table.suppressed)))
        about = f"{work.table.quasi_identifiers}{work.table.missing}{work.table.person}"
        settings = PictureSettings.from_table(work)
        before, without = exposed_table.exposure, exposed_table.unique_without
        show_picture(
            draw_class_sizes(before),
            lambda: build_class_size_table(before),
            "class-sizes",
            about,
            settings,
        )
        class_count = count_classes_in_engine(work)
        if class_count is not None:
            st.caption(
                f"{describe_classes_in_engine(class_count)} So there is no chart of the column "
                "that singles people out most. You can search for combinations of columns below."
            )
        if without and min(without.values()) == before.unique:
            st.caption(
                f"Without any one of these columns, just as many {before.of} are unique: "
                "no column stands out."
            )
        elif without:
            show_picture(
                draw_singling_out(without, before),
                lambda: build_singling_out_table(without, before),
                "singling-out",
                about,
                settings,
            )


def page() -> None:
    work = draw_page_head("What is in this table, and how exposed is it?")
    choose_table_source(work)
    incomplete = count_incomplete_records(work)
    show_missing_cells(work, incomplete)
    if work.table.file.unclear:
        ask_first_line(work)
    preview_side, exposure_side = st.columns(2, gap="medium")
    with preview_side:
        show_table_preview(work)
        show_reading(work)
        choose_person(work)
        show_table_remarks(work)
    show_columns(work)
    st.page_link(
        "pages/anonymise.py", label="Anonymise this table", icon=":material/arrow_forward:"
    )
    with exposure_side:  # last, as to count a large table may take some seconds
        show_exposure(work, incomplete)
