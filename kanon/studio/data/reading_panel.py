"""How the file of a table was read, and what of it can be read otherwise."""

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import counted
from kanon.base.spelling import KNOWN_MARKERS
from kanon.sources.formats import FORMATS
from kanon.sources.opening import OpenedTable
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.sources.separators import SEPARATORS
from kanon.studio.data.table_location import reading_request
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.table_loading import settings_shown
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work

SEPARATOR_NAMES = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}


FIRST_LINE = {True: "The first line holds names", False: "The first line is a record"}


def replaced(version: int) -> bool:
    """Whether the table that the page shows is not the one that is worked on any more."""
    return state.work().version != version


def take_reading(version: int, field: str, value: Any) -> None:
    """Read the same file again with one setting changed; the others are as asked for, or found."""
    if replaced(version):
        return
    value = tuple(value) if isinstance(value, list) else None if value == "" else value
    changed: dict[str, Any] = {field: value}
    state.change(replace(state.work().table, asked=replace(state.work().table.asked, **changed)))
    runner.run(reading_request, wait=AT_ONCE)


def how_read(work: Work) -> None:
    if work.table.file.unclear:
        ask_first_line(work)
    with st.expander("How it was read", icon=":material/description:"):
        for sentence in work.table.file.found:
            st.markdown(plain(sentence))
        if work.table.can_be_reread:
            reading_fields(work.version, settings_shown(work), work.table.file)


def ask_first_line(work: Work) -> None:
    """Ask whether the first line holds names, where it reads as a record."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(
            f"The first line of the file may be a record: {work.table.file.unclear}. Nothing "
            "is released before you say what it is.",
            icon=":material/help:",
        )
        for header, label in FIRST_LINE.items():
            st.button(
                label,
                key=f"first-line-{header}",
                on_click=take_reading,
                args=(work.version, "header", header),
            )


def reading_fields(version: int, shown: ReadSettings, file: TableFile | OpenedTable) -> None:
    columns = st.columns(3)
    is_sheet = file.kind in FORMATS and FORMATS[file.kind].cells == "sheet"
    if (shown.separator is not None or is_sheet) and not file.unclear:
        columns[2].selectbox(
            "First line",
            list(FIRST_LINE),
            **bound(
                f"header-{version}", shown.header is not False, take_reading, version, "header"
            ),
            format_func=lambda header: FIRST_LINE[header],
        )
    if isinstance(file, TableFile) and len(file.sheets) > 1:
        columns[0].selectbox(
            "Sheet",
            list(file.sheets),
            **bound(f"sheet-{version}", shown.sheet, take_reading, version, "sheet"),
            format_func=lambda name: _sized(name, *file.sheets[name]),
        )
    if shown.separator is not None:
        known = list(dict.fromkeys([*SEPARATORS, shown.separator]))
        columns[0].selectbox(
            "Separator",
            known,
            **bound(f"separator-{version}", shown.separator, take_reading, version, "separator"),
            format_func=lambda sign: SEPARATOR_NAMES.get(sign, sign),
        )
        columns[1].text_input(
            "Encoding",
            **bound(f"encoding-{version}", shown.encoding, take_reading, version, "encoding"),
            help="Such as utf-8, latin-1, cp1252 or utf-16.",
        )
    markers = [marker for marker in shown.missing_markers or () if marker.strip()]
    columns[2].multiselect(
        "Cells that count as missing",
        list(dict.fromkeys([*filter(None, KNOWN_MARKERS), *markers])),
        **bound(f"markers-{version}", markers, take_reading, version, "missing_markers"),
        accept_new_options=True,
        help="Blank cells always do: nobody could tell them apart in a released file.",
    )


def _sized(sheet: str, rows: int, columns: int) -> str:
    return f"{sheet}: {counted(rows, 'row')} × {counted(columns, 'column')}"
