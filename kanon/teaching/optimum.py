"""The least that a k-anonymous version of a small table has to lose."""

from dataclasses import dataclass

import numpy as np

from kanon.algorithms import gaa, optimal
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.measures import alteration
from kanon.measures.cells import whole_potentials
from kanon.metrics import Metric
from kanon.recoding import Recoding

MOST_CLASSES = 14
"""Of so many classes every set partition is looked at; of more the best known is given. It
takes about half a second."""


@dataclass(frozen=True, eq=False)
class BestRelease:
    """A k-anonymous version of a table that no other one is known to beat."""

    recoding: Recoding  # what every class becomes
    alteration: float  # how much that alters, in percent of all that could be lost
    proven: bool  # whether nothing that is allowed alters less


def best_recoding(classes: EquivalenceClasses, metric: Metric, k: int) -> BestRelease:
    """The recoding of least alteration in which every released class holds k records."""
    depths = whole_potentials(classes, metric)
    task = Task(classes, depths, k)
    task.check()
    if classes.n_classes > MOST_CLASSES:
        known = [gaa.anonymise(task), best_levels(classes, metric, k).recoding]
        found = min(known, key=lambda recoding: alteration.value(recoding, metric))
        return BestRelease(found, alteration.value(found, metric), proven=False)
    targets = _least(classes, depths, k)
    found = Recoding.from_targets(classes, targets)
    return BestRelease(found, alteration.value(found, metric), proven=True)


def best_levels(classes: EquivalenceClasses, metric: Metric, k: int) -> BestRelease:
    found = optimal.anonymise(Task(classes, whole_potentials(classes, metric), k, suppression=0))
    return BestRelease(found, alteration.value(found, metric), proven=True)


def _least(classes: EquivalenceClasses, depths: tuple[np.ndarray, ...], k: int) -> np.ndarray:
    """Per class its tuple in the recoding of least cost. Shape (E, m)."""
    size = classes.n_classes
    every = (1 << size) - 1
    trees = classes.hierarchies
    records, raised, kept = [0], [tuple(tree.root for tree in trees)], [0]
    for chosen in range(1, every + 1):
        last = chosen.bit_length() - 1
        rest = chosen ^ (1 << last)
        own = tuple(int(node) for node in classes.nodes[last])
        above = own
        if rest:
            above = tuple(
                tree.lca(*pair) for tree, *pair in zip(trees, own, raised[rest], strict=True)
            )
        records.append(records[rest] + int(classes.counts[last]))
        raised.append(above)
        of_one = sum(int(depth[node]) for depth, node in zip(depths, above, strict=True))
        kept.append(records[chosen] * of_one)
    most: list[int | None] = [0]
    block = [0]
    for chosen in range(1, every + 1):
        first = chosen & -chosen
        rest = others = chosen ^ first
        best, taken = None, 0
        while True:
            left = most[rest ^ others]
            if left is not None and records[others | first] >= k:
                found = kept[others | first] + left
                if best is None or found > best:
                    best, taken = found, others | first
            if not others:
                break
            others = (others - 1) & rest
        most.append(best)
        block.append(taken)
    targets = np.empty_like(classes.nodes)
    chosen = every
    while chosen:
        of_block = [c for c in range(size) if block[chosen] >> c & 1]
        targets[of_block] = raised[block[chosen]]
        chosen ^= block[chosen]
    return targets
