"""Where a table comes from: an upload, a sample, Adult, a path, or the URL of a database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

import streamlit as st

from kanon.base.formatting import thin
from kanon.errors import quoted
from kanon.settings import settings
from kanon.sources.addresses import (
    Address,
    allowed_folder,
    check_address,
    connections_allowed,
    tables_allowed,
)
from kanon.sources.formats import FORMATS
from kanon.sources.opening import ADULT_ATTRIBUTION, ADULT_LICENCE
from kanon.sources.read_settings import ReadSettings
from kanon.sources.stored import StoredTable
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import open_work
from kanon.studio.jobs.upload import AT_ONCE, rereading_request, upload_request
from kanon.studio.session import state
from kanon.studio.session.parts import SessionPart
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import bound
from kanon.studio.session.table_loading import adult_work, read_again, sample_work
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work, opening_cancelled, reading_cancelled
from kanon.studio.widgets.controls import upload_field

PLACE_TAB = "A path or a database"


@dataclass(frozen=True)
class Place(SessionPart):
    # A path, or the URL of a database; see :class:`kanon.sources.addresses.Address`.
    typed: str = ""
    engine: str = ""  # The chosen engine; empty for automatic
    problem: str = ""  # Why it could not be opened

    def for_another_table(self) -> Place:
        """Keep all of it: the next table may lie beside this one."""
        return self


ENGINES = {"": "Automatic", "spark": "Spark"}


def table_choice(work: Work) -> None:
    version = work.version
    ways, way = table_tabs(work)
    upload, samples, adult, *places = st.tabs(ways, default=way)
    with upload:
        *titles, last = (its.title for its in FORMATS.values())
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
            "The table that most papers use: 32,561 records of the 1994 U.S. census. It is "
            "downloaded from the UCI repository only when you press the button, checked by its "
            f"hash, and not saved to disk.\n\n{ADULT_ATTRIBUTION} Licence: {ADULT_LICENCE}."
        )
        if st.button("Download Adult", icon=":material/cloud_download:"):
            with st.spinner("Downloading from the UCI repository"):
                state.attempt(lambda: adult_work(next_version()))
            st.rerun()
    for tab in places:
        with tab:
            place_tab(work)


def next_version() -> int:
    """The version of the next table: a worker may have opened one since the page was drawn."""
    return state.work().version + 1


def take_upload(version: int) -> None:
    file = state.typed(f"upload-{version}")
    if file is not None:
        runner.run(upload_request, file.getvalue(), file.name, wait=AT_ONCE)


def take_sample(name: str) -> None:
    state.attempt(lambda: sample_work(name, next_version()))


def table_tabs(work: Work) -> tuple[list[str], str]:
    """The titles of the tabs (no path where that is switched off), and the open one."""
    ways = ["Upload a file", "Samples", "Adult from UCI"]
    if not tables_allowed():
        return ways, ways[0]
    place = work.table.origin == "place" or "opening" in work.running or work.view(Place).problem
    return [*ways, PLACE_TAB], PLACE_TAB if place else ways[0]


def place_tab(work: Work) -> None:
    version = work.version
    engines = ["", "spark"] if find_spec("pyspark") else []
    widths = [6, *([1.7] if engines else []), 2.1]
    where, *others = st.columns(widths, vertical_alignment="bottom")
    where.text_input(
        "Path of a table, or URL of a database with the table after a #",
        **bound(f"place-{version}", work.view(Place).typed, "typed", into=_set_place),
        placeholder=f"{allowed_folder() / 'people.parquet'}, or data.sqlite#people",
        help=(
            "A Parquet or CSV file, a folder of Parquet files, a DuckDB or SQLite file, or a "
            "server such as postgres://host/data#people."
        )
        if connections_allowed()
        else "A Parquet or CSV file, a folder of Parquet files, a DuckDB or SQLite file.",
    )
    if engines:
        others[0].selectbox(
            "Engine",
            engines,
            **bound(f"engine-{version}", work.view(Place).engine, "engine", into=_set_place),
            format_func=lambda name: ENGINES[name],
            help="The engine groups the records and writes the release. Automatic: DuckDB for "
            "files, the database itself for a database.",
        )
    others[-1].button(
        "Open the table",
        icon=":material/folder_open:",
        type="secondary" if work.table.origin == "place" else "primary",
        disabled="opening" in work.running,
        on_click=lambda: runner.run(opening_request, refused=_show_problem),
        key="open-place",
        width="stretch",
    )
    with st.container():  # always there, so that what follows stays where it is
        if work.view(Place).problem:
            st.error(plain(work.view(Place).problem), icon=":material/error:")
    folder = allowed_folder()
    sentences = [
        (
            "The table stays where it is, however large. kanon asks only for counts and the few "
            "records of a preview."
        ),
        plain(f"Files must be in {folder}. Hidden files are not opened."),
    ]
    if not connections_allowed():
        sentences.append("Connections to databases are switched off.")
    st.caption(" ".join(sentences))
    if not folder.exists():
        st.button(
            "Create the folder",
            icon=":material/create_new_folder:",
            help=plain(f"{folder} does not exist yet."),
            on_click=_create_folder,
            key="create-folder",
        )


def _create_folder() -> None:
    folder = allowed_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "not a usable path"
        problem = f"{quoted(folder, 200)} cannot be written ({reason})."
        state.change(replace(state.work().view(Place), problem=problem))


def opening_request(work: Work) -> Request:
    address = check_address(Address.parse(work.view(Place).typed))
    return Request(
        "opening",
        open_work,
        (address, work.view(Place).engine or None, ReadSettings()),
        _start_table,
        limit="engine_minutes",
        begins=lambda work: work.with_parts(replace(work.view(Place), problem="")),
        cancelled=opening_cancelled,
        failed=_show_problem,
    )


def _start_table(work: Work, opened_work: Work) -> Work:
    return replace(opened_work, version=work.version + 1).with_parts(work.view(Place))


def _show_problem(work: Work, sentence: str) -> Work:
    return work.with_parts(
        replace(work.view(Place), problem=sentence), replace(work.message, problem=None)
    )


def reading_request(work: Work) -> Request | None:
    """None for a table that cannot be read again."""
    table = work.table.records
    if not isinstance(table, StoredTable):
        return rereading_request(work, work.table.asked, read_again)
    return Request(
        "reading",
        open_work,
        (table.address, table.engine, work.table.asked),
        read_again,
        limit="engine_minutes",
        cancelled=reading_cancelled,
    )


def _set_place(**fields: str) -> None:
    state.change(replace(state.work().view(Place), **fields, problem=""))
