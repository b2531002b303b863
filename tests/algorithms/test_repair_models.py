"""Merging for models that leaves few classes: the sweep that is tried instead."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kanon.algorithms import gaa
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.repair_models import repair_for_models
from kanon.algorithms.task import Task
from kanon.errors import UtilityWarning
from kanon.plan import Plan
from kanon.run import prepare, run
from support.plans import make_plan, qi

DELTA = {"model": "delta-disclosure", "delta": 0.4}


def build_table(seed: int = 1, records: int = 3000) -> pd.DataFrame:
    """Half of the people are ill, the old ones more often."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 80, records)
    ill = np.where(rng.random(records) < 0.3 + 0.4 * (age > 40), "yes", "no")
    return pd.DataFrame({"age": age, "zip": rng.integers(0, 32, records), "ill": ill})


def build_plan(*models: dict[str, Any], k: int = 5) -> Plan:
    trees = {"age": qi("intervals", widths=[5, 10, 20, 40]), "zip": qi("intervals", widths=[4, 16])}
    return make_plan({**trees, "ill": {"role": "sensitive"}}, k, {"name": "gaa"}, models=models)


def build_task(table: pd.DataFrame, *models: dict[str, Any], k: int = 5) -> Task:
    return prepare(build_plan(*models, k=k), table).task()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_strict_models_do_not_collapse_the_table(seed):
    table = build_table(seed)
    task = build_task(table, DELTA)
    before = gaa.merge_path(task).at(task.k)
    merged, release = merge_breaking_classes(before, task), gaa.anonymise(task)
    assert 2 * merged.n_classes < before.n_classes, "else nothing is swept"
    assert total_loss(task, release) < 0.7 * total_loss(task, merged)

    released = run(build_plan(DELTA), table).released()
    share = (released["ill"] == "yes").groupby([released["age"], released["zip"]])
    whole = (table["ill"] == "yes").mean()
    assert share.size().min() >= 5
    assert len(share) == release.n_classes
    for actual, due in ((share.mean(), whole), (1 - share.mean(), 1 - whole)):
        assert np.abs(np.log(actual / due)).max() < 0.4

    for tree, low, high in zip(
        task.classes.hierarchies, task.classes.nodes.T, release.targets.T, strict=True
    ):
        node = low.copy()
        while (climbs := node < high).any():
            node = np.where(climbs, tree.parent[node], node)
        assert (node == high).all(), "values only move up"


def test_the_order_of_rows_does_not_matter_to_the_sweep():
    table = build_table()
    task, other = build_task(table, DELTA), build_task(table.sample(frac=1, random_state=3), DELTA)
    nodes = task.classes.nodes.copy()
    release = gaa.anonymise(task)
    assert np.array_equal(release.targets, gaa.anonymise(other).targets)
    assert np.array_equal(task.classes.nodes, nodes)


@pytest.mark.parametrize(
    ("records", "model"),
    [(150, DELTA), (3000, {"model": "distinct-l-diversity", "l": 2})],
)
def test_few_or_lenient_merges_stay_as_defined(records, model):
    """Few classes before the repair, or more than half of them after it."""
    task = build_task(build_table(records=records), model)
    before = gaa.merge_path(task).at(task.k)
    merged = merge_breaking_classes(before, task)
    assert np.array_equal(repair_for_models(before, task).targets, merged.targets)
    assert before.n_classes < 100 or 2 * merged.n_classes >= before.n_classes


def test_no_merge_loses_more_after_the_sweep():
    table = build_table(4)
    for delta in (0.2, 0.6, 0.9):
        task = build_task(table, {**DELTA, "delta": delta})
        before = gaa.merge_path(task).at(task.k)
        after = repair_for_models(before, task)
        assert total_loss(task, after) <= total_loss(task, merge_breaking_classes(before, task))
    assert repair_for_models(before, replace(task, models=())) is before


def test_a_run_warns_where_nearly_all_classes_were_merged():
    table = build_table()
    table["ill"] = np.where(table["age"] < 40, "no", "yes")  # no class but the whole is mixed
    with pytest.warns(UtilityWarning, match="nearly all classes had to be merged: .* left"):
        finished = run(build_plan({**DELTA, "delta": 0.05}), table)
    assert finished.recoding.n_classes <= 0.1 * finished.recoding.n_classes / (
        finished.recoding.trace.share_left
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", UtilityWarning)
        run(build_plan(DELTA), build_table())
