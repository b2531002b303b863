"""Suppress outliers: the few records that make the rest of their class lose most."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kanon.algorithms.task import Task, sum_potentials
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, scale_progress
from kanon.errors import Unsatisfiable
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.scaled_potentials import Potentials
from kanon.recoding import Recoding

_SHARES = (1.0, 0.5, 0.25, 0.125)
"""The shares of the records that may go and pay for it; each is tried in every round."""

_ROUNDS = 8
"""The most rounds. On Adult, three to five lower the loss."""

Anonymise = Callable[[Task, Progress], Recoding]


def anonymise_without_outliers(anonymise: Anonymise, task: Task, progress: Progress) -> Recoding:
    """The release that loses least of several, which suppress more and more outliers.

    The first one suppresses nothing. In each round the algorithm runs again without the outlying
    sets of the best release so far (see :func:`find_outlying_sets`): once without all whose
    suppression pays, as far as the limit allows, those first that save most per record; and once
    without at most a half, a quarter and an eighth of so many records. A release is better if it
    loses less by the metric and weights of the task, with suppressed records at the root. The
    rounds end when none is better, or after eight.
    """
    if not task.outliers:
        return anonymise(task, progress)
    best, runs = anonymise(task, scale_progress(progress, 0.0, 0.2)), 1
    for _ in range(_ROUNDS):
        before = best
        for left_out in _propose(before, task):
            suppressed = count_noun(int(task.classes.counts[left_out].sum()), "outlier")
            run_progress = scale_progress(progress, 1 - 0.8**runs, 1 - 0.8 ** (runs + 1))
            run_progress(0.0, f"running without {suppressed}")
            runs += 1
            try:
                recoding = _run_without(anonymise, task, left_out, run_progress)
            except Unsatisfiable:  # the rest has too few records, or values, for a model
                continue
            best = max(best, recoding, key=lambda made: _rank(made, task.potentials))
        if best is before:
            break
    return best


class OutlyingSets(NamedTuple):
    """Per released class the set of its records whose suppression saves most per record."""

    saved_per_record: np.ndarray  # as potentials count; at most 0 where suppression does not pay
    records: np.ndarray  # the number of records of each set; 0 if the class has no set
    members: np.ndarray  # per original class whether it is in the set of its released class


def find_outlying_sets(recoding: Recoding, potentials: Potentials) -> OutlyingSets:
    """Find in every released class the records that force the others up.

    A class was raised to some node in each quasi-identifier. Below this node most of its records
    lie in one branch; all others are one outlying set, so there is one per quasi-identifier. If
    the set is suppressed, the rest of the class can stay at its own lowest common ancestors:
    this saves ``(r - s) * D(rest) - r * D(class)``, with r and s the records of the class and the
    set, and D the potential of a tuple, 0 at the roots. Of several sets that save the same per
    record, the one of the first quasi-identifier is taken.
    """
    classes = recoding.classes
    released = np.flatnonzero(recoding.assigned >= 0)
    group, nodes = recoding.assigned[released], classes.nodes[released].astype(np.int64)
    weights = classes.counts[released]
    saved = np.full(recoding.n_classes, -np.inf)
    records = np.zeros(recoding.n_classes, dtype=np.int64)
    members = np.zeros(len(released), dtype=bool)
    value = recoding.counts * sum_potentials(potentials, recoding.nodes)
    for j, tree in enumerate(classes.hierarchies):
        branch = _find_branches(tree, nodes[:, j], recoding.nodes[group, j])
        main, size = _find_main_branches(branch, group, weights, recoding.n_classes)
        has_set = (size > 0) & (size < recoding.counts)
        in_set = has_set[group] & (branch != main[group])
        rest = ~in_set
        common = [
            _find_common_ancestors(tree_j, nodes[rest, place], group[rest], recoding.n_classes)
            for place, tree_j in enumerate(classes.hierarchies)
        ]
        gain = size * sum_potentials(potentials, np.stack(common, axis=1)) - value
        outside = recoding.counts - size
        per_record = np.where(has_set, gain / np.maximum(outside, 1), -np.inf)
        better = per_record > saved
        saved = np.where(better, per_record, saved)
        records = np.where(better, outside, records)
        members = np.where(better[group], in_set, members)
    of_class = np.zeros(classes.n_classes, dtype=bool)
    of_class[released] = members
    return OutlyingSets(saved, records, of_class)


def _propose(recoding: Recoding, task: Task) -> Iterator[np.ndarray]:
    """Which original classes to leave out next, without repetition. Shapes (E,), bool."""
    assert task.outliers is not None
    sets = find_outlying_sets(recoding, task.potentials)
    paying = np.flatnonzero(sets.saved_per_record > 0)
    paying = paying[np.argsort(-sets.saved_per_record[paying], kind="stable")]
    allowed = task.outliers - recoding.suppressed_records
    most = min(allowed, int(sets.records[paying].sum()))
    already = recoding.assigned < 0
    proposed = {already.tobytes()}
    for share in _SHARES:
        room = math.floor(share * most)
        chosen = np.zeros(recoding.n_classes + 1, dtype=bool)  # the last one is for -1
        for place in paying.tolist():
            if sets.records[place] <= room:
                chosen[place], room = True, room - sets.records[place]
        left_out = already | (sets.members & chosen[recoding.assigned])
        if left_out.tobytes() not in proposed:
            proposed.add(left_out.tobytes())
            yield left_out


def _run_without(
    anonymise: Anonymise, task: Task, left_out: np.ndarray, progress: Progress
) -> Recoding:
    rest = task.classes.without(left_out)
    recoding = anonymise(replace(task, classes=rest, outliers=None), progress)
    assigned = np.full(task.classes.n_classes, -1, dtype=np.int64)
    assigned[~left_out] = recoding.assigned
    return replace(recoding, classes=task.classes, assigned=assigned)


def _rank(recoding: Recoding, potentials: Potentials) -> tuple[int, int]:
    """What the release keeps, exact where potentials are; then, the fewer suppressed the better."""
    cells = recoding.cells
    if potentials.digits:
        return potentials.sum_exactly(cells), -recoding.suppressed_records
    kept = sum(int(depth @ at) for depth, at in zip(potentials, cells, strict=True))
    return kept, -recoding.suppressed_records


def _find_branches(tree: Hierarchy, nodes: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The child of ``above`` at or above each node; -1 for ``above`` itself."""
    branch = nodes
    while True:
        climbs = (branch != above) & (tree.parent[branch] != above)
        if not climbs.any():
            return np.where(branch == above, -1, branch)
        branch = np.where(climbs, tree.parent[branch], branch)


def _find_main_branches(
    branch: np.ndarray, group: np.ndarray, weights: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Per group the branch with most records, of several the first in tree order; its records."""
    below = branch >= 0
    pairs = np.stack([group[below], branch[below]])
    (of_group, of_branch), pair = np.unique(pairs, axis=1, return_inverse=True)
    sums = np.zeros(len(of_group), dtype=np.int64)
    np.add.at(sums, pair.ravel(), weights[below])
    main, size = np.full(n_groups, -1, dtype=np.int64), np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(size, of_group, sums)
    largest = np.flatnonzero(sums == size[of_group])[::-1]  # the first one is written last
    main[of_group[largest]] = of_branch[largest]
    return main, size


def _find_common_ancestors(
    tree: Hierarchy, nodes: np.ndarray, group: np.ndarray, n_groups: int
) -> np.ndarray:
    """Per group the lowest common ancestor of its nodes; the first leaf for an empty group.

    The smaller of two different nodes cannot be an ancestor of the larger, so it climbs.
    """
    while True:
        highest = np.zeros(n_groups, dtype=np.int64)
        np.maximum.at(highest, group, nodes)
        climbs = nodes < highest[group]
        if not climbs.any():
            return highest
        nodes = np.where(climbs, tree.parent[nodes], nodes)
