"""The running calculations, each with its progress and its Cancel."""

from collections.abc import Callable

import streamlit as st

from kanon.studio.jobs import runner
from kanon.studio.jobs.durations import Effort, describe_duration, get_durations
from kanon.studio.session import state
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import (
    BEHIND,
    JobHandle,
    JobRequest,
    SessionState,
    get_job_title,
)
from kanon.studio.widgets.controls import draw_again_after

_PACE = 0.4  # seconds

_UNNOTICED = 1.0  # seconds; what begins by itself and takes less is not shown

_EARLIER = (
    "A study with earlier settings is running. Its results are kept; choose those settings again "
    "to see them."
)


def draw_running_jobs() -> None:
    """Draw a line for each calculation, on every page; once one has ended, draw the whole page."""
    with st.container(key="calculations"):
        st.fragment(_draw_lines)()


def _draw_lines() -> None:
    running = state.get_session().running
    if any(calculation.job.finished for calculation in running.values()):
        st.rerun()
    for doing, calculation in running.items():
        if doing in BEHIND and calculation.job.seconds < _UNNOTICED:
            continue
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.progress(
                calculation.job.progress,
                text=escape_markdown(_describe_job(doing, calculation.job)),
            )
            st.button(
                "Cancel",
                icon=":material/stop:",
                on_click=runner.cancel_job,
                args=(doing,),
                key=f"cancel-{doing}",
            )
    if running:
        draw_again_after(_PACE, "calculations-timer")


def _describe_job(doing: str, job: JobHandle) -> str:
    facts = [f"{get_job_title(doing)}: {job.text}"]
    if seconds := round(job.seconds):
        facts.append(f"for {seconds} s")
    if doing not in BEHIND and (seconds := round(job.remaining or 0)):  # those end by their time
        facts.append(f"about {seconds} s left")
    return " · ".join(facts)


def draw_start_button(
    doing: str,
    label: str,
    make: Callable[[SessionState], JobRequest | None],
    *,
    first: bool = True,
    key: str = "",
    effort: Effort | None = None,
) -> None:
    """A button that starts or continues a calculation, and how long it takes; no label, none."""
    if label:
        st.button(
            label,
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            disabled=doing in state.get_session().running,
            on_click=runner.run_request,
            args=(make,),
            kwargs={"effort": effort},
            key=f"{key or doing}-start",
        )
        draw_duration(doing, effort)


def draw_duration(doing: str, effort: Effort | None) -> None:
    """Say how long a press takes, beside its button; nothing where it is short or not known."""
    text = describe_effort(effort)
    if text and doing not in state.get_session().running:
        st.caption(f"Takes {text}.", width="content")


def describe_effort(effort: Effort | None) -> str:
    return describe_duration(get_durations().estimate(effort or {}))


def show_earlier_study(work: SessionState, doing: str, key: str) -> None:
    calculation = work.running.get(doing)
    if calculation is not None and calculation.request.study_key != key:
        st.info(_EARLIER, icon=":material/history:")
