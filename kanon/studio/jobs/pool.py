"""Long calculations beside the server: worker processes that report, can be stopped, and stay warm.

A worker is ``python -m kanon.studio.jobs.worker``, started by :class:`subprocess.Popen`, with
pickled frames over its standard input and output. Compared with :mod:`multiprocessing` this is the
plainer choice: it never forks the threaded server, it never imports the server's ``__main__``
(which Streamlit makes the page script), it needs neither a port nor a file, so that user data stay
in memory, and it is the same on Linux, macOS and Windows. A worker that dies closes its pipe, which
its server thread notices; a server that dies closes the other one, which the worker notices.

Each slot has one thread, which owns one worker; these threads make no Streamlit call.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, cast

from kanon.base.language import say
from kanon.errors import KanonError
from kanon.studio.jobs.frames import Frame, packed, read_frame, unpacked, write_frame
from kanon.studio.jobs.worker import failure

State = Literal["queued", "running", "done", "failed", "cancelled"]

_ROOT = str(Path(__file__).resolve().parents[3])

_IDLE = 1.0  # seconds after which an idle slot looks whether its worker has died

_THREADS = (
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def worker_environment(threads: int) -> dict[str, str]:
    """The environment of a process beside the server, which finds what the server has loaded."""
    # What the operator has set wins over our number of threads.
    environment = dict.fromkeys(_THREADS, str(threads)) | os.environ
    known = [_ROOT, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, known))
    return environment


class _Worker:
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

    def dismiss(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):  # unsent bytes for a process that is gone
                pipe.close()
        self._process.wait()


class Job:
    """One calculation, made by :meth:`Jobs.submit`; every thread may read and cancel it."""

    def __init__(
        self,
        payload: Frame,
        deadline: float,
        queue: deque[Job],
        changed: threading.Condition,
        after: Callable[[], object],
        late: str,
        died: str,
    ) -> None:
        self._after = after
        self._died = died
        self._late = late or (
            f"The calculation was stopped: it took longer than {deadline:g} seconds."
        )
        self._payload = payload
        self._deadline = deadline
        self._queue = queue
        self._changed = changed  # guards the queue and all jobs, and tells of changes
        self._state: State = "queued"
        self._worker: _Worker | None = None
        self._began: float | None = None
        self._ended: float | None = None
        self._told = (0.0, "", 0.0)  # progress, text, and after how many seconds
        self._stage = 0.0  # after how many seconds progress began anew, as once all is prepared
        self._result: object = None
        self._parts: list[object] = []
        self._error: str | None = None
        self._exception: KanonError | None = None

    @property
    def state(self) -> State:
        """``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        return self._state

    @property
    def finished(self) -> bool:
        """Whether the state is final."""
        return self._state not in ("queued", "running")

    @property
    def progress(self) -> float:
        """The part that is done, 0 to 1."""
        return 1.0 if self._state == "done" else self._told[0]

    @property
    def text(self) -> str:
        """What is being done, or the place in the queue."""
        with self._changed:
            if self._state == "queued":
                place = self._queue.index(self) + 1
                return say("Waiting: place {place} in the queue", place=place)
        return self._told[1]

    @property
    def result(self) -> object:
        """What the function returned; None until then."""
        return self._result

    @property
    def parts(self) -> tuple[object, ...]:
        """What the function has handed over so far by ``progress.keep``; it outlives a cancel."""
        return tuple(self._parts)

    @property
    def error(self) -> str | None:
        """Why the job failed, in a sentence for the user."""
        return self._error

    @property
    def exception(self) -> KanonError | None:
        """The error that the user can mend, as the function raised it."""
        return self._exception

    @property
    def seconds(self) -> float:
        """How long the job has run, the wait in the queue left out."""
        if self._began is None:
            return 0.0
        return (time.monotonic() if self._ended is None else self._ended) - self._began

    @property
    def remaining(self) -> float | None:
        """An estimate of the seconds to go, as if progress were even; None if unknown."""
        progress, _, after = self._told
        if self._state != "running" or progress <= 0 or after == self._stage:
            return None
        return max(0.0, self._stage + (after - self._stage) / progress - self.seconds)

    def cancel(self) -> None:
        """Stop the job, waiting or running; nothing happens to a finished one."""
        self._stop("cancelled")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job is finished, at most ``timeout`` seconds; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self.finished, timeout)

    def _stop(self, state: State, error: str | None = None) -> None:
        if self._settle(state, error=error) and self._worker is not None:
            self._worker.kill()

    def _settle(
        self,
        state: State,
        *,
        result: object = None,
        error: str | None = None,
        exception: KanonError | None = None,
    ) -> bool:
        """Make the state final; False if it was, so that of two threads only one succeeds."""
        with self._changed:
            if self.finished:
                return False
            if self._state == "queued":
                self._queue.remove(self)
            self._payload = ()
            self._result, self._error, self._exception = result, error, exception
            self._ended = time.monotonic()
            if state == "cancelled":
                self._told = (self._told[0], say("Cancelled"), self._told[2])
            self._state = state
            self._changed.notify_all()
            return True

    def _take_from_queue(self) -> None:
        self._told = (0.0, say("Starting"), 0.0)
        self._began = time.monotonic()
        self._state = "running"

    def _tell(self, progress: float, text: str) -> None:
        with self._changed:
            if self.finished:  # what a worker that was stopped had said before
                return
            seconds = self.seconds
            if progress < self._told[0]:
                self._stage = seconds
            self._told = (progress, text, seconds)

    def _hand_to(self, worker: _Worker) -> Frame | None:
        """Note who does the job; what to send, or None if it has been cancelled meanwhile."""
        with self._changed:
            if self.finished:
                return None
            self._worker = worker
            return self._payload

    def _carry_out(self, worker: _Worker, last: bool) -> bool:
        """Have a worker do the job; whether it can do another one.

        A worker says that it begins before it looks at the job, and what it has said can be read
        after its death. So if one dies without a word, then nothing was begun: the job is not
        finished, and can be carried out by another one, unless this was the last.
        """
        payload = self._hand_to(worker)
        if payload is None:
            return True
        timer = threading.Timer(
            min(self._deadline, threading.TIMEOUT_MAX), self._stop, ("failed", self._late)
        )
        timer.daemon = True
        try:
            timer.start()
            worker.send(payload)
            del payload
            while True:
                kind, value = worker.receive()
                if kind == "begun":
                    self._payload, last = (), True
                    self._tell(0.0, say("Starting"))
                elif kind == "progress":
                    self._tell(*cast(tuple[float, str], value))
                elif kind == "part":
                    self._parts.append(value)
                elif kind == "done":
                    return self._settle("done", result=value)
                elif isinstance(value, KanonError):
                    return self._settle("failed", error=value.sentence, exception=value)
                else:
                    return self._settle("failed", error=str(value))
        except (EOFError, OSError):
            if last:
                self._settle(
                    "failed",
                    error=self._died
                    or say(
                        "The worker process ended unexpectedly; perhaps the memory ran out. The "
                        "next calculation gets a fresh one."
                    ),
                )
        except Exception as error:  # noqa: BLE001  a result that cannot be read must not end the slot
            self._settle("failed", error=failure(error))
        finally:
            timer.cancel()
        return False


class Jobs:
    """The worker processes of a server and the queue before them, first in, first out.

    Make one per server process and close it at its end (which also happens at exit).

    Parameters
    ----------
    slots
        How many jobs run at once.
    warm
        A module-level function that each fresh worker calls once before its first job, for
        example to load compiled kernels. If it fails, then so does every job, and says so.
    threads
        How many threads numerical libraries may use in one worker; by default the processors are
        shared between the slots, with one left for the server. Variables such as
        ``NUMBA_NUM_THREADS`` in the server's environment win.
    idle
        Called in this process once the first job has ended: what can wait until then.
    """

    def __init__(
        self,
        slots: int = 1,
        *,
        warm: Callable[[], object] | None = None,
        threads: int | None = None,
        idle: Callable[[], object] | None = None,
    ) -> None:
        if slots < 1:
            raise ValueError(f"There must be at least one slot, not {slots}.")
        self._preparation = packed(warm)
        self._idle = idle
        self._threads = threads or max(1, ((os.cpu_count() or 1) - 1) // slots)
        self._changed = threading.Condition()
        self._queue: deque[Job] = deque()
        self._running: set[Job] = set()
        self._closed = False
        self._slots = [
            threading.Thread(target=self._serve, name=f"kanon-slot-{number}", daemon=True)
            for number in range(slots)
        ]
        for slot in self._slots:
            slot.start()
        atexit.register(self.close)

    def submit(
        self,
        function: Callable[..., object],
        *arguments: object,
        deadline: float = 600,
        after: Callable[[], object] = lambda: None,
        late: str = "",
        died: str = "",
    ) -> Job:
        """Queue ``function(progress, *arguments)``.

        Parameters
        ----------
        function
            A module-level function; ``progress(fraction, text)`` is how it tells how far it is,
            and ``progress.keep(part)`` how it hands over what is to outlive a cancel.
        arguments
            What it is called with; pickled now, so that later changes have no effect. Large bytes
            that nobody can change are handed over without a copy in a :class:`pickle.PickleBuffer`.
        deadline
            After how many seconds of running the job is stopped and has failed.
        after
            Called in this process once a job that was begun has ended, however it ended: removes
            what a killed worker has left.
        late, died
            What is said of a job that was stopped by its deadline, and of one whose worker died; a
            general sentence if nothing is given.

        Raises
        ------
        ValueError
            If a worker could not find the function, or the deadline is not positive.
        RuntimeError
            If the jobs have been closed.
        """
        if function.__module__ == "__main__":
            raise ValueError("A job's function must live in a module; __main__ has no name here.")
        if math.isnan(deadline) or deadline <= 0:
            raise ValueError(f"A deadline must be a positive number of seconds, not {deadline}.")
        payload = packed((function, arguments))
        job = Job(payload, deadline, self._queue, self._changed, after, late, died)
        with self._changed:
            if self._closed:
                raise RuntimeError("The jobs have been closed.")
            self._queue.append(job)
            self._changed.notify_all()
        return job

    def close(self) -> None:
        """Cancel all jobs and end all workers; a second call does nothing."""
        with self._changed:
            self._closed = True
            jobs = [*self._queue, *self._running]
            self._changed.notify_all()
        for job in jobs:
            job.cancel()
        for slot in self._slots:
            slot.join(timeout=5)
        atexit.unregister(self.close)

    def __enter__(self) -> Jobs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _serve(self) -> None:
        """The life of one slot."""
        worker = self._start_worker()
        while (job := self._next(worker)) is not None:
            worker = self._do(job, worker)
            job._after()
            with self._changed:
                self._running.discard(job)
                idle, self._idle = self._idle, None
            del job  # its result belongs to whoever submitted it
            if idle is not None and not self._closed:
                idle()
            if worker is None and not self._closed:
                worker = self._start_worker()
        if worker is not None:
            worker.dismiss()

    def _do(self, job: Job, worker: _Worker | None) -> _Worker | None:
        """Have a job done; the worker that can do another one, if there is one.

        A job that its worker has died without beginning goes to a fresh one, once.
        """
        for last in (False, True):
            if worker is not None and not worker.alive():  # it has died idle
                worker.dismiss()
                worker = None
            worker = worker or self._start_worker()
            if worker is None:
                job._settle("failed", error=say("The worker process could not be started."))
                return None
            if job._carry_out(worker, last):
                return worker
            worker.dismiss()
            worker = None
            if job.finished:
                break
        return None

    def _next(self, worker: _Worker | None) -> Job | None:
        """Wait for a job; None once closed."""
        with self._changed:
            while not self._closed:
                if self._queue:
                    job = self._queue.popleft()
                    job._take_from_queue()
                    self._running.add(job)
                    return job
                self._changed.wait(_IDLE)
                if worker is not None:
                    worker.alive()  # reaps it if it has died
        return None

    def _start_worker(self) -> _Worker | None:
        try:
            return _Worker(self._preparation, self._threads)
        except OSError:
            return None
