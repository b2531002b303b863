"""Every strategy at both scopes takes the merges of the full scan, on Adult.

The nightly part takes about twenty minutes on one core: all records with marital status and with
age, and 6,000 records with 500 generated values, since the full scan's dense histograms make all
records with 500 values a matter of hours.
"""

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
from kanon.experiments.simulated.columns import Column, simulated, value_names
from kanon.sources.reading import read_table
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from oracles.plain_scan import scan

ADULT = 30_162
SAMPLE = 1_000
RUNS = [(name, scope) for name, scope in product(STRATEGIES, SCOPES) if LOOKS_AT[name]]
COLUMNS = ("marital-status", "age", "drawn")
METRICS = ("nllm", "total")


@cache
def task_for(path: Path, column: str, metric: str, records: int) -> Task:
    """Merging to the end, or to k = 15000; ``drawn`` is a generated column of 500 values."""
    table = read_table(path).table
    if records < len(table):
        table = table.sample(records, random_state=1)
    if column == "drawn":
        many = Column("equivalent", 500)
        cells = np.array(value_names(many))[simulated(len(table), many, seed=1)]
        table = table.assign(drawn=cells)
    return adult_with_sensitive(table, column, metric, min(records, 15_000)).task()


def check_same(task: Task) -> None:
    """The same merges, so the same release at every k."""
    found, expected = merge_greedily(task), scan(task)
    for field in ("parts", "smallest", "nodes", "counts"):
        assert np.array_equal(getattr(found, field), getattr(expected, field)), field
    for k in K_PRESETS["thirteen"]:
        if k <= task.k:
            assert np.array_equal(found.at(k).targets, expected.at(k).targets), k


@pytest.mark.adult
@pytest.mark.parametrize(("strategy", "scope", "column", "metric"), [
    pytest.param(*one, column, metric, marks=[] if in_gate else pytest.mark.nightly)
    for place, one in enumerate(RUNS)
    for number, column in enumerate(COLUMNS)
    for metric in METRICS
    for in_gate in [metric == "nllm" and place % 3 == number]
])  # fmt: skip
def test_a_sample_is_merged_as_the_full_scan_merges_it(adult_path, strategy, scope, column, metric):
    task = task_for(adult_path, column, metric, SAMPLE)
    check_same(replace(task, strategy=strategy, scope=scope))


@pytest.mark.adult
@pytest.mark.parametrize(("strategy", "scope", "tie_seed"), [
    pytest.param(*one, tie_seed, marks=[] if place % 4 == number else pytest.mark.nightly)
    for place, one in enumerate(RUNS)
    for number, tie_seed in enumerate([3, 11])
])  # fmt: skip
def test_a_sample_with_a_tie_seed_and_costs_per_class(adult_path, strategy, scope, tie_seed):
    task = task_for(adult_path, "marital-status", "total", SAMPLE)
    check_same(
        replace(task, strategy=strategy, scope=scope, tie_seed=tie_seed, weighted=tie_seed == 3)
    )


@pytest.mark.adult
@pytest.mark.nightly
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("column", "records"), [(each, ADULT) for each in COLUMNS[:2]] + [("drawn", 6_000)]
)
@pytest.mark.parametrize(("strategy", "scope"), [("s1", "table"), *RUNS])
def test_adult_is_merged_as_the_full_scan_merges_it(
    adult_path, strategy, scope, column, records, metric
):
    task = task_for(adult_path, column, metric, records)
    check_same(replace(task, strategy=strategy, scope=scope))
