"""What outlives a page: the worker processes of all sessions, and the last job of one."""

from __future__ import annotations

from collections import deque

import streamlit as st

from kanon.studio.jobs import Job, Jobs

__all__ = ["jobs", "last_job"]


def _load_kernels() -> None:
    """Run in a fresh worker; imported there alone, as the imports take a second.

    The kernels of greedy merging alone: loading all of them would make the first result wait.
    """
    from kanon.warm import warm

    warm(["gaa"])


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    return Jobs(slots=1, warm=_load_kernels)


def _cancel(last: deque[Job]) -> None:
    for job in last:
        job.cancel()


@st.cache_resource(show_spinner=False, scope="session", on_release=_cancel)
def last_job() -> deque[Job]:
    """The last job of this session, which ends with it: nobody else could cancel it."""
    return deque(maxlen=1)
