"""Decides which job is next and estimates the waiting time; it starts and stops nothing.

Jobs wait in lanes by duration, so that short ones wait for short ones alone. Durations are learnt
from earlier jobs with the same function and about as many bytes; the first of its kind counts as
short unless it has many. In a lane visitors take turns, and nobody has all places.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from heapq import heapify, heappop, heappush
from statistics import median_low
from typing import Generic, Protocol, TypeVar

SHORT, LONG, STUDY = range(3)  # the lanes: first answers and small tables; minutes; hours
BOUNDS = (2.0, 600.0)  # after how many seconds a job of a lane belongs in the next one

Kind = tuple[str, int]
"""The name of a function, and the bits of the number of bytes that it was handed."""

_MUCH = 20  # bits: who is handed a megabyte counts as long until it is known better

_REMEMBERED = 9  # of each kind how many durations are remembered


def get_job_kind(function: Callable[..., object], n_bytes: int) -> Kind:
    """Name the kind of a job: jobs of one kind take about as long.

    >>> get_job_kind(sum, 1000) == get_job_kind(sum, 600) != get_job_kind(sum, 5000)
    True
    """
    return f"{function.__module__}.{function.__qualname__}", n_bytes.bit_length()


def describe_waiting(place: int, seconds: float | None) -> str:
    """Tell a visitor the place in the queue, and about how long it takes.

    >>> describe_waiting(1, 0.2)
    'Waiting: place 1 in the queue, about 1 s'
    """
    if seconds is None:
        return f"Waiting: place {place} in the queue; the waiting time is not known"
    time = f"{math.ceil(seconds / 60)} min" if seconds > 90 else f"{math.ceil(max(1, seconds))} s"
    return f"Waiting: place {place} in the queue, about {time}"


class QueuedJob(Protocol):
    kind: Kind
    visitor: str
    lane: int  # the first lane it may wait in; the one it runs in, once it does
    behind: bool  # whether nobody asked for it, so that it gives way to all that somebody did

    @property
    def worked(self) -> float: ...  # for how many seconds a worker has worked on it

    @property
    def remaining(self) -> float | None: ...  # by its own progress; None if unknown


J = TypeVar("J", bound=QueuedJob)


class Queue(Generic[J]):
    """The jobs that wait and those that run; the caller holds a lock."""

    def __init__(self, places: Sequence[int], bounds: Sequence[float] = BOUNDS) -> None:
        self.places = places
        self._bounds = bounds
        self._durations: dict[Kind, deque[float]] = {}
        self._late_kinds: set[Kind] = set()  # of which a job was too long for the first lane
        self._last_turns: dict[tuple[int, str], int] = {}  # of each visitor in each lane
        self._turns = 0
        self.waiting: list[J] = []
        self.running: list[J] = []

    def take(self, lane: int) -> J | None:
        """Start the next job of a lane; None if no waiting job may have a place."""
        job = next(
            (other for other in self._order_waiting(lane) if self.can_admit(other, lane)),
            None,
        )
        if job is not None:
            self.waiting.remove(job)
            self.running.append(job)
            job.lane = lane
            self._turns += 1
            self._last_turns[lane, job.visitor] = self._turns
            if not self.waiting:  # nobody is left to be treated fairly
                self._last_turns.clear()
        return job

    def end(self, job: J, succeeded: bool) -> None:
        """Note that a job has ended; learn its duration if it was done."""
        self.running.remove(job)
        if succeeded and not job.behind:
            self._durations.setdefault(job.kind, deque(maxlen=_REMEMBERED)).append(job.worked)

    def move(self, job: J, lane: int) -> None:
        job.lane = lane
        self._late_kinds.add(job.kind)

    def set_aside(self, job: J, lane: int) -> None:
        """Put a running job back in the queue of a lane, before its visitor's others."""
        if lane != job.lane:
            self.move(job, lane)
        self.running.remove(job)
        self.waiting.insert(0, job)

    def bound(self, lane: int) -> float:
        """After how many seconds a job of a lane makes room for others."""
        return self._bounds[lane] if self.next_lane(lane) is not None else math.inf

    def can_restart(self, lane: int) -> bool:
        return lane == SHORT and self.next_lane(lane) is not None

    def next_lane(self, lane: int) -> int | None:
        return next((n for n in range(lane + 1, len(self.places)) if self.places[n]), None)

    def can_admit(self, job: J, lane: int) -> bool:
        if job.behind and any(other.behind for other in self.running):
            return False  # one at a time, so that a class of visitors does not slow itself down
        mine = sum(other.lane == lane and other.visitor == job.visitor for other in self.running)
        return mine < self._get_visitor_places(lane)

    def count_visitors(self) -> int:
        return len({job.visitor for job in (*self.running, *self.waiting)})

    def has_waiting(self, lane: int) -> bool:
        return any(self._choose_lane(job) == lane for job in self.waiting)

    def lacks_place(self, lane: int) -> bool:
        """Whether a job that somebody asked for has to wait for a place of a lane."""
        is_full = sum(job.lane == lane for job in self.running) >= self.places[lane]
        waiting = [job for job in self._order_waiting(lane) if not job.behind]
        return is_full and any(self.can_admit(job, lane) for job in waiting)

    def place(self, job: J) -> int:
        return self._order_waiting(self._choose_lane(job)).index(job) + 1

    def wait(self, job: J) -> float | None:
        """About how many seconds a job still waits; None if unknown."""
        lane = self._choose_lane(job)
        own = self._estimate_start(job, lane, self._get_visitor_places(lane), {job.visitor})
        everyone = {other.visitor for other in (*self.running, *self.waiting)}
        begins = max(own, self._estimate_start(job, lane, self.places[lane], everyone))
        return begins if begins < math.inf else None

    def _estimate_start(self, job: J, lane: int, places: int, visitors: Collection[str]) -> float:
        there = [other for other in self.running if other.lane == lane]
        free = [self._estimate_rest(other) for other in there if other.visitor in visitors]
        free += [0.0] * (places - len(free))
        heapify(free)
        for other in self._order_waiting(lane):
            if other is job:
                break
            if other.visitor in visitors:
                duration = min(self._estimate_duration(other, math.inf), self._get_stay(lane))
                heappush(free, heappop(free) + duration)
        return free[0]

    def _get_visitor_places(self, lane: int) -> int:
        """The most places for one visitor: one stays free, or others might wait for hours."""
        return max(1, self.places[lane] - 1)

    def _order_waiting(self, lane: int) -> list[J]:
        ahead = Counter(job.visitor for job in self.running if job.lane == lane)
        turns: dict[J, tuple[bool, int, int]] = {}
        for job in self.waiting:
            if self._choose_lane(job) == lane:
                turn = self._last_turns.get((lane, job.visitor), 0)
                turns[job] = (job.behind, ahead[job.visitor], turn)
                ahead[job.visitor] += 1
        return sorted(turns, key=turns.__getitem__)

    def _choose_lane(self, job: J) -> int:
        long = job.kind[1] > _MUCH or job.kind in self._late_kinds
        expected = self._estimate_duration(job, self._bounds[SHORT] + 1 if long else 0.0)
        lane = max(job.lane, sum(expected > bound for bound in self._bounds))
        return max(n for n, places in enumerate(self.places[: lane + 1]) if places)

    def _estimate_duration(self, job: J, unknown: float) -> float:
        took = self._durations.get(job.kind)
        return median_low(took) if took else unknown

    def _estimate_rest(self, job: J) -> float:
        """After how many seconds a running job leaves its place or makes room."""
        rest = job.remaining
        if rest is None:
            rest = self._estimate_duration(job, math.inf) - job.worked
            if rest < 0:  # it takes longer than its kind: nobody knows
                rest = math.inf
        return max(0.0, min(rest, self._get_stay(job.lane) - job.worked))

    def _get_stay(self, lane: int) -> float:
        return self.bound(lane) if lane == SHORT else math.inf
