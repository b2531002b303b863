"""What runs behind a result: cheap alternatives, named if they lose clearly less, and more k."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from kanon.algorithms.catalogue import algorithms, short_title, uses
from kanon.algorithms.solution import run_algorithm
from kanon.algorithms.task import Task
from kanon.base.formatting import write_percent
from kanon.base.progress import Progress as ReportProgress
from kanon.base.progress import scale_progress
from kanon.errors import KanonError, Unsatisfiable
from kanon.metrics import Metric
from kanon.run import PreparedRun, Run, measured_metrics
from kanon.settings import get_settings
from kanon.sources.stored_source import StoredSource
from kanon.strategies import LOOKS_AT
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import (
    UsedSettings,
    can_undo_use,
    request_curve,
    use_settings,
)
from kanon.studio.jobs.worker import Progress
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.parts import RunSettings
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.numbers import list_release_numbers, list_worst_numbers
from kanon.studio.widgets.result import draw_undo_use

# An alternative has to lose less by 5 % of the loss, and half a percentage point: another order of
# ties can change the loss of greedy merging by a few per cent of it.
_LEAST_SHARE, _LEAST_POINTS = 0.05, 0.5

_MOST_CLASSES = 100_000
"""With more classes the alternatives take longer than their seconds, so none is begun."""


class AlternativeSettings(NamedTuple):
    settings: RunSettings  # The current ones with another algorithm
    prepared: PreparedRun
    key: str  # The fingerprint that its result is kept under


def list_alternatives(work: SessionState, result: AnonymisationResult) -> list[AlternativeSettings]:
    """The cheap algorithms that can meet all that is required; none if they are not tried."""
    prepared = result.prepared
    if (
        not get_settings().alternatives_seconds
        or isinstance(prepared.source, StoredSource)
        or prepared.classes.n_classes > _MOST_CLASSES
        or LOOKS_AT[work.usable_strategy]  # it loses more on purpose, as do weights of columns
        or any(weight != 1 for weight in work.settings.attribute_weights.values())
    ):
        return []
    key = work.settings, work.table, prepared
    return state.get_or_compute("alternatives", key, lambda: plan_alternatives(work, result))


def plan_alternatives(work: SessionState, result: AnonymisationResult) -> list[AlternativeSettings]:
    alternatives = []
    for name in (name for name, module in algorithms().items() if module.CARD.cheap):
        strategy = "s1" if uses(name, "strategy") else work.settings.strategy
        options = {**work.settings.options, name: {}}
        settings = replace(work.settings, algorithm=name, strategy=strategy, options=options)
        try:
            tried = work.replace_sections(settings)
            prepared = replace(result.prepared, plan=build_plan(tried))
            prepared.check()
        except KanonError:  # it does not support a model, or its lattice is too large
            continue
        if (key := hash_run_inputs(tried, prepared.plan)) != result.settings:
            alternatives.append(AlternativeSettings(settings, prepared, key))
    return alternatives


def _limit_time(progress: ReportProgress, seconds: float) -> ReportProgress:
    end = time.thread_time() + seconds  # a busy machine makes no algorithm slow

    def report(share: float, text: str) -> None:
        if time.thread_time() > end:
            raise TimeoutError
        progress(share, text)

    return report


def try_alternatives(
    progress: Progress,
    tasks: Sequence[tuple[str, str, Task, Sequence[Metric]]],
    seconds: float,
) -> None:
    """Run the alternatives in a worker, and hand over each solution that is found in time."""
    for place, (key, algorithm, task, metrics) in enumerate(tasks):
        own = scale_progress(progress, place / len(tasks), (place + 1) / len(tasks))
        with contextlib.suppress(TimeoutError, Unsatisfiable):
            solution = run_algorithm(_limit_time(own, seconds), algorithm, task, metrics)
            progress.keep((key, solution))


def request_alternatives(work: SessionState, lacking: Sequence[AlternativeSettings]) -> JobRequest:
    tasks = [
        (
            alternative.key,
            alternative.settings.algorithm,
            alternative.prepared.task(),
            measured_metrics(alternative.prepared.plan, [alternative.settings.metric]),
        )
        for alternative in lacking
    ]
    return JobRequest(
        "alternatives",
        try_alternatives,
        (tasks, get_settings().alternatives_seconds),
        partial(_store_solutions, lacking),
        lane="long",
        begins=lambda new: replace(new, message=work.message),
    )


def _store_solutions(
    lacking: Sequence[AlternativeSettings], work: SessionState, _: object
) -> SessionState:
    parts: Any = work.running["alternatives"].job.parts
    findings, solutions = work.findings, dict(parts)
    for _, prepared, key in lacking:
        if key in solutions:
            findings = findings.keep_solution(prepared, solutions[key], key, show=False)
    return work.replace_sections(findings)


def run_behind(
    result: AnonymisationResult, alternatives: Sequence[AlternativeSettings], k: int
) -> None:
    """Begin what runs behind the page, once the user's own calculations have ended."""
    work = state.get_session()
    if work.running:
        return
    lacking = [other for other in alternatives if _get_known(work, other, k) is None]
    if lacking and state.is_first_time("alternatives-begun", (result.settings, k)):
        runner.run_request(request_alternatives, lacking)
    elif state.is_first_time("curve-begun", (result.settings, result.known)):
        runner.run_request(request_curve)
    if state.get_session().running:
        st.rerun()  # so that it stands among what is under way


def _get_known(
    work: SessionState, other: AlternativeSettings, k: int
) -> AnonymisationResult | None:
    result = work.findings.results.get(other.key)
    return result if result is not None and result.k_for(k) == k else None


# --- the line -----------------------------------------------------------------------------------
def find_better_alternative(
    work: SessionState, alternatives: Sequence[AlternativeSettings], run: Run, k: int
) -> tuple[AlternativeSettings, Run] | None:
    """The alternative that loses least, if clearly less than a release, and suppresses no more."""
    known = [(other, _get_known(work, other, k)) for other in alternatives]
    releases = [(other, result.release(k)) for other, result in known if result is not None]
    most = run.recoding.suppressed_records
    fair = [pair for pair in releases if pair[1].recoding.suppressed_records <= most]
    best = min(fair, key=lambda pair: pair[1].alteration, default=None)
    return best if best and loses_clearly_less(best[1].alteration, run.alteration) else None


def loses_clearly_less(loss: float, than: float) -> bool:
    """
    >>> loses_clearly_less(13.5, 16.1), loses_clearly_less(15.4, 16.1), loses_clearly_less(0.4, 0.8)
    (True, False, False)
    """
    return than - loss >= max(_LEAST_POINTS, _LEAST_SHARE * than)


def show_alternative(
    work: SessionState, alternatives: Sequence[AlternativeSettings], run: Run, k: int
) -> None:
    known = tuple(_get_known(work, alternative, k) for alternative in alternatives)
    better = state.get_or_compute(
        "better alternative", (run, known),
        lambda: find_better_alternative(work, alternatives, run, k),
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center", key="alternative"):
        if can_undo_use(work):
            title = escape_markdown(work.view(UsedSettings).title)
            st.info(f"Now in use: {title}.", icon=":material/tune:")
            draw_undo_use("use-undo")
        elif better is not None:
            _show_better(work, *better, run)


def _show_better(
    work: SessionState, alternative: AlternativeSettings, other: Run, run: Run
) -> None:
    settings = alternative.settings
    title = short_title(settings.algorithm)
    loses = f"{write_percent(other.alteration)} instead of {write_percent(run.alteration)}"
    st.info(f"{title} would lose {loses}.", icon=":material/savings:")
    with st.popover("Look", type="tertiary"):
        columns = {"This release": run, title: other}
        numbers = {name: _write_numbers(work, each) for name, each in columns.items()}
        st.table(pd.DataFrame(numbers).fillna("–"))
    st.button(
        "Use it",
        icon=":material/tune:",
        help="Makes it the algorithm, with its usual settings. All other settings stay.",
        on_click=lambda: state.set_session(use_settings(state.get_session(), settings, title)),
        key="use-alternative",
    )


def _write_numbers(work: SessionState, run: Run) -> pd.Series:
    numbers = [*list_release_numbers(run), *list_worst_numbers(run, work.focus)]
    return pd.Series({number.label: number.value for number in numbers})
