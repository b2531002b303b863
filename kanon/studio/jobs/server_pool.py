"""The worker processes of this server, which all sessions share."""

from __future__ import annotations

import atexit
import contextlib
import subprocess
import sys

import streamlit as st

from kanon.settings import settings
from kanon.studio.jobs.pool import Jobs, worker_environment

_LAST_OF_ALL = """
import os
getattr(os, "nice", int)(19)
from kanon.warm import warm_rest
warm_rest()
"""


def _load_kernels() -> None:
    """Run in a fresh worker; imported there alone, as the imports take a second.

    The kernels of the first result alone: loading all of them would make it wait.
    """
    from kanon.warm import warm_first

    warm_first()


def _compile_the_rest() -> None:
    """Compile in a process of its own what no run has needed yet; nobody waits for it."""
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _LAST_OF_ALL],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=worker_environment(threads=1),
            creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0),  # Windows only
        )
        atexit.register(process.kill)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    return Jobs(slots=settings().jobs_at_once, warm=_load_kernels, idle=_compile_the_rest)
