"""The calculation under way: how far it is and how to stop it, on every page that starts one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kanon.base.language import say
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.request import Request
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work

_EARLIER = say(
    "A study with earlier settings is running. What it finds is kept with those settings, and is "
    "shown when they are chosen again."
)


def cancel_button(key: str = "cancel") -> None:
    """Stop the calculation, if there is one."""
    st.button(
        say("Cancel"),
        icon=":material/stop:",
        disabled=not state.work().busy,
        on_click=runner.cancel,
        key=key,
    )


def start_and_cancel(
    doing: str,
    label: str,
    make: Callable[[Work], Request | None],
    *,
    first: bool = True,
    cancel: str = "",
    key: str = "",
) -> None:
    """The button that starts a calculation, or goes on with it; while it runs, one that stops it.

    Parameters
    ----------
    doing
        The calculation, as in ``work.doing``.
    label
        What the first button says; empty if there is nothing to be done.
    make
        What it asks for; see :func:`kanon.studio.jobs.runner.run`.
    first
        Whether it stands out: there is no result of these settings yet.
    cancel
        What the second button says, if not "Cancel".
    key
        What the keys of both begin with, if not with the calculation.
    """
    work = state.work()
    if label:
        st.button(
            label,
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            disabled=work.busy,
            on_click=runner.run,
            args=(make,),
            key=f"{key or doing}-start",
        )
    if work.running.doing == doing:
        st.button(
            cancel or say("Cancel"),
            icon=":material/stop:",
            on_click=runner.cancel,
            key=f"{key or doing}-cancel",
        )


def progress() -> None:
    """Draw the bar, and keep it moving; the whole page is drawn again once the job has ended."""
    st.fragment(_bar, run_every=0.4 if state.work().busy else None)()


def study_progress(work: Work, doing: str, key: str) -> None:
    """How far a study is, and whether it is one with other settings than those of this key."""
    if work.running.doing == doing and work.running.studying != key:
        st.info(_EARLIER, icon=":material/history:")
    progress()


def _bar() -> None:
    job = state.work().running.job
    if job is None:
        return
    if job.finished:
        st.rerun()
    seconds = round(job.remaining or 0)
    doing, step = _named(state.work().running.doing), job.text
    text = say("{doing}: {step}", doing=doing, step=step) if doing else step
    if seconds:
        text += " · " + say("about {seconds} s left", seconds=seconds)
    st.progress(job.progress, text=plain(text))


def under_way(doing: str) -> str:
    """What is under way, as it stands in a sentence about it."""
    return _named(doing) or {
        "run": say("Anonymise"),
        "opening": say("Opening a table"),
        "uploading": say("Opening a table"),
        "people": say("Opening a table"),
        "project": say("Reading the table"),
        "reading": say("Reading the table"),
        "writing": say("Writing the release"),
    }.get(doing, say("Another calculation"))


def _named(doing: str) -> str:
    """The name of a calculation that stands before its steps; nothing where these speak alone."""
    return {
        "comparison": say("Comparing"),
        "lattice": say("The lattice"),
        "searches": say("The searches"),
        "reverse": say("The greatest k"),
        "learning": say("Learning"),
        "predicting": say("Learning"),
        "simulating": say("The study"),
        "advising": say("The advisor"),
        "reporting": say("The report"),
        "exercises": say("The exercise set"),
        "marking": say("Marking"),
        "singling": say("Columns together"),
    }.get(doing, "")
