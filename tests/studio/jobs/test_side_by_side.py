"""Calculations of one session beside each other, and of two visitors."""

import contextlib
import socket

import pytest

from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import anonymisation_request
from kanon.studio.jobs.lanes import SHORT, STUDY
from kanon.studio.session.session_store import Desk
from kanon.studio.session.work import CalculationState, Request, called
from support import job_functions
from support.dashboard import (
    ANONYMISE,
    COMPARE,
    DATA,
    PEOPLE,
    WORK,
    anonymised,
    as_bytes,
    button,
    choose,
    go,
    held_worker,
    infos,
    numbers,
    press,
    problems,
    settled,
    work,
)
from support.paths import ROOT
from support.works import with_fields

PAGES = sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))
REPORT = "pages/report.py"


def bars(at):
    """What the lines of the calculations say, by whose Cancel stands beside."""
    said = [bar.proto.text.replace("\\", "") for bar in at.get("progress")]
    keys = [one.key for one in at.button if one.label == "Cancel"]
    return dict(zip(keys, said, strict=True))


def given(at, name):
    """Upload a table, without waiting for it."""
    field = at.file_uploader(key=f"upload-{work(at).version}")
    field.set_value((name, as_bytes(PEOPLE, "csv"), "text/plain"))
    go(at)


@contextlib.contextmanager
def advising(at, lane=STUDY, visitor="somebody"):
    """The advisor of this session is under way until the block ends, and holds a worker."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        port, name = listening.getsockname()[1], called("advising")
        how = {"lane": lane, "visitor": visitor, "name": name}
        job = runner.jobs().submit(job_functions.hold, port, **how)
        request = Request("advising", job_functions.hold, (), lambda work, found: work)
        running = {**work(at).running, "advising": CalculationState(job, request, work(at))}
        at.session_state[WORK] = with_fields(work(at), running=running)
        connection, _ = listening.accept()
        with connection:
            yield job
        job.cancel()


def test_a_report_is_made_while_the_advisor_runs(own_workers, start):
    at = anonymised(start(sample="hospital"))
    with advising(at) as advisor:
        press(go(at, REPORT), "Make the report")
        assert {*work(at).running} == {"advising", "reporting"}
        assert work(at).running["reporting"].job.wait(60)
        go(at)
        assert work(at).findings.reported is not None and not problems(at)
        assert [*work(at).running] == ["advising"] and advisor.state == "running"
        assert button(at, "Cancel"), "of the advisor, although it was begun on another page"


def test_two_visitors_one_in_the_advisor_one_anonymises(own_workers, start):
    """However the advisor began: also in the lane of short calculations, which it has to leave."""
    first, second = start(sample="hospital"), start(sample="hospital")
    with advising(first, lane=SHORT) as advisor:
        settled(anonymised(second))  # and the lower bound, which the result asks for by itself
        assert numbers(second)["Minimum k"] and advisor.state in ("running", "queued")
        assert "advising" not in work(second).running and not bars(second)


def test_every_page_shows_each_calculation_with_its_own_cancel(start):
    at = go(start(sample="hospital"), COMPARE)
    with held_worker():
        press(at, "Compare")
        press(go(at, ANONYMISE), "Anonymise")
        for page in PAGES:
            shown = bars(go(at, page))
            assert [*shown][:2] == ["cancel-comparison", "cancel-run"], page
            assert shown["cancel-comparison"].startswith("Comparing: Waiting: place 1 in the queue")
            assert shown["cancel-run"].startswith("Anonymising: Waiting: place 2 in the queue")
        at.button(key="cancel-comparison").click()
        go(at)
        assert "cancel-comparison" not in bars(at) and "cancel-run" in bars(at)
        assert not work(at).running["run"].job.finished


def test_who_waits_is_told_what_runs_whose_and_how_long(start):
    at = start(sample="hospital")
    with advising(at, lane=SHORT, visitor="another"):
        press(at, "Anonymise")
        (said,) = [text for key, text in bars(at).items() if key == "cancel-run"]
        assert "one calculation of another visitor, for " in said and "advisor" not in said
    settled(at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner.state, "visitor", lambda: "me")
        with advising(at, lane=SHORT, visitor="me"):
            press(at, "Anonymise")
            (said,) = [text for key, text in bars(at).items() if key == "cancel-run"]
            assert "Running: The advisor, yours, for " in said and "another" not in said
    settled(at)


def test_the_same_is_not_done_twice_at_a_time(start):
    at = start(sample="hospital")
    with held_worker():
        press(at, "Anonymise")
        assert button(at, "Anonymise").disabled
        first = work(at).running["run"].job
        assert button(go(at, "pages/privacy.py"), "Anonymise").disabled
        with pytest.MonkeyPatch.context() as patch:  # as of two presses that cross
            patch.setattr(runner.state, "work", lambda: work(at))
            runner.run(anonymisation_request)
        assert work(at).running["run"].job is first
    settled(at)


def test_another_table_ends_what_runs_on_the_old_one_and_says_so(start):
    at = go(start(sample="hospital"), COMPARE)
    with held_worker():
        press(at, "Compare")
        press(go(at, ANONYMISE), "Anonymise")
        jobs = [one.job for one in work(at).running.values()]
        choose(at, "frame-sample", "voters")
        assert not work(at).running and [job.state for job in jobs] == ["cancelled"] * 2
    assert "Stopped, as there is another table now: Comparing, Anonymising." in infos(at)


def test_a_file_is_opened_beside_a_run_and_takes_the_place_of_another_file(start):
    at = go(start(sample="hospital"), COMPARE)
    with held_worker():
        press(at, "Compare")
        given(go(at, DATA), "people.csv")
        first = work(at).running["uploading"].job
        given(at, "others.csv")
        assert first.state == "cancelled" and {*work(at).running} == {"comparison", "uploading"}
    settled(at)
    assert work(at).table.title == "others.csv" and not work(at).running and not problems(at)


def test_what_one_finds_while_another_fails_stays(start):
    """Both have ended when the page is drawn again."""
    at = start(sample="hospital")
    with held_worker():
        press(at, "Anonymise")
        failing = runner.jobs().submit(job_functions.fail)
        request = Request("advising", job_functions.fail, (), lambda work, found: work)
        running = {"advising": CalculationState(failing, request, work(at)), **work(at).running}
        at.session_state[WORK] = with_fields(work(at), running=running)
    settled(at)
    assert work(at).findings.result is not None and not work(at).running
    assert "(TypeError)" in problems(at)[0]


def test_the_end_of_a_session_ends_all_that_runs_for_it(start):
    at = go(start(sample="hospital"), COMPARE)
    with held_worker():
        press(at, "Compare")
        press(go(at, ANONYMISE), "Anonymise")
        jobs = [one.job for one in work(at).running.values()]
        Desk(work(at)).cleared()
        assert [job.state for job in jobs] == ["cancelled"] * 2
        assert not Desk(work(at)).copied().work.running, "a copy of a tab shares no run"
