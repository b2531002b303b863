"""Writing the release of a table that stays where it is: its engine does, where one asks for it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from kanon.base.formatting import counted, thin
from kanon.run import Run
from kanon.sources.addresses import Address
from kanon.sources.stored_source import StoredSource, part_of, remove
from kanon.studio.anonymise.combined_releases import with_handed
from kanon.studio.jobs import runner
from kanon.studio.jobs.engine_release import (
    Destination,
    WrittenRelease,
    checked_destination,
    complete_at,
    said_at_destination,
    suggested_destination,
)
from kanon.studio.jobs.stored_table import write_release
from kanon.studio.session import state
from kanon.studio.session.parts import EarlierRelease
from kanon.studio.session.server import login_name
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work
from kanon.studio.widgets.files import order_choice


def write_controls(
    work: Work, settings: str, done: Run, source: StoredSource, name: str, stale: bool
) -> None:
    suggested = suggested_destination(source.table.address, f"released-{name}")
    written = work.view(Destination).written
    write_row(
        work,
        suggested,
        "Write the release of the old settings" if stale else "Write the release",
        2.4,
        "" if written is None else _said(written),
        type="secondary" if stale else "primary",
        disabled="writing" in work.running,
        on_click=partial(runner.run, refused=said_at_destination),
        args=(writing_request, done, suggested, EarlierRelease.of(settings, name, done)),
        key="write-release",
    )


def write_row(
    work: Work, suggested: str, label: str, width: float, said: str = "", **how: Any
) -> None:
    wanted = work.view(Destination)
    where, press = st.columns([6, width], vertical_alignment="bottom")
    with where:
        _destination_field(work, suggested)
    press.button(label, icon=":material/save:", width="stretch", **how)
    order_choice(work, "write")
    with st.container():  # always there, so that what follows stays where it is
        if wanted.problem:
            st.error(plain(wanted.problem), icon=":material/error:")
        if said:
            st.success(said, icon=":material/check:")


def _destination_field(work: Work, suggested: str) -> None:
    """The field for where a release goes; what was typed is kept, else it suggests a place."""
    # The key holds what is suggested: else a browser that is slow would answer with the suggestion
    # for an earlier k, as if somebody had typed it.
    key, typed = f"destination-{work.version}-{Path(suggested).name}", work.view(Destination).typed
    st.text_input(
        "Where the release goes",
        **bound(key, typed or suggested, lambda value: _take(value, suggested)),
        help="A folder that gets Parquet files, a file that ends in .parquet, .csv or .tsv, or a "
        "new table of a DuckDB file, such as data.duckdb#released. Nothing is overwritten, "
        "and the release appears complete or not at all.",
    )


def writing_request(
    work: Work, done: Run, suggested: str, handed: EarlierRelease
) -> Request | None:
    """Have the engine write a release where it was typed, else to ``suggested``; None in memory."""
    source, plan = done.prepared.source, done.prepared.plan
    if not isinstance(source, StoredSource):
        return None
    target = checked_destination(work.view(Destination).typed or suggested, source.table.address)
    part = part_of(target.path)
    gone = 0 if plan.suppressed == "keep" else done.recoding.suppressed_records
    then = partial(_with_written, target.shown, plan.k, source.classes.n_records - gone, handed)
    return Request(
        "writing",
        write_release,
        (source, done.recoding, plan.model_dump(mode="json"), target, part, login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_with_target, target),
        after=partial(remove, part),
        cancelled=partial(_cancelled, then),
        failed=said_at_destination,
    )


def _with_target(target: Address, work: Work) -> Work:
    wanted = replace(work.view(Destination), problem="", written=None, target=target)
    return work.with_parts(wanted)


def _with_written(
    place: str, k: int, records: int, handed: EarlierRelease, work: Work, _: object
) -> Work:
    written = WrittenRelease(place, k, records, work.running["writing"].job.seconds)
    return work.with_parts(
        Destination(written=written),
        replace(work.kept, handed=with_handed(work.kept.handed, handed)),
    )


def _cancelled(then: Callable[[Work, object], Work], work: Work) -> Work:
    if complete_at(work.view(Destination).target):
        ended = then(work, None)
        return ended.with_notice("The release was complete before it could be cancelled.")
    return work.with_notice("Writing was cancelled; nothing was changed.")


def _take(typed: str, suggested: str) -> None:
    now = state.work().view(Destination)
    state.change(replace(now, typed="" if typed == suggested else typed, problem=""))


def _said(written: WrittenRelease) -> str:
    records, k = counted(written.records, "record"), thin(written.k)
    return f"Written: {records} for k = {k} in {written.seconds:.2f} s, to {plain(written.place)}"
