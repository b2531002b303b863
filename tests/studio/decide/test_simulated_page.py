"""The simulated study on the page Decide, driven by AppTest; its chart."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon.base.progress import ignore_progress
from kanon.charts.simulated import describe_mean_ranks, draw_mean_ranks
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.files import write_study
from kanon.experiments.simulated.ranks import OVERALL, compute_mean_ranks
from kanon.experiments.simulated.study import (
    CRITERIA,
    RUNS,
    STRATEGIES,
    RunResult,
    create_study,
    run_study,
)
from kanon.plan import Plan
from kanon.run import prepare
from kanon.studio.decide.simulated_panel import (
    build_simulation,
    describe_best_strategy,
    store_results,
)
from kanon.studio.decide.state import DecideView, SimulatedView
from kanon.studio.session.run_plan import build_plan_content
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.works import with_fields

DECIDE = "pages/decide.py"
RUN, GO_ON = "Run the study", "Continue: {} of 147 results to find"


def people(size=40):
    random = np.random.default_rng(4)
    ages, sexes = random.integers(20, 60, size), random.choice(["F", "M"], size)
    ill = random.choice(["flu", "cold"], size)
    return pd.DataFrame({"age": ages, "sex": sexes, "disease": ill})


@pytest.fixture
def opened(start):
    def open_with(table=None):
        at = ui.with_people(start(ui.DATA), people() if table is None else table)
        for column in ("age", "sex"):
            ui.give_role(at, column, "quasi-identifier")
        deciding = replace(ui.work(at).view(DecideView), part="study")
        at.session_state[ui.WORK] = with_fields(ui.work(at), view=deciding)
        return ui.go(at, DECIDE)

    return open_with


def invented(runs=RUNS, seed=1):
    random = np.random.default_rng(seed)
    return [RunResult(run, tuple(random.uniform(1, 99, 3).round(3).tolist())) for run in runs]


def with_known(at, found):
    key = build_simulation(ui.work(at)).key
    at.session_state[ui.WORK] = store_results(ui.work(at), key, found)
    return ui.go(at)


def known(at):
    return build_simulation(ui.work(at)).known(ui.work(at))


def loaded(at, content):
    key = f"study-upload-{ui.work(at).version}-{ui.work(at).view(SimulatedView).uploads}"
    return ui.enter(at, at.file_uploader(key=key), ("study.json", content, "application/json"))


@pytest.mark.nightly
def test_what_is_lacking_is_run_shown_and_kept(opened, downloads):
    at = opened()
    assert any("There are no results with these settings" in text for text in ui.infos(at))
    assert ui.button(at, RUN) and not ui.chart_titles(at) and not at.table and not ui.problems(at)
    before = invented(RUNS[:126])
    at = with_known(at, before)
    assert any(
        "So far there are 126 of 147 results. The ranks use the 18 of 21 columns" in text
        for text in ui.captions(at)
    )
    (table,) = at.table
    assert len(table.value) == 18 + 1
    ui.settled(ui.press(at, GO_ON.format(21)))
    found, expected = known(at), []
    plan = Plan.from_content(build_plan_content(ui.work(at)))
    run_study(
        ignore_progress,
        create_study(prepare(plan, ui.work(at).table.records)),
        RUNS[126:],
        expected.append,
    )
    assert set(found) == {*before, *expected}, "nothing is made twice"
    means = compute_mean_ranks(found)
    assert describe_mean_ranks(means) in ui.chart_titles(at)
    (table,) = at.table
    assert list(table.value.columns) == [name.upper() for name in STRATEGIES]
    assert next(iter(table.value.index)).replace("\\", "") == "Equivalent, 5 values ↓"
    assert len(table.value) == len(COLUMNS) + 1, "and the mean rank"
    assert table.value.iloc[-1].tolist() == [f"{x:.1f}" for x in means["alteration"]]
    assert any("Areas for k from 3 to 40, guided by NLLM" in text for text in ui.captions(at))
    assert any(describe_best_strategy(means) in one.value for one in at.markdown)
    assert not [one for one in at.button if one.label.startswith(("Run the", "Continue"))]
    name, make = downloads["study-results-data"]
    assert name.startswith("study-results-") and len(make().splitlines()) == 1 + 441
    name, make = downloads["study-file"]
    assert name.endswith(".json") and json.loads(make())["format"] == "kanon-simulated-study"


@pytest.mark.nightly
def test_a_cancelled_study_keeps_what_was_found(opened):
    at = with_known(opened(), invented(RUNS[1:5]))
    assert not at.table and not ui.chart_titles(at) and ui.button(at, GO_ON.format(143))
    assert any("The ranks use the 0 of 21 columns" in text for text in ui.captions(at))
    at = with_known(at, invented(RUNS[:7]))
    with ui.held_worker():
        ui.press(at, GO_ON.format(140))
        job = ui.job_of(at)
        job._parts.extend(invented(RUNS[7:9], seed=2))  # as if it had been cancelled later
        ui.press(at, "Cancel")
        assert job.wait(20)
    ui.go(at)
    assert not ui.work(at).running and len(known(at)) == 9
    assert ui.button(at, GO_ON.format(138))
    assert "What was found so far is kept." in ui.work(at).message.notice


def test_whatever_algorithm_is_chosen_greedy_merging_is_studied():
    chosen = with_fields(open_sample("hospital"), algorithm="mondrian", strategy="s3")
    assert build_simulation(chosen).study.task.strategy == "s1"


@pytest.mark.nightly
def test_a_study_file_is_loaded_and_one_of_another_table_is_refused(opened):
    at = opened()
    simulation, found = build_simulation(ui.work(at)), invented(RUNS[:8])
    loaded(at, write_study(simulation.made, found))
    assert set(known(at)) == set(found) and ui.button(at, GO_ON.format(139))
    assert ui.work(at).message.notice == "8 results were loaded." and not ui.problems(at)
    assert ui.work(at).view(SimulatedView).uploads == 1

    changed = simulation.made.model_copy(update={"table": "x", "seed": "7"})
    before = ui.work(at)
    loaded(at, write_study(changed, invented()))
    (said,) = ui.problems(at)
    assert said.startswith("The study file was made with another table and another seed; choose")
    assert ui.work(at).findings.simulations is before.findings.simulations
    loaded(at, b"{")
    assert ui.problems(at) == ["The study file is not valid JSON: see line 1, character 2."]
    assert ui.work(at).findings.simulations is before.findings.simulations and at.table


@pytest.mark.nightly
def test_three_records_are_too_few(opened):
    at = opened(people(3))
    (said,) = ui.problems(at)
    assert "needs at least 4 records, but the table has 3 records" in said
    assert not [one for one in at.button if one.label == RUN]


def test_the_chart_shows_every_mean_rank():
    means = compute_mean_ranks(invented())
    figure = draw_mean_ranks(means)
    drawn = [trace for trace in figure.data if trace.meta == "ranks"]
    assert len(drawn) == 4
    for trace, name in zip(drawn, [*CRITERIA, OVERALL], strict=True):
        assert list(trace.x) == means[name].tolist()
        assert list(trace.y) == [one.upper() for one in STRATEGIES]
        assert list(trace.text) == [f"{x:.2f}" for x in means[name]]
    assert figure.layout.title.text == describe_mean_ranks(means)
