"""The k-anonymous version of a small table that loses least."""

from dataclasses import dataclass

import numpy as np

from kanon.algorithms import gaa, optimal
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.measures import alteration
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import Metric
from kanon.recoding import Recoding

MOST_CLASSES = 14
"""Up to here every set partition is tried, in half a second; for more classes, the best known."""


@dataclass(frozen=True, eq=False)
class BestRelease:
    recoding: Recoding
    alteration: float  # in percent of all that could be lost
    proven: bool  # whether no allowed release can alter less


def find_best_recoding(classes: EquivalenceClasses, metric: Metric, k: int) -> BestRelease:
    depths = scale_metric_potentials(classes, metric)
    task = Task(classes, depths, k)
    task.check()
    if classes.n_classes > MOST_CLASSES:
        candidates = [gaa.anonymise(task), find_best_levels(classes, metric, k).recoding]
        best = min(candidates, key=lambda recoding: alteration.value(recoding, metric))
        return BestRelease(best, alteration.value(best, metric), proven=False)
    targets = _find_least_cost(classes, depths, k)
    best = Recoding.from_targets(classes, targets)
    return BestRelease(best, alteration.value(best, metric), proven=True)


def find_best_levels(classes: EquivalenceClasses, metric: Metric, k: int) -> BestRelease:
    best = optimal.anonymise(
        Task(classes, scale_metric_potentials(classes, metric), k, suppression=0)
    )
    return BestRelease(best, alteration.value(best, metric), proven=True)


def _find_least_cost(
    classes: EquivalenceClasses, depths: tuple[np.ndarray, ...], k: int
) -> np.ndarray:
    """The tuple of each class in the recoding of least cost. Shape (E, m)."""
    size = classes.n_classes
    all_bits = (1 << size) - 1
    trees = classes.hierarchies
    # By sets of classes, as bits: the records, where their values meet, what one block keeps, what
    # the best partition keeps (None: there is none), and the block of it that has the first class.
    records, raised, kept = [0], [tuple(tree.root for tree in trees)], [0]
    most: list[int | None] = [0]
    block = [0]
    for chosen in range(1, all_bits + 1):
        last = chosen.bit_length() - 1
        rest = chosen ^ (1 << last)
        above = tuple(int(node) for node in classes.nodes[last])
        if rest:
            pairs = zip(trees, above, raised[rest], strict=True)
            above = tuple(tree.lca(*pair) for tree, *pair in pairs)
        records.append(records[rest] + int(classes.counts[last]))
        raised.append(above)
        per_record = sum(int(depth[node]) for depth, node in zip(depths, above, strict=True))
        kept.append(records[chosen] * per_record)
        first = chosen & -chosen
        rest = others = chosen ^ first
        best, taken = None, 0
        while True:
            left = most[rest ^ others]
            if left is not None and records[others | first] >= k:
                value = kept[others | first] + left
                if best is None or value > best:
                    best, taken = value, others | first
            if not others:
                break
            others = (others - 1) & rest
        most.append(best)
        block.append(taken)
    targets = np.empty_like(classes.nodes)
    chosen = all_bits
    while chosen:
        members = [c for c in range(size) if block[chosen] >> c & 1]
        targets[members] = raised[block[chosen]]
        chosen ^= block[chosen]
    return targets
