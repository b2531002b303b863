"""Where the table is a sample: who is unique in the population, and how likely people are found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import streamlit as st

from kanon.base.formatting import write_percent
from kanon.base.progress import Progress
from kanon.evidence.population_uniqueness import ASSUMPTIONS
from kanon.evidence.sample_risk import METHODS, SampleRisk, measure_sample_risk
from kanon.run import Run
from kanon.studio.jobs.anonymisation import ReleaseParts, put_together, take_apart
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import SampleOptions, SampleRiskResult
from kanon.studio.session.parts import StateSection
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.progress import draw_start_button
from kanon.studio.widgets.result import fade_old_result

_JOB = "sampling"


@dataclass(frozen=True, eq=False)
class SampleView(StateSection):
    percent: float | None = None  # the share of the population that is in the table
    weights: str | None = None
    households: str | None = None

    LABELS: ClassVar[Mapping[str, str]] = {
        "percent": "Share of the population that is in the table, %",
        "weights": "Column of sampling weights",
        "households": "Column of households",
    }


def get_sample_inputs(work: SessionState) -> tuple[str, SampleOptions]:
    """The key of the release on screen, and what is said of the sample."""
    view, release = work.view(SampleView), work.findings.compute_release_key(work.settings.k)
    return release, (view.percent, view.weights, view.households)


def measure_in_worker(
    progress: Progress,
    release: ReleaseParts,
    percent: float | None,
    weights: str | None,
    households: str | None,
) -> SampleRisk:
    progress(0.0, "risk in the population")
    fraction = None if percent is None else percent / 100
    return measure_sample_risk(put_together(release), fraction, weights, households)


def request_sample_risk(work: SessionState, run: Run) -> JobRequest:
    release, options = get_sample_inputs(work)

    def store_risk(work: SessionState, risk: SampleRisk) -> SessionState:
        result = SampleRiskResult(risk, release, options)
        return work.replace_sections(replace(work.findings, sample_risk=result))

    arguments = (take_apart(run, work.table.records), *options)
    return JobRequest(_JOB, measure_in_worker, arguments, store_risk)


def show_sample_risk(work: SessionState, run: Run) -> None:
    st.markdown(
        "A table that is a random sample does not say who is unique in the population, but it "
        "allows an estimate. Without an answer, everyone is searched for in the table alone."
    )
    view, measured = work.view(SampleView), work.findings.sample_risk
    sides = st.columns([3, 3, 3, 2], vertical_alignment="bottom")
    attach = partial(state.attach_widget, into=SampleView)
    sides[0].number_input(
        SampleView.LABELS["percent"], 0.0, 100.0, None, format="%g", placeholder="not known",
        **attach("sample-percent", view.percent, "percent"),
    )  # fmt: skip
    for side, name, about in (
        (sides[1], "weights", "How many people of the population each record stands for."),
        (sides[2], "households", "Records with one value live together: who finds one finds all."),
    ):
        chosen = getattr(view, name)
        side.selectbox(
            SampleView.LABELS[name], [*work.table.roles], None, placeholder="none", help=about,
            **attach(f"sample-{name}", chosen, name),
        )  # fmt: skip
    outdated = measured is None or get_sample_inputs(work) != (measured.release, measured.options)
    with sides[3]:
        draw_start_button(
            _JOB, "Estimate", lambda work: request_sample_risk(work, run),
            first=outdated, effort=measure_job(work, _JOB), key="sample-start",
        )  # fmt: skip
    if measured is None:
        return
    since = partial(list_changed_labels, work, _JOB, get_sample_inputs)
    fade_old_result("sample", "Estimate", outdated, _JOB in work.running, since)
    with st.container(key="sample"):
        sentences = [escape_markdown(text) for text in measured.risk.sentences]
        st.markdown("\n".join(f"- {text}" for text in sentences))
        if rows := _list_estimates(measured.risk):
            st.table(rows, hide_index=True)


def _list_estimates(risk: SampleRisk) -> list[dict[str, str]]:
    if risk.uniqueness is None:
        return []
    rows = []
    for name, estimate in risk.uniqueness.estimates.items():
        share = "–" if estimate.share is None else write_percent(100 * estimate.share)
        chosen = " (chosen)" if name == risk.uniqueness.chosen else ""
        rows.append({
            "Estimator": f"{METHODS[name]}{chosen}",
            "Unique in the population, % ↓ better": share,
            "Reliable here": f"No. {estimate.unreliable}" if estimate.unreliable else "Yes",
            "It assumes": ASSUMPTIONS[name],
        })  # fmt: skip
    return rows
