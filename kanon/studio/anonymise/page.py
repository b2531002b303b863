"""What does this k cost? Run an algorithm, then move k and look."""

from dataclasses import replace

import streamlit as st

from kanon.algorithms.catalogue import algorithms, uses
from kanon.base.formatting import write_count
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from kanon.studio.anonymise.release_panel import show_release
from kanon.studio.anonymise.stored_release import show_engine_run
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import (
    UsedSettings,
    has_outdated_result,
    request_anonymisation,
    run_chosen_k,
    show_known_result,
)
from kanon.studio.session import state
from kanon.studio.session.parts import RunSettings
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, count_classes_in_engine
from kanon.studio.shell.frame import (
    draw_algorithm_choice,
    draw_metric_choice,
    draw_page_head,
    draw_sensitive_choice,
    draw_strategy_choice,
    show_unready,
)
from kanon.studio.widgets.algorithm_options import draw_algorithm_details, draw_own_parameters
from kanon.studio.widgets.model_editor import draw_model_editor
from kanon.studio.widgets.result import draw_anonymise_button, show_result_notice

ALGORITHMS = algorithms()


def show_run_choices(work: SessionState, stale: bool) -> None:
    looks_at, several = LOOKS_AT[work.usable_strategy], len(work.table.sensitive_columns) > 1
    merges = uses(work.settings.algorithm, "strategy")
    widths = [30, 20, 40, *([26] if looks_at else []), *([24] if several else [])]
    algorithm, metric, strategy, *others = st.columns(widths)
    with algorithm:
        draw_algorithm_choice("run-algorithm")
    with metric:
        draw_metric_choice("run-metric")
    with strategy:
        if merges:
            draw_strategy_choice("run-strategy")
        else:
            draw_own_parameters(work)
    if looks_at:
        others[0].selectbox(
            f"Measure {looks_at} in",
            list(SCOPES),
            **attach_widget("run-scope", work.settings.scope, "scope", into=RunSettings),
            format_func=lambda name: SCOPES[name].title,
            help=escape_markdown(SCOPES[work.settings.scope].summary),
        )
    if several:
        with others[-1]:
            draw_sensitive_choice("run-sensitive")
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_model_editor(work)
        draw_algorithm_details(work)
        if count_classes_in_engine(work) is None:  # otherwise the engine writes the release at once
            draw_anonymise_button(work, stale, "run")


def show_unmet_choices(work: SessionState) -> None:
    reason, strategy = "", STRATEGIES[work.settings.strategy].title
    if not work.table.sensitive_columns:
        reason = "No column is sensitive, so strategies that use one are not offered."
    if not uses(work.settings.algorithm, "strategy"):
        reason = ""
        if LOOKS_AT[work.settings.strategy]:
            title = ALGORITHMS[work.settings.algorithm].CARD.title
            reason = f"{title} has no strategy, so {strategy} is not used for now."
    elif work.usable_strategy != work.settings.strategy:
        reason = (
            f"{strategy} needs a sensitive column, but no column has that role. "
            f"{STRATEGIES[work.usable_strategy].title} is used for now."
        )
    if reason or work.unmeetable_models:
        with st.container(horizontal=True, vertical_alignment="center"):
            for model in work.unmeetable_models:
                st.warning(
                    f"{escape_markdown(model.sentence)} is "
                    "required, but that column is not sensitive.",
                    icon=":material/error:",
                )
            if reason:
                st.caption(escape_markdown(reason), width="content")
            if not work.table.sensitive_columns or work.unmeetable_models:
                st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")


def renew_by_itself(work: SessionState) -> SessionState:
    """Show the known result of the settings, or start what *Use this* or another k asks for."""
    used = work.view(UsedSettings)
    if used.runs_on_arrival:
        state.set_session(work.replace_sections(replace(used, runs_on_arrival=False)))
    if work.findings.result is None or has_outdated_result(work):
        state.set_session(show_known_result(state.get_session()))
        run_chosen_k()
        now = state.get_session()
        if used.runs_on_arrival and (now.findings.result is None or has_outdated_result(now)):
            runner.run_request(request_anonymisation)
        if state.get_session().running.keys() - work.running.keys():
            st.rerun()  # so that it stands among what is under way
    return state.get_session()


def page() -> None:
    k = write_count(state.get_session().settings.k)
    work = draw_page_head(f"What does k = {k} cost?", invite=True)
    work = renew_by_itself(work)
    stale = has_outdated_result(work)
    show_unready(work)
    show_run_choices(work, stale)
    show_unmet_choices(work)
    class_count = count_classes_in_engine(work)
    if class_count is not None:
        show_engine_run(work, class_count)
        return
    show_result_notice(work, stale)
    if work.findings.result is not None:
        with st.container(key="result"):
            show_release(work, work.findings.result, stale)
