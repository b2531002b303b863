"""What is in this table, and how exposed is it? Load a table, say what its columns are."""

import streamlit as st

from kanon.base.formatting import counted, thin
from kanon.base.sentences import records_said
from kanon.studio.data.columns_panel import roles_and_hierarchies
from kanon.studio.data.exposure_panel import exposure
from kanon.studio.data.missing_panel import missing_cells
from kanon.studio.data.person_column import person_choice
from kanon.studio.data.reading_panel import how_read
from kanon.studio.data.table_location import table_choice
from kanon.studio.jobs.stored_table import preview_rows
from kanon.studio.session import state
from kanon.studio.session.work import Work, incomplete_records
from kanon.studio.shell.frame import head
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
