"""Writing the release of a table that stays where it is: its engine does, where one asks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from kanon.base.formatting import thin
from kanon.base.language import say, say_counted
from kanon.run import Run
from kanon.sources.stored_source import StoredSource
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.earlier_releases import Handed
from kanon.studio.session.places import Written, suggested_destination
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.progress import cancel_button, progress

__all__ = ["write_controls"]


def write_controls(
    work: Work, settings: str, done: Run, source: StoredSource, name: str, stale: bool
) -> None:
    """Where the release goes, the button that writes it, how far it is, what was written.

    Parameters
    ----------
    work, settings, done, source
        What is worked on, what the release was made with, the release, and its table.
    name
        What the release is called, in plain letters.
    stale
        Whether settings have changed since.
    """
    wanted, writing = work.destination, work.doing == "writing"
    suggested = suggested_destination(source.table.address, f"released-{name}")
    # The key holds what is suggested: else a browser that is slow would answer with the suggestion
    # for an earlier k, as if somebody had typed it.
    key = f"destination-{work.version}-{Path(suggested).name}"
    where, press, stop = st.columns([6, 2.4, 1.5], vertical_alignment="bottom")
    where.text_input(
        say("Where the release goes"),
        key=state.seeded(key, wanted.typed or suggested),
        on_change=lambda: _take(state.typed(key), suggested),
        help=say(
            "A folder that gets Parquet files, a file that ends in .parquet, .csv or .tsv, or a "
            "new table of a DuckDB file, such as data.duckdb#released. Nothing is overwritten, and "
            "the release appears complete or not at all."
        ),
    )
    press.button(
        say("Write the release of the old settings") if stale else say("Write the release"),
        icon=":material/save:",
        type="secondary" if stale else "primary",
        disabled=work.busy,
        on_click=runner.write,
        args=(done, suggested, Handed.of(settings, name, done)),
        key="write-release",
        width="stretch",
    )
    with stop:
        if writing:
            cancel_button("cancel-writing")
    with st.container():  # always there, so that what follows stays where it is
        if writing:
            progress()
        if wanted.problem:
            st.error(plain(wanted.problem), icon=":material/error:")
        if wanted.written is not None:
            st.success(_said(wanted.written), icon=":material/check:")


def _take(typed: str, suggested: str) -> None:
    now = state.work().destination
    state.change(destination=replace(now, typed="" if typed == suggested else typed, problem=""))


def _said(written: Written) -> str:
    return say_counted(
        written.records,
        "Written: {count} record for k = {k} in {seconds} s, to {place}",
        "Written: {count} records for k = {k} in {seconds} s, to {place}",
        k=thin(written.k),
        seconds=f"{written.seconds:.2f}",
        place=plain(written.place),
    )
