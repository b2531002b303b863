"""The jobs: worker processes that report, can be stopped, and stay warm."""

import contextlib
import io
import os
import signal
import socket
import subprocess
import sys
import time
import types
from dataclasses import replace
from pickle import PickleBuffer

import numpy as np
import pandas as pd
import pytest

from benchmarks.reliability.kills import STAGES, kill_workers
from kanon.studio.jobs import pool
from kanon.studio.jobs.lanes import LONG, SHORT, STUDY
from kanon.studio.jobs.pool import Jobs
from kanon.studio.jobs.processes import (
    WorkerProcess,
    is_array_or_arrow,
    pack_frame,
    read_frame,
    unpack_frame,
    write_frame,
)
from kanon.studio.jobs.worker import GAP, Progress
from support import job_functions
from support.paths import ROOT


def until(condition, timeout=20.0):
    """Wait for a condition; return what made it true."""
    end = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
    return value


def finished(job):
    assert job.wait(20), "waited in vain"
    return job


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def running_pid(job):
    return int(until(lambda: job.state == "running" and job.text.isdigit() and job.text))


@pytest.fixture(scope="module")
def shared():
    """Jobs for the tests that look at one job only."""
    with Jobs() as jobs:
        yield jobs


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


def test_a_job_returns_its_result(shared):
    job = finished(shared.submit(job_functions.add, 1, 2))
    assert (job.state, job.result, job.progress) == ("done", 3, 1.0)
    assert job.finished and job.error is None
    assert job.remaining is None


def test_a_running_job_tells_progress_and_time(shared, listener):
    job = shared.submit(job_functions.wait_for, listener.getsockname()[1])
    connection, _ = listener.accept()
    with connection:
        running_pid(job)
        assert (job.state, job.progress, job.finished) == ("running", 0.5, False)
        assert job.seconds > 0 and job.remaining >= 0 and job.result is None
    finished(job)
    assert 0 < job.seconds == job.seconds, "a finished job's time stands still"


def test_a_kanon_error_arrives_as_its_sentence(shared):
    job = finished(shared.submit(job_functions.refuse))
    assert job.state == "failed"
    assert job.error == "Column 'name': 'Alice' is not in its tree."


@pytest.mark.parametrize(
    ("function", "kind"), [(job_functions.fail, "TypeError"), (job_functions.leave, "SystemExit")]
)
def test_other_exceptions_keep_their_text_to_themselves(shared, function, kind, capfd):
    job = finished(shared.submit(function))
    assert job.state == "failed"
    assert job.error.startswith(f"The calculation failed ({kind})")
    output = capfd.readouterr()
    assert "Alice" not in job.error + output.out + output.err


def test_a_result_that_cannot_be_pickled_is_a_failure(shared):
    assert finished(shared.submit(job_functions.unpicklable)).state == "failed"
    assert finished(shared.submit(job_functions.add, 1, 1)).result == 2


def test_stray_prints_and_reads_reach_nobody(shared, capfd):
    job = finished(shared.submit(job_functions.babble))
    assert (job.state, job.result) == ("done", "")
    output = capfd.readouterr()
    assert output.out + output.err == ""


def test_large_arguments_and_results_pass(shared):
    job = finished(shared.submit(job_functions.large, 4_000_000))
    assert job.result.nbytes == 32_000_000 and job.result[-1] == 3_999_999
    doubled = finished(shared.submit(job_functions.double, job.result))
    assert np.array_equal(doubled.result, job.result * 2)
    assert doubled.result.flags.writeable, "kernels are compiled for one or the other"


def test_a_table_passes_with_its_buffers_beside_the_pickle():
    table = pd.DataFrame({"text": ["x" * 1_000] * 1_000, "number": np.arange(1_000)})
    table = table.loc[table.index.repeat(20)].reset_index(drop=True)
    frame = pack_frame(table, is_array_or_arrow)
    assert len(frame[0]) < 10_000 and sum(map(len, frame)) > 20_000_000
    with io.BytesIO() as pipe:
        write_frame(pipe, frame)
        pipe.seek(0)
        again = unpack_frame(read_frame(pipe))
    pd.testing.assert_frame_equal(again, table)
    again["number"] += 1
    assert again["number"].tolist() == (table["number"] + 1).tolist()


def test_a_frame_that_ends_too_soon_is_none():
    with io.BytesIO() as pipe:
        write_frame(pipe, pack_frame("a job"))
        whole = pipe.getvalue()
    for length in range(len(whole)):
        with pytest.raises(EOFError):
            read_frame(io.BytesIO(whole[:length]))


def test_what_is_sent_is_what_it_was_when_it_was_submitted():
    numbers = np.zeros(100_000)
    assert len(pack_frame(numbers)) == 1, "an array is copied into the pickle"
    content = bytes(100_000)
    pickled, beside = pack_frame(PickleBuffer(content))
    assert beside.obj is content and len(pickled) < 1_000


def test_the_worker_does_not_run_the_page_script(tmp_path, monkeypatch):
    script = tmp_path / "app.py"
    script.write_text("raise SystemExit('the page script ran in the worker')")
    page = types.ModuleType("__main__")
    page.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", page)
    with Jobs() as jobs:
        assert finished(jobs.submit(job_functions.add, 2, 3)).result == 5


def test_the_worker_warms_once():
    with Jobs(warm=job_functions.warm, threads=1) as jobs:
        assert finished(jobs.submit(job_functions.warmed)).result is True
        assert finished(jobs.submit(job_functions.warmed)).result is True
        loaded = finished(jobs.submit(job_functions.modules)).result
        assert "streamlit" not in loaded and "multiprocessing" not in loaded
        expected = os.environ.get("NUMBA_NUM_THREADS", "1")
        assert finished(jobs.submit(job_functions.threads)).result == expected


def test_a_preparation_that_fails_is_told_by_each_job():
    with Jobs(warm=job_functions.warm_badly) as jobs:
        for _ in range(2):
            job = finished(jobs.submit(job_functions.pid))
            assert job.error == "The worker process could not be prepared (ValueError)."


@pytest.mark.nightly
def test_who_waits_for_kernels_is_told_and_can_cancel():
    with Jobs(warm=job_functions.compile_while_warming) as jobs:
        job = jobs.submit(job_functions.pid)
        until(lambda: job.text == "Preparing this algorithm once, about 20 s")
        assert (job.state, job.progress) == ("running", 0.5)
        job.cancel()
        assert finished(jobs.submit(job_functions.pid)).state == "done"


@pytest.mark.nightly
def test_the_time_to_go_is_that_of_the_work_once_all_is_prepared(shared, listener):
    job = shared.submit(job_functions.compile_then_work, listener.getsockname()[1])
    connection, _ = listener.accept()
    with connection:
        running_pid(job)
        assert job.progress == 0.2
        since = job.seconds - 0.5  # which is what preparing took, at least
        assert job.remaining <= 4 * since, "four times what a fifth took, and no more"


@pytest.mark.nightly
def test_what_can_wait_begins_once_after_the_first_job():
    begun = []
    with Jobs(idle=lambda: begun.append(True)) as jobs:
        assert not begun
        for _ in range(2):
            finished(jobs.submit(job_functions.pid))
            until(lambda: begun)
    assert begun == [True]


def test_cancelling_a_running_job_ends_its_process():
    with Jobs() as jobs:
        job = jobs.submit(job_functions.endless)
        pid = running_pid(job)
        job.cancel()
        assert (job.state, job.error, job.finished) == ("cancelled", None, True)
        until(lambda: gone(pid), timeout=2)
        fresh = finished(jobs.submit(job_functions.pid))
        assert fresh.state == "done" and fresh.result != pid
        job.cancel()
        assert finished(jobs.submit(job_functions.pid)).result == fresh.result


def test_what_was_handed_over_outlives_a_cancel(listener):
    with Jobs() as jobs:
        job = jobs.submit(job_functions.hand_over, listener.getsockname()[1])
        until(lambda: len(job.parts) == 2)
        job.cancel()
        assert (job.state, job.result) == ("cancelled", None)
        assert job.parts == ("first", ["second"])
        assert finished(jobs.submit(job_functions.pid)).parts == ()


def test_the_queue_is_first_in_first_out_and_jobs_can_leave_it(listener):
    with Jobs() as jobs:
        first = jobs.submit(job_functions.wait_for, listener.getsockname()[1])
        connection, _ = listener.accept()
        with connection:
            second, third, fourth = (jobs.submit(job_functions.say_time) for _ in range(3))
            assert [job.state for job in (second, third, fourth)] == ["queued"] * 3
            assert third.text.startswith("Waiting: place 2 in the queue")
            assert third.seconds == 0 and third.remaining is None
            second.cancel()
            assert second.state == "cancelled"
            assert third.text.startswith("Waiting: place 1 in the queue")
        finished(first), finished(third), finished(fourth)
        assert float(third.text) < float(fourth.text)
        assert second.state == "cancelled" and second.text == "Cancelled"


# --- lanes ----------------------------------------------------------------------------------
# Who has begun makes room as soon as somebody waits. A function that was done once counts as long.
AT_ONCE = (0.0, 600.0)


@contextlib.contextmanager
def held(jobs, listener, **how):
    """A job that works until the block ends."""
    job = jobs.submit(job_functions.wait_for, listener.getsockname()[1], **how)
    connection, _ = listener.accept()
    with connection:
        yield job
    finished(job)


@pytest.mark.nightly
def test_a_short_job_is_done_beside_a_long_one(listener):
    with Jobs([1, 1]) as jobs, held(jobs, listener, lane=LONG) as long:
        short = finished(jobs.submit(job_functions.pid))
        assert (short.state, long.state) == ("done", "running")
        assert short.result != running_pid(long)
        with contextlib.suppress(AttributeError):  # Windows
            low, usual = (os.getpriority(os.PRIO_PROCESS, pid) for pid in
                          (running_pid(long), short.result))  # fmt: skip
            assert low > usual == os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.parametrize(("used", "worked"), [(1.5, 1.0), (4.0, 3.0), (41.0, 10.0), (None, 10.0)])
def test_what_others_use_of_the_processors_does_not_make_a_job_long(
    listener, monkeypatch, used, worked
):
    monkeypatch.setattr(WorkerProcess, "processor_seconds", used)
    with Jobs([1]) as jobs, held(jobs, listener) as job:
        running_pid(job)
        ten_seconds = {"_work_start_time": 0.0, "_end_time": 10.0, "_processor_before": 1.0}
        assert replace(job, **ten_seconds).worked == worked


def test_a_job_that_turns_out_long_goes_on_in_the_next_lane(listener):
    with Jobs([1, 1], bounds=AT_ONCE) as jobs, held(jobs, listener) as long:
        pid = running_pid(long)
        assert finished(jobs.submit(job_functions.add, 1, 1)).result == 2
        assert (long.state, long.lane, running_pid(long)) == ("running", LONG, pid)
        lower = job_functions.pid, job_functions.niceness
        _, niceness = (finished(jobs.submit(one)) for one in lower)
        assert niceness.result == job_functions.niceness(None), "a worker of its own came instead"
    assert long.result == pid, "it was not begun anew"


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="Windows has no niceness")
def test_a_job_that_turns_out_long_gets_low_priority_after_a_while(listener, monkeypatch):
    with Jobs([1, 1], bounds=AT_ONCE) as jobs, held(jobs, listener) as long:
        pid = running_pid(long)
        until(lambda: long.lane == LONG)
        assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0)
        monkeypatch.setattr(pool, "_OWN", 0.0)
        until(lambda: os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0))


@pytest.mark.nightly
def test_a_job_that_turns_out_long_begins_anew_where_no_place_is_free(listener):
    with Jobs([1, 1], bounds=AT_ONCE) as jobs, held(jobs, listener, lane=LONG) as first:
        ended = []
        second = jobs.submit(
            job_functions.wait_for, listener.getsockname()[1], after=lambda: ended.append(1)
        )
        connection, _ = listener.accept()
        with connection:
            pid = running_pid(second)
            assert finished(jobs.submit(job_functions.add, 1, 1)).result == 2
            until(lambda: second.state == "queued")
            assert second.text.startswith("Waiting: place 1 in the queue")
            assert (second.seconds, second.progress, ended) == (0, 0, [])
            until(lambda: gone(pid))
            assert first.state == "running"
            first.cancel()
            again, _ = listener.accept()
            assert running_pid(second) != pid
            again.close()
        assert finished(second).state == "done"
        until(lambda: ended == [1])


@pytest.mark.nightly  # in every run: test_behind_page.py
def test_a_job_behind_a_page_gives_way_to_one_of_another_visitor(listener):
    with Jobs([1, 1]) as jobs:
        behind = jobs.submit(
            job_functions.wait_for, listener.getsockname()[1], visitor="a", lane=LONG, behind=True
        )
        connection, _ = listener.accept()
        with connection:
            pid = running_pid(behind)
            own = jobs.submit(job_functions.endless, visitor="b", lane=LONG)
            running_pid(own)
            assert behind.state == "queued" and until(lambda: gone(pid))
            own.cancel()
            again, _ = listener.accept()
            assert running_pid(behind) != pid
            again.close()
        assert finished(behind).state == "done"


@pytest.mark.nightly
def test_a_visitor_who_is_alone_never_waits_for_a_process():
    with Jobs([1, 1]) as jobs:
        idle = finished(jobs.submit(job_functions.pid, visitor="a")).result
        until(lambda: jobs._slots[0].parked)
        assert finished(jobs.submit(job_functions.pid, visitor="a", lane=LONG)).result == idle
        fresh = finished(jobs.submit(job_functions.pid, visitor="a")).result
        assert fresh != idle
        assert finished(jobs.submit(job_functions.pid, visitor="a", lane=LONG)).result == idle


@pytest.mark.nightly
def test_a_long_job_makes_room_before_anybody_comes(listener):
    with Jobs([1, 1], bounds=AT_ONCE) as jobs, held(jobs, listener, visitor="a") as long:
        assert until(lambda: long.lane == LONG) and long.state == "running"
        (ready,) = [slot for slot in jobs._slots if slot.lane == SHORT]
        idle = until(lambda: ready.parked and ready.worker)
        assert finished(jobs.submit(job_functions.pid, visitor="b")).result == idle._process.pid


@pytest.mark.nightly
def test_while_several_visitors_calculate_a_worker_is_in_reserve(listener):
    with Jobs([1, 1], bounds=AT_ONCE) as jobs, held(jobs, listener, lane=LONG, visitor="a"):
        second = jobs.submit(job_functions.endless, visitor="b")
        running_pid(second)
        reserve = until(lambda: jobs._reserve)
        short = finished(jobs.submit(job_functions.pid, visitor="c"))
        assert second.state == "queued" and short.result == reserve._process.pid
        second.cancel()


@pytest.mark.nightly
def test_a_job_that_was_set_aside_can_be_cancelled(listener):
    with Jobs([1, 1], bounds=AT_ONCE) as jobs, held(jobs, listener, lane=LONG):
        second = jobs.submit(job_functions.endless)
        running_pid(second)
        finished(jobs.submit(job_functions.pid))
        assert second.state == "queued"
        second.cancel()
        assert (second.state, second.text) == ("cancelled", "Cancelled")
        assert finished(jobs.submit(job_functions.add, 1, 1)).state == "done"


def test_there_are_never_more_workers_than_places_and_one(listener, monkeypatch):
    started = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    def workers():
        return [process for process in started if process.poll() is None]

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    with Jobs([1, 1, 1], bounds=AT_ONCE) as jobs:
        port = listener.getsockname()[1]
        heavy = [jobs.submit(job_functions.hold, port, visitor=str(n)) for n in range(5)]
        study = jobs.submit(job_functions.hold, port, lane=STUDY)
        for short in (job_functions.pid, job_functions.modules, job_functions.threads):
            assert finished(jobs.submit(short, visitor="short")).state == "done"
            running = [job for job in [*heavy, study] if job.state == "running"]
            assert study in running and len(running) <= 3
            assert len(workers()) <= 4, "one per place, and one in reserve"
        for job in [*heavy, study]:
            job.cancel()
        assert finished(jobs.submit(job_functions.niceness)).state == "done"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no signals")
def test_a_killed_worker_is_reported_and_replaced():
    with Jobs() as jobs:
        job = jobs.submit(job_functions.endless)
        pid = running_pid(job)
        os.kill(pid, signal.SIGKILL)
        assert finished(job).error.startswith("The worker process ended unexpectedly")
        idle = finished(jobs.submit(job_functions.pid)).result
        assert idle != pid
        os.kill(idle, signal.SIGKILL)
        until(lambda: gone(idle))
        assert finished(jobs.submit(job_functions.add, 1, 1)).result == 2


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows has no signals")
@pytest.mark.parametrize("elements", [3, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_a_job_that_its_worker_died_without_beginning_goes_to_a_fresh_one(elements):
    with Jobs() as jobs:
        idle = finished(jobs.submit(job_functions.pid)).result
        os.kill(idle, signal.SIGSTOP)  # it lives and is handed the job, but never sees it
        ended = []
        job = jobs.submit(job_functions.total, np.ones(elements), after=lambda: ended.append(1))
        until(lambda: job._worker is not None)
        os.kill(idle, signal.SIGKILL)
        assert (finished(job).state, job.error) == ("done", None)
        total, fresh = job.result
        assert total == elements
        assert fresh != idle and gone(idle)
        assert finished(jobs.submit(job_functions.pid)).result == fresh
        assert ended == [1]


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows has no signals")
def test_a_job_can_be_cancelled_before_its_worker_begins_it():
    with Jobs() as jobs:
        idle = finished(jobs.submit(job_functions.pid)).result
        os.kill(idle, signal.SIGSTOP)
        job = jobs.submit(job_functions.pid)
        until(lambda: job._worker is not None)
        job.cancel()
        assert finished(jobs.submit(job_functions.pid)).result != idle
        assert (job.state, job.result) == ("cancelled", None)


@pytest.mark.nightly
def test_a_job_that_no_worker_lives_to_begin_is_not_handed_on_for_ever():
    with Jobs(warm=job_functions.die_warming) as jobs:
        for _ in range(2):
            job = finished(jobs.submit(job_functions.pid))
            assert job.state == "failed"
            assert job.error.startswith("The worker process ended unexpectedly")


@pytest.mark.nightly
def test_a_job_that_was_begun_is_not_begun_again(tmp_path):
    with Jobs() as jobs:
        trace = tmp_path / "begun"
        assert finished(jobs.submit(job_functions.leave_a_trace, str(trace))).state == "failed"
        assert trace.read_text() == "begun "


@pytest.mark.nightly
def test_workers_killed_at_random_moments_leave_nothing():
    """One per stage of a run; ``make reliability`` kills many more."""
    found = kill_workers(len(STAGES), seed=1, records=1_500)
    assert set(found.during) == set(STAGES)


def test_a_deadline_ends_the_job():
    with Jobs() as jobs:
        finished(jobs.submit(job_functions.pid))
        job = jobs.submit(job_functions.endless, deadline=0.5)
        pid = running_pid(job)
        assert finished(job).state == "failed"
        assert job.error == "The calculation was stopped: it took longer than 0.5 seconds."
        until(lambda: gone(pid), timeout=2)
        assert finished(jobs.submit(job_functions.add, 1, 1)).result == 2


def test_close_ends_everything():
    jobs = Jobs()
    running, waiting = jobs.submit(job_functions.endless), jobs.submit(job_functions.pid)
    pid = running_pid(running)
    jobs.close()
    jobs.close()
    assert running.state == waiting.state == "cancelled"
    assert gone(pid)
    assert not any(thread.is_alive() for thread in jobs._service)
    with pytest.raises(RuntimeError, match="closed"):
        jobs.submit(job_functions.pid)


def test_what_cannot_be_run_is_refused_at_once(shared):
    function = types.FunctionType(compile("0", "page", "eval"), {"__name__": "__main__"})
    with pytest.raises(ValueError, match="__main__"):
        shared.submit(function)
    with pytest.raises(ValueError, match="deadline"):
        shared.submit(job_functions.pid, deadline=0)
    with pytest.raises(ValueError, match="slot"):
        Jobs([0])


SERVER = """
import sys
sys.path[:0] = {paths!r}
from support import job_functions
from kanon.studio.jobs import pool
from kanon.studio.jobs.lanes import LONG, SHORT, STUDY
from kanon.studio.jobs.pool import Jobs
jobs = Jobs()
job = jobs.submit(job_functions.hold, {port})
{ending}
"""


@pytest.mark.parametrize("ending", ["job.wait()", "input()"], ids=["killed", "leaves"])
def test_a_worker_ends_with_its_server(listener, tmp_path, ending):
    script = SERVER.format(
        paths=[str(ROOT), str(ROOT / "tests")], port=listener.getsockname()[1], ending=ending
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(10)
            assert connection.recv(1) == b"x"
            if ending == "input()":
                server.stdin.write(b"\n")
                server.stdin.flush()
            else:
                server.kill()
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b"", "the worker outlived its server"
        assert server.wait(10) == 0 or ending == "job.wait()"
        assert server.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


def test_progress_is_throttled_but_the_newest_message_arrives():
    sent = []
    progress = Progress(sent.append)
    began = time.monotonic()
    for step in range(100_000):
        progress(step / 100_000, "counting")
    progress(2.0, "last")
    until(lambda: sent[-1] == ("progress", (1.0, "last")))
    assert len(sent) <= (time.monotonic() - began) / GAP + 2
    progress.close()
    count = len(sent)
    progress(0.0, "late")
    assert len(sent) == count
    assert sent[0] == ("progress", (0.0, "counting"))
