"""What does this k cost? Run an algorithm, then move k and look."""

import streamlit as st

from kanon.algorithms.catalogue import algorithms, uses
from kanon.base.formatting import thin
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from kanon.studio.anonymise.release_panel import show_release
from kanon.studio.anonymise.stored_release import release_by_engine
from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.session import state
from kanon.studio.session.parts import RunSettings
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, classes_kept
from kanon.studio.shell.frame import (
    algorithm_choice,
    head,
    metric_choice,
    sensitive_choice,
    strategy_choice,
    unready,
)
from kanon.studio.widgets.algorithm_options import details, own_choices
from kanon.studio.widgets.model_editor import also_require
from kanon.studio.widgets.result import notice, start_button

ALGORITHMS = algorithms()


def choices(work: Work, stale: bool) -> None:
    looks_at, several = LOOKS_AT[work.strategy_used], len(work.table.sensitive_columns) > 1
    merges = uses(work.settings.algorithm, "strategy")
    widths = [30, 20, 40, *([26] if looks_at else []), *([24] if several else [])]
    algorithm, metric, strategy, *others = st.columns(widths)
    with algorithm:
        algorithm_choice("run-algorithm")
    with metric:
        metric_choice("run-metric")
    with strategy:
        if merges:
            strategy_choice("run-strategy")
        else:
            own_choices(work)
    if looks_at:
        others[0].selectbox(
            f"Measure {looks_at} in",
            list(SCOPES),
            **bound("run-scope", work.settings.scope, "scope", into=RunSettings),
            format_func=lambda name: SCOPES[name].title,
            help=plain(SCOPES[work.settings.scope].summary),
        )
    if several:
        with others[-1]:
            sensitive_choice("run-sensitive")
    with st.container(horizontal=True, vertical_alignment="center"):
        also_require(work)
        details(work)
        if classes_kept(work) is None:  # otherwise the engine writes the release at once
            start_button(work, stale, "run")


def unsatisfied(work: Work) -> None:
    reason, strategy = "", STRATEGIES[work.settings.strategy].title
    if not work.table.sensitive_columns:
        reason = "No column is sensitive, so strategies that use one are not offered."
    if not uses(work.settings.algorithm, "strategy"):
        reason = ""
        if LOOKS_AT[work.settings.strategy]:
            title = ALGORITHMS[work.settings.algorithm].CARD.title
            reason = f"{title} has no strategy, so {strategy} is not used for now."
    elif work.strategy_used != work.settings.strategy:
        reason = (
            f"{strategy} needs a sensitive column, but no column has that role. "
            f"{STRATEGIES[work.strategy_used].title} is used for now."
        )
    if reason or work.models_lost:
        with st.container(horizontal=True, vertical_alignment="center"):
            for model in work.models_lost:
                st.warning(
                    f"{plain(model.sentence)} is required, but that column is not sensitive.",
                    icon=":material/error:",
                )
            if reason:
                st.caption(plain(reason), width="content")
            if not work.table.sensitive_columns or work.models_lost:
                st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")


def page() -> None:
    work = head(f"What does k = {thin(state.work().settings.k)} cost?")
    stale = outdated(work)
    unready(work)
    choices(work, stale)
    unsatisfied(work)
    class_count = classes_kept(work)
    if class_count is not None:
        release_by_engine(work, class_count)
        return
    notice(work, stale)
    if work.findings.result is not None:
        with st.container(key="result"):
            show_release(work, work.findings.result, stale)
