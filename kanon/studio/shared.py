"""What all sessions share: the worker processes, and nothing else."""

from __future__ import annotations

import streamlit as st

from kanon.studio.jobs import Jobs
from kanon.warm import warm

__all__ = ["jobs"]


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    return Jobs(slots=1, preload=("kanon.run",), warm=warm)
