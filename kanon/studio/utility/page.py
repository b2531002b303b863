"""What can still be learnt from this table? Changes, the matrix, learning, and prediction."""

import streamlit as st

from kanon.studio.jobs.anonymisation import has_outdated_result
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import (
    choose_part,
    draw_page_head,
    show_classes_in_engine,
    show_unready,
)
from kanon.studio.utility.learning_panel import show_learning
from kanon.studio.utility.matrix_panel import show_matrix
from kanon.studio.utility.measures_panel import show_measures
from kanon.studio.utility.prediction_panel import show_predicting
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.result import draw_k_slider, draw_renew_row, get_shown_release

PARTS = {
    "changed": "What changed",
    "matrix": "As a matrix",
    "learning": "Learning",
    "predicting": "Which measure predicts",
}


def show_release_part(work: SessionState, stale: bool) -> None:
    draw_renew_row(work, stale, "utility-run")
    if work.findings.result is None:
        return
    with st.container(key="result"):
        k, run = get_shown_release(work, work.findings.result)
        draw_k_slider(work, work.findings.result, k, "utility-k")
        if not run.recoding.n_classes:
            st.info("Every record was suppressed: the release is empty.")
            return
        show = {"changed": show_measures, "matrix": show_matrix}[work.view(UtilityView).part]
        show(work, work.findings.result, run, k)


def page() -> None:
    work = draw_page_head("What can still be learnt from this table?", as_toast=True)
    show_unready(work)
    if show_classes_in_engine(work):
        return
    choose_part("utility-part", PARTS, work.view(UtilityView))
    if work.view(UtilityView).part == "learning":
        show_learning(work)
    elif work.view(UtilityView).part == "predicting":
        show_predicting(work)
    else:
        show_release_part(work, has_outdated_result(work))
