"""*Use this*: the configuration of a line becomes the settings of *Anonymise*."""

from dataclasses import replace

import streamlit as st

from kanon.base.formatting import write_count
from kanon.errors import PlanError, quote
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.titles import get_full_title
from kanon.studio.jobs.anonymisation import UsedSettings, can_undo_use, use_settings
from kanon.studio.jobs.comparison import describe_comparison
from kanon.studio.jobs.configurations import add_sensitive_columns, explain_other_models
from kanon.studio.session import state
from kanon.studio.session.named_configurations import (
    apply_configuration,
    get_saved_configuration,
)
from kanon.studio.session.run_plan import build_plan, drop_unmeetable_models
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, list_usable_metrics
from kanon.studio.widgets.picture import get_start_state
from kanon.studio.widgets.result import draw_undo_use
from kanon.studio.widgets.standings import get_line_titles


def use_line(work: SessionState, line: Line, k: int) -> SessionState:
    """Make a line's configuration and k the settings; the models that are required stay."""
    if line.kept:
        return _use_saved(work, line, k)
    led = line.configuration
    if led.metric not in list_usable_metrics(work):
        raise PlanError(f"The metric {quote(led.metric)} of this line is no longer there.")
    # Lines on screen that are outdated were made with the settings of then.
    then = _get_state_of_lines(work)
    settings = replace(
        work.settings,
        algorithm=led.algorithm,
        metric=led.metric,
        strategy=led.strategy,
        scope=led.scope,
        tie_seed=led.tie_seed,
        options={
            **work.settings.options,
            led.algorithm: then.settings.options.get(led.algorithm, {}),
        },
        cost=then.settings.cost,
        seed=then.settings.seed,
        sensitive=then.settings.sensitive,
        suppression=then.settings.suppression,
        outliers=then.settings.outliers,
        attribute_weights=then.settings.attribute_weights,
        k=k,
    )
    title = f"{get_full_title(led, line.guide.card.title)}, k = {write_count(k)}"
    notice = f"Now on Anonymise: {title}. {explain_other_models(work, then)}".strip()
    return use_settings(work, settings, title).add_notice(notice)


def _get_state_of_lines(work: SessionState) -> SessionState:
    outdated = describe_comparison(work).comparison is None
    return get_start_state(work, "comparison") if outdated else work


def _use_saved(work: SessionState, line: Line, k: int) -> SessionState:
    titles = {f"kept: {saved.title}": saved.title for saved in work.kept.configurations}
    title = titles.get(line.name) or titles.get(line.name.removesuffix("′"))
    if title is None:
        raise PlanError("The saved configuration of this line was deleted.")
    used = UsedSettings(f"{title}, k = {write_count(k)}", runs_on_arrival=True)
    # The line met these, whatever its own plan requires.
    models = work.settings.models
    now, then = build_plan(drop_unmeetable_models(work)), _get_state_of_lines(work)
    saved = get_saved_configuration(work, title).plan
    plan = add_sensitive_columns(saved, now, work.table.sensitive_columns)
    new = apply_configuration(work, title, plan)
    new = new.replace_sections(replace(new.settings, models=models, k=k), used)
    explained = explain_other_models(work, then)
    return new.add_notice(explained) if explained else new


def take_line(line: Line, k: int) -> None:
    state.try_update(lambda: use_line(state.get_session(), line, k))


def show_line_use(work: SessionState, comparison: Comparison, k: int) -> None:
    titles, used = get_line_titles(comparison), work.view(UsedSettings)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Use this", width=100, help="Makes a line the settings of Anonymise, with k.")
        st.pills(
            "Use this on Anonymise",
            list(titles),
            label_visibility="collapsed",
            **attach_widget(
                "compare-use", None, lambda name: take_line(comparison.line(name), k), keep=True
            ),
            format_func=lambda name: escape_markdown(titles[name]),
        )
        if used.title and (can_undo_use(work) or work.message.notice):
            st.page_link(
                "pages/anonymise.py",
                label=f"Now on Anonymise: {escape_markdown(used.title)}",
                icon=":material/arrow_forward:",
            )
        if can_undo_use(work):
            draw_undo_use("compare-use-undo")
