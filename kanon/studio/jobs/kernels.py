"""The compiled kernels of a server: what its workers load, and who compiles the rest.

Without Streamlit, which a worker would take half a second to import.
"""

from __future__ import annotations

import atexit
import contextlib
import subprocess
import sys

from kanon.studio.jobs.pool import worker_environment

_LAST_OF_ALL = """
import os, time
getattr(os, "nice", int)(19)
time.sleep(5)  # the browser is drawing the first result
from kanon.warm import warm_rest
warm_rest()
"""


def load_kernels() -> None:
    """Run in a fresh worker; imported there alone, as the imports take a second.

    The kernels of the first result alone: loading all of them would make it wait.
    """
    from kanon.warm import warm_first

    warm_first()


def compile_the_rest() -> None:
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
