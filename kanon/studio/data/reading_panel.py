"""How the file of a table was read, and what of it can be read otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.language import say, say_counted, say_of
from kanon.base.spelling import KNOWN_MARKERS
from kanon.sources.opening import OpenedTable
from kanon.sources.reading import ReadSettings, TableFile
from kanon.sources.separators import SEPARATORS
from kanon.studio.data.table_location import reading_request
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE
from kanon.studio.session import state
from kanon.studio.session.binding import bound
from kanon.studio.session.table_loading import settings_shown
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work

SEPARATOR_NAMES = {
    ",": say("comma ,"),
    ";": say("semicolon ;"),
    "\t": say("tab"),
    "|": say("bar |"),
}


FIRST_LINE = {True: say("The first line holds names"), False: say("The first line is a record")}


def replaced(version: int) -> bool:
    """Whether the table that the page shows is not the one that is worked on any more."""
    return state.work().version != version


def take_reading(version: int, field: str, value: Any) -> None:
    """Read the same file again with one setting changed; the others are as asked for, or found."""
    if replaced(version):
        return
    value = tuple(value) if isinstance(value, list) else None if value == "" else value
    changed: dict[str, Any] = {field: value}
    state.change(asked=replace(state.work().table.asked, **changed))
    runner.run(reading_request, wait=AT_ONCE)


def how_read(work: Work) -> None:
    """How the file was read, and what of it can be read otherwise."""
    if work.table.file.unclear:
        ask_first_line(work)
    with st.expander(say("How it was read"), icon=":material/description:"):
        for sentence in work.table.file.found:
            st.markdown(plain(sentence))
        if work.table.can_be_reread:
            reading_fields(work.version, settings_shown(work), work.table.file)


def ask_first_line(work: Work) -> None:
    """Ask whether the first line holds names, where it reads as a record."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(
            say(
                "The first line of the file may be a record: {reason}. Nothing is released before "
                "you say what it is.",
                reason=work.table.file.unclear,
            ),
            icon=":material/help:",
        )
        for header, label in FIRST_LINE.items():
            st.button(
                say_of(label),
                key=f"first-line-{header}",
                on_click=take_reading,
                args=(work.version, "header", header),
            )


def reading_fields(version: int, shown: ReadSettings, file: TableFile | OpenedTable) -> None:
    """The settings that the file is read with."""
    columns = st.columns(3)
    if (shown.separator is not None or file.kind == "xlsx") and not file.unclear:
        columns[2].selectbox(
            say("First line"),
            list(FIRST_LINE),
            **bound(
                f"header-{version}", shown.header is not False, take_reading, version, "header"
            ),
            format_func=lambda header: say_of(FIRST_LINE[header]),
        )
    if isinstance(file, TableFile) and len(file.sheets) > 1:
        columns[0].selectbox(
            say("Sheet"),
            list(file.sheets),
            **bound(f"sheet-{version}", shown.sheet, take_reading, version, "sheet"),
            format_func=lambda name: _sized(name, *file.sheets[name]),
        )
    if shown.separator is not None:
        known = list(dict.fromkeys([*SEPARATORS, shown.separator]))
        columns[0].selectbox(
            say("Separator"),
            known,
            **bound(f"separator-{version}", shown.separator, take_reading, version, "separator"),
            format_func=lambda sign: SEPARATOR_NAMES.get(sign, sign),
        )
        columns[1].text_input(
            say("Encoding"),
            **bound(f"encoding-{version}", shown.encoding, take_reading, version, "encoding"),
            help=say("Such as utf-8, latin-1, cp1252 or utf-16."),
        )
    markers = [marker for marker in shown.missing_markers or () if marker.strip()]
    columns[2].multiselect(
        say("Cells that count as missing"),
        list(dict.fromkeys([*filter(None, KNOWN_MARKERS), *markers])),
        **bound(
            f"markers-{version}",
            markers,
            take_reading,
            version,
            "missing_markers",
        ),
        accept_new_options=True,
        help=say("Blank cells always do: nobody could tell them apart in a released file."),
    )


def _sized(sheet: str, rows: int, columns: int) -> str:
    """A sheet, and how much is on it."""
    return say(
        "{sheet}: {rows} × {columns}",
        sheet=sheet,
        rows=say_counted(rows, "{count} row", "{count} rows"),
        columns=say_counted(columns, "{count} column", "{count} columns"),
    )
