"""What can still be learnt from this table? What changed, as a matrix, learning, what predicts."""

from __future__ import annotations

import streamlit as st

from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.session.state import bound
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import classes_elsewhere, head, unready
from kanon.studio.utility.learning_panel import show_learning
from kanon.studio.utility.matrix_panel import show_matrix
from kanon.studio.utility.measures_panel import show_measures
from kanon.studio.utility.prediction_panel import show_predicting
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.result import choose_k, notice, release_shown, start_button

PARTS = {
    "changed": "What changed",
    "matrix": "As a matrix",
    "learning": "Learning",
    "predicting": "Which measure predicts",
}


def choose_part(work: Work) -> None:
    """Which part of the page is open."""
    st.segmented_control(
        "Look at",
        list(PARTS),
        **bound("utility-part", work.view(UtilityView).part, "part", into=UtilityView, keep=True),
        format_func=lambda name: PARTS[name],
        label_visibility="collapsed",
    )


def about_release(work: Work, stale: bool) -> None:
    """The parts that look at one release: the slider over k, and what is open."""
    with st.container(horizontal=True):
        if work.findings.result is None or stale or "run" in work.running:
            start_button(work, stale, "utility-run")
    notice(work, stale)
    if work.findings.result is None:
        return
    with st.container(key="result"):
        k, done = release_shown(work, work.findings.result)
        choose_k(work, work.findings.result, k, "utility-k")
        if not done.recoding.n_classes:
            st.info("Every record was suppressed: the release is empty.")
            return
        show = {"changed": show_measures, "matrix": show_matrix}[work.view(UtilityView).part]
        show(work, work.findings.result, done, k)


def page() -> None:
    """Draw the page."""
    work = head("What can still be learnt from this table?", aloud=True)
    unready(work)
    if classes_elsewhere(work):
        return
    choose_part(work)
    if work.view(UtilityView).part == "learning":
        show_learning(work)
    elif work.view(UtilityView).part == "predicting":
        show_predicting(work)
    else:
        about_release(work, outdated(work))
