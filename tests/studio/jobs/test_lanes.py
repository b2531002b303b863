"""Which job is next, and how long the others are told to wait: no worker, no clock."""

from dataclasses import dataclass

import pytest

from kanon.studio.jobs.lanes import LONG, SHORT, STUDY, Queue, describe_waiting

QUICK, SLOW, NEW, LARGE = ("quick", 10), ("slow", 10), ("new", 10), ("large", 21)


@dataclass(eq=False)
class Fake:
    """A job, by what is known of it."""

    name: str
    visitor: str = ""
    kind: tuple = NEW
    lane: int = SHORT
    worked: float = 0.0
    remaining: float | None = None
    behind: bool = False


def learnt(places, **known):
    """A queue that has seen one job each of some kinds: how long they took, by their names."""
    queue = Queue(places)
    for name, seconds in known.items():
        queue.waiting.append(Fake(name, kind=(name, 10), worked=seconds))
        queue.end(
            queue.take(lane=next(n for n in range(3) if queue.has_waiting(n))), succeeded=True
        )
    return queue


def waits(queue, *jobs):
    queue.waiting.extend(jobs)
    return jobs


def order(queue, lane):
    """The names of those who wait in a lane, in the order they run in, one after the other."""
    names = []
    while (job := queue.take(lane)) is not None:
        names.append(job.name)
        queue.end(job, succeeded=False)
    return names


def test_visitors_take_turns_however_many_jobs_each_has():
    queue = Queue([1])
    waits(queue, *(Fake(f"a{number}", "a") for number in range(1, 6)))
    waits(queue, Fake("b1", "b"), Fake("c1", "c"), Fake("b2", "b"))
    assert order(queue, SHORT) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]


def test_what_runs_behind_a_page_is_last_and_teaches_no_duration():
    queue = Queue([1, 1, 1])
    behind = Fake("behind", "a", behind=True, worked=60.0)
    waits(queue, behind)
    assert queue.take(SHORT) is behind and not queue.lacks_place(SHORT)
    waits(queue, Fake("more", "b", behind=True))
    assert not queue.lacks_place(SHORT)
    waits(queue, Fake("own", "c"))
    assert queue.lacks_place(SHORT)
    queue.set_aside(behind, SHORT)
    assert not queue.lacks_place(SHORT)
    assert order(queue, SHORT)[0] == "own"
    waits(queue, behind)
    queue.end(queue.take(SHORT), succeeded=True)
    waits(queue, Fake("as before"))
    assert order(queue, SHORT) == ["as before"]


def test_one_job_at_a_time_runs_behind_pages():
    queue = Queue([1, 3, 2])
    first, second = waits(queue, *(Fake(v, v, lane=LONG, behind=True) for v in "ab"))
    assert queue.take(LONG) is first and queue.take(LONG) is None
    queue.end(first, succeeded=True)
    assert queue.take(LONG) is second


def test_who_has_a_job_under_way_waits_with_the_second():
    queue = Queue([2])
    waits(queue, Fake("a1", "a"), Fake("a2", "a"), Fake("a3", "a"))
    queue.take(SHORT)
    waits(queue, Fake("b1", "b"))
    assert [queue.place(job) for job in queue.waiting] == [2, 3, 1]
    assert queue.take(SHORT).name == "b1"


def test_who_was_served_last_is_behind_who_came_after():
    """A visitor who asks again at once does not pass those who have waited."""
    queue = Queue([1])
    waits(queue, Fake("a1", "a"), Fake("b1", "b"), Fake("c1", "c"), Fake("b2", "b"))
    for _ in range(2):
        queue.end(queue.take(SHORT), succeeded=False)
    waits(queue, Fake("d1", "d"), Fake("a2", "a"))
    assert order(queue, SHORT) == ["c1", "d1", "a2", "b2"]


def test_a_short_job_does_not_wait_for_long_ones():
    queue = learnt([1, 2, 1], quick=0.1, slow=40.0)
    heavy = waits(queue, *(Fake(f"slow {n}", "a", SLOW) for n in range(3)), Fake("L", "b", LARGE))
    (short,) = waits(queue, Fake("short", "c", QUICK))
    assert queue.place(short) == 1 and queue.wait(short) == 0
    assert queue.take(SHORT) is short and queue.take(SHORT) is None
    assert {queue.take(LONG), queue.take(LONG)} == {heavy[0], heavy[3]}
    assert queue.take(STUDY) is None


def test_who_is_long_and_who_is_not_is_learnt_and_learnt_anew():
    queue = learnt([1, 1, 1], slow=40.0)
    waits(queue, Fake("slow", kind=SLOW, worked=0.5))
    assert queue.has_waiting(LONG) and not queue.has_waiting(SHORT)
    queue.end(queue.take(LONG), succeeded=True)
    waits(queue, Fake("not so slow", kind=SLOW))
    assert queue.has_waiting(SHORT), "of two the shorter counts: the first one may have compiled"


def test_a_job_that_was_too_long_says_so_of_its_kind():
    queue = Queue([1, 1, 0])
    first, second = waits(queue, Fake("first"), Fake("second"))
    assert queue.take(SHORT) is first and queue.has_waiting(SHORT)
    queue.move(first, LONG)
    assert not queue.has_waiting(SHORT) and queue.take(SHORT) is None
    assert (queue.place(second), queue.wait(second)) == (1, None)


def test_a_job_that_was_set_aside_is_the_next_one_of_its_visitor():
    queue = Queue([1, 1, 0])
    waits(queue, Fake("a1", "a"), Fake("a2", "a", lane=LONG), Fake("b1", "b", lane=LONG))
    queue.set_aside(queue.take(SHORT), LONG)
    assert order(queue, LONG) == ["a1", "b1", "a2"]


@pytest.mark.parametrize(
    ("places", "lanes"),
    [
        ([1], [SHORT, SHORT, SHORT]),
        ([1, 0, 0], [SHORT, SHORT, SHORT]),
        ([1, 1, 0], [SHORT, LONG, LONG]),
        ([1, 0, 1], [SHORT, SHORT, STUDY]),
        ([1, 1, 1], [SHORT, LONG, STUDY]),
    ],
)
def test_a_lane_without_a_place_runs_in_the_one_before(places, lanes):
    for wanted, found in zip((SHORT, LONG, STUDY), lanes, strict=True):
        queue = Queue(places)
        (job,) = waits(queue, Fake("job", lane=wanted))
        assert [lane for lane in range(3) if queue.has_waiting(lane)] == [found]
        assert queue.take(found) is job


def test_the_wait_adds_what_is_left_to_what_those_before_will_take():
    queue = learnt([1], quick=3.0, slow=40.0)
    (running, *_), (first, second) = (
        waits(queue, Fake("running", "a", NEW, remaining=7.0)),
        waits(queue, Fake("first", "b", QUICK), Fake("second", "c", SLOW)),
    )
    assert queue.take(SHORT) is running
    (third,) = waits(queue, Fake("third", "d"))
    assert [queue.wait(job) for job in (first, second, third)] == [7, 10, 50]


def test_several_places_are_waited_for_at_once():
    queue = learnt([2], quick=3.0)
    waits(queue, Fake("x", "x", remaining=7.0), Fake("y", "y", remaining=1.0))
    queue.take(SHORT), queue.take(SHORT)
    jobs = waits(queue, *(Fake(name, name, QUICK) for name in "abc"))
    assert [queue.wait(job) for job in jobs] == [1, 4, 7]


def test_without_its_own_estimate_a_job_is_taken_to_last_as_others_of_its_kind():
    queue = learnt([1], slow=40.0)
    running, second = waits(queue, Fake("running", "a", SLOW, worked=30.0), Fake("second", "b"))
    queue.take(SHORT)
    assert queue.wait(second) == 10
    running.worked = 50.0
    assert queue.wait(second) is None, "it takes longer than its kind, nobody knows how long"
    running.kind = NEW
    assert queue.wait(second) is None


def test_the_wait_in_the_short_lane_is_bounded_as_jobs_make_room():
    queue = Queue([1, 1, 1])
    running, first, second = waits(queue, *(Fake(name, name) for name in "abc"))
    queue.take(SHORT)
    running.worked = 0.5
    assert (queue.wait(first), queue.wait(second)) == (1.5, 3.5)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "about 1 s"), (12.1, "about 13 s"), (90, "about 90 s"), (91, "about 2 min"),
     (None, "not known")],
)  # fmt: skip
def test_the_wait_is_told_in_seconds_or_minutes(seconds, said):
    assert said in describe_waiting(3, seconds) and "3" in describe_waiting(3, seconds)


def test_of_several_places_nobody_has_all():
    queue = Queue([1, 3, 2])
    jobs = waits(queue, *(Fake(f"a{n}", "a", lane=LONG, remaining=9.0) for n in range(3)))
    assert [queue.take(LONG), queue.take(LONG), queue.take(LONG)] == [*jobs[:2], None]
    assert queue.wait(jobs[2]) == 9, "a place is free, but not for a"
    (other,) = waits(queue, Fake("b", "b", lane=LONG))
    assert queue.wait(other) == 0 and queue.take(LONG) is other
    queue.end(jobs[0], succeeded=False)
    assert queue.take(LONG) is jobs[2]


def test_one_place_is_for_everybody():
    queue = Queue([1, 1, 0])
    (first,) = waits(queue, Fake("a", "a", lane=LONG))
    assert queue.take(LONG) is first
