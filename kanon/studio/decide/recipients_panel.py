"""The questions about the people who get a release, its attack and use, and all verdicts."""

import datetime
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import streamlit as st

from kanon.base.progress import Progress
from kanon.evidence import KNOWN
from kanon.evidence.attack import Evidence
from kanon.release.attack_and_use import (
    AttackAndUse,
    list_measured_thresholds,
    measure_attack_and_use,
)
from kanon.release.attack_probability import CONTROLS, INVASIONS, Controls
from kanon.release.context import AUDIENCES, Context, list_recipient_contexts
from kanon.release.decision import ReachedNumbers
from kanon.release.recipients import build_recipients_table, decide_for_recipients
from kanon.run import Run
from kanon.studio.jobs.anonymisation import ReleaseParts, put_together, take_apart
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session.findings import AttackAndUseResult, EvidenceResult
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.progress import draw_start_button

_NOT_ASSESSED = "none"

_JOB = "attacking and using"


# --- the questions ----------------------------------------------------------------------------
def show_recipient_questions(context: Context, change: Callable[..., None]) -> None:
    """The questions on which P(attack) and its threshold depend; ``change`` takes new fields."""
    questions, answers = st.columns([9, 12])

    def set_invasion(invasion: str) -> None:
        if invasion == _NOT_ASSESSED:
            change(invasion=None, controls=None)
        else:
            change(invasion=invasion)

    with questions:
        draw_segments(
            "How much would it hurt a person to be recognised?",
            {_NOT_ASSESSED: "Not assessed", **INVASIONS},
            "decide-invasion", context.invasion or _NOT_ASSESSED, "invasion", set_invasion,
            help="Sets the thresholds of both risks and of linkability, with the chance that "
            "someone tries. Not assessed: the usual thresholds for these recipients.",
        )  # fmt: skip
    if context.invasion is None or context.release == "public":
        return
    current = (context.controls or Controls()).model_dump()

    def set_control(name: str, answer: bool) -> None:
        change(controls={**current, name: answer})

    with answers:
        for name, question in CONTROLS.items():
            key = f"decide-control-{name}"
            st.checkbox(question, **attach_widget(key, current[name], set_control, name))


# --- what takes longer ------------------------------------------------------------------------
def list_thresholds_to_measure(context: Context) -> list[str]:
    return list_measured_thresholds(list_recipient_contexts(context).values())


def get_attack_and_use(work: SessionState, release: str) -> AttackAndUse | None:
    """What was measured on this release; None if some recipients' thresholds need more."""
    names = list_thresholds_to_measure(work.purpose.context)
    return work.findings.get_attack_and_use(release, names)


def measure_in_worker(
    progress: Progress,
    release: ReleaseParts,
    names: Collection[str],
    evidence: Evidence | None,
) -> AttackAndUse:
    return measure_attack_and_use(put_together(release), names, progress, evidence)


def build_attack_request(run: Run, release: str, work: SessionState) -> JobRequest:
    """What *Privacy* measured in the same way is not measured again, nor the other way round."""
    names = frozenset(list_thresholds_to_measure(work.purpose.context))
    with_control, day = "inference" in names, datetime.date.today().isoformat()
    known = work.findings.get_evidence(release)

    def store_figures(work: SessionState, measured: AttackAndUse) -> SessionState:
        result = AttackAndUseResult(measured, release, names)
        findings = replace(work.findings, attack_and_use=result)
        if measured.evidence is not None and findings.get_evidence(release) is None:
            evidence = EvidenceResult(measured.evidence, release, (KNOWN, with_control, None), day)
            findings = replace(findings, evidence=evidence)
        return work.replace_sections(findings)

    parts = take_apart(run, work.table.records)
    arguments = (parts, sorted(names), None if known is None else known.evidence)
    return JobRequest(_JOB, measure_in_worker, arguments, store_figures)


def show_attack_button(work: SessionState, run: Run, release: str) -> None:
    if not list_thresholds_to_measure(work.purpose.context):
        return
    if get_attack_and_use(work, release) is None:
        draw_start_button(
            _JOB, "Measure attack and usefulness", partial(build_attack_request, run, release),
            key="decide-attack", effort=measure_job(work, _JOB),
        )  # fmt: skip


# --- the verdicts -----------------------------------------------------------------------------
def show_recipients_table(
    context: Context, reached: ReachedNumbers, measured: AttackAndUse
) -> None:
    """The verdict for each kind of recipients, side by side."""
    st.subheader("For whom does this release meet the requirements?")
    table = build_recipients_table(decide_for_recipients(context, reached, measured))
    st.table(table.map(escape_markdown), hide_index=True)
    sentence = "✓ met, ✗ not met, ? not measured, – not required."
    if context.content["thresholds"]:
        audience = AUDIENCES[context.release]
        sentence += f" Thresholds that you set count only for: {escape_markdown(audience)}."
    st.caption(sentence)
