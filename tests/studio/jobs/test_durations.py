"""Times before a press: estimated from sizes and from what was measured here."""

import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import lattice_size
from kanon.base.progress import ignore_progress
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.run import measured_metrics, prepare
from kanon.studio.jobs import durations
from kanon.studio.jobs.comparison import describe_comparison
from kanon.studio.jobs.durations import (
    SECONDS,
    Durations,
    describe_duration,
    measure_anonymisation,
    measure_column_sets,
    measure_run,
    measure_runs,
)
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from support import dashboard as ui
from support.works import with_fields


@pytest.fixture(scope="module")
def census():
    return open_sample("census", version=1)


def test_sizes_are_those_of_the_table(census, monkeypatch):
    columns = census.table.quasi_identifiers
    frame = census.table.file.table
    tuples = len(frame.drop_duplicates(columns))
    assert census.table.n_tuples == tuples
    thousands = tuples / 1000
    assert measure_run(census, "gaa", 99) == {"gaa": thousands}, "one run serves every k"
    assert measure_run(census, "k-member", 3) == {"k-member": 3 * thousands**2}
    nodes = 1
    for tree in census.table.trees.values():
        nodes *= tree.height
    assert measure_run(census, "datafly", 2) == {"datafly": 2 * (thousands + nodes / 400)}
    strict = with_fields(census, models=(DistinctLDiversity(column="health", l=3),))
    monkeypatch.setattr(lattice_size, "MOST_NODES", nodes - 1)
    assert measure_run(census, "optimal", 2) == {"optimal, wide": 2 * thousands}
    assert measure_run(strict, "gaa", 10) == {"gaa, models": 10 * thousands}
    assert measure_anonymisation(census) == {"gaa": thousands}
    assert measure_column_sets(2000, 4, 2) == {"singling": 2 * (4 + 6)}


def test_persons_count_as_persons_only_where_some_have_several_records():
    rows = pd.DataFrame({"person": ["a", "a", "b", "c"], "age": [1, 2, 3, 4]})
    roles = open_uploaded_table(rows.to_csv(index=False).encode(), "t.csv", 1).table
    assert roles.n_tuples == rows[roles.quasi_identifiers].drop_duplicates().shape[0]


def test_the_effort_of_a_comparison_is_that_of_its_missing_runs(census):
    work = with_fields(census, compared=("ncp", "llm", "nllm"))
    effort = describe_comparison(work).effort
    together = measure_runs(work, {("gaa", 1): 3})
    assert effort == together and set(effort) == {"gaa"}
    several = with_fields(work, algorithms=("gaa", "mondrian"))
    assert set(describe_comparison(several).effort) == {"gaa", "mondrian"}


efforts = st.dictionaries(st.sampled_from([*SECONDS]), st.floats(0.1, 1e4), min_size=1, max_size=4)


@given(efforts, st.floats(1, 1e4))
def test_what_was_measured_is_what_is_estimated(effort, seconds):
    known = Durations()
    assert known.estimate(effort) == pytest.approx(
        sum(SECONDS[kind] * size for kind, size in effort.items())
    )
    first = known.estimate(effort)
    known.learn(effort, seconds)
    if first < 0.3:
        assert known.estimate(effort) == first, "ten records say nothing about a hundred thousand"
        return
    assert known.estimate(effort) == pytest.approx(seconds)
    twice = {kind: 2 * size for kind, size in effort.items()}
    assert known.estimate(twice) == pytest.approx(2 * seconds)


def test_where_nothing_is_known_nothing_is_claimed():
    known = Durations()
    assert known.estimate({}) is None and known.estimate({"new": 2.0}) is None
    known.learn({"new": 2.0, "gaa": 1.0}, 60)
    assert known.estimate({"new": 2.0}) is None, "nobody knows which of both took long"
    known.learn({"new": 2.0}, 0.5)
    assert known.estimate({"new": 2.0}) is None, "that was the start of a worker"
    known.learn({"new": 2.0}, 10)
    assert known.estimate({"new": 4.0}) == 20
    assert describe_duration(known.estimate({"new": 4.0})) == "about 20 s"


@pytest.fixture
def slow(monkeypatch):
    """A machine on which a thousand tuples take a hundred minutes."""
    rates = dict.fromkeys([*SECONDS, "reverse", "singling"], 6000.0)
    monkeypatch.setattr(durations, "SECONDS", rates)
    durations.get_durations.clear()
    yield
    durations.get_durations.clear()


def told(at):
    return [caption for caption in ui.captions(at) if caption.startswith("Takes ")]


@pytest.mark.nightly
def test_pages_say_how_long_a_press_takes(start, slow):
    at = start()
    table = ui.work(at).table
    frame = table.file.table
    once = 6 * len(frame.drop_duplicates(table.quasi_identifiers))
    assert told(at) == [f"Takes {describe_duration(once)}."]
    together = 7 * once / min(durations.count_cores(), 7)
    assert told(ui.go(at, ui.COMPARE)) == [f"Takes {describe_duration(together)}."]
    assert told(ui.go(at, "pages/data.py")) == ["Takes more than 10 min."]
    ui.settled(ui.press(ui.go(at, ui.COMPARE), "Compare"))
    assert told(at) == [], "nothing is left to run"


def test_a_short_press_says_nothing(start):
    at = start()
    assert told(at) == [] and told(ui.go(at, ui.COMPARE)) == []


MAIN = ("gaa", "datafly", "samarati", "optimal", "mondrian", "lattice-sweep", "k-member")


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", MAIN)
def test_first_estimates_are_within_a_factor_of_three(census, algorithm):
    work = with_fields(census, algorithm=algorithm)
    prepared = prepare(build_plan(work), work.table.records)
    run, ks = PlannedRun(algorithm, prepared.check()), [3, 5, 10, 50, 500]
    metrics = measured_metrics(prepared.plan, [])
    seconds = []
    for _ in range(2):  # the first one compiles
        began = time.process_time()
        run_sweep(ignore_progress, [run], ks, metrics, 1)
        seconds.append(time.process_time() - began)
    estimate = Durations().estimate(measure_run(work, algorithm, len(ks)))
    assert estimate / 3 < seconds[-1] < 3 * estimate
