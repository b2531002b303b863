"""The result on screen: whether its settings are current, its k, its release, its check."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from kanon.algorithms.catalogue import algorithm_named, serves_every_k
from kanon.base.formatting import write_count
from kanon.charts.curves import build_column_losses_table, draw_column_losses
from kanon.errors import ReleaseError
from kanon.measures.alteration import split_by_column
from kanon.plan import Plan
from kanon.release.check import require_verdicts
from kanon.release.record import describe_record_problem
from kanon.report.explanations import describe_coarsening_effect
from kanon.report.origin import ReleasedFile, build_recorder, write_canonical_plan
from kanon.run import Run
from kanon.sources.text_form import PLAIN, TextForm
from kanon.strategies import LOOKS_AT
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import (
    get_result_inputs,
    request_anonymisation,
    run_chosen_k,
    undo_use,
)
from kanon.studio.jobs.durations import measure_anonymisation
from kanon.studio.jobs.reporting import get_table_fingerprint
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.parts import EarlierRelease, RunSettings
from kanon.studio.session.run_plan import list_further_models
from kanon.studio.session.server import get_login_name
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, list_slider_k
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.progress import draw_duration
from kanon.studio.widgets.requirements import format_models_for_file

_NAMED = 5  # changed settings that are named


def show_outdated_notice(button: str, settings: Sequence[str], more: str = "") -> None:
    sentences = [f"Settings have changed since this was made; press {button} to renew it."]
    if settings:
        rest = len(settings) - _NAMED
        labels = [*settings[:_NAMED], *([f"{rest} more"] if rest > 0 else [])]
        sentences.append(f"Changed: {escape_markdown(' · '.join(labels))}.")
    st.warning(" ".join(filter(None, [*sentences, more])), icon=":material/history:")


def fade_old_result(
    container: str, button: str, old: bool, renewing: bool, since: Callable[[], Sequence[str]]
) -> None:
    if old and not renewing:
        show_outdated_notice(button, since())
    opacity = 0.45 if old or renewing else 1
    st.html(f"<style>.st-key-{container} {{ opacity: {opacity}; }}</style>")


def draw_anonymise_button(work: SessionState, stale: bool, key: str) -> None:
    st.button(
        "Anonymise",
        type="primary" if stale or work.findings.result is None else "secondary",
        icon=":material/play_arrow:",
        disabled="run" in work.running,
        on_click=runner.run_request,
        args=(request_anonymisation,),
        kwargs={"effort": (effort := measure_anonymisation(work))},
        key=key,
    )
    draw_duration("run", effort)


def draw_undo_use(key: str) -> None:
    st.button(
        "Undo",
        icon=":material/undo:",
        type="tertiary",
        help="Brings back the settings of Anonymise from before.",
        on_click=state.try_step,
        args=(undo_use,),
        key=key,
    )


def draw_renew_row(work: SessionState, stale: bool, key: str) -> None:
    with st.container(horizontal=True):
        if work.findings.result is None or stale or "run" in work.running:
            draw_anonymise_button(work, stale, key)
    show_result_notice(work, stale)


def show_result_notice(work: SessionState, stale: bool) -> None:
    with st.container():  # always there, so that the result stays where it is
        if work.findings.result is None and "run" not in work.running:
            st.info("There is no result for this table yet; press Anonymise to make one.")
        since = partial(list_changed_labels, work, "run", get_result_inputs)
        renewing = bool({"run", "k"} & work.running.keys())
        fade_old_result("result", "Anonymise", stale, renewing, since)


def get_shown_release(work: SessionState, result: AnonymisationResult) -> tuple[int, Run]:
    k, order = result.k_for(work.settings.k), work.settings.row_order
    key = (result.prepared, k, order)
    return k, state.get_or_compute("release", key, lambda: result.release(k, order))


def list_script_k(result: AnonymisationResult, k: int) -> list[int] | None:
    """The k that a script has to compute for a result; None if one run serves every k."""
    if result.solution.known is not None:
        return list(result.solution.known)
    plan = result.prepared.plan
    return None if serves_every_k(plan.algorithm.name, plan.outliers or plan.level_bounds) else [k]


def draw_k_slider(work: SessionState, result: AnonymisationResult, k: int, key: str) -> None:
    if coarsened := describe_coarsening_effect(result.prepared):
        st.caption(escape_markdown(coarsened))
    offered, n = result.list_offered_k(work.settings.k), result.prepared.classes.n_records
    chosen = min(work.settings.k, n)
    st.select_slider(
        "Choose k: every small one, then in growing steps" if offered is None else "Choose k",
        list_slider_k(n, also=k) if offered is None else offered,
        **attach_widget(key, k if offered is None or chosen not in offered else chosen, _take_k),
        format_func=write_count,
    )
    if offered is not None:
        st.caption(f"{_explain_known_k(result, offered)} {_describe_shown_k(work, chosen, k)}")


def _take_k(k: int) -> None:
    state.update_fields(RunSettings, k=k)
    run_chosen_k()


def _explain_known_k(result: AnonymisationResult, offered: Sequence[int]) -> str:
    plan = result.prepared.plan
    why = "With other models besides k" if plan.person is None else "Because k counts persons"
    if plan.written:
        why = "Because numbers are written for each class"
    why += ", the release for each k is completed separately"
    if result.solution.path is None:
        title = escape_markdown(algorithm_named(plan.algorithm.name).CARD.title)
        bounds = "With level bounds, " if plan.level_bounds else ""
        why = f"{'With outliers, ' if plan.outliers else bounds}{title} runs separately for each k"
    known = len(result.known or ())
    more = "" if known == len(offered) else " Choose another one, and it is computed."
    return f"{why}: {known} of {len(offered)} values of k are computed.{more}"


def _describe_shown_k(work: SessionState, chosen: int, k: int) -> str:
    if k == chosen:
        return ""
    lack = "is being computed, so for now" if "k" in work.running else "was not computed, so"
    return f"k = {write_count(chosen)} {lack} k = {write_count(k)} is shown."


def draw_in_columns(numbers: Sequence[Number]) -> None:
    for place, number in zip(st.columns(4), numbers, strict=False):
        place.metric(number.label, number.value, help=number.help)


def show_column_losses(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    """Show what each quasi-identifier contributes to the alteration."""
    metric = run.prepared.plan.metric
    points = state.get_or_compute(
        "column-losses", (result.prepared, k), lambda: split_by_column(run.recoding, metric)
    )
    show_picture(
        draw_column_losses(points, metric), partial(build_column_losses_table, points),
        "column-losses", f"{result.settings}|{k}",
        PictureSettings.from_run(work, result.prepared, k),
    )  # fmt: skip


def format_plan_for_file(plan: Plan) -> str:
    """Name a plan and its release in file names, as ``k5-gaa-nllm-s3-class-l2``."""
    algorithm = plan.algorithm
    # The user's own metric can have any name.
    metric = "".join(c if c.isascii() and c.isalnum() else "-" for c in algorithm.metric)
    parts = [f"k{plan.k}", algorithm.name, metric.strip("-")[:20] or "own-metric"]
    if algorithm.strategy != "s1":
        parts += [algorithm.strategy]
        if LOOKS_AT[algorithm.strategy] and algorithm.scope != "table":
            parts += [algorithm.scope]
    return "-".join(parts) + format_models_for_file(list_further_models(plan))


def record_download(
    settings: str,
    run: Run,
    make: Callable[[], bytes],
    name: str = "",
    kind: str = "",
    form: TextForm = PLAIN,
) -> Callable[[], bytes]:
    """Wrap what makes a download, so that its release is recorded once it is made."""
    work, who = state.get_session(), get_login_name()
    made_so_far, plan = work.kept.made, run.prepared.plan
    release = EarlierRelease.from_run(settings, format_plan_for_file(run.prepared.plan), run)

    def make_and_record() -> bytes:
        content = make()
        record = build_recorder(plan, lambda: get_table_fingerprint(work), who, "dashboard")
        if record is not None:
            record(hashlib.sha256(content).hexdigest(), run.verdicts)
        file = None
        if name:
            rows = run.released(index=True)
            file = name, ReleasedFile(content, kind, form, rows).fingerprint
        made_so_far.append(replace(release, plan=write_canonical_plan(plan), file=file))
        return content

    return make_and_record


class CheckedRelease(NamedTuple):
    """The verdict on a release that is offered, or why it is not."""

    said: str
    problem: str | None


def check_shown_release(result: AnonymisationResult, run: Run, k: int) -> CheckedRelease:
    """Check the shown release once, and that it can be recorded if it has to be."""
    release = state.get_or_compute("checked", (result.prepared, k), lambda: _check_run(run))
    return release._replace(problem=release.problem or describe_record_problem())


def _check_run(run: Run) -> CheckedRelease:
    try:
        require_verdicts(run.verdicts)
    except ReleaseError as error:
        return CheckedRelease("", error.sentence)
    sentence = (
        "A recount from the released rows alone, by code that is independent of the algorithms: "
        f"{'; '.join(verdict.sentence for verdict in run.verdicts)}."
    )
    return CheckedRelease(sentence, None)
