"""Which choice is better here? Metrics and strategies side by side, over every k."""

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from kanon.base.formatting import thin
from kanon.experiments.comparison import Comparison
from kanon.studio.compare.board import show_board
from kanon.studio.compare.choices_panel import choices, hints
from kanon.studio.compare.searches_panel import show_searches
from kanon.studio.compare.tables_panel import table_choice, tables
from kanon.studio.jobs.comparison import outlook
from kanon.studio.session import state
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import classes_elsewhere, head, unready
from kanon.studio.widgets.how import how_compared
from kanon.studio.widgets.picture import PictureSettings, begun_with, data_button


def last_made(work: Work) -> tuple[Comparison | None, str, str]:
    if work.findings.comparison is None:
        return None, "", ""
    last = work.findings.comparison.comparison
    visible = last.only([line.name for line in last.lines], work.compare.bands and last.has_bands)
    key = f"{work.findings.comparison.key}|{visible.has_bands}"
    return visible, key, key


def curves(
    work: Work, comparison: Comparison, k: int, key: Hashable, about: str, settings: PictureSettings
) -> None:
    show_board(
        comparison,
        k,
        lambda found: state.change(replace(state.work().settings, k=found)),
        key,
        about,
        settings,
    )
    if k != work.settings.k:
        st.caption(
            f"k = {thin(work.settings.k)} was not computed; the numbers are for k = {thin(k)}, "
            f"the nearest. Press Compare to compute k = {thin(work.settings.k)}."
        )
    data_button("Data of the curves", comparison.table, "curves", about, kind="tertiary")


def page() -> None:
    work = head("Which choice is better here?")
    unready(work)
    if classes_elsewhere(work):
        return
    status = outlook(work)
    choices(work, status)
    with st.container():  # always there, so that what follows stays where it is
        hints(work, status)
    comparison, fingerprint, about = (status.comparison, status.key, status.key)
    if comparison is None:
        comparison, fingerprint, about = last_made(work)
    is_old = status.comparison is None or "comparison" in work.running
    faint = f"{{ opacity: {0.45 if is_old else 1}; }}"
    st.html(f"<style>.st-key-compared {faint} .st-key-compared-numbers {faint}</style>")
    if comparison is None or not (status.lines or status.problem):
        table_choice(work, False)
        if work.compare.table_shown == "searches":
            show_searches(work)
        return
    comparison = comparison.including(work.settings.k)
    key, about = (fingerprint, comparison.ks), f"{about}|{comparison.ks}"
    k = comparison.nearest(work.settings.k)
    work_then = begun_with(work, "comparison") if status.comparison is None else work
    settings = PictureSettings.of_comparison(work_then, comparison, k)
    with st.container(key="compared"):
        curves(work, comparison, k, key, about, settings)
    table_choice(work, True)
    if work.compare.table_shown == "searches":
        show_searches(work)
        return
    with st.container(key="compared-numbers"):
        tables(work, status, comparison, k, key, about, settings)
        with st.expander("How it is computed"):
            result = work.findings.comparison
            st.markdown(how_compared(comparison, result.seconds if result is not None else 0.0))
