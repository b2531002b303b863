"""The running calculations, each with its progress and its Cancel."""

from collections.abc import Callable

import streamlit as st

from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.text import plain
from kanon.studio.session.work import Calculation, Request, Work, called

_EARLIER = (
    "A study with earlier settings is running. Its results are kept; choose those settings again "
    "to see them."
)


def calculations() -> None:
    """Draw a line for each calculation, on every page; once one has ended, draw the whole page."""
    with st.container(key="calculations"):
        st.fragment(_draw_lines, run_every=0.4 if state.work().running else None)()


def _draw_lines() -> None:
    running = state.work().running
    if any(calculation.job.finished for calculation in running.values()):
        st.rerun()
    for doing, calculation in running.items():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.progress(calculation.job.progress, text=plain(_describe_job(doing, calculation.job)))
            st.button(
                "Cancel",
                icon=":material/stop:",
                on_click=runner.cancel,
                args=(doing,),
                key=f"cancel-{doing}",
            )


def _describe_job(doing: str, job: Calculation) -> str:
    facts = [f"{called(doing)}: {job.text}"]
    if seconds := round(job.seconds):
        facts.append(f"for {seconds} s")
    if seconds := round(job.remaining or 0):
        facts.append(f"about {seconds} s left")
    return " · ".join(facts)


def begin_button(
    doing: str,
    label: str,
    make: Callable[[Work], Request | None],
    *,
    first: bool = True,
    key: str = "",
) -> None:
    """A button that starts or continues a calculation; no label, no button."""
    if label:
        st.button(
            label,
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            disabled=doing in state.work().running,
            on_click=runner.run,
            args=(make,),
            key=f"{key or doing}-start",
        )


def earlier_study(work: Work, doing: str, key: str) -> None:
    calculation = work.running.get(doing)
    if calculation is not None and calculation.request.studying != key:
        st.info(_EARLIER, icon=":material/history:")
