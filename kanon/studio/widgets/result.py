"""The result on screen: whether its settings are current, its k, its release, its check."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from kanon.algorithms.catalogue import algorithm_named
from kanon.base.formatting import counted, thin
from kanon.errors import ReleaseError
from kanon.plan import Plan
from kanon.release.check import require
from kanon.release.record import record_problem
from kanon.report.explanations import about_coarsened
from kanon.report.origin import ReleasedFile, canonical_plan, recorder
from kanon.run import Run
from kanon.sources.text_form import PLAIN, TextForm
from kanon.strategies import LOOKS_AT
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import anonymisation_request, result_depends_on
from kanon.studio.jobs.reporting import fingerprint_of_table
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.findings import Result
from kanon.studio.session.parts import EarlierRelease, RunSettings
from kanon.studio.session.server import login_name
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, k_grid
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.requirements import in_file_name, others_of

_NAMED = 5  # changed settings that are named


def outdated_notice(button: str, settings: Sequence[str], more: str = "") -> None:
    sentences = [f"Settings have changed since this was made; press {button} to renew it."]
    if settings:
        rest = len(settings) - _NAMED
        labels = [*settings[:_NAMED], *([f"{rest} more"] if rest > 0 else [])]
        sentences.append(f"Changed: {plain(' · '.join(labels))}.")
    st.warning(" ".join(filter(None, [*sentences, more])), icon=":material/history:")


def fade(
    container: str, button: str, old: bool, renewing: bool, since: Callable[[], Sequence[str]]
) -> None:
    if old and not renewing:
        outdated_notice(button, since())
    opacity = 0.45 if old or renewing else 1
    st.html(f"<style>.st-key-{container} {{ opacity: {opacity}; }}</style>")


def start_button(work: Work, stale: bool, key: str) -> None:
    st.button(
        "Anonymise",
        type="primary" if stale or work.findings.result is None else "secondary",
        icon=":material/play_arrow:",
        disabled="run" in work.running,
        on_click=runner.run,
        args=(anonymisation_request,),
        key=key,
    )


def renew_row(work: Work, stale: bool, key: str) -> None:
    with st.container(horizontal=True):
        if work.findings.result is None or stale or "run" in work.running:
            start_button(work, stale, key)
    notice(work, stale)


def notice(work: Work, stale: bool) -> None:
    with st.container():  # always there, so that the result stays where it is
        if work.findings.result is None and "run" not in work.running:
            st.info("There is no result for this table yet; press Anonymise to make one.")
        since = partial(changed_since, work, "run", result_depends_on)
        fade("result", "Anonymise", stale, "run" in work.running, since)


def release_shown(work: Work, result: Result) -> tuple[int, Run]:
    k, order = result.k_for(work.settings.k), work.settings.row_order
    return k, state.remembered("release", (result, k, order), lambda: result.release(k, order))


def choose_k(work: Work, result: Result, k: int, key: str) -> None:
    if coarsened := about_coarsened(result.prepared):
        st.caption(plain(coarsened))
    computed_k, n = result.solution.known, result.prepared.classes.n_records
    title = plain(algorithm_named(result.prepared.plan.algorithm.name).CARD.title)
    if result.solution.curves is None:
        st.caption(
            f"{title} runs once per k, so there is no slider: this is k = {thin(k)}. Change k "
            "in the line at the top and run again."
        )
        return
    st.select_slider(
        "Choose k: every small one, then in growing steps" if computed_k is None else "Choose k",
        k_grid(n, also=k) if computed_k is None else computed_k,
        **bound(key, k, "k", into=RunSettings),
        format_func=thin,
    )
    if computed_k is not None:
        wanted = min(work.settings.k, n)
        why = "With other models beside k, the release for each k is completed separately"
        if result.prepared.plan.person is not None:
            why = "As k counts persons, the release for each k is completed separately"
        if result.solution.path is None:
            why = f"{title} runs once per k, and as many as three seconds allow"
        computed = counted(
            len(computed_k),
            "k was computed, nothing in between.",
            "values of k were computed, nothing in between.",
        )
        lacking = f"k = {thin(wanted)} is not among them; shown is {thin(k)}."
        st.caption(f"{why}: {computed}" + (f" {lacking}" if k != wanted else ""))


def in_columns(numbers: Sequence[Number], widths: Sequence[int] = (1, 1, 1, 1)) -> None:
    for place, number in zip(st.columns(widths), numbers, strict=False):
        place.metric(number.label, number.value, help=number.help)


def name_in_files(plan: Plan) -> str:
    """Name a plan and its release in file names, as ``k5-gaa-nllm-s3-class-l2``."""
    algorithm = plan.algorithm
    # The user's own metric can have any name.
    metric = "".join(c if c.isascii() and c.isalnum() else "-" for c in algorithm.metric)
    parts = [f"k{plan.k}", algorithm.name, metric.strip("-")[:20] or "own-metric"]
    if algorithm.strategy != "s1":
        parts += [algorithm.strategy]
        if LOOKS_AT[algorithm.strategy] and algorithm.scope != "table":
            parts += [algorithm.scope]
    return "-".join(parts) + in_file_name(others_of(plan))


def noting(
    settings: str,
    run: Run,
    make: Callable[[], bytes],
    name: str = "",
    kind: str = "",
    form: TextForm = PLAIN,
) -> Callable[[], bytes]:
    """Wrap what makes a download, so that its release is recorded once it is made."""
    work, who = state.work(), login_name()
    made_so_far, plan = work.kept.made, run.prepared.plan
    release = EarlierRelease.of(settings, name_in_files(run.prepared.plan), run)

    def make_and_record() -> bytes:
        content = make()
        record = recorder(plan, lambda: fingerprint_of_table(work), who, "dashboard")
        if record is not None:
            record(hashlib.sha256(content).hexdigest(), run.verdicts)
        file = None
        if name:
            rows = run.released(index=True)
            file = name, ReleasedFile(content, kind, form, rows).fingerprint
        made_so_far.append(replace(release, plan=canonical_plan(plan), file=file))
        return content

    return make_and_record


class CheckedRelease(NamedTuple):
    """The verdict on a release that is offered, or why it is not."""

    said: str
    problem: str | None


def checked(result: Result, run: Run, k: int) -> CheckedRelease:
    """Check the shown release once, and that it can be recorded if it has to be."""
    release = state.remembered("checked", (result, k), lambda: _check_run(run))
    return release._replace(problem=release.problem or record_problem())


def _check_run(run: Run) -> CheckedRelease:
    try:
        require(run.verdicts)
    except ReleaseError as error:
        return CheckedRelease("", error.sentence)
    sentence = (
        "Recounted from the released rows alone, by code that shares nothing with the "
        f"algorithms: {'; '.join(verdict.sentence for verdict in run.verdicts)}."
    )
    return CheckedRelease(sentence, None)
