"""The worker processes of this server, which all sessions share."""

from __future__ import annotations

import streamlit as st

from kanon.settings import settings
from kanon.studio.jobs.pool import Jobs


def _load_kernels() -> None:
    """Run in a fresh worker; imported there alone, as the imports take a second.

    The kernels of greedy merging alone: loading all of them would make the first result wait.
    """
    from kanon.warm import warm

    warm(["gaa"])


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    return Jobs(slots=settings().jobs_at_once, warm=_load_kernels)
