"""The compiled kernels of a server: what its workers load, and who compiles the rest.

Without Streamlit, which a worker would take half a second to import.
"""

import atexit
import contextlib
import subprocess
import sys
import threading

from kanon.studio.jobs.pool import worker_environment

_BEHIND_THE_PAGE = """
import os, sys, threading, time
getattr(os, "nice", int)(10)
# The pipe closes with the server, however that ends.
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
time.sleep(5)  # the browser is drawing the first result
from kanon.warm import warm_rest
warm_rest()
"""


def load_kernels() -> None:
    """Run in a fresh worker: load the kernels of the first result, as all would take longer."""
    from kanon.warm import warm_first

    warm_first()


def compile_the_rest() -> None:
    """Compile all other kernels in a process of low priority that ends with the server."""
    # On Windows alone; elsewhere the process lowers its priority itself.
    low, unseen = (
        getattr(subprocess, name, 0) for name in ("BELOW_NORMAL_PRIORITY_CLASS", "CREATE_NO_WINDOW")
    )
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEHIND_THE_PAGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=worker_environment(threads=1),
            creationflags=low | unseen,
        )
        threading.Thread(target=process.wait, daemon=True).start()  # or it would stay as a zombie
        atexit.register(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
