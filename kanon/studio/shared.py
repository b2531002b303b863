"""What all sessions share: the worker processes, and nothing else."""

from __future__ import annotations

import streamlit as st

from kanon.studio.jobs import Jobs

__all__ = ["jobs"]


def _load_kernels() -> None:
    """Run in a fresh worker; imported there alone, as the imports take a second."""
    from kanon.warm import warm

    warm()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    return Jobs(slots=1, warm=_load_kernels)
