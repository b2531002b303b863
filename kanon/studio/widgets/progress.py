"""The calculations under way: what runs, how far it is and for how long, each with its Cancel."""

from collections.abc import Callable

import streamlit as st

from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.text import plain
from kanon.studio.session.work import Calculation, Request, Work, called

_EARLIER = (
    "A study with earlier settings is running. What it finds is kept with those settings, and is "
    "shown when they are chosen again."
)


def calculations() -> None:
    """Draw a line for each calculation, and keep it moving; once one has ended, the whole page.

    The same on every page, whichever it was begun on, so that none has to be looked for.
    """
    with st.container(key="calculations"):
        st.fragment(_lines, run_every=0.4 if state.work().running else None)()


def _lines() -> None:
    running = state.work().running
    if any(one.job.finished for one in running.values()):
        st.rerun()
    for doing, one in running.items():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.progress(one.job.progress, text=plain(_said(doing, one.job)))
            st.button(
                "Cancel",
                icon=":material/stop:",
                on_click=runner.cancel,
                args=(doing,),
                key=f"cancel-{doing}",
            )


def _said(doing: str, job: Calculation) -> str:
    told = [f"{called(doing)}: {job.text}"]
    if seconds := round(job.seconds):
        told.append(f"for {seconds} s")
    if seconds := round(job.remaining or 0):
        told.append(f"about {seconds} s left")
    return " · ".join(told)


def begin_button(
    doing: str,
    label: str,
    make: Callable[[Work], Request | None],
    *,
    first: bool = True,
    key: str = "",
) -> None:
    """The button that starts or continues a calculation; without a label nothing is to be done."""
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
    one = work.running.get(doing)
    if one is not None and one.request.studying != key:
        st.info(_EARLIER, icon=":material/history:")
