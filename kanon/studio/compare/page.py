"""Which choice is better here? Metrics and strategies side by side, over every k."""

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from kanon.base.formatting import write_count
from kanon.experiments.comparison import Comparison
from kanon.studio.compare.board import show_board
from kanon.studio.compare.choices_panel import show_hints, show_line_choices
from kanon.studio.compare.code import draw_comparison_code
from kanon.studio.compare.searches_panel import show_searches
from kanon.studio.compare.tables_panel import choose_table, show_chosen_table
from kanon.studio.jobs.comparison import describe_comparison
from kanon.studio.session import state
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import draw_page_head, show_classes_in_engine, show_unready
from kanon.studio.widgets.how import explain_comparison
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, get_start_state


def get_last_comparison(work: SessionState) -> tuple[Comparison | None, str, str]:
    if work.findings.comparison is None:
        return None, "", ""
    last = work.findings.comparison.comparison
    visible = last.only([line.name for line in last.lines], work.compare.bands and last.has_bands)
    key = f"{work.findings.comparison.key}|{visible.has_bands}"
    return visible, key, key


def draw_curves(
    work: SessionState,
    comparison: Comparison,
    k: int,
    key: Hashable,
    about: str,
    settings: PictureSettings,
) -> None:
    show_board(
        comparison,
        k,
        lambda found: state.update_sections(replace(state.get_session().settings, k=found)),
        key,
        about,
        settings,
    )
    if k != work.settings.k:
        st.caption(
            f"k = {write_count(work.settings.k)} was not "
            f"computed; the numbers are for k = {write_count(k)}, "
            f"the nearest. Press Compare to compute k = {write_count(work.settings.k)}."
        )
    draw_data_button("Data of the curves", comparison.table, "curves", about, kind="tertiary")


def page() -> None:
    work = draw_page_head("Which choice is better here?")
    show_unready(work)
    if show_classes_in_engine(work):
        return
    status = describe_comparison(work)
    show_line_choices(work, status)
    with st.container():  # always there, so that what follows stays where it is
        show_hints(work, status)
    comparison, fingerprint, about = (status.comparison, status.key, status.key)
    if comparison is None:
        comparison, fingerprint, about = get_last_comparison(work)
    is_old = status.comparison is None or "comparison" in work.running
    faint = f"{{ opacity: {0.45 if is_old else 1}; }}"
    st.html(f"<style>.st-key-compared {faint} .st-key-compared-numbers {faint}</style>")
    if comparison is None or not (status.lines or status.problem):
        choose_table(work, False)
        if work.compare.visible_table == "searches":
            show_searches(work)
        return
    comparison = comparison.add_k(work.settings.k)
    key, about = (fingerprint, comparison.ks), f"{about}|{comparison.ks}"
    k = comparison.nearest(work.settings.k)
    work_then = get_start_state(work, "comparison") if status.comparison is None else work
    settings = PictureSettings.from_comparison(work_then, comparison, k)
    with st.container(key="compared"):
        draw_curves(work, comparison, k, key, about, settings)
    choose_table(work, True)
    if work.compare.visible_table == "searches":
        show_searches(work)
        return
    with st.container(key="compared-numbers"):
        show_chosen_table(work, status, comparison, k, key, about, settings)
        with st.expander("How it is computed"):
            result = work.findings.comparison
            st.markdown(
                explain_comparison(comparison, result.seconds if result is not None else 0.0)
            )
            if status.comparison is not None:
                draw_comparison_code(work, status, comparison)
