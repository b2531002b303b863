"""How close a release is to the least possible: said on every page, found once for all."""

import time

import pytest

from kanon.algorithms.lower_bound import lower_bound
from kanon.report.optimality_gap import OptimalityGap
from kanon.run import prepare, run
from kanon.studio.jobs.lower_bounds import BoundTask, request_bounds
from kanon.studio.session.parts import Message
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets import numbers as widget
from support import dashboard as ui
from support.works import with_fields

LATTICE, REPORT = "pages/lattice.py", "pages/report.py"
ASK, CLOSER = "How close to the least possible?", "Search more closely"


def said(at):
    return [text for text in ui.texts(at) if text.startswith("No release with these hierarchies")]


def expected(at, **changes):
    """The sentence about the release of the settings, made without the page."""
    plan = build_plan(with_fields(ui.work(at), **changes))
    done = run(plan, ui.work(at).table.records)
    return OptimalityGap.from_run(done, lower_bound(done.prepared.task_of_bound())).sentence


@pytest.fixture
def asked_for(monkeypatch):
    monkeypatch.setattr(widget, "find_quick_bounds", lambda wanted, most=0: None)


def test_a_search_that_begins_by_itself_leaves_what_was_said():
    work = open_sample("census", 1).replace_sections(
        Message(problem="The calculation was stopped.")
    )
    wanted = [BoundTask.from_prepared(prepare(build_plan(work), work.table.records))]
    quick, close = (request_bounds(work, wanted, closely) for closely in (False, True))
    cleared = work.replace_sections(Message())
    assert quick.begins(cleared).message.problem == "The calculation was stopped."
    assert close.begins(cleared).message.problem is None, "which somebody asked for"


@pytest.mark.nightly
def test_what_was_found_once_serves_every_algorithm_and_other_weights(start):
    at = ui.settled(ui.anonymised(start()))
    assert said(at) == [expected(at)]
    found = ui.work(at).findings.bounds
    assert [item.closely for item in found.values()] == [True]
    for other in ("datafly", "lattice-sweep", "mondrian", "k-member"):
        ui.choose(at, "run-algorithm", other)
        ui.anonymised(at)
        assert said(at) == [expected(at)], "of the new release"
        assert ui.work(at).findings.bounds is found, "and nothing was looked for again"
        assert not {ASK, CLOSER} & {*ui.button_labels(at)}
    assert any(
        "holds for any tool's releases in which each value stays" in text for text in ui.texts(at)
    )
    at.session_state[ui.WORK] = with_fields(ui.work(at), attribute_weights={"age": 5.0})
    ui.settled(ui.anonymised(at))
    assert ui.work(at).findings.bounds is found
    assert any("counted without them" in text for text in ui.texts(at))

    options = {"mondrian": {"release": "ranges"}}
    ui.choose(at, "run-algorithm", "mondrian")
    at.session_state[ui.WORK] = with_fields(ui.work(at), options=options)
    ui.settled(ui.anonymised(ui.go(at)))
    (sentence,) = said(at)
    assert (
        sentence.endswith("so the bound does not apply to it.") and "This one loses" not in sentence
    )


@pytest.mark.nightly
def test_a_heavy_search_waits_for_a_click_and_can_be_cancelled(start, asked_for):
    at = ui.anonymised(start())
    assert not said(at) and not ui.work(at).findings.bounds
    with ui.held_worker():
        ui.press(at, ASK)
        assert ui.button(at, ASK).disabled
        ui.press(at, "Cancel")
        ui.go(at)
    assert "Cancelled; nothing was changed." in ui.infos(at)
    ui.settled(ui.press(at, ASK))
    assert said(at) == [expected(at)] and ASK not in ui.button_labels(at)


@pytest.mark.nightly
def test_of_a_cancelled_search_the_quick_bound_is_kept(start, asked_for):
    at = ui.anonymised(start(sample="census"))
    ui.press(at, ASK)
    job = ui.work(at).running["closer"].job
    end = time.monotonic() + 30
    while not job.parts:
        assert time.monotonic() < end, "nothing was found first"
        time.sleep(0.02)  # between two looks at a worker
    ui.press(at, "Cancel")
    ui.settled(at)
    assert "The search was cancelled. What was found so far is kept." in ui.infos(at)
    (sentence,) = said(at)
    assert "can lose less than 1.34 % at k = 5" in sentence and ui.button(at, CLOSER)
    assert [one.closely for one in ui.work(at).findings.bounds.values()] == [False]


def test_a_lattice_that_is_too_large_is_said_instead_of_a_button(start, monkeypatch):
    monkeypatch.setattr("kanon.algorithms.lattice_size.MOST_NODES", 3)
    monkeypatch.setattr("kanon.report.optimality_gap.MOST_NODES", 3)
    at = ui.settled(ui.anonymised(start()))
    assert not said(at) and ASK not in ui.button_labels(at)
    assert any("a lower bound is computed for at most 3" in caption for caption in ui.captions(at))


@pytest.mark.nightly
def test_the_report_says_what_was_searched_for_closely_and_begins_no_long_search(
    start, monkeypatch
):
    at = ui.settled(ui.anonymised(start()))
    (sentence,) = said(at)
    ui.settled(ui.press(ui.go(at, REPORT), "Make the report"))
    report = ui.work(at).findings.report
    assert report.gap.sentence == sentence and sentence in report.plain_sentences and report.closely
    assert any(sentence in text for text in ui.texts(at))
    assert at.code[0].value.endswith(" --bound"), "so that the command makes the same one"

    monkeypatch.setattr(widget, "find_quick_bounds", lambda wanted, most=0: None)
    at = ui.anonymised(start())
    ui.settled(ui.press(ui.go(at, REPORT), "Make the report"))
    report = ui.work(at).findings.report
    assert report.gap is not None and not report.closely, "this one is small"
    assert "--bound" not in at.code[0].value
