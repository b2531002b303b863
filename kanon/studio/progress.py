"""The calculation under way: how far it is and how to stop it, on every page that starts one."""

from __future__ import annotations

import streamlit as st

from kanon.studio import running, state
from kanon.studio.text import plain

__all__ = ["cancel_button", "progress"]


def cancel_button(key: str = "cancel") -> None:
    """Stop the calculation, if there is one.

    Parameters
    ----------
    key
        The key of the button.
    """
    st.button(
        "Cancel",
        icon=":material/stop:",
        disabled=not state.work().busy,
        on_click=running.cancel,
        key=key,
    )


def progress() -> None:
    """Draw the bar, and keep it moving; the whole page is drawn again once the job has ended."""
    st.fragment(_bar, run_every=0.4 if state.work().busy else None)()


def _bar() -> None:
    job = state.work().job
    if job is None:
        return
    if job.finished:
        st.rerun()
    seconds = round(job.remaining or 0)
    left = f" · about {seconds} s left" if seconds else ""
    what = {
        "comparison": "Comparing: ",
        "lattice": "The lattice: ",
        "searches": "The searches: ",
        "learning": "Learning: ",
        "predicting": "Learning: ",
        "reporting": "The report: ",
        "exercises": "The exercise set: ",
        "marking": "Marking: ",
    }
    doing = what.get(state.work().doing, "")
    st.progress(job.progress, text=plain(f"{doing}{job.text}{left}"))
