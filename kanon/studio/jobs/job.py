"""A calculation as its session sees it: progress, result and cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, cast

from kanon.studio.jobs.lanes import Kind, Queue, describe_waiting
from kanon.studio.jobs.processes import Frame, WorkerProcess
from kanon.studio.jobs.worker import describe_failure

State = Literal["queued", "running", "done", "failed", "cancelled"]

_LEAST_SHARE = 0.1  # of the time of a job, however little of the processors it gets


@dataclass(eq=False, repr=False)  # its text would hold the payload
class Job:
    """A calculation made by :meth:`Jobs.submit`; every thread may read and cancel it."""

    _payload: Frame
    _deadline: float
    _queue: Queue[Job]
    _changed: threading.Condition  # guards the queue and all jobs, and tells of changes
    after: Callable[[], object]
    _late_message: str
    _death_message: str
    kind: Kind
    visitor: str
    lane: int
    behind: bool
    state: State = "queued"
    result: object = None
    error: str | None = None
    _parts: list[object] = field(default_factory=list)
    _worker: WorkerProcess | None = None
    _start_time: float | None = None
    _work_start_time: float | None = None  # later, if the worker had to be started
    _end_time: float | None = None
    _processor_before: float | None = None  # what the worker had used when the work began
    _worked: float | None = None  # once it has ended
    _last_progress: tuple[float, str, float] = (0.0, "", 0.0)  # and text, after how many seconds
    _stage: float = 0.0  # after how many seconds progress began anew, as once all is prepared

    @property
    def finished(self) -> bool:
        return self.state not in ("queued", "running")

    @property
    def progress(self) -> float:
        return 1.0 if self.state == "done" else self._last_progress[0]

    @property
    def text(self) -> str:
        """What is being done; while the job waits, its place in the queue and what runs."""
        with self._changed:
            if self.state == "queued":
                return describe_waiting(self._queue.place(self), self._queue.wait(self))
        return self._last_progress[1]

    @property
    def parts(self) -> tuple[object, ...]:
        """What ``progress.keep`` has handed over so far; it outlives a cancel."""
        return tuple(self._parts)

    @property
    def seconds(self) -> float:
        """How long the job has run, without the wait in the queue."""
        return self._count_seconds(self._start_time)

    @property
    def worked(self) -> float:
        """For how long a worker has worked on it.

        Not counted is, as far as the system tells it, the time in which others had the processors:
        a short calculation stays a short one however many wait. But a tenth of all time counts, so
        that one that waits for a disk does not keep its place for long.
        """
        return self._count_work() if self._worked is None else self._worked

    def _count_work(self) -> float:
        seconds = self._count_seconds(self._work_start_time)
        used = None if self._worker is None else self._worker.processor_seconds
        if used is None or self._processor_before is None:
            return seconds
        return min(seconds, max(used - self._processor_before, _LEAST_SHARE * seconds))

    def _count_seconds(self, moment: float | None) -> float:
        if moment is None:
            return 0.0
        return (time.monotonic() if self._end_time is None else self._end_time) - moment

    @property
    def remaining(self) -> float | None:
        """An estimate of the seconds to go, as if progress were even; None if unknown."""
        progress, _, after = self._last_progress
        if self.state != "running" or progress <= 0 or after == self._stage:
            return None
        return max(0.0, self._stage + (after - self._stage) / progress - self.seconds)

    def cancel(self) -> None:
        self._stop("cancelled")

    def wait(self, timeout: float | None = None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.finished, timeout)

    def _stop(
        self, state: State, error: str | None = None, by: WorkerProcess | None = None
    ) -> None:
        if self.finish_job(state, error=error, by=by) and self._worker is not None:
            self._worker.kill()

    def finish_job(
        self,
        state: State,
        *,
        result: object = None,
        error: str | None = None,
        by: WorkerProcess | None = None,
    ) -> bool:
        """Make the state final; False if it was, so that of two threads only one succeeds."""
        with self._changed:
            if self.finished or (by is not None and by is not self._worker):
                return False
            if self.state == "queued":
                self._queue.waiting.remove(self)
            self._payload = ()
            self.result, self.error = result, error
            self._end_time = time.monotonic()
            self._worked = self._count_work()
            if state == "cancelled":
                self._last_progress = (self._last_progress[0], "Cancelled", self._last_progress[2])
            self.state = state
            self._changed.notify_all()
            return True

    def take_from_queue(self) -> None:
        self._last_progress = (0.0, "Starting", 0.0)
        self._start_time = time.monotonic()
        self.state = "running"

    def move(self, lane: int) -> None:
        """Continue in another lane. The caller holds the lock."""
        self._queue.move(self, lane)
        if not self.behind:
            self._payload = ()

    def set_aside(self, lane: int) -> None:
        """Wait again in a lane, as if not begun. The caller holds the lock."""
        self._queue.set_aside(self, lane)
        worker, self._worker = self._worker, None
        self.state = "queued"
        self._last_progress, self._stage = (0.0, "", 0.0), 0.0
        self._start_time = self._work_start_time = self._processor_before = None
        self._parts.clear()
        if worker is not None:
            worker.kill()

    def _record_start(self, worker: WorkerProcess) -> None:
        with self._changed:
            if worker is self._worker:
                self._work_start_time = time.monotonic()
                self._processor_before = worker.processor_seconds
                if not (self.behind or self._queue.can_restart(self.lane)):
                    self._payload = ()

    def _keep(self, worker: WorkerProcess, part: object) -> None:
        with self._changed:
            if worker is self._worker:
                self._parts.append(part)

    def _update_progress(self, worker: WorkerProcess, progress: float, text: str) -> None:
        with self._changed:
            # A worker that was stopped may have sent this before.
            if self.finished or worker is not self._worker:
                return
            seconds = self.seconds
            if progress < self._last_progress[0]:
                self._stage = seconds
            self._last_progress = (progress, text, seconds)

    def _attach_worker(self, worker: WorkerProcess) -> Frame | None:
        with self._changed:
            if self.finished:
                return None
            self._worker = worker
            return self._payload

    def run_in_worker(self, worker: WorkerProcess, last: bool) -> bool:
        payload = self._attach_worker(worker)
        if payload is None:
            return True
        timer = threading.Timer(
            min(self._deadline, threading.TIMEOUT_MAX),
            self._stop,
            ("failed", self._late_message, worker),
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
                    self._record_start(worker)
                    self._update_progress(worker, 0.0, "Starting")
                elif kind == "progress":
                    self._update_progress(worker, *cast(tuple[float, str], value))
                elif kind == "part":
                    self._keep(worker, value)
                elif kind == "done":
                    return self.finish_job("done", result=value, by=worker)
                else:
                    return self.finish_job("failed", error=str(value), by=worker)
        except (EOFError, OSError):
            if last:
                self.finish_job(
                    "failed",
                    error=self._death_message
                    or (
                        "The worker process ended unexpectedly; perhaps the memory ran out. The "
                        "next calculation starts a new process."
                    ),
                    by=worker,
                )
        except Exception as error:  # noqa: BLE001  a result that cannot be read must not end the slot
            self.finish_job("failed", error=describe_failure(error), by=worker)
        finally:
            timer.cancel()
        return False
