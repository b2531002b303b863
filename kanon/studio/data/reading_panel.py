"""How the file of a table was read, what of it can be read otherwise, and what is missing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from kanon.base.formatting import counted, joined, one_or_many, thin
from kanon.base.spelling import BLANK, KNOWN_MARKERS
from kanon.errors import quoted
from kanon.sources.formats import FORMATS
from kanon.sources.opening import OpenedTable
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.sources.separators import SEPARATORS
from kanon.studio.data.table_location import reading_request
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE
from kanon.studio.session import state
from kanon.studio.session.hierarchy_choices import with_missing
from kanon.studio.session.parts import SessionPart
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import bound
from kanon.studio.session.table_loading import settings_shown
from kanon.studio.session.table_state import Missing
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


@dataclass(frozen=True)
class MarkersSeen(SessionPart):
    """The texts that look like a missing cell, and of which the user said that they are values."""

    values: frozenset[str] = frozenset()


def missing_cells(work: Work, incomplete: int) -> None:
    if isinstance(work.table.file, TableFile) and work.table.content is not None:
        footer_offered(work, work.table.file)
        markers_offered(work, work.table.file)
    if incomplete:
        missing_choice(work, incomplete)


def footer_offered(work: Work, file: TableFile) -> None:
    """Rows at the end that look like totals or notes: whether they are records."""
    rows = file.footer_like
    if not rows or work.table.origin in SAMPLES:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        asked = one_or_many(
            rows,
            "The last row looks like a total or a note, and counts as a record.",
            "The last {count} rows look like totals or notes, and count as records.",
        )
        st.markdown(f":material/help: {asked}")
        choices = (
            (rows, one_or_many(rows, "Leave it out", "Leave them out")),
            (0, one_or_many(rows, "It is a record", "They are records")),
        )
        for footer, label in choices:
            st.button(
                label,
                key=f"footer-{work.version}-{footer}",
                on_click=take_reading,
                args=(work.version, "footer", footer),
            )


def markers_offered(work: Work, file: TableFile) -> None:
    """The texts and numbers that may mark a missing cell, one press each; nothing of a sample."""
    if work.table.origin in SAMPLES:
        return
    settled = {BLANK, *(file.settings.missing_markers or ())}
    settled |= work.view(MarkersSeen).values
    texts = {marker: n for marker, n in file.markers_present.items() if marker not in settled}
    if texts:
        listed = [f"{quoted(marker)} ({thin(count)})" for marker, count in texts.items()]
        _offered(
            work,
            f"These look like missing cells and count as values: {plain(joined(listed))}.",
            list(texts),
        )
    for odd in file.odd:
        if odd.marker in settled:
            continue
        columns = [f"{quoted(name)} ({thin(count)})" for name, count in odd.columns.items()]
        asked = f"Does {odd.marker} stand for a missing number in {plain(joined(columns))}?"
        cells = counted(odd.elsewhere, "cell")
        beyond = f"It would count as missing in {cells} of other columns too."
        _offered(work, f"{asked} {beyond}" if odd.elsewhere else asked, [odd.marker])


def _offered(work: Work, sentence: str, markers: Sequence[str]) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/help: {sentence}")
        for marker in markers:
            _button(f"{plain(quoted(marker))} is missing", work, take_markers, [marker])
        several = len(markers) > 1
        if several:
            _button("All are missing", work, take_markers, markers)
        values = "They are values" if several else "It is a value"
        _button(values, work, take_values, markers)


def _button(
    label: str, work: Work, take: Callable[[int, Sequence[str]], None], markers: Sequence[str]
) -> None:
    st.button(
        label,
        key=f"{take.__name__}-{work.version}-{'|'.join(markers)}",
        on_click=take,
        args=(work.version, markers),
    )


def take_markers(version: int, markers: Sequence[str]) -> None:
    """Read the table again, with further texts that mark a missing cell."""
    used = state.work().table.file.settings.missing_markers or ()
    take_reading(version, "missing_markers", list(dict.fromkeys([*used, *markers])))


def take_values(version: int, markers: Sequence[str]) -> None:
    """Ask no more about texts that are values."""
    if not replaced(version):
        seen = state.work().view(MarkersSeen)
        state.change(replace(seen, values=seen.values | {*markers}))


def missing_choice(work: Work, incomplete: int) -> None:
    """What happens to records that lack a quasi-identifier: nothing until it is chosen."""
    version, records = work.version, counted(incomplete, "record")
    st.radio(
        f"{records} with a quasi-identifier missing: what happens to them?",
        ["drop-records", "as-value"],
        **bound(f"missing-{version}", work.table.missing, take_missing, version),
        format_func={
            "drop-records": f"Drop {records}",
            "as-value": "Keep them: missing counts as a value of its own",
        }.get,
        horizontal=True,
    )
    if work.table.missing is None:
        st.caption(
            "Nothing is chosen yet: the figures on this page count all records, and there is "
            "no release before it is."
        )


def take_missing(version: int, missing: Missing) -> None:
    if not replaced(version):
        state.attempt(lambda: with_missing(state.work(), missing))
