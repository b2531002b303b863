"""How close a release is to the least loss that is possible: the sentence, and what finds it."""

from collections.abc import Hashable, Sequence

import streamlit as st

from kanon.report.optimality_gap import QUICKLY, OptimalityGap, why_no_bound
from kanon.run import Run
from kanon.studio.jobs import runner
from kanon.studio.jobs.lower_bounds import BoundWanted, bounds_request
from kanon.studio.session import state
from kanon.studio.session.text import plain

_WAIT = 0.5  # seconds within which a quick bound is mostly there: then no bar is drawn

_SECONDS, _A_MINUTE = 1_000_000, 20_000_000
"""Up to so much effort a close search takes seconds, and about a minute."""


def how_close(done: Run, about: Hashable, place: str) -> OptimalityGap | None:
    """Say how close a release is to the least possible, or offer to compute it; the gap if known.

    Draw it last, in a container further up: it may wait for a moment. ``about`` is all that decides
    the release; ``place`` the page, for keys.
    """
    if said := why_no_bound(done.prepared.classes):
        st.caption(plain(said))
        return None
    wanted = state.remembered(f"bound-{place}", about, lambda: BoundWanted.of(done.prepared))
    found_soon([wanted])
    known = state.work().findings.bounds.get(wanted.key)
    gap = None
    if known is not None:
        gap = OptimalityGap.of(done, known.bound)
        st.markdown(plain(gap.sentence), help=plain(gap.explanation))
    closer_button([wanted], place)
    return gap


def found_soon(wanted: Sequence[BoundWanted], most: int = QUICKLY) -> None:
    """Have those bounds found, unasked, that take an effort of at most ``most``."""
    work, keys = state.work(), tuple(one.key for one in wanted)
    every = {one.key: one for one in wanted}.values()
    lacking = [one for one in every if one.key not in work.findings.bounds]
    if not lacking or "bound" in work.running or sum(one.effort for one in lacking) > most:
        return
    if state.first_time("bounds-begun", keys):  # once: one that failed would fail again
        runner.run(bounds_request, lacking, False, wait=_WAIT)
        runner.collect()
        if "bound" in state.work().running:
            st.rerun()  # so that it stands among what is under way


def closer_button(wanted: Sequence[BoundWanted], place: str) -> None:
    work = state.work()
    known = work.findings.bounds
    every = {one.key: one for one in wanted}.values()
    lacking = [one for one in every if one.key not in known or not known[one.key].closely]
    if not lacking:
        return
    label = "How close to the least possible?"
    if all(one.key in known for one in lacking):
        label = "Search more closely"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            label,
            icon=":material/vertical_align_bottom:",
            disabled="closer" in work.running or "bound" in work.running,
            on_click=runner.run,
            args=(bounds_request, lacking, True),
            help="Searches for the most that every release by these hierarchies has to lose, "
            "whatever tool makes it. No release is changed by it.",
            key=f"closer-{place}",
        )
        work_to_do = sum(one.effort for one in lacking)
        st.caption(
            "The search takes some seconds."
            if work_to_do <= _SECONDS
            else "The search takes about a minute."
            if work_to_do <= _A_MINUTE
            else "The search takes minutes, ten or more for a large table.",
            width="content",
        )
