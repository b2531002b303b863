"""Merging for models that leaves few classes: the sweep that is tried instead."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms import gaa, lattice_sweep_rest, repair_models
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.repair_models import repair_for_models
from kanon.algorithms.task import Task
from kanon.errors import UtilityWarning
from kanon.plan import Plan
from kanon.privacy.k_anonymity import KAnonymity
from kanon.run import prepare, run
from support.laws import check_moves_up
from support.model_tables import (
    BY_COST,
    breaks,
    guides,
    models,
    released_breaks,
    source_of,
    tables,
    task_of,
)
from support.plans import make_plan, qi
from support.random_tables import examples

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


@pytest.mark.sampled(2)
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
    [(22, DELTA), (3000, {"model": "distinct-l-diversity", "l": 2})],
)
def test_few_or_lenient_merges_stay_as_defined(records, model):
    """Few classes before the repair, or more than half of them after it."""
    task = build_task(build_table(records=records), model)
    before = gaa.merge_path(task).at(task.k)
    merged = merge_breaking_classes(before, task)
    assert np.array_equal(repair_for_models(before, task).targets, merged.targets)
    assert before.n_classes < 20 or 2 * merged.n_classes >= before.n_classes


# --- Laws, and the joins by their definition ------------------------------------------------------
@examples(60)
@given(tables(max_records=20), models(), st.data())
def test_a_repaired_release_holds_and_loses_no_more_than_merging_on(table, wanted, data):
    problem, columns = table
    assume(not breaks(columns, wanted, range(len(problem.rows))))
    source = source_of(problem, columns)
    task = task_of(source, data.draw(guides(problem)), wanted)
    before = gaa.merge_path(task).at(task.k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repair_models, "_LEAST_CLASSES", 1)
        release = repair_for_models(before, task)
    assert released_breaks(source.release(release), problem.columns, wanted) == []
    assert int(release.counts.sum()) == len(problem.rows)
    check_moves_up(task, release)
    assert total_loss(task, release) <= total_loss(task, merge_breaking_classes(before, task))


@examples(80, in_gate=12)
@given(tables(max_records=18), models(), st.data())
def test_what_remains_joins_the_cheapest_class_that_can_take_it(table, wanted, data):
    """Against sets of rows, joined one after the other in the canonical order of their tuples."""
    problem, columns = table
    source = source_of(problem, columns)
    task = task_of(source, BY_COST, wanted)
    task = replace(task, models=tuple(wanted))
    remain = np.array(
        data.draw(st.lists(st.booleans(), min_size=(n := task.classes.n_classes), max_size=n))
    )
    batch = data.draw(st.integers(1, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_sweep_rest, "_BATCH", batch)
        into, nodes = lattice_sweep_rest.joined_one_by_one(task, task.classes.nodes, remain)

    trees = task.classes.hierarchies
    tuples = [tuple(map(int, row)) for row in task.classes.nodes]
    rows_of_tuple: dict[tuple[int, ...], list[int]] = {row: [] for row in tuples}
    labels = [dict(zip(tree.labels, range(tree.n_nodes), strict=True)) for tree in trees]
    for row, cells in enumerate(problem.rows):
        rows_of_tuple[tuple(map(dict.__getitem__, labels, cells))].append(row)

    def meet(j: int, node: int, other: int) -> int:
        while not trees[j].is_ancestor(node, other):
            node = int(trees[j].parent[node])
        return node

    def cost(group: tuple[int, ...], high: tuple[int, ...], size: int) -> int:
        depths = task.potentials
        return size * sum(
            int(depths[j][group[j]]) - int(depths[j][high[j]]) for j in range(len(trees))
        )

    groups = {row: rows_of_tuple[row] for row, rest in zip(tuples, remain, strict=True) if not rest}
    aside = []
    others = [model for model in wanted if not isinstance(model, KAnonymity)]
    for c in np.flatnonzero(remain).tolist():
        own = rows_of_tuple[tuples[c]]
        prices = []
        for group, members in groups.items():
            high = tuple(meet(j, group[j], tuples[c][j]) for j in range(len(trees)))
            price = cost(group, high, len(members)) + cost(tuples[c], high, len(own))
            joined = {*members, *own, *groups.get(high, ())}
            if not breaks(columns, others, sorted(joined)):
                prices.append((price, group, high, sorted(joined)))
        if not prices:
            aside.append(c)
            continue
        _, group, high, joined = min(prices)
        groups.pop(group)
        groups[high] = joined
    assert np.flatnonzero(into < 0).tolist() == aside
    found: dict[tuple[int, ...], list[int]] = {}
    for c, owner in enumerate(into.tolist()):
        if owner >= 0:
            found.setdefault(tuple(map(int, nodes[owner])), []).extend(rows_of_tuple[tuples[c]])
    assert {group: sorted(members) for group, members in found.items()} == {
        group: sorted(members) for group, members in groups.items()
    }


@pytest.mark.nightly
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
