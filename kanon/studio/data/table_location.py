"""Where a table comes from: an upload, a sample, Adult, a path, or the URL of a database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

import streamlit as st

from kanon.base.formatting import write_count
from kanon.errors import quote
from kanon.settings import get_settings
from kanon.sources.addresses import (
    Address,
    can_open_connections,
    can_open_tables,
    check_address,
    get_tables_folder,
)
from kanon.sources.formats import READ_FORMATS
from kanon.sources.opening import ADULT_ATTRIBUTION, ADULT_LICENCE
from kanon.sources.read_settings import ReadSettings
from kanon.sources.stored import StoredTable
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import open_stored_work
from kanon.studio.jobs.upload import AT_ONCE, request_rereading, request_upload
from kanon.studio.session import state
from kanon.studio.session.parts import StateSection
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_loading import open_adult, open_sample, take_over_reread
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
)
from kanon.studio.widgets.controls import draw_upload_field

PLACE_TAB = "A path or a database"


@dataclass(frozen=True)
class TablePlace(StateSection):
    # A path, or the URL of a database; see :class:`kanon.sources.addresses.Address`.
    typed: str = ""
    engine: str = ""  # The chosen engine; empty for automatic
    problem: str = ""  # Why it could not be opened

    def keep_for_new_table(self) -> TablePlace:
        """Keep all of it: the next table may lie beside this one."""
        return self


ENGINES = {"": "Automatic", "spark": "Spark"}


def choose_table_source(work: SessionState) -> None:
    """The ways to a table; one line once the user has opened one."""
    version = work.version
    ways, way = list_table_tabs(work)
    is_open = version == 0 or "opening" in work.running or bool(work.view(TablePlace).problem)
    with st.container() if is_open else st.expander("Load another table", icon=":material/upload:"):
        upload, samples, adult, *places = st.tabs(ways, default=way)
    with upload:
        titles = ", ".join(its.title for its in READ_FORMATS)
        draw_upload_field(
            f"{titles} or an ARX project (.deid), up to "
            f"{write_count(get_settings().upload_megabytes)} MB. It stays in the memory of the "
            "machine that runs kanon.",
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
            "The table that most papers use: 32,561 records of the 1994 U.S. census. It is "
            "downloaded from the UCI repository only when you press the button, checked by its "
            f"hash, and not saved to disk.\n\n{ADULT_ATTRIBUTION} Licence: {ADULT_LICENCE}."
        )
        if st.button("Download Adult", icon=":material/cloud_download:"):
            with st.spinner("Downloading from the UCI repository"):
                state.try_update(lambda: open_adult(next_version()))
            st.rerun()
    for tab in places:
        with tab:
            place_tab(work)


def next_version() -> int:
    """The version of the next table: a worker may have opened one since the page was drawn."""
    return state.get_session().version + 1


def take_upload(version: int) -> None:
    file = state.get_widget_value(f"upload-{version}")
    if file is not None:
        runner.run_request(request_upload, file.getvalue(), file.name, wait=AT_ONCE)


def take_sample(name: str) -> None:
    state.try_update(lambda: open_sample(name, next_version()))


def list_table_tabs(work: SessionState) -> tuple[list[str], str]:
    """The titles of the tabs (no path where that is switched off), and the open one."""
    ways = ["Upload a file", "Samples", "Adult from UCI"]
    if not can_open_tables():
        return ways, ways[0]
    place = (
        work.table.origin == "place" or "opening" in work.running or work.view(TablePlace).problem
    )
    return [*ways, PLACE_TAB], PLACE_TAB if place else ways[0]


def place_tab(work: SessionState) -> None:
    version = work.version
    engines = ["", "spark"] if find_spec("pyspark") else []
    widths = [6, *([1.7] if engines else []), 2.1]
    where, *others = st.columns(widths, vertical_alignment="bottom")
    where.text_input(
        "Path of a table, or URL of a database with the table after a #",
        **attach_widget(f"place-{version}", work.view(TablePlace).typed, "typed", into=_set_place),
        placeholder=f"{get_tables_folder() / 'people.parquet'}, or data.sqlite#people",
        help=(
            "A Parquet or CSV file, a folder of Parquet files, a DuckDB or SQLite file, or a "
            "server such as postgres://host/data#people."
        )
        if can_open_connections()
        else "A Parquet or CSV file, a folder of Parquet files, a DuckDB or SQLite file.",
    )
    if engines:
        others[0].selectbox(
            "Engine",
            engines,
            **attach_widget(
                f"engine-{version}", work.view(TablePlace).engine, "engine", into=_set_place
            ),
            format_func=lambda name: ENGINES[name],
            help="The engine groups the records and writes the release. Automatic: DuckDB for "
            "files, the database itself for a database.",
        )
    others[-1].button(
        "Open the table",
        icon=":material/folder_open:",
        type="secondary" if work.table.origin == "place" else "primary",
        disabled="opening" in work.running,
        on_click=lambda: runner.run_request(build_opening_request, refused=_show_problem),
        key="open-place",
        width="stretch",
    )
    with st.container():  # always there, so that what follows stays where it is
        if work.view(TablePlace).problem:
            st.error(escape_markdown(work.view(TablePlace).problem), icon=":material/error:")
    folder = get_tables_folder()
    sentences = [
        (
            "The table stays where it is, however large. kanon asks only for counts and the few "
            "records of a preview."
        ),
        escape_markdown(f"Files must be in {folder}. Hidden files are not opened."),
    ]
    if not can_open_connections():
        sentences.append("Connections to databases are switched off.")
    st.caption(" ".join(sentences))
    if not folder.exists():
        st.button(
            "Create the folder",
            icon=":material/create_new_folder:",
            help=escape_markdown(f"{folder} does not exist yet."),
            on_click=_create_folder,
            key="create-folder",
        )


def _create_folder() -> None:
    folder = get_tables_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "not a usable path"
        problem = f"{quote(folder, 200)} cannot be written ({reason})."
        state.update_sections(replace(state.get_session().view(TablePlace), problem=problem))


def build_opening_request(work: SessionState) -> JobRequest:
    address = check_address(Address.parse(work.view(TablePlace).typed))
    return JobRequest(
        "opening",
        open_stored_work,
        (address, work.view(TablePlace).engine or None, ReadSettings()),
        _start_table,
        limit="engine_minutes",
        begins=lambda work: work.replace_sections(replace(work.view(TablePlace), problem="")),
        handle_failure=_show_problem,
    )


def _start_table(work: SessionState, opened_work: SessionState) -> SessionState:
    return replace(opened_work, version=work.version + 1).replace_sections(work.view(TablePlace))


def _show_problem(work: SessionState, sentence: str) -> SessionState:
    return work.replace_sections(
        replace(work.view(TablePlace), problem=sentence), replace(work.message, problem=None)
    )


def build_reading_request(work: SessionState) -> JobRequest | None:
    """None for a table that cannot be read again."""
    table = work.table.records
    if not isinstance(table, StoredTable):
        return request_rereading(work, work.table.asked, take_over_reread)
    return JobRequest(
        "reading",
        open_stored_work,
        (table.address, table.engine, work.table.asked),
        take_over_reread,
        limit="engine_minutes",
    )


def _set_place(**fields: str) -> None:
    state.update_sections(replace(state.get_session().view(TablePlace), **fields, problem=""))
