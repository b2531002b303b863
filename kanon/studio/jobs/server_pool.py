"""The worker processes of this server, which all sessions share."""

from __future__ import annotations

import streamlit as st

from kanon.settings import settings
from kanon.studio.jobs.kernels import compile_the_rest, load_kernels
from kanon.studio.jobs.pool import Jobs


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    most = settings()
    places = (most.jobs_at_once, most.long_jobs_at_once, most.studies_at_once)
    return Jobs(places, warm=load_kernels, idle=compile_the_rest)
