"""What is in this table, and how exposed is it? Load a table and choose the roles of columns."""

from dataclasses import replace

import streamlit as st

from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.sentences import records_said
from kanon.charts.exposure import (
    class_size_chart,
    class_size_table,
    singling_out_chart,
    singling_out_table,
)
from kanon.schema import Role, tells_persons
from kanon.sources.exposure import describe_suppressed
from kanon.sources.memory import MemoryTable
from kanon.studio.data.columns_panel import roles_and_hierarchies
from kanon.studio.data.reading_panel import how_read, missing_cells
from kanon.studio.data.table_location import table_choice
from kanon.studio.jobs.stored_table import exposed, preview_rows
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, classes_kept, incomplete_records, said_kept, uncounted
from kanon.studio.shell.frame import counting, head
from kanon.studio.widgets.numbers import of_table
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.tables import by_role


def table_preview(work: Work) -> None:
    version, rows = work.version, preview_rows(work.table.records.n_records, len(work.table.roles))
    columns = counted(len(work.table.roles), "column")
    st.subheader(f"{records_said(work.table.records.n_records)}, {columns}")
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


def person_choice(work: Work) -> None:
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
        **bound(
            key,
            person or "",
            lambda value: state.change(replace(state.work().table, person=value or None)),
        ),
        format_func=lambda name: name or none,
        help="If a person has several records, five records may be of fewer than five people. "
        "Name the column, and k counts people.",
        width=420,
    )
    if former:
        st.error(
            f"{plain(former[0])} is no longer an identifier: make it one again, or choose "
            "another column.",
            icon=":material/error:",
        )
    elif person is not None:
        _describe_persons(work, person)
    else:
        _warn_of_repeats(work, repeating(work, identifiers))


def repeating(work: Work, identifiers: list[str]) -> str | None:
    """The identifier with the most records that share their value; None if no value repeats."""
    repeats = {}
    for name in identifiers:
        often = work.table.records.frequencies(name)
        several = often.distinct.filled - often.rarer_than(2)
        if several and tells_persons(often.distinct):
            repeats[name] = several
    return max(repeats, key=lambda name: repeats[name], default=None)


def _warn_of_repeats(work: Work, column: str | None) -> None:
    if column is None:
        return
    often = work.table.records.frequencies(column)
    st.warning(
        one_or_many(
            often.distinct.values,
            "{count} value of {column} covers {rows} rows. k counts each row as a different "
            "person. If the value stands for one person, choose {column} here.",
            "{count} values of {column} cover {rows} rows. k counts each row as a different "
            "person. If each value stands for one person, choose {column} here.",
            column=plain(column),
            rows=thin(often.distinct.filled),
        ),
        icon=":material/group:",
    )


def _describe_persons(work: Work, column: str) -> None:
    lacking = work.table.complete_records.incomplete([column])
    if lacking:
        st.error(
            one_or_many(
                lacking,
                "{count} record has no value in {column}, so its person is unknown. Fill in the "
                "value, or remove the record from the table.",
                "{count} records have no value in {column}, so their persons are unknown. Fill in "
                "the values, or remove these records from the table.",
                column=plain(column),
            ),
            icon=":material/error:",
        )
        return
    people = work.table.complete_records.distinct_of(column).values
    have = counted(people, "person has", "persons have")
    st.caption(f"k counts people: {have} {records_said(work.table.complete_records.n_records)}.")


def exposure(work: Work, incomplete: int) -> None:
    if not work.table.quasi_identifiers:
        st.subheader("How exposed it is")
        st.info("Choose at least one quasi-identifier below to see how exposed the records are.")
    elif incomplete == work.table.records.n_records and work.table.missing == "drop-records":
        st.subheader("How exposed it is")
        st.info(
            "Every record lacks the value of a quasi-identifier, so dropping them leaves no "
            "records. Keep them with missing as a value, or choose other roles."
        )
    elif uncounted(work):
        st.subheader("How exposed it is")
        counting(work)
    else:
        table = work.table
        settings_key = (tuple(table.quasi_identifiers), table.missing, table.person)
        with st.spinner("Counting how exposed the records are"):
            key = (table.digest, work.version, *settings_key)
            exposed_table = state.remembered("exposed", key, lambda: exposed(work))
        numbers = of_table(exposed_table)
        widths = [len(number.label) + 6 for number in numbers]  # and the help beside it
        for place, number in zip(st.columns(widths), numbers, strict=True):
            place.metric(number.label, number.value, help=number.help)
        if exposed_table.suppressed:
            st.caption(plain(describe_suppressed(exposed_table.suppressed)))
        about = f"{work.table.quasi_identifiers}{work.table.missing}{work.table.person}"
        settings = PictureSettings.of_table(work)
        before, without = exposed_table.exposure, exposed_table.unique_without
        picture(
            class_size_chart(before),
            lambda: class_size_table(before),
            "class-sizes",
            about,
            settings,
        )
        class_count = classes_kept(work)
        if class_count is not None:
            st.caption(
                f"{said_kept(class_count)} So there is no chart of the column that singles people "
                "out most. You can search for combinations of columns below."
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
    work = head("What is in this table, and how exposed is it?")
    table_choice(work)
    incomplete = incomplete_records(work)
    missing_cells(work, incomplete)
    how_read(work)
    preview_side, exposure_side = st.columns(2, gap="medium")
    with preview_side:
        table_preview(work)
    roles_and_hierarchies(work)
    person_choice(work)
    st.page_link(
        "pages/anonymise.py", label="Anonymise this table", icon=":material/arrow_forward:"
    )
    with exposure_side:  # last, as to count a large table may take some seconds
        exposure(work, incomplete)
