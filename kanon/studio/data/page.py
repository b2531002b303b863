"""What is in this table, and how exposed is it? Load a table, say what its columns are."""

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
    """The choice among the identifiers, and what speaks for it; nothing where none can be one."""
    identifiers = [name for name, role in work.table.roles.items() if role is Role.IDENTIFIER]
    chosen = work.table.person
    if chosen is None and (not identifiers or not isinstance(work.table.records, MemoryTable)):
        return
    lost = [chosen] if chosen is not None and chosen not in identifiers else []
    none = "none: k counts records"
    key = f"person-{work.version}-{'|'.join(identifiers)}-{chosen}"
    st.selectbox(
        "Which column says who a record is about?",
        ["", *identifiers, *lost],
        **bound(
            key,
            chosen or "",
            lambda value: state.change(replace(state.work().table, person=value or None)),
        ),
        format_func=lambda name: name or none,
        help="If somebody has several records, five of them are no group of five people. With the "
        "column named, k counts people.",
        width=420,
    )
    if lost:
        st.error(
            f"{plain(lost[0])} is no identifier any more: make it one again, or choose "
            "another column.",
            icon=":material/error:",
        )
    elif chosen is not None:
        _told(work, chosen)
    else:
        _warned(work, repeating(work, identifiers))


def repeating(work: Work, identifiers: list[str]) -> str | None:
    """The identifier of most records that share their value with others; None if none does."""
    found = {}
    for name in identifiers:
        often = work.table.records.frequencies(name)
        several = often.distinct.filled - often.rarer_than(2)
        if several and tells_persons(often.distinct):
            found[name] = several
    return max(found, key=lambda name: found[name], default=None)


def _warned(work: Work, column: str | None) -> None:
    """That k counts records of which some may be of one person."""
    if column is None:
        return
    often = work.table.records.frequencies(column)
    st.warning(
        one_or_many(
            often.distinct.values,
            "{count} value of {column} covers {rows} rows: with records counted, each row would be "
            "another person. If the value is one person, name the column here.",
            "{count} values of {column} cover {rows} rows: with records counted, each row would be "
            "another person. If each value is one person, name the column here.",
            column=plain(column),
            rows=thin(often.distinct.filled),
        ),
        icon=":material/group:",
    )


def _told(work: Work, column: str) -> None:
    lacking = work.table.complete_records.incomplete([column])
    if lacking:
        st.error(
            one_or_many(
                lacking,
                "{count} record has no value in {column}, so nobody knows whom it is about: fill "
                "it in, or leave the record out of the table.",
                "{count} records have no value in {column}, so nobody knows whom they are about: "
                "fill them in, or leave these records out of the table.",
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
            "Every record lacks a quasi-identifier, so dropping those records leaves none. "
            "Keep them with missing as a value, or choose other roles."
        )
    elif uncounted(work):
        st.subheader("How exposed it is")
        counting(work)
    else:
        table = work.table
        asked = (tuple(table.quasi_identifiers), table.missing, table.person)
        with st.spinner("Counting how exposed the records are"):
            key = (table.digest, work.version, *asked)
            seen = state.remembered("exposed", key, lambda: exposed(work))
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
