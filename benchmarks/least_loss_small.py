"""How far releases of small random tables are from the least loss: ``python -m`` this module.

For every table the least loss is found by mixed integer programming (optimal-local). That the lower
bound is at most that, and no release loses less, is checked. Seeds decide the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.case import CaseError
from benchmarks.markdown import table
from kanon.algorithms import gaa, lattice_sweep, optimal_local
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lower_bound import lower_bound
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.hierarchy import Hierarchy
from kanon.metrics import metric_named, potentials, scaled_potentials

__all__ = ["BOUND", "gaps_of", "main", "random_task"]

TABLES = 200
MOST_RECORDS = 40
METRICS = ("general-loss", "ncp", "nllm", "total")
BOUND = "lower bound"

_TOLERANCE = 1e-9
"""The solver counts in floats: so far apart, as a share, losses may be taken for the same."""


def random_task(seed: int) -> Task:
    """A table of up to forty records over two to four random hierarchies, a metric and a k.

    Some tables have values that are all about as frequent, some a few that most records have, and
    some few values, so that many records are equal.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(6, MOST_RECORDS + 1)), int(rng.integers(2, 5))
    trees = tuple(_random_tree(rng) for _ in range(m))
    skew = rng.choice([0.0, 1.0, 2.0])
    columns = []
    for tree in trees:
        weights = (1.0 + np.arange(tree.n_leaves)) ** -skew
        columns.append(rng.choice(rng.permutation(tree.n_leaves), n, p=weights / weights.sum()))
    nodes, counts, _ = group_tuples(
        np.stack(columns, axis=1).astype(np.int32),
        np.ones(n, dtype=np.int64),
        [tree.n_nodes for tree in trees],
    )
    classes = EquivalenceClasses(tuple(f"q{j}" for j in range(m)), trees, nodes, counts)
    metric = metric_named(METRICS[int(rng.integers(len(METRICS)))])
    return Task(classes, scaled_potentials(potentials(metric, trees), n), k=int(rng.integers(2, 7)))


def _random_tree(rng: np.random.Generator) -> Hierarchy:
    """A tree of two to nine leaves; neighbours are put together until one node is left."""
    row = [f"v{i}" for i in range(int(rng.integers(2, 10)))]
    above: dict[str, str] = {}
    while len(row) > 1:
        upper, at = [], 0
        while at < len(row):
            size = int(rng.integers(1, 5))
            if size == 1:  # goes on alone: trees are unbalanced
                upper.append(row[at])
            else:
                upper.append(f"g{len(above)}-{at}")
                above |= dict.fromkeys(row[at : at + size], upper[-1])
            at += size
        row = upper
    entries = [(row[0], None, None), *((low, high, None) for low, high in above.items())]
    return Hierarchy.from_entries(entries)


def gaps_of(task: Task) -> Mapping[str, float] | None:
    """By how many percent releases lose more than the least, and the bound less: below 0.

    Returns
    -------
    Mapping or None
        None if the table can stay as it is, so that nothing can be compared.

    Raises
    ------
    CaseError
        A release loses less than the least, or the bound is above it, or it was not proved.
    """
    best = optimal_local.anonymise(task)
    least = total_loss(task, best)
    if best.trace.gap != 0:
        raise CaseError("The least loss of a small table was not proved in time.")
    if least == 0:
        return None
    found = {"gaa": gaa.anonymise(task)}
    for effort in lattice_sweep.EFFORT.choices:
        found[effort] = lattice_sweep.anonymise(replace(task, options={"effort": effort}))
    losses = {name: total_loss(task, release) for name, release in found.items()}
    bound = lower_bound(task).loss
    if bound > least * (1 + _TOLERANCE) or min(losses.values()) < least * (1 - _TOLERANCE):
        raise CaseError(f"The least loss is {least}, the bound {bound}, and others lose {losses}.")
    return {name: 100 * (loss / least - 1) for name, loss in {BOUND: bound, **losses}.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the gaps of so many tables, 200 if no number is given; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    tables = int(given[0]) if given else TABLES
    found = [gaps for seed in range(tables) if (gaps := gaps_of(random_task(seed))) is not None]
    rows = []
    for name in found[0]:
        gaps = np.array([each[name] for each in found])
        furthest = gaps[np.argmax(np.abs(gaps))]
        reached = int(np.count_nonzero(np.abs(gaps) < 100 * _TOLERANCE))
        rows.append([name, f"{gaps.mean():+.2f}", f"{furthest:+.2f}", f"{reached}"])
    head = ["against the least loss", "mean, %", "furthest, %", f"reached it, of {len(found)}"]
    print(table(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
