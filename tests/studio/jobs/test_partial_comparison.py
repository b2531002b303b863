"""What a comparison had finished before it was cancelled stays, and is not made again."""

import pytest

from kanon.experiments.sweep import run_sweep
from kanon.studio.jobs.comparison import describe_comparison, request_comparison
from kanon.studio.jobs.configurations import list_planned_lines
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.ended_jobs import Collecting, end_early
from support.works import with_fields


@pytest.fixture
def work():
    return with_fields(open_sample("hospital", version=1), compared=("ncp", "llm", "total"))


def titles(comparison):
    return [line.title for line in comparison.lines]


def test_each_run_is_handed_over_as_it_ends(work):
    request = request_comparison(work)
    runs, ks, metrics, also_at = request.arguments
    parts = Collecting()
    numbers = run_sweep(parts, runs, ks, metrics, 1, also_at, parts.keep)
    assert [(place, id(one)) for place, one in parts] == [*enumerate(map(id, numbers))]


def test_a_cancelled_comparison_keeps_its_finished_lines(work):
    after = end_early(work, {0, 2})
    assert after.message.notice == ("The comparison was cancelled. What was found so far is kept.")
    assert titles(after.findings.comparison.comparison) == ["NCP", "LLM"]
    status = describe_comparison(after)
    assert (status.runs, status.lacking, status.unfinished) == (3, 1, True)
    again = request_comparison(after)
    assert len(again.arguments[0]) == 1
    whole = end_early(after, {0}, state="done")
    alone = end_early(work, {0, 1, 2}, state="done")
    found, expected = (one.findings.comparison.comparison.table() for one in (whole, alone))
    assert found.equals(expected), "in two parts as in one"
    assert describe_comparison(whole).comparison is not None
    assert not describe_comparison(with_fields(after, compared=("wllm",))).unfinished


def test_nothing_finished_changes_nothing(work):
    after = end_early(work, set())
    assert after.message.notice == ui.CANCELLED and after.findings.comparison is None
    late = end_early(work, {1}, error="It took too long.")
    assert late.message.problem == "It took too long. What was found so far is kept."


def test_bands_that_were_cancelled_leave_the_lines_without_bands(work):
    work = end_early(with_fields(work, compared=("ncp", "llm")), {0, 1}, state="done")
    after = end_early(with_fields(work, bands=True), {0, 1, 2})
    assert not after.compare.bands and describe_comparison(after).comparison is not None
    lines = list_planned_lines(with_fields(after, bands=True))
    assert describe_comparison(with_fields(after, bands=True)).lacking == 2 * 10 - 3
    assert len(lines[0].seeds) == 11


@pytest.mark.nightly
def test_the_page_shows_the_finished_lines_and_makes_the_rest(start, work):
    at = start()
    at.session_state[ui.WORK] = end_early(work, {0})
    ui.go(at, ui.COMPARE)
    assert ui.board_lines(at) == titles(ui.work(at).findings.comparison.comparison)
    assert len(ui.board_lines(at)) == 1 and not ui.warnings(at)
    told = "These lines are finished. 2 of 3 runs are new. Press Compare for the rest."
    assert told in ui.infos(at)
    assert not any("opacity: 0.45" in one.proto.body for one in at.get("html"))
    ui.settled(ui.press(at, "Compare"))
    assert ui.board_lines(at) == ["NCP", "Total", "LLM"] and told not in ui.infos(at)
