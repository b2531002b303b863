"""Calculations of one session beside each other, and of two visitors."""

import contextlib
import socket
from dataclasses import replace

import pytest

from kanon.plan_parts import MetricPlan
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import request_anonymisation
from kanon.studio.jobs.lanes import SHORT, STUDY
from kanon.studio.session.session_store import StoredSession
from kanon.studio.session.work import JobRequest, RunningJob
from support import dashboard as ui
from support import job_functions
from support.paths import ROOT
from support.works import with_fields

PAGES = sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))


def bars(at):
    """What the lines of the calculations say, by whose Cancel stands beside."""
    said = [bar.proto.text.replace("\\", "") for bar in at.get("progress")]
    keys = [button.key for button in at.button if button.label == "Cancel"]
    return dict(zip(keys, said, strict=True))


@contextlib.contextmanager
def advising(at, lane=STUDY, visitor="somebody"):
    """The advisor of this session is under way until the block ends, and holds a worker."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        port, how = listening.getsockname()[1], {"lane": lane, "visitor": visitor}
        job = runner.get_jobs().submit(job_functions.hold, port, **how)
        request = JobRequest("advising", job_functions.hold, (), lambda work, found: work)
        running = {**ui.work(at).running, "advising": RunningJob(job, request, ui.work(at))}
        at.session_state[ui.WORK] = with_fields(ui.work(at), running=running)
        connection, _ = listening.accept()
        with connection:
            yield job
        job.cancel()


@pytest.mark.nightly
def test_two_visitors_one_in_the_advisor_one_anonymises(own_workers, start):
    """However the advisor began: also in the lane of short calculations, which it has to leave."""
    first, second = start(sample="hospital"), start(sample="hospital")
    with advising(first, lane=SHORT) as advisor:
        ui.settled(ui.anonymised(second))  # and the lower bound
        assert ui.numbers(second)["Minimum k"] and advisor.state in ("running", "queued")
        assert "advising" not in ui.work(second).running and not bars(second)


def test_a_page_asks_to_be_drawn_again_only_while_something_runs(start):
    at = start(sample="hospital")
    assert ui.waits(at) == []
    with ui.held_worker():
        ui.press(at, "Anonymise")
        assert ui.waits(at) == [0.4]
    ui.settled(at)
    assert ui.numbers(at)["Minimum k"] and bool(ui.waits(at)) == bool(ui.work(at).running)


def test_what_a_sample_gives_is_computed_once_for_all(start):
    first = ui.settled(ui.anonymised(start(sample="hospital")))
    with ui.held_worker():
        second = ui.press(start(sample="hospital"), "Anonymise")
        assert ui.work(second).running == {} and ui.numbers(second) == ui.numbers(first)
        assert ui.work(second).findings.bounds == ui.work(first).findings.bounds != {}
        own = start(sample="hospital")
        changed = replace(ui.work(own).table, title="mine")
        own.session_state[ui.WORK] = ui.work(own).replace_sections(changed)
        assert "run" in ui.work(ui.press(own, "Anonymise")).running, "only samples as they came"
        mine = {"mine": MetricPlan(intermediate="levels", multiplier="w1")}
        composed = ui.change(start(sample="hospital"), composed=mine)
        assert "run" in ui.work(ui.press(composed, "Anonymise")).running, "nor with own metrics"
        other = ui.change(start(sample="hospital"), k=3)
        assert "run" not in ui.work(ui.press(other, "Anonymise")).running, "one run has every k"
        assert int(ui.numbers(other)["Minimum k"].split()[0]) >= 3


def test_a_k_of_a_sample_is_computed_once_for_all_too(start):
    def anonymise_and_move():
        at = ui.change(start(sample="hospital"), algorithm="mondrian", k=2)
        ui.settled(ui.press(at, "Anonymise"))
        return at, ui.change(at, k=3)

    first, moved = anonymise_and_move()
    ui.settled(moved)
    with ui.held_worker():
        second, _ = anonymise_and_move()
        assert ui.work(second).running == {} and ui.numbers(second) == ui.numbers(first)
        assert ui.work(second).findings.result.k_for(3) == 3


@pytest.mark.nightly
def test_every_page_shows_each_calculation_with_its_own_cancel(start):
    at = ui.go(start(sample="hospital"), ui.COMPARE)
    with ui.held_worker():
        ui.press(at, "Compare")
        ui.press(ui.go(at, ui.ANONYMISE), "Anonymise")
        for page in PAGES:
            shown = bars(ui.go(at, page))
            assert [*shown][:2] == ["cancel-comparison", "cancel-run"], page
            assert shown["cancel-comparison"].startswith("Comparing: Waiting: place 1 in the queue")
            assert shown["cancel-run"].startswith("Anonymising: Waiting: place 2 in the queue")
        ui.click(at, at.button(key="cancel-comparison"))
        assert "cancel-comparison" not in bars(at) and "cancel-run" in bars(at)
        assert not ui.work(at).running["run"].job.finished


@pytest.mark.nightly
def test_the_same_is_not_done_twice_at_a_time(start):
    at = start(sample="hospital")
    with ui.held_worker():
        ui.press(at, "Anonymise")
        assert ui.button(at, "Anonymise").disabled
        first = ui.work(at).running["run"].job
        assert ui.button(ui.go(at, "pages/privacy.py"), "Anonymise").disabled
        with pytest.MonkeyPatch.context() as patch:  # as of two presses that cross
            patch.setattr(runner.state, "get_session", lambda: ui.work(at))
            runner.run_request(request_anonymisation)
        assert ui.work(at).running["run"].job is first
    ui.settled(at)


def test_another_table_ends_what_runs_on_the_old_one_and_says_so(start):
    at = ui.go(start(sample="hospital"), ui.COMPARE)
    with ui.held_worker():
        ui.press(at, "Compare")
        ui.press(ui.go(at, ui.ANONYMISE), "Anonymise")
        jobs = [running.job for running in ui.work(at).running.values()]
        ui.choose(at, "frame-sample", "voters")
        assert not ui.work(at).running and [job.state for job in jobs] == ["cancelled"] * 2
    assert (
        "Stopped because the table or its settings have changed: Comparing, Anonymising."
        in ui.infos(at)
    )


def test_what_one_finds_while_another_fails_stays(start):
    """Both have ended when the page is drawn again."""
    at = start(sample="hospital")
    with ui.held_worker():
        ui.go(ui.press(at, "Anonymise"), ui.DATA)  # where no lower bound is looked for
        failing = runner.get_jobs().submit(job_functions.fail)
        request = JobRequest("advising", job_functions.fail, (), lambda work, found: work)
        state = RunningJob(failing, request, ui.work(at))
        running = {"advising": state, **ui.work(at).running}
        at.session_state[ui.WORK] = with_fields(ui.work(at), running=running)
    ui.settled(at)
    assert ui.work(at).findings.result is not None and not ui.work(at).running
    assert "(TypeError)" in ui.problems(at)[0]


def test_the_end_of_a_session_ends_all_that_runs_for_it(start):
    at = ui.go(start(sample="hospital"), ui.COMPARE)
    with ui.held_worker():
        ui.press(at, "Compare")
        ui.press(ui.go(at, ui.ANONYMISE), "Anonymise")
        jobs = [running.job for running in ui.work(at).running.values()]
        StoredSession(ui.work(at)).clear_all()
        assert [job.state for job in jobs] == ["cancelled"] * 2
        assert not StoredSession(ui.work(at)).copy_state().work.running, (
            "a copy of a tab shares no run"
        )
