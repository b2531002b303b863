"""What can still be learnt from this table? Changes, the matrix, learning, and prediction."""

import streamlit as st

from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import choose_part, classes_elsewhere, head, unready
from kanon.studio.utility.learning_panel import show_learning
from kanon.studio.utility.matrix_panel import show_matrix
from kanon.studio.utility.measures_panel import show_measures
from kanon.studio.utility.prediction_panel import show_predicting
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.result import choose_k, release_shown, renew_row

PARTS = {
    "changed": "What changed",
    "matrix": "As a matrix",
    "learning": "Learning",
    "predicting": "Which measure predicts",
}


def about_release(work: Work, stale: bool) -> None:
    renew_row(work, stale, "utility-run")
    if work.findings.result is None:
        return
    with st.container(key="result"):
        k, run = release_shown(work, work.findings.result)
        choose_k(work, work.findings.result, k, "utility-k")
        if not run.recoding.n_classes:
            st.info("Every record was suppressed: the release is empty.")
            return
        show = {"changed": show_measures, "matrix": show_matrix}[work.view(UtilityView).part]
        show(work, work.findings.result, run, k)


def page() -> None:
    work = head("What can still be learnt from this table?", aloud=True)
    unready(work)
    if classes_elsewhere(work):
        return
    choose_part("utility-part", PARTS, work.view(UtilityView))
    if work.view(UtilityView).part == "learning":
        show_learning(work)
    elif work.view(UtilityView).part == "predicting":
        show_predicting(work)
    else:
        about_release(work, outdated(work))
