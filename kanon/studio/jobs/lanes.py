"""Which job is next, and how long the others wait. Nothing here starts, stops or measures anything.

Jobs wait in lanes by duration, so that short ones wait for short ones alone. Durations are learnt
from earlier jobs with the same function and about as many bytes; the first of its kind counts as
short unless it was handed much. In a lane visitors take turns, and nobody has all places.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from heapq import heapify, heappop, heappush
from statistics import median_low
from typing import Generic, Protocol, TypeVar

from kanon.base.formatting import one_or_many

SHORT, LONG, STUDY = range(3)  # the lanes: first answers and small tables; minutes; hours
BOUNDS = (2.0, 600.0)  # after how many seconds a job of a lane belongs in the next one

Kind = tuple[str, int]
"""The name of a function, and the bits of the number of bytes that it was handed."""

_MUCH = 20  # bits: who is handed a megabyte counts as long until it is known better

_REMEMBERED = 9  # of each kind how many durations are remembered


def kind_of(function: Callable[..., object], n_bytes: int) -> Kind:
    """The kind of a job: jobs of one kind take about as long.

    >>> kind_of(sum, 1000) == kind_of(sum, 600) != kind_of(sum, 5000)
    True
    """
    return f"{function.__module__}.{function.__qualname__}", n_bytes.bit_length()


def waiting(
    place: int,
    seconds: float | None,
    own: Sequence[tuple[str, float]] = (),
    others: Sequence[float] = (),
) -> str:
    """Tell a visitor the place in the queue, about how long it takes, and what runs meanwhile.

    >>> waiting(1, 0.2)
    'Waiting: place 1 in the queue, about 1 s'
    >>> print(waiting(1, 9, [("The advisor", 40.0)]))
    Waiting: place 1 in the queue, about 9 s. Running: The advisor, yours, for 40 s
    """
    if seconds is None:
        told = f"Waiting: place {place} in the queue; for how long is not known"
    else:
        told = f"Waiting: place {place} in the queue, about {_time(max(1.0, seconds))}"
    running = [f"{name}, yours, for {_time(at)}" for name, at in own]
    if others:
        running.append(
            one_or_many(
                len(others),
                "one calculation of another visitor, for {time}",
                "{count} calculations of other visitors, the longest for {time}",
                time=_time(max(others)),
            )
        )
    if not running:
        return told
    return f"{told}. Running: {'; '.join(running)}"


def _time(seconds: float) -> str:
    if seconds > 90:
        return f"{math.ceil(seconds / 60)} min"
    return f"{math.ceil(seconds)} s"


class Waiting(Protocol):
    kind: Kind
    visitor: str
    name: str  # what its visitor is told that it is
    lane: int  # the first lane it may wait in; the one it runs in, once it does

    @property
    def seconds(self) -> float: ...  # for how many it has run

    @property
    def worked(self) -> float: ...  # for how many a worker has worked on it

    @property
    def remaining(self) -> float | None: ...  # by its own progress; None if unknown


J = TypeVar("J", bound=Waiting)


class Queue(Generic[J]):
    """The jobs that wait and those that run; the caller holds a lock."""

    def __init__(self, places: Sequence[int], bounds: Sequence[float] = BOUNDS) -> None:
        self.places = places
        self._bounds = bounds
        self._took: dict[Kind, deque[float]] = {}
        self._late: set[Kind] = set()  # of which a job was too long for the first lane
        self._served: dict[tuple[int, str], int] = {}  # when a visitor was served last, by a count
        self._count = 0
        self.waiting: list[J] = []
        self.running: list[J] = []

    def take(self, lane: int) -> J | None:
        """Let the next job of a lane run; None if no waiting job may have a place."""
        job = next((one for one in self._in_turn(lane) if self.admits(one, lane)), None)
        if job is not None:
            self.waiting.remove(job)
            self.running.append(job)
            job.lane = lane
            self._count += 1
            self._served[lane, job.visitor] = self._count
            if not self.waiting:  # nobody is left to be treated fairly
                self._served.clear()
        return job

    def end(self, job: J, done: bool) -> None:
        """Note that a job runs no longer; how long it took is learnt if it was done."""
        self.running.remove(job)
        if done:
            self._took.setdefault(job.kind, deque(maxlen=_REMEMBERED)).append(job.worked)

    def move(self, job: J, lane: int) -> None:
        job.lane = lane
        self._late.add(job.kind)

    def set_aside(self, job: J, lane: int) -> None:
        """Let a job that runs wait again, in another lane and before its visitor's others."""
        self.move(job, lane)
        self.running.remove(job)
        self.waiting.insert(0, job)

    def bound(self, lane: int) -> float:
        """After how many seconds a running job of a lane makes room for those that wait."""
        return self._bounds[lane] if self.next_lane(lane) is not None else math.inf

    def begins_anew(self, lane: int) -> bool:
        return lane == SHORT and self.next_lane(lane) is not None

    def next_lane(self, lane: int) -> int | None:
        return next((n for n in range(lane + 1, len(self.places)) if self.places[n]), None)

    def admits(self, job: J, lane: int) -> bool:
        mine = sum(other.lane == lane and other.visitor == job.visitor for other in self.running)
        return mine < self._most_of_one(lane)

    def ahead(self, job: J) -> tuple[list[tuple[str, float]], list[float]]:
        """What runs where a job waits, and for how long; named only if it is its own visitor's."""
        there = [other for other in self.running if other.lane == self._lane_of(job)]
        own = [(each.name, each.seconds) for each in there if each.visitor == job.visitor]
        return own, [each.seconds for each in there if each.visitor != job.visitor]

    def visitors(self) -> int:
        return len({job.visitor for job in (*self.running, *self.waiting)})

    def any_waits(self, lane: int) -> bool:
        return any(self._lane_of(job) == lane for job in self.waiting)

    def place(self, job: J) -> int:
        """The place of a waiting job in its lane, from 1."""
        return self._in_turn(self._lane_of(job)).index(job) + 1

    def wait(self, job: J) -> float | None:
        """For about how many seconds a job still waits; None if that is not known."""
        lane = self._lane_of(job)
        own = self._begin(job, lane, self._most_of_one(lane), {job.visitor})
        everyone = {other.visitor for other in (*self.running, *self.waiting)}
        begins = max(own, self._begin(job, lane, self.places[lane], everyone))
        return begins if begins < math.inf else None

    def _begin(self, job: J, lane: int, places: int, visitors: Collection[str]) -> float:
        there = [other for other in self.running if other.lane == lane]
        free = [self._left(other) for other in there if other.visitor in visitors]
        free += [0.0] * (places - len(free))
        heapify(free)
        for other in self._in_turn(lane):
            if other is job:
                break
            if other.visitor in visitors:
                taken = min(self._expected(other, math.inf), self._most(lane))
                heappush(free, heappop(free) + taken)
        return free[0]

    def _most_of_one(self, lane: int) -> int:
        """The most places of a lane for one visitor: others keep one, or might wait for hours."""
        return max(1, self.places[lane] - 1)

    def _in_turn(self, lane: int) -> list[J]:
        ahead = Counter(job.visitor for job in self.running if job.lane == lane)
        turns: dict[J, tuple[int, int]] = {}
        for job in self.waiting:
            if self._lane_of(job) == lane:
                turns[job] = (ahead[job.visitor], self._served.get((lane, job.visitor), 0))
                ahead[job.visitor] += 1
        return sorted(turns, key=turns.__getitem__)

    def _lane_of(self, job: J) -> int:
        long = job.kind[1] > _MUCH or job.kind in self._late
        expected = self._expected(job, self._bounds[SHORT] + 1 if long else 0.0)
        lane = max(job.lane, sum(expected > bound for bound in self._bounds))
        return max(n for n, places in enumerate(self.places[: lane + 1]) if places)

    def _expected(self, job: J, unknown: float) -> float:
        took = self._took.get(job.kind)
        return median_low(took) if took else unknown

    def _left(self, job: J) -> float:
        """After how many seconds a running job leaves its place, or makes room."""
        left = job.remaining
        if left is None:
            left = self._expected(job, math.inf) - job.worked
            if left < 0:  # it takes longer than its kind: nobody knows
                left = math.inf
        return max(0.0, min(left, self._most(job.lane) - job.worked))

    def _most(self, lane: int) -> float:
        """After how many seconds a place of a lane is free again, whatever runs there."""
        return self.bound(lane) if lane == SHORT else math.inf
