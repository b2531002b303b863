"""Long calculations beside the server: worker processes that report, can be stopped, and stay warm.

A worker gets and sends pickled frames over its pipes, and either side notices when the other's pipe
closes. Unlike :mod:`multiprocessing`, this never forks the threaded server nor imports its
``__main__`` (Streamlit makes that the page script), needs no port and no file, so that user data
stay in memory, and is the same on Linux, macOS and Windows.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, cast

from kanon.errors import KanonError
from kanon.studio.jobs.frames import Frame, packed, read_frame, unpacked, write_frame
from kanon.studio.jobs.lanes import BOUNDS, LONG, SHORT, Kind, Queue, kind_of, waiting
from kanon.studio.jobs.worker import failure

State = Literal["queued", "running", "done", "failed", "cancelled"]

_ROOT = str(Path(__file__).resolve().parents[3])

_IDLE = 1.0  # seconds after which an idle slot looks whether its worker has died
_LOOK = 0.2  # seconds between two looks whether a job has to make room
_KEPT = 300.0  # seconds that a worker of a longer lane, or in reserve, is kept without work
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
        queue: Queue[Job],
        changed: threading.Condition,
        after: Callable[[], object],
        late: str,
        died: str,
        kind: Kind,
        visitor: str,
        name: str,
        lane: int,
    ) -> None:
        self.kind, self.visitor, self.name, self.lane = kind, visitor, name, lane  # lanes.Waiting
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
        self._begun: float | None = None  # when the worker, which may have had to be started, did
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
        """What is being done; while it waits, its place, for about how long, and what runs."""
        with self._changed:
            if self._state == "queued":
                place, seconds = self._queue.place(self), self._queue.wait(self)
                return waiting(place, seconds, *self._queue.ahead(self))
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
        """The error that the user can correct, as the function raised it."""
        return self._exception

    @property
    def seconds(self) -> float:
        """How long the job has run, the wait in the queue left out."""
        return self._since(self._began)

    @property
    def worked(self) -> float:
        """For how many seconds its worker has worked on it."""
        return self._since(self._begun)

    def _since(self, moment: float | None) -> float:
        if moment is None:
            return 0.0
        return (time.monotonic() if self._ended is None else self._ended) - moment

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

    def _stop(self, state: State, error: str | None = None, by: _Worker | None = None) -> None:
        if self._settle(state, error=error, by=by) and self._worker is not None:
            self._worker.kill()

    def _settle(
        self,
        state: State,
        *,
        result: object = None,
        error: str | None = None,
        exception: KanonError | None = None,
        by: _Worker | None = None,
    ) -> bool:
        """Make the state final; False if it was, so that of two threads only one succeeds."""
        with self._changed:
            if self.finished or (by is not None and by is not self._worker):
                return False
            if self._state == "queued":
                self._queue.waiting.remove(self)
            self._payload = ()
            self._result, self._error, self._exception = result, error, exception
            self._ended = time.monotonic()
            if state == "cancelled":
                self._told = (self._told[0], "Cancelled", self._told[2])
            self._state = state
            self._changed.notify_all()
            return True

    def _take_from_queue(self) -> None:
        self._told = (0.0, "Starting", 0.0)
        self._began = time.monotonic()
        self._state = "running"

    def _move(self, lane: int) -> None:
        """Go on in another lane. The caller holds the lock."""
        self._queue.move(self, lane)
        self._payload = ()
        if self._worker is not None:
            self._worker.lower()

    def _set_aside(self, lane: int) -> None:
        """Wait again, in another lane, as if it had not been begun. The caller holds the lock."""
        self._queue.set_aside(self, lane)
        worker, self._worker = self._worker, None
        self._state = "queued"
        self._told, self._stage = (0.0, "", 0.0), 0.0
        self._began = self._begun = None
        self._parts.clear()
        if worker is not None:
            worker.kill()

    def _note_begin(self, worker: _Worker) -> None:
        with self._changed:
            if worker is self._worker:
                self._begun = time.monotonic()
                if not self._queue.begins_anew(self.lane):
                    self._payload = ()

    def _keep(self, worker: _Worker, part: object) -> None:
        with self._changed:
            if worker is self._worker:
                self._parts.append(part)

    def _tell(self, worker: _Worker, progress: float, text: str) -> None:
        with self._changed:
            # What a worker that was stopped had said before.
            if self.finished or worker is not self._worker:
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
        """Have a worker do the job; whether it can do another one."""
        payload = self._hand_to(worker)
        if payload is None:
            return True
        timer = threading.Timer(
            min(self._deadline, threading.TIMEOUT_MAX), self._stop, ("failed", self._late, worker)
        )
        timer.daemon = True
        try:
            timer.start()
            worker.send(payload)
            del payload
            while True:
                kind, value = worker.receive()
                if kind == "begun":
                    last = True
                    self._note_begin(worker)
                    self._tell(worker, 0.0, "Starting")
                elif kind == "progress":
                    self._tell(worker, *cast(tuple[float, str], value))
                elif kind == "part":
                    self._keep(worker, value)
                elif kind == "done":
                    return self._settle("done", result=value, by=worker)
                elif isinstance(value, KanonError):
                    said = value.sentence
                    return self._settle("failed", error=said, exception=value, by=worker)
                else:
                    return self._settle("failed", error=str(value), by=worker)
        except (EOFError, OSError):
            if last:
                self._settle(
                    "failed",
                    error=self._died
                    or (
                        "The worker process ended unexpectedly; perhaps the memory ran out. The "
                        "next calculation gets a fresh one."
                    ),
                    by=worker,
                )
        except Exception as error:  # noqa: BLE001  a result that cannot be read must not end the slot
            self._settle("failed", error=failure(error), by=worker)
        finally:
            timer.cancel()
        return False


@dataclass(eq=False)
class _Slot:
    """A thread with at most one worker, which it starts, hands jobs and ends; no Streamlit call."""

    lane: int
    worker: _Worker | None = None
    job: Job | None = None
    parked: bool = False  # whether it only waits, so that its worker may be exchanged for another
    since: float = 0.0  # when it did something last

    def fits(self) -> bool:
        """Whether its worker is as quick as its lane wants."""
        return self.worker is not None and not (self.lane == SHORT and self.worker.lowered)

    def dismiss(self) -> None:
        """End its worker."""
        if self.worker is not None:
            self.worker.dismiss()
        self.worker = None


class Jobs:
    """The worker processes of a server and the queue before them."""

    def __init__(
        self,
        places: Sequence[int] = (1,),
        *,
        warm: Callable[[], object] | None = None,
        threads: int | None = None,
        idle: Callable[[], object] | None = None,
        bounds: Sequence[float] = BOUNDS,
    ) -> None:
        if places[SHORT] < 1:
            raise ValueError(f"There must be at least one slot, not {places[SHORT]}.")
        self._preparation = packed(warm)
        self._idle = idle
        self._threads = threads or max(1, ((os.cpu_count() or 1) - 1) // places[SHORT])
        self._changed = threading.Condition()  # a lock that its owner may take again
        self._queue: Queue[Job] = Queue(places, bounds)
        self._closed = False
        self._reserve: _Worker | None = None
        self._crowded = 0.0  # when jobs of several visitors were last there
        self._slots = [_Slot(lane) for lane, number in enumerate(places) for _ in range(number)]
        self._service = [
            threading.Thread(target=self._serve, args=(slot,), name="kanon-slot", daemon=True)
            for slot in self._slots
        ]
        self._service.append(threading.Thread(target=self._watch, name="kanon-lanes", daemon=True))
        for thread in self._service:
            thread.start()
        atexit.register(self.close)

    def submit(
        self,
        function: Callable[..., object],
        *arguments: object,
        deadline: float = 600,
        after: Callable[[], object] = lambda: None,
        late: str = "",
        died: str = "",
        visitor: str = "",
        name: str = "",
        lane: int = SHORT,
    ) -> Job:
        """Queue ``function(progress, *arguments)``; ValueError if it is no module-level function.

        ``progress(fraction, text)`` reports progress, ``progress.keep(part)`` hands over what is to
        outlive a cancel. Arguments are pickled now; large constant bytes go without a copy in a
        :class:`pickle.PickleBuffer`. After ``deadline`` seconds of running the job has failed.
        ``after`` is called here once a begun job has ended in any way, to remove what a killed
        worker left. ``late`` and ``died`` are the messages of a missed deadline and a dead worker.
        Visitors take turns; ``name`` is shown to the job's own visitor only. ``lane`` is the first
        that it may run in: a job of the first one may be begun twice, so whatever leaves something
        behind belongs in another one.
        """
        if function.__module__ == "__main__":
            raise ValueError("A job's function must live in a module; __main__ has no name here.")
        if math.isnan(deadline) or deadline <= 0:
            raise ValueError(f"A deadline must be a positive number of seconds, not {deadline}.")
        payload = packed((function, arguments))
        kind = kind_of(function, sum(map(len, payload)))
        shared = (self._queue, self._changed)
        job = Job(payload, deadline, *shared, after, late, died, kind, visitor, name, lane)
        with self._changed:
            if self._closed:
                raise RuntimeError("The jobs have been closed.")
            self._queue.waiting.append(job)
            self._changed.notify_all()
        return job

    def close(self) -> None:
        """Cancel all jobs and end all workers; a second call does nothing."""
        with self._changed:
            self._closed = True
            jobs = [*self._queue.waiting, *self._queue.running]
            self._changed.notify_all()
        for job in jobs:
            job.cancel()
        for thread in self._service:
            thread.join(timeout=5)
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

    def _serve(self, slot: _Slot) -> None:
        """The life of one slot."""
        while not self._closed:
            self._keep_ready(slot)
            job = self._next(slot)
            if job is not None:
                self._do(job, slot)
                self._end(job, slot)
            del job  # its result belongs to whoever submitted it
        slot.dismiss()

    def _keep_ready(self, slot: _Slot) -> None:
        """Have the first lane's worker there before its job; end another one that has no work."""
        old = slot.worker
        if self._lacks_worker(slot):
            slot.worker = self._ready_worker()
        elif self._needs_no_worker(slot):
            slot.worker = None
        if old is not None and old is not slot.worker:
            old.dismiss()  # last, as the end of a process of low priority can take its time

    def _lacks_worker(self, slot: _Slot) -> bool:
        return slot.lane == SHORT and not slot.fits()

    def _needs_no_worker(self, slot: _Slot) -> bool:
        return (
            slot.lane != SHORT and slot.worker is not None and time.monotonic() - slot.since > _KEPT
        )

    def _next(self, slot: _Slot) -> Job | None:
        """Wait for a job; None if there is something else to do for the slot."""
        with self._changed:
            if self._closed:
                return None
            slot.parked = True
            while (job := self._queue.take(slot.lane)) is None and not self._closed:
                self._changed.wait(_IDLE)
                if slot.worker is not None:
                    slot.worker.alive()  # reaps it if it has died
                if self._lacks_worker(slot) or self._needs_no_worker(slot):
                    break
            slot.parked = False
            if job is not None:
                slot.job = job
                job._take_from_queue()
                self._borrow(slot)
            return job

    def _borrow(self, slot: _Slot) -> None:
        """Take over an idle worker of the first lane, whose slot starts another.

        So a visitor who is alone never waits for a process to be started.
        """
        alone = self._queue.visitors() == 1
        for other in self._slots:
            if alone and slot.worker is None and other.parked and other.lane == SHORT:
                slot.worker, other.worker = other.worker, None
                self._changed.notify_all()

    def _do(self, job: Job, slot: _Slot) -> None:
        """Have a job done; the slot keeps a worker that can do another one."""
        for last in (False, True):
            if not (slot.fits() and slot.worker is not None and slot.worker.alive()):
                slot.dismiss()  # it may have died idle
            start = self._ready_worker if slot.lane == SHORT else self._start_worker
            worker = slot.worker = slot.worker or start()
            if worker is None:
                job._settle("failed", error="The worker process could not be started.")
                return
            if slot.lane != SHORT:
                worker.lower()
            if job._carry_out(worker, last):
                return
            slot.dismiss()
            if job.finished or slot.job is not job:
                return

    def _end(self, job: Job, slot: _Slot) -> None:
        """Note that a slot is free again, and clear up after a job that was not set aside."""
        mine = slot.job is job
        if mine:
            job._after()
        with self._changed:
            if mine:
                self._queue.end(job, job.state == "done")
            slot.job, slot.since = None, time.monotonic()
            idle, self._idle = self._idle, None
        if idle is not None and not self._closed:
            idle()

    def _watch(self) -> None:
        """See to it that jobs make room, and that a worker is ready for the next visitor."""
        while not self._closed:
            self._keep_reserve()
            with self._changed:
                self._make_room()
                if not self._closed:
                    self._changed.wait(_LOOK if self._queue.waiting else _IDLE)
        if self._reserve is not None:
            self._reserve.dismiss()

    def _keep_reserve(self) -> None:
        """Start a worker in reserve while several visitors have jobs; end one that idles."""
        with self._changed:
            several, old = self._queue.visitors() > 1, None
            if several:
                self._crowded = time.monotonic()
            elif time.monotonic() - self._crowded > _KEPT:
                old, self._reserve = self._reserve, None
            lacking = several and self._reserve is None and self._queue.begins_anew(SHORT)
        if old is not None:
            old.dismiss()
        if lacking:
            self._reserve = self._start_worker()

    def _ready_worker(self) -> _Worker | None:
        """The worker in reserve, or else a fresh one."""
        with self._changed:
            worker, self._reserve = self._reserve, None
        if worker is not None and not worker.alive():
            worker.dismiss()
            worker = None
        return worker or self._start_worker()

    def _make_room(self) -> None:
        """Have the job that has run longest make room where another one waits.

        In the first lane even before one waits, so that a worker is ready for the next visitor.
        """
        for lane in (SHORT, LONG):
            beyond, waited_for = self._queue.next_lane(lane), self._queue.any_waits(lane)
            if beyond is None or not (waited_for or lane == SHORT):
                continue
            busy = [
                (slot.job.worked, slot, slot.job)
                for slot in self._slots
                if slot.lane == lane and slot.job is not None and not slot.job.finished
            ]
            if len(busy) < self._queue.places[lane]:  # a slot is about to take the next job
                continue
            worked, slot, job = max(busy, key=lambda each: each[0])
            if worked <= self._queue.bound(lane):
                continue
            idle = (
                one
                for one in self._slots
                if one.lane == beyond and one.job is None and self._queue.admits(job, beyond)
            )
            if (other := next(idle, None)) is not None:
                slot.lane, other.lane = beyond, lane
                job._move(beyond)
            elif waited_for and self._queue.begins_anew(lane):
                slot.job = None
                job._set_aside(beyond)
            self._changed.notify_all()

    def _start_worker(self) -> _Worker | None:
        try:
            return _Worker(self._preparation, self._threads)
        except OSError:
            return None
