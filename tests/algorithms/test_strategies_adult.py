"""Every strategy at both scopes takes the merges of the full scan, on Adult.

A strategy does not know what a cost or a sensitive value is called, so each does not meet all: at
each scope it meets both metrics, and over both scopes every column. By night it meets 6,000
records, and in four cases all 30,162, for which the full scan takes a minute or two each.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.plans import adult_with_sensitive
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.task import Task
from kanon.experiments.comparison import K_PRESETS
from kanon.experiments.simulated.columns import Column, draw_values, list_value_names
from kanon.sources.reading import read_table
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from oracles.plain_scan import scan
from support.recodings import same_path

ADULT = 30_162
SAMPLE = 1_000
RUNS = [(name, scope) for name, scope in product(STRATEGIES, SCOPES) if LOOKS_AT[name]]
COLUMNS = ("marital-status", "age", "drawn")
METRICS = ("nllm", "total")
SEEDS = (3, 11)


def cases(runs: Sequence[tuple[str, str]], shift: int) -> list[tuple[str, str, str, str]]:
    """Each strategy and scope with each metric; the next column each time."""
    return [
        (*one, COLUMNS[(place + number + shift) % len(COLUMNS)], metric)
        for place, one in enumerate(runs)
        for number, metric in enumerate(METRICS)
    ]


@cache
def task_for(path: Path, column: str, metric: str, records: int) -> Task:
    """Merging to the end, or to k = 15000; ``drawn`` is a generated column of 500 values."""
    table = read_table(path).table
    if records < len(table):
        table = table.sample(records, random_state=1)
    if column == "drawn":
        many = Column("equivalent", 500)
        cells = np.array(list_value_names(many))[draw_values(len(table), many, seed=1)]
        table = table.assign(drawn=cells)
    return adult_with_sensitive(table, column, metric, min(records, 15_000)).task()


def check_same(task: Task) -> None:
    """The same merges, so the same release at every k."""
    found, expected = merge_greedily(task), scan(task)
    assert same_path(found, expected)
    for k in K_PRESETS["thirteen"]:
        if k <= task.k:
            assert np.array_equal(found.at(k).targets, expected.at(k).targets), k


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.adult
@pytest.mark.parametrize(("strategy", "scope", "column", "metric"), [
    pytest.param(*case, marks=[] if place % 6 == 0 else pytest.mark.nightly)
    for place, case in enumerate(cases(RUNS, 0))
])  # fmt: skip
def test_a_sample_is_merged_as_the_full_scan_merges_it(adult_path, strategy, scope, column, metric):
    task = task_for(adult_path, column, metric, SAMPLE)
    check_same(replace(task, strategy=strategy, scope=scope))


@pytest.mark.nightly
@pytest.mark.adult
@pytest.mark.parametrize(("strategy", "scope", "tie_seed"), [
    pytest.param(*one, seed, marks=[] if place % 5 == 0 else pytest.mark.nightly)
    for place, one in enumerate(RUNS)
    for seed in [SEEDS[(place + place // 2) % 2]]  # each strategy with both
])  # fmt: skip
def test_a_sample_with_a_tie_seed_and_costs_per_class(adult_path, strategy, scope, tie_seed):
    task = task_for(adult_path, "marital-status", "total", SAMPLE)
    check_same(
        replace(task, strategy=strategy, scope=scope, tie_seed=tie_seed, weighted=tie_seed == 3)
    )


@pytest.mark.adult
@pytest.mark.nightly
@pytest.mark.parametrize(("strategy", "scope", "column", "metric", "records"), [
    (*case, ADULT if place % 7 == 0 and case[2] != "drawn" else 6_000)
    for place, case in enumerate(cases([*RUNS, ("s1", "table")], 1))
])  # fmt: skip
def test_adult_is_merged_as_the_full_scan_merges_it(
    adult_path, strategy, scope, column, metric, records
):
    task = task_for(adult_path, column, metric, records)
    check_same(replace(task, strategy=strategy, scope=scope))
