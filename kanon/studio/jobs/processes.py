"""Processes beside the server: its workers, and the one that compiles what they do not need first.

Without Streamlit, which a worker would take half a second to import. A worker gets and sends
pickled frames over its pipes, and either side notices when the other's pipe closes. Unlike
:mod:`multiprocessing`, this never forks the threaded server nor imports its ``__main__`` (Streamlit
makes that the page script), needs no port and no file, so that user data stay in memory, and is the
same on Linux, macOS and Windows.
"""

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

from kanon.studio.jobs.frames import Frame, packed, read_frame, unpacked, write_frame

_ROOT = str(Path(__file__).resolve().parents[3])
_LOW = 10  # the niceness of a worker of a longer lane

_THREADS = (
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def worker_environment(threads: int) -> dict[str, str]:
    # What the operator has set wins over our number of threads.
    environment = dict.fromkeys(_THREADS, str(threads)) | os.environ
    known = [_ROOT, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, known))
    return environment


class WorkerProcess:
    """One worker process. Any thread may kill it; only its slot's thread does the rest."""

    def __init__(self, preparation: Frame, threads: int) -> None:
        self._process = subprocess.Popen(
            # -P: a file in the current folder must not pass for a module.
            [sys.executable, "-P", "-m", "kanon.studio.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback can hold cell values
            env=worker_environment(threads),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows only
        )
        self.lowered = False
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        # A name has to mean the same module on both sides.
        path = [os.path.abspath(entry) for entry in sys.path]
        with contextlib.suppress(OSError):  # already dead: the first job reports it
            self.send(packed(path if _ROOT in path else [*path, _ROOT]))
            self.send(preparation)

    def send(self, payload: Frame) -> None:
        write_frame(self._requests, payload)

    def receive(self) -> tuple[str, object]:
        return cast(tuple[str, object], unpacked(read_frame(self._answers)))

    def alive(self) -> bool:
        """Whether the process lives; if it does not, no zombie is left of it."""
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def lower(self) -> None:
        """Let others go first from now on, which cannot be taken back; not on Windows."""
        self.lowered = True
        process = self._process.pid
        with contextlib.suppress(AttributeError, OSError):  # Windows; a process that is gone
            os.setpriority(os.PRIO_PROCESS, process, _LOW)
            for thread in Path(f"/proc/{process}/task").iterdir():  # Linux: each by itself
                os.setpriority(os.PRIO_PROCESS, int(thread.name), _LOW)

    def dismiss(self) -> None:
        self._process.kill()
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):  # unsent bytes for a process that is gone
                pipe.close()
        self._process.wait()


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
