"""What begins by itself behind a result on *Anonymise*: other algorithms, and more k."""

import numpy as np
import pytest

from kanon.algorithms import mondrian
from kanon.algorithms.solution import FINISHED_K, solve_more_k
from kanon.base.formatting import write_percent
from kanon.errors import PlanError, Unsatisfiable
from kanon.run import prepare, run
from kanon.studio.anonymise import alternatives
from kanon.studio.jobs.anonymisation import request_anonymisation
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.sample_results import get_sample_results
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.works import with_fields


class Collected(list):
    """What a worker's progress gets, without a worker."""

    def __call__(self, share, text):
        """A report is not looked at."""

    keep = list.append


def named(at):
    return [sentence for sentence in ui.infos(at) if " would lose " in sentence]


def at_k(at, k):
    return ui.enter(at, at.select_slider(key="run-k"), k)


def known(at):
    return ui.work(at).findings.result.known


# --- other algorithms -----------------------------------------------------------------------
@pytest.mark.nightly
def test_what_loses_clearly_less_is_named_and_used_with_one_press(start):
    at = ui.settle_all(ui.anonymised(start(sample="census", alternatives_seconds=3600)))
    before, first = ui.numbers(at), ui.work(at)
    (sentence,) = named(at)
    other = with_fields(first, algorithm="lattice-sweep")
    alone = run(build_plan(other), first.table.records)
    losses = [write_percent(alone.alteration), before["Alteration"]]
    assert sentence == f"Lattice sweep would lose {losses[0]} instead of {losses[1]}."
    ui.press(at, "Use it")
    assert ui.numbers(at)["Alteration"] == losses[0], "the figure that was said"
    assert ui.work(at).settings.algorithm == "lattice-sweep" and not ui.warnings(at)
    assert not named(at) and "Now in use: Lattice sweep." in ui.infos(at)
    recoding = ui.work(at).findings.result.release(first.settings.k).recoding
    assert np.array_equal(recoding.targets, alone.recoding.targets)
    ui.settle_all(at)
    ui.press(at, "Undo")
    assert ui.numbers(at) == before and ui.work(at).settings.algorithm == "gaa"
    assert ui.work(at).findings.result.prepared is first.findings.result.prepared
    assert named(at) == [sentence] and not ui.warnings(at)


@pytest.mark.nightly
def test_it_gives_way_to_what_a_user_starts(start, monkeypatch):
    at = ui.settle_all(at_k(ui.anonymised(start()), 3))
    assert not named(at) and len(ui.work(at).findings.results) == 1, "nothing is tried unasked"
    ui.limit_behind(monkeypatch, alternatives_seconds=3600)
    get_sample_results.clear()  # the run of a sample is known, and would be shown at once
    with ui.held_worker():
        assert [*ui.work(ui.go(at)).running] == ["alternatives"]
        ui.press(at, "Anonymise")
        assert [*ui.work(at).running] == ["run"]
        assert not ui.problems(at) and ui.CANCELLED not in ui.infos(at), "nothing is said"
    ui.settle_all(at)
    kept = {result.prepared.plan.algorithm.name for result in ui.work(at).findings.results.values()}
    assert kept == {"gaa", "lattice-sweep", "mondrian"}, "it began again"


def planned(**fields):
    work = with_fields(open_sample("hospital"), **fields)
    prepared = prepare(build_plan(work), work.table.records)
    result = AnonymisationResult(prepared, None, "")
    return [other.settings.algorithm for other in alternatives.plan_alternatives(work, result)]


def test_only_what_supports_the_plan_is_tried(monkeypatch):
    assert planned() == ["gaa", "lattice-sweep", "mondrian"], "this result is of none of them"
    closest = {"algorithm": "lattice-sweep", "options": {"lattice-sweep": {"effort": "closest"}}}
    assert planned(**closest) == ["gaa", "lattice-sweep", "mondrian"], "fast is tried too"

    def refuse(task):
        raise PlanError("no")

    monkeypatch.setattr(mondrian, "check", refuse)
    assert planned() == ["gaa", "lattice-sweep"]


def test_an_alternative_that_takes_too_long_brings_nothing(monkeypatch):
    def run_for_ever(progress, *_):
        progress(0.5, "half")
        return "solution"

    monkeypatch.setattr(alternatives, "run_algorithm", run_for_ever)
    for seconds, solutions in ((-1.0, []), (60.0, [("key", "solution")])):
        told = Collected()
        alternatives.try_alternatives(told, [("key", "gaa", None, [])], seconds)
        assert told == solutions


# --- more k ---------------------------------------------------------------------------------
@pytest.mark.nightly
def test_a_curve_that_needs_a_run_per_k_is_filled_behind_the_page(start):
    at = start(curve_seconds=3600)
    ui.choose(at, "run-algorithm", "gaa-small")
    ui.settle_all(ui.anonymised(at))
    n = ui.work(at).table.records.n_records
    assert known(at) == tuple(k for k in FINISHED_K if k <= n)
    assert f"{len(known(at))} of {len(known(at))} values of k are computed." in ui.page_text(at)
    curves, plan = ui.work(at).findings.result.solution.curves, build_plan(ui.work(at))
    for k in known(at):
        alone = run(plan.with_k(k), ui.work(at).table.records)
        assert curves.at([k])["alteration_nllm"][0] == pytest.approx(alone.alteration)
        at_k(at, k)
        assert not ui.work(at).running.keys() & {"run", "k"} and not ui.warnings(at)
        assert ui.numbers(at)["Alteration"] == write_percent(alone.alteration)


@pytest.mark.nightly
def test_a_k_without_a_point_is_run_alone_and_another_one_ends_that_run(start):
    at = start()
    ui.choose(at, "run-algorithm", "gaa-small")
    ui.anonymised(at)
    first, before = known(at), ui.numbers(at)
    with ui.held_worker():
        for k in (5, 7):
            at_k(at, k)
            assert ui.work(at).running["k"].job.state == "queued", "one alone"
            assert f"k = {k} is being computed, so for now k = {first[0]}" in ui.page_text(at)
            assert ui.numbers(at) == before and at.select_slider(key="run-k").value == k
        ui.press(at, "Cancel")
        ui.settled(at)
        assert ui.OUTDATED in ui.warnings(at)[0] and known(at) == first
        assert not ui.work(at).running, "it does not begin again by itself"
        at_k(at, 5)
    ui.settle_all(at)
    assert known(at) == (*first, 5) and not ui.warnings(at)
    assert ui.number(ui.numbers(at)["Minimum k"]) >= 5


def test_runs_for_more_k_stop_in_time_and_keep_what_they_have():
    work = with_fields(open_sample("hospital"), algorithm="gaa-small")
    name, task, metrics = request_anonymisation(work).arguments
    told = Collected()
    solve_more_k(told, name, task, [3, 4], metrics, None, 0.0)
    assert [solution.known for solution, _ in told] == [(3,)], "one at least, and what fits"
    told = Collected()
    with pytest.raises(Unsatisfiable, match="k = 11 cannot be reached"):
        solve_more_k(told, name, task, [3, 11], metrics, None, 60.0)
    assert [solution.known for solution, _ in told] == [(3,)]
