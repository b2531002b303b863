"""Full-domain searches on Adult: a lattice of 12,960 nodes, on which the optimal ones must agree.

The hierarchies are the nine files beside the table. By night every search meets a third of the
pairs of k and limit, the next one another third: which nodes satisfy depends on these alone, what
is lost on the metric alone, and each of three searches or metrics in a row meets other pairs.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from kanon.algorithms import (
    datafly,
    flash,
    improved_greedy,
    incognito,
    mingen,
    ola,
    optimal,
    samarati,
)
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.search import choose_loss, replace_by_precision
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import METRICS, metric_named
from kanon.plan import Plan
from kanon.run import PreparedRun, prepare
from kanon.sources.reading import read_table
from support.plans import plan_content, qi_with

pytestmark = pytest.mark.adult

NODES = 12_960
KS = (2, 5, 10, 100, 1000)
SHARES = (0.0, 0.05)
GUIDES = [name for name in ("ncp", "entropy") if name in METRICS]
COMPLETE = (incognito, ola, flash)
OPTIMAL = (optimal, *COMPLETE)
LOSSES = ("metric", "precision", "discernibility", "class-size")


@cache
def table_of(path: Path) -> pd.DataFrame:
    return read_table(path).table


@cache
def adult(path: Path) -> PreparedRun:
    table = table_of(path)
    columns = {column: qi_with(f"adult_hierarchy_{column}.csv") for column in table.columns}
    plan = plan_content(columns, 5, "optimal")
    return prepare(Plan.from_content(plan), table, path.parent)


def task_of(path: Path, metric: str, k: int, share: float, loss: str = "metric") -> Task:
    classes = adult(path).classes
    depths = scale_metric_potentials(classes, metric_named(metric))
    limit = int(share * classes.n_records + 1e-9)
    return Task(classes, depths, k, suppression=limit, options={"loss": loss})


def losses_of(task: Task, nodes: Sequence[tuple[int, ...]]) -> list:
    """What nodes lose, counted by an engine of its own for each."""
    own = replace_by_precision(task) if task.options["loss"] == "precision" else task
    found = []
    for node in nodes:
        lattice = Lattice(own, task.suppression or 0, ignore_progress)
        assert lattice.satisfies(node)
        found.append(choose_loss(lattice, own).of(node, lattice.evaluate(node)))
    return found


def check_agree(task: Task, algorithms: Sequence[ModuleType]) -> None:
    """All of them release the same node; where k and the limit are met, by the rows alone."""
    nodes = [one.anonymise(task).trace.node for one in algorithms]
    assert len(set(nodes)) == 1
    assert len(set(losses_of(task, nodes))) == 1


SOME = [
    *(("ncp", "metric", k, share) for k, share in ((5, 0.0), (1000, 0.05))),
    *(("ncp", loss, 1000, 0.05) for loss in LOSSES[2:]),
]
PAIRS = list(product(KS, SHARES))
GRID = [
    pytest.param(metric, loss, k, share, marks=pytest.mark.nightly)
    for place, (metric, loss) in enumerate(
        [*((name, "metric") for name in GUIDES), *(("ncp", x) for x in LOSSES[1:])]
    )
    for k, share in PAIRS[place % 3 :: 3]
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("metric", "loss", "k", "share"), [*SOME, *GRID])
def test_optimal_searches_agree(adult_path, metric, loss, k, share):
    """By each metric, and by the losses that look at none."""
    searches = OPTIMAL if loss in ("metric", "precision") else COMPLETE
    check_agree(task_of(adult_path, metric, k, share, loss), searches)


@pytest.mark.nightly
def test_suppression_at_five_percent_is_bounded_well(adult_path):
    """The bounded search counts a few percent of the nodes, and no search counts half of them."""
    task = task_of(adult_path, "ncp", 5, 0.05)
    release = optimal.anonymise(task)
    assert release.trace.evaluated < NODES / 20
    assert flash.anonymise(task).trace.evaluated < NODES / 2


WALKS = [(module, 1000, 0.05) for module in (datafly, improved_greedy)]
EVERY = [
    pytest.param(module, k, share, marks=pytest.mark.nightly)
    for place, module in enumerate((datafly, samarati, improved_greedy, *OPTIMAL))
    for k, share in PAIRS[place % 3 :: 3]
]


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("algorithm", "k", "share"), [*WALKS, *EVERY])
def test_a_release_counted_by_rows_alone(adult_path, algorithm, k, share):
    """Every class of the released rows holds k records, and few enough rows are gone."""
    prepared = adult(adult_path)
    release = algorithm.anonymise(task_of(adult_path, "ncp", k, share))
    rows = prepared.source.release(release)
    n = prepared.classes.n_records
    assert n - len(rows) == release.suppressed_records <= share * n
    assert rows.groupby(list(rows.columns), observed=True).size().min() >= k
    # Full-domain: what a value became is the same in every row.
    original = table_of(adult_path).loc[rows.index]
    for column in rows.columns:
        pairs = set(zip(original[column].astype(str), rows[column].astype(str), strict=True))
        assert len(pairs) == original[column].nunique()


# --- By counting more ---------------------------------------------------------------------------
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("metric", "k", "share"),
    [(name, *pair) for place, name in enumerate(GUIDES) for pair in PAIRS[place::3]],
)
def test_nothing_is_better_than_what_they_find(adult_path, metric, share, k):
    """Exhaustive: every node of the lattice is counted."""
    task = task_of(adult_path, metric, k, share)
    lattice = Lattice(task, task.suppression or 0, ignore_progress)
    loss = choose_loss(lattice, task)
    best = min(
        (loss.of(node, lattice.evaluate(node)), node)
        for node in lattice.nodes()
        if lattice.satisfies(node)
    )
    assert optimal.anonymise(task).trace.node == best[1]


@pytest.mark.nightly
@pytest.mark.parametrize("k", KS[1::2])
def test_mingen_is_as_precise_as_the_bounded_search(adult_path, k):
    task = task_of(adult_path, "ncp", k, 0.0, "precision")
    nodes = [one.anonymise(task).trace.node for one in (mingen, optimal)]
    one, two = losses_of(task, nodes)
    assert one == two


@pytest.mark.nightly
@pytest.mark.parametrize(("k", "share"), PAIRS[::3])
def test_samarati_finds_the_lowest_height(adult_path, k, share):
    task = task_of(adult_path, "ncp", k, share)
    height = sum(samarati.anonymise(task).trace.node)
    lattice = Lattice(task, task.suppression or 0, ignore_progress)
    assert any(map(lattice.satisfies, lattice.list_nodes_at_height(height)))
    assert not any(map(lattice.satisfies, lattice.list_nodes_at_height(height - 1)))
