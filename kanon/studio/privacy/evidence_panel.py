"""What an attacker gains from the release on screen: a job, its figures and their sentences."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import pandas as pd
import streamlit as st

from kanon.base.progress import Progress
from kanon.charts.evidence import build_evidence_table, draw_evidence
from kanon.evidence import KNOWN
from kanon.evidence.attack import IN_ENGINE, Evidence, attack, count_people
from kanon.report.origin import Origin
from kanon.run import Run
from kanon.studio.jobs.anonymisation import ReleaseParts, put_together, take_apart
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import AnonymisationResult, EvidenceResult
from kanon.studio.session.parts import StateSection
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.progress import draw_start_button
from kanon.studio.widgets.result import fade_old_result

Options = tuple[int, bool, Origin | None]


@dataclass(frozen=True, eq=False)
class EvidenceView(StateSection):
    known: int = KNOWN  # the most columns of a person that are known
    with_control: bool = True

    LABELS: ClassVar[Mapping[str, str]] = {
        "known": "Known columns",
        "with_control": "Compare with people who are not in the release",
    }


def get_attack_inputs(work: SessionState) -> tuple[str, Options]:
    """The key of the release on screen, and how it would be attacked."""
    view, release = work.view(EvidenceView), work.findings.compute_release_key(work.settings.k)
    population = None if work.purpose.population is None else work.purpose.population_origin
    return release, (view.known, view.with_control, population)


def attack_in_worker(
    progress: Progress,
    release: ReleaseParts,
    people: pd.DataFrame | None,
    known: int,
    with_control: bool,
) -> Evidence:
    run = put_together(release)
    return attack(run, known, count_people(run, people), with_control, progress=progress)


def request_attack(work: SessionState, run: Run) -> JobRequest:
    release, options = get_attack_inputs(work)
    people = None if work.purpose.population is None else work.purpose.population.table
    arguments = (take_apart(run, work.table.records), people, *options[:2])
    day = datetime.date.today().isoformat()

    def store_evidence(work: SessionState, evidence: Evidence) -> SessionState:
        measured = EvidenceResult(evidence, release, options, day)
        return work.replace_sections(replace(work.findings, evidence=measured))

    return JobRequest("attacking", attack_in_worker, arguments, store_evidence)


def show_evidence(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    st.subheader("What does an attacker gain?")
    st.caption(
        "kanon plays an attacker who knows original values, for everyone in the table, and counts "
        "how often the attacker is right with the release and without it."
    )
    if work.table.records.in_engine:
        st.info(IN_ENGINE)
        return
    view, measured = work.view(EvidenceView), work.findings.evidence
    outdated = measured is None or get_attack_inputs(work) != (measured.release, measured.options)
    known_side, control_side, button = st.columns([2, 4, 2], vertical_alignment="bottom")
    known_side.selectbox(
        "Known columns",
        range(1, 6),
        **attach_widget("evidence-known", view.known, "known", into=EvidenceView),
        help="The most columns of a person that an attacker knows, to single the person out.",
    )
    control_side.checkbox(
        "Compare with people who are not in the release",
        **attach_widget("evidence-control", view.with_control, "with_control", into=EvidenceView),
        help="Makes the release again five times, each without a fifth of the people, and guesses "
        "the sensitive values of those left out. This takes longer.",
    )
    with button:
        kind = "attacking, control" if view.with_control else "attacking"
        draw_start_button(
            "attacking", "Measure", lambda work: request_attack(work, run),
            first=outdated, effort=measure_job(work, kind),
        )  # fmt: skip
    if measured is None:
        return
    since = partial(list_changed_labels, work, "attacking", get_attack_inputs)
    fade_old_result("evidence", "Measure", outdated, "attacking" in work.running, since)
    with st.container(key="evidence"):
        evidence = measured.evidence
        st.markdown("\n".join(f"- {escape_markdown(text)}" for text in evidence.sentences))
        about = f"{measured.release}|{measured.options}"
        settings = PictureSettings.from_run(state.get_session(), result.prepared, k)
        show_picture(
            draw_evidence(evidence), lambda: build_evidence_table(evidence), "privacy-evidence",
            about, settings,
        )  # fmt: skip
