"""The page Anonymise: outliers that may be suppressed, and what each column loses."""

import pandas as pd
import pytest

from kanon.charts.curves import build_column_losses_table, draw_column_losses
from kanon.measures.alteration import split_by_column
from kanon.metrics import METRICS, potentials
from kanon.studio.session.run_plan import apply_plan, build_plan
from support import dashboard as ui


def outliers_field(at):
    work = ui.work(at)
    return at.number_input(key=f"run-outliers-{work.version}-{work.settings.outliers}")


def details(at):
    labels = [one.proto.popover.label.replace("\\", "") for one in at.get("popover")]
    return [label for label in labels if label.startswith("Details")]


def current_run(at):
    result = ui.work(at).findings.result
    return result.release(result.k_for(ui.work(at).settings.k))


@pytest.mark.nightly
def test_outliers_are_a_field_of_the_details(start):
    at = ui.anonymised(start())
    none = current_run(at)
    assert outliers_field(at).value is None
    assert build_plan(ui.work(at)).outliers is None
    assert "outliers" not in build_plan(ui.work(at)).to_json()
    ui.enter(at, outliers_field(at), 50.0)
    plan = build_plan(ui.work(at))
    assert plan.outliers == 0.5
    assert apply_plan(ui.work(at), plan).settings.outliers == 0.5
    assert details(at) == ["Details: outliers up to 50.0 %"]
    assert ui.OUTDATED in ui.warnings(at)[0]
    assert "Outliers: suppress at most, %" in ui.warnings(at)[0].replace("\\", "")

    ui.press(at, "Anonymise")
    ui.settled(at)
    found = current_run(at)
    assert found.recoding.suppressed_records <= 0.5 * found.prepared.classes.n_records
    assert found.alteration <= none.alteration
    assert found.recoding.min_k >= ui.work(at).settings.k
    said = [text for text in ui.captions(at) if text.startswith("With outliers, GAA")]
    assert len(said) == 1 and "separately for each k" in said[0]
    assert ui.work(at).findings.result.solution.path is None

    ui.choose(at, "run-algorithm", "optimal")
    assert build_plan(ui.work(at)).outliers is None
    assert not [one for one in at.number_input if (one.key or "").startswith("run-outliers")]


def test_the_bars_add_up_to_the_alteration(start):
    at = ui.anonymised(start())
    run = current_run(at)
    classes, metric = run.prepared.classes, run.prepared.plan.metric
    table = run.prepared.source.table.frame
    released = run.released(index=True, order="table")
    lost, possible = {}, 0.0
    for column, tree, depth in zip(
        classes.attributes,
        classes.hierarchies,
        potentials(metric, classes.hierarchies),
        strict=True,
    ):
        value = pd.Series(depth, index=list(tree.labels))
        before = value[table[column].astype(str)].to_numpy()
        after = value[released[column].astype(str)].to_numpy()
        lost[column], possible = (before - after).sum(), possible + before.sum()
    points = split_by_column(run.recoding, metric)
    assert points == pytest.approx({name: 100 * part / possible for name, part in lost.items()})
    assert sum(points.values()) == pytest.approx(run.alteration)
    first = max(points, key=points.get)
    assert any(title.startswith(f"{first} loses most: ") for title in ui.chart_titles(at))


def test_others_share_the_last_of_ten_bars():
    points = {f"c{j}": float(j) for j in range(1, 14)}
    figure = draw_column_losses(points, METRICS["nllm"])
    (bars,) = figure.data
    assert list(bars.y) == [13, 12, 11, 10, 9, 8, 7, 6, 5, 10]
    assert figure.layout.xaxis.ticktext[-1] == "4 others"
    assert len(build_column_losses_table(points)) == 13
    assert "No column" in draw_column_losses({"a": 0.0}, METRICS["nllm"]).layout.title.text
