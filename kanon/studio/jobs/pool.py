"""The worker processes of a server, and the queue before them: what runs, waits and makes room."""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanon.studio.jobs.job import Job
from kanon.studio.jobs.lanes import BOUNDS, LONG, SHORT, Queue, get_job_kind
from kanon.studio.jobs.processes import WorkerProcess, pack_frame

_IDLE = 1.0  # seconds after which an idle slot looks whether its worker has died
_LOOK = 0.2  # seconds between two looks whether a job has to make room
_OWN = 10.0
"""Seconds of work after which the worker of a job that has left the first lane gets low priority.

Nothing raises it again, and another worker needs three seconds of a processor to be ready: so many
as there are jobs of little more than two seconds would make a server slower and slower.
"""

_KEPT = 300.0  # seconds that a worker of a longer lane, or in reserve, is kept without work


@dataclass(eq=False)
class _Slot:
    """A thread that starts at most one worker, hands it jobs and ends it; no Streamlit call."""

    lane: int
    worker: WorkerProcess | None = None
    job: Job | None = None
    parked: bool = False  # whether it only waits, so that its worker may be exchanged for another
    since: float = 0.0  # when it did something last

    def has_worker(self) -> bool:
        return self.worker is not None and (self.lane != SHORT or self.has_usual_worker())

    def has_usual_worker(self) -> bool:
        return self.worker is not None and not self.worker.has_low_priority

    def dismiss(self) -> None:
        if self.worker is not None:
            self.worker.close_process()
        self.worker = None


class Jobs:
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
        self._preparation = pack_frame(warm)
        self._idle = idle
        self._threads = threads or max(1, ((os.cpu_count() or 1) - 1) // places[SHORT])
        self._changed = threading.Condition()  # a lock that its owner may take again
        self._queue: Queue[Job] = Queue(places, bounds)
        self._closed = False
        self._reserve: WorkerProcess | None = None
        self._crowded = 0.0  # when jobs of several visitors were last there
        self._slots = [_Slot(lane) for lane, number in enumerate(places) for _ in range(number)]
        self._service = [
            threading.Thread(target=self._run_slot, args=(slot,), name="kanon-slot", daemon=True)
            for slot in self._slots
        ]
        self._service.append(
            threading.Thread(target=self._watch_lanes, name="kanon-lanes", daemon=True)
        )
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
        lane: int = SHORT,
        behind: bool = False,
    ) -> Job:
        """Queue ``function(progress, *arguments)``; ValueError if it is no module-level function.

        ``progress(fraction, text)`` reports progress; ``progress.keep(part)`` hands over what has
        to outlive a cancel. Arguments are pickled now, a :class:`pickle.PickleBuffer` without a
        copy. ``after`` is called here once a begun job has ended in any way, to remove what a
        killed worker left. ``late`` and ``died`` are the messages of a missed deadline and a dead
        worker. ``lane`` is the first that it may run in; a job of the first one may be begun twice,
        so one that writes belongs in another. So may one that runs ``behind`` a page: it waits anew
        when another one needs its place.
        """
        if function.__module__ == "__main__":
            raise ValueError("A job's function must live in a module; __main__ has no name here.")
        if math.isnan(deadline) or deadline <= 0:
            raise ValueError(f"A deadline must be a positive number of seconds, not {deadline}.")
        payload = pack_frame((function, arguments))
        kind = get_job_kind(function, sum(map(len, payload)))
        shared = (self._queue, self._changed)
        late = late or f"The calculation was stopped: it took longer than {deadline:g} seconds."
        job = Job(payload, deadline, *shared, after, late, died, kind, visitor, lane, behind)
        with self._changed:
            if self._closed:
                raise RuntimeError("The jobs have been closed.")
            self._queue.waiting.append(job)
            self._changed.notify_all()
        return job

    def close(self) -> None:
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run_slot(self, slot: _Slot) -> None:
        while not self._closed:
            self._keep_ready(slot)
            job = self._wait_for_job(slot)
            if job is not None:
                self._run_job(job, slot)
                self._finish_job(job, slot)
            del job  # its result belongs to whoever submitted it
        slot.dismiss()

    def _keep_ready(self, slot: _Slot) -> None:
        """Start the first lane's worker before its job; end another one that has no work."""
        old = slot.worker
        if self._needs_worker(slot):
            slot.worker = self._get_ready_worker()
        elif self._needs_no_worker(slot):
            slot.worker = None
        if old is not None and old is not slot.worker:
            old.close_process()  # last, as the end of a process of low priority can take its time

    def _needs_worker(self, slot: _Slot) -> bool:
        return slot.lane == SHORT and not slot.has_worker()

    def _needs_no_worker(self, slot: _Slot) -> bool:
        return (
            slot.lane != SHORT and slot.worker is not None and time.monotonic() - slot.since > _KEPT
        )

    def _wait_for_job(self, slot: _Slot) -> Job | None:
        with self._changed:
            if self._closed:
                return None
            slot.parked = True
            while (job := self._queue.take(slot.lane)) is None and not self._closed:
                self._changed.wait(_IDLE)
                if slot.worker is not None:
                    slot.worker.alive()  # reaps it if it has died
                if self._needs_worker(slot) or self._needs_no_worker(slot):
                    break
            slot.parked = False
            if job is not None:
                slot.job = job
                job.take_from_queue()
                self._take_idle_worker(slot)
            return job

    def _take_idle_worker(self, slot: _Slot) -> None:
        """Take over an idle worker, so that a lone visitor never waits for a process."""
        alone = self._queue.count_visitors() == 1
        for other in self._slots:
            if alone and slot.worker is None and other.parked and other.lane == SHORT:
                slot.worker, other.worker = other.worker, None
                self._changed.notify_all()

    def _run_job(self, job: Job, slot: _Slot) -> None:
        for last in (False, True):
            if not (slot.has_worker() and slot.worker is not None and slot.worker.alive()):
                slot.dismiss()  # it may have died idle
            start = self._get_ready_worker if slot.lane == SHORT else self._start_worker
            worker = slot.worker = slot.worker or start()
            if worker is None:
                job.finish_job("failed", error="The worker process could not be started.")
                return
            if slot.lane != SHORT:
                worker.lower()
            if job.run_in_worker(worker, last):
                return
            slot.dismiss()
            if job.finished or slot.job is not job:
                return

    def _finish_job(self, job: Job, slot: _Slot) -> None:
        mine = slot.job is job
        if mine:
            job.after()
        with self._changed:
            if mine:
                self._queue.end(job, job.state == "done")
            slot.job, slot.since = None, time.monotonic()
            idle, self._idle = self._idle, None
        if idle is not None and not self._closed:
            idle()

    def _watch_lanes(self) -> None:
        while not self._closed:
            self._keep_reserve()
            with self._changed:
                self._make_room()
                self._give_way()
                self._lower_workers()
                if not self._closed:
                    self._changed.wait(_LOOK if self._queue.waiting else _IDLE)
        if self._reserve is not None:
            self._reserve.close_process()

    def _keep_reserve(self) -> None:
        """Keep a worker in reserve while several visitors have jobs."""
        with self._changed:
            several, old = self._queue.count_visitors() > 1, None
            if several:
                self._crowded = time.monotonic()
            elif time.monotonic() - self._crowded > _KEPT:
                old, self._reserve = self._reserve, None
            lacking = several and self._reserve is None and self._queue.can_restart(SHORT)
        if old is not None:
            old.close_process()
        if lacking:
            self._reserve = self._start_worker()

    def _get_ready_worker(self) -> WorkerProcess | None:
        with self._changed:
            worker, self._reserve = self._reserve, None
        if worker is not None and not worker.alive():
            worker.close_process()
            worker = None
        return worker or self._start_worker()

    def _make_room(self) -> None:
        """Have the job that has run longest make room where another one waits.

        In the first lane even before one waits, so that a worker is ready for the next visitor.
        """
        for lane in (SHORT, LONG):
            beyond, waited_for = self._queue.next_lane(lane), self._queue.has_waiting(lane)
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
            idle = [
                free_slot
                for free_slot in self._slots
                if free_slot.lane == beyond
                and free_slot.job is None
                and self._queue.can_admit(job, beyond)
            ]
            # One whose worker can go on in the first lane, if there is one.
            other = max(idle, key=lambda free: free.has_usual_worker(), default=None)
            if other is not None:
                slot.lane, other.lane = beyond, lane
                job.move(beyond)
            elif waited_for and self._queue.can_restart(lane):
                slot.job = None
                job.set_aside(beyond)
            self._changed.notify_all()

    def _give_way(self) -> None:
        """Have a job behind a page wait again where one that somebody asked for lacks a place."""
        for slot in self._slots:
            job = slot.job
            if job is None or job.finished or not job.behind:
                continue
            if self._queue.lacks_place(slot.lane):
                slot.job = None
                job.set_aside(slot.lane)
                self._changed.notify_all()

    def _lower_workers(self) -> None:
        for slot in self._slots:
            job, worker = slot.job, slot.worker
            if slot.lane == SHORT or job is None or worker is None or worker.has_low_priority:
                continue
            if job.worked > _OWN:
                worker.lower()

    def _start_worker(self) -> WorkerProcess | None:
        try:
            return WorkerProcess(self._preparation, self._threads)
        except OSError:
            return None
