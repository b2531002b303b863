"""How the file was read, how to read it differently, and which cells are missing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from kanon.base.formatting import choose_plural, count_noun, join_words, write_count
from kanon.base.spelling import BLANK, KNOWN_MARKERS
from kanon.errors import quote
from kanon.sources.formats import FORMATS
from kanon.sources.opening import OpenedTable
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.sources.separators import SEPARATORS
from kanon.studio.data.table_location import build_reading_request
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE
from kanon.studio.session import state
from kanon.studio.session.hierarchy_choices import set_missing_rule
from kanon.studio.session.parts import StateSection
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_loading import get_read_settings_to_show
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState

SEPARATOR_NAMES = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
FIRST_LINE = {True: "The first line holds names", False: "The first line is a record"}


def is_replaced(version: int) -> bool:
    """Whether the session already works on another table than the page shows."""
    return state.get_session().version != version


def try_on_table(version: int, change: Callable[..., SessionState], *arguments: Any) -> None:
    """Change the session, unless it works on another table than the page shows."""
    if not is_replaced(version):
        state.try_update(lambda: change(state.get_session(), *arguments))


def take_reading(version: int, field: str, value: Any) -> None:
    if is_replaced(version):
        return
    value = tuple(value) if isinstance(value, list) else None if value == "" else value
    change: dict[str, Any] = {field: value}
    state.update_sections(
        replace(state.get_session().table, asked=replace(state.get_session().table.asked, **change))
    )
    runner.run_request(build_reading_request, wait=AT_ONCE)


def show_reading(work: SessionState) -> None:
    with st.expander("How it was read", icon=":material/description:"):
        for sentence in work.table.file.found:
            st.markdown(escape_markdown(sentence))
        if work.table.can_be_reread:
            show_reading_fields(work.version, get_read_settings_to_show(work), work.table.file)


def ask_first_line(work: SessionState) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(
            f"The first line of the file may be a record: {work.table.file.unclear}. Choose what "
            "it is; until then nothing can be released.",
            icon=":material/help:",
        )
        for header, label in FIRST_LINE.items():
            st.button(
                label,
                key=f"first-line-{header}",
                on_click=take_reading,
                args=(work.version, "header", header),
            )


def show_reading_fields(version: int, current: ReadSettings, file: TableFile | OpenedTable) -> None:
    columns = st.columns(3)
    is_sheet = file.kind in FORMATS and FORMATS[file.kind].cells == "sheet"
    if (current.separator is not None or is_sheet) and not file.unclear:
        columns[2].selectbox(
            "First line",
            list(FIRST_LINE),
            **attach_widget(
                f"header-{version}", current.header is not False, take_reading, version, "header"
            ),
            format_func=lambda header: FIRST_LINE[header],
        )
    if isinstance(file, TableFile) and len(file.sheets) > 1:
        columns[0].selectbox(
            "Sheet",
            list(file.sheets),
            **attach_widget(f"sheet-{version}", current.sheet, take_reading, version, "sheet"),
            format_func=lambda name: (
                f"{name}: {count_noun(file.sheets[name][0], 'row')} × "
                f"{count_noun(file.sheets[name][1], 'column')}"
            ),
        )
    if current.separator is not None:
        separators = list(dict.fromkeys([*SEPARATORS, current.separator]))
        columns[0].selectbox(
            "Separator",
            separators,
            **attach_widget(
                f"separator-{version}", current.separator, take_reading, version, "separator"
            ),
            format_func=lambda sign: SEPARATOR_NAMES.get(sign, sign),
        )
        columns[1].text_input(
            "Encoding",
            **attach_widget(
                f"encoding-{version}", current.encoding, take_reading, version, "encoding"
            ),
            help="For example utf-8, latin-1, cp1252 or utf-16.",
        )
    markers = [marker for marker in current.missing_markers or () if marker.strip()]
    columns[2].multiselect(
        "Cells that count as missing",
        list(dict.fromkeys([*filter(None, KNOWN_MARKERS), *markers])),
        **attach_widget(f"markers-{version}", markers, take_reading, version, "missing_markers"),
        accept_new_options=True,
        help="Blank cells always count as missing: in a released file, blank and missing cells "
        "look the same.",
    )


@dataclass(frozen=True)
class MarkersSeen(StateSection):
    values: frozenset[str] = frozenset()


def show_missing_cells(work: SessionState, incomplete: int) -> None:
    if isinstance(work.table.file, TableFile) and work.table.content is not None:
        ask_footer(work, work.table.file)
        propose_markers(work, work.table.file)
    if incomplete:
        choose_missing(work, incomplete)


def ask_footer(work: SessionState, file: TableFile) -> None:
    rows = file.footer_like
    if not rows or work.table.origin in SAMPLES:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        question = choose_plural(
            rows,
            "The last row looks like a total or a note but counts as a record.",
            "The last {count} rows look like totals or notes but count as records.",
        )
        st.markdown(f":material/help: {question}")
        choices = (
            (rows, choose_plural(rows, "Leave it out", "Leave them out")),
            (0, choose_plural(rows, "It is a record", "They are records")),
        )
        for footer, label in choices:
            st.button(
                label,
                key=f"footer-{work.version}-{footer}",
                on_click=take_reading,
                args=(work.version, "footer", footer),
            )


def propose_markers(work: SessionState, file: TableFile) -> None:
    if work.table.origin in SAMPLES:
        return
    answered = {BLANK, *(file.settings.missing_markers or ())}
    answered |= work.view(MarkersSeen).values
    texts = {marker: n for marker, n in file.markers_present.items() if marker not in answered}
    if texts:
        descriptions = [
            f"{quote(marker)} ({write_count(count)})" for marker, count in texts.items()
        ]
        _propose_markers(
            work,
            "These look like missing cells but count as values: "
            f"{escape_markdown(join_words(descriptions))}.",
            list(texts),
        )
    for odd in file.odd:
        if odd.marker in answered:
            continue
        columns = [f"{quote(name)} ({write_count(count)})" for name, count in odd.columns.items()]
        question = (
            f"Does {odd.marker} stand for a missing number "
            f"in {escape_markdown(join_words(columns))}?"
        )
        cells = count_noun(odd.other_cells, "cell")
        beyond = f"It would also count as missing in {cells} of other columns."
        _propose_markers(
            work, f"{question} {beyond}" if odd.other_cells else question, [odd.marker]
        )


def _propose_markers(work: SessionState, sentence: str, markers: Sequence[str]) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/help: {sentence}")
        for marker in markers:
            _show_marker_button(
                f"{escape_markdown(quote(marker))} is missing", work, take_markers, [marker]
            )
        several = len(markers) > 1
        if several:
            _show_marker_button("All are missing", work, take_markers, markers)
        values = "They are values" if several else "It is a value"
        _show_marker_button(values, work, take_values, markers)


def _show_marker_button(
    label: str,
    work: SessionState,
    take: Callable[[int, Sequence[str]], None],
    markers: Sequence[str],
) -> None:
    st.button(
        label,
        key=f"{take.__name__}-{work.version}-{'|'.join(markers)}",
        on_click=take,
        args=(work.version, markers),
    )


def take_markers(version: int, markers: Sequence[str]) -> None:
    markers_before = state.get_session().table.file.settings.missing_markers or ()
    take_reading(version, "missing_markers", list(dict.fromkeys([*markers_before, *markers])))


def take_values(version: int, markers: Sequence[str]) -> None:
    if not is_replaced(version):
        answered = state.get_session().view(MarkersSeen)
        state.update_sections(replace(answered, values=answered.values | {*markers}))


def choose_missing(work: SessionState, incomplete: int) -> None:
    version, records = work.version, count_noun(incomplete, "record")
    st.radio(
        f"{records} with a quasi-identifier missing: what happens to them?",
        ["drop-records", "as-value"],
        **attach_widget(
            f"missing-{version}", work.table.missing, try_on_table, version, set_missing_rule
        ),
        format_func={
            "drop-records": f"Drop {records}",
            "as-value": "Keep them: count missing as a value of its own",
        }.get,
        horizontal=True,
    )
    if work.table.missing is None:
        st.caption(
            "Choose first; until then nothing can be released. The figures on this page still "
            "count all records."
        )
