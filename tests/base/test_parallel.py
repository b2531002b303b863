"""Pieces of work over the cores: the same results in the same order, one progress, one error."""

import threading
import time
from functools import partial

import pytest

from kanon.base.parallel import count_cores, run_side_by_side
from kanon.base.progress import ignore_progress


def slow_square(n, told):
    for step in range(5):
        told(step / 5, "")
        time.sleep(0.001 * (n % 3))
    return n * n


@pytest.mark.parametrize("workers", [None, 1, 2, 3, 8])
def test_results_come_in_the_order_of_the_works(workers):
    works = [partial(slow_square, n) for n in range(12)]
    assert run_side_by_side(works, ignore_progress, "square", workers) == [n * n for n in range(12)]
    weights = [n % 5 for n in range(12)]
    found = run_side_by_side(works, ignore_progress, "square", workers, weights)
    assert found == [n * n for n in range(12)]


def test_nothing_to_do():
    assert run_side_by_side([], ignore_progress, "square") == []
    assert count_cores() >= 1


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_progress_is_one_and_rises_to_the_end(workers):
    told, threads = [], set()

    def note(part, text):
        told.append((part, text))
        threads.add(threading.get_ident())

    works = [partial(slow_square, n) for n in range(7)]
    run_side_by_side(works, note, "square", workers, weights=[1, 9, 2, 0, 3, 3, 3])
    parts = [part for part, _ in told]
    assert parts == sorted(parts)
    assert told[-1] == (1.0, "7 of 7 squares done")
    assert all(0 <= part <= 1 for part in parts)


def test_what_falls_back_does_not_take_the_progress_back():
    told = []

    def to_and_fro(say):
        say(0.9, "")
        say(0.5, "")

    run_side_by_side([to_and_fro], lambda part, text: told.append(part), "walk")
    assert told == [0.0, 0.9, 0.9, 1.0]


def test_the_heaviest_begins_first():
    begun = []

    def begin(n, told):
        begun.append(n)

    run_side_by_side(
        [partial(begin, n) for n in range(4)], ignore_progress, "start", 1, [2, 1, 4, 2]
    )
    assert begun == [2, 0, 3, 1]


class Broken(Exception):
    pass


def test_the_first_failure_is_raised_and_the_others_stop():
    reached = []

    def breaks(told):
        told(0.5, "")
        raise Broken("first")

    def goes_on(told):
        for step in range(10_000):
            told(step / 10_000, "")
            time.sleep(0.001)
        reached.append("the end")

    started = time.perf_counter()
    with pytest.raises(Broken, match="first"):
        run_side_by_side([goes_on, breaks, goes_on], ignore_progress, "walk", 2)
    assert reached == []
    assert time.perf_counter() - started < 8


def test_who_is_told_can_end_it():
    """A cancelled job raises where it is told; that ends every thread."""

    def cancelled(part, text):
        if part > 0.2:
            raise Broken

    with pytest.raises(Broken):
        run_side_by_side([partial(slow_square, n) for n in range(9)], cancelled, "square", 2)


def test_within_a_piece_of_work_one_goes_after_the_other():
    """Cores are shared out once: a run in parts within a sweep takes one of them."""
    at_once, most = [0], [0]
    lock = threading.Lock()

    def inner(told):
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.01)
        with lock:
            at_once[0] -= 1

    def outer(told):
        run_side_by_side([inner] * 4, told, "part", workers=4)

    run_side_by_side([outer] * 2, ignore_progress, "run", workers=2)
    assert most[0] <= 2
