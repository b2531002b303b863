"""Meet the models after greedy merging: by merging on, or by a sweep where that loses less."""

from dataclasses import replace

import numpy as np

from kanon.algorithms.lattice_size import compute_nodes_by_level
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lattice_sweep_rest import merging_on
from kanon.algorithms.lower_bound import least_k
from kanon.algorithms.merge_until_models_hold import (
    ContinuedMerging,
    merge_breaking_classes,
    release_after,
    run_continued_merging,
)
from kanon.algorithms.task import Task, in_one_width
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.classes import group_tuples
from kanon.kernels.merging import fill_joining_costs
from kanon.privacy.conjunction import find_broken
from kanon.recoding import Recoding, Trace

_LEAST_CLASSES = 100
"""Releases of fewer classes are only merged on, as the definition says."""

_MOST_WITH_NEIGHBOURS = 1_000  # the most levels whose neighbours, one up or down, are tried too

_MERGE_SHARE = 0.2  # the share of the time after merging, about


def repair_for_models(
    recoding: Recoding, task: Task, progress: Progress = ignore_progress
) -> Recoding:
    """The release after merging on; where that leaves less than half of the classes, or a sweep.

    The sweep is over the levels at which the merges left their classes and, where these are at
    most 1,000, over those one up or down in one quasi-identifier, the cheapest first. At each,
    groups of the remaining records that hold k records and meet every model are released. What is
    left joins the cheapest released class that it can, in canonical order; what can join none is
    merged. The release that loses less is taken, of equals the merged one. With fewer than 100
    classes before the repair there is no sweep.
    """
    merging = run_continued_merging(
        recoding.released, task, scale_progress(progress, 0, _MERGE_SHARE)
    )
    merged = release_after(recoding, merging)
    size = recoding.n_classes
    if size < _LEAST_CLASSES or 2 * merged.n_classes >= size:
        return merged
    swept = _sweep_levels(
        recoding, merging, replace(task, k=least_k(task)), scale_progress(progress, _MERGE_SHARE, 1)
    )
    trace = replace(swept.trace, steps=recoding.trace.steps + swept.trace.steps)
    best = min(merged, swept.with_trace(trace), key=lambda release: total_loss(task, release))
    return best.with_trace(replace(best.trace, share_left=best.n_classes / size))


def _sweep_levels(
    recoding: Recoding, merging: ContinuedMerging, task: Task, progress: Progress
) -> Recoding:
    classes, trees = task.classes, task.classes.hierarchies
    raised = [compute_nodes_by_level(tree) for tree in trees]
    levels = np.stack(
        [tree.level[nodes] for tree, nodes in zip(trees, merging.nodes.T, strict=True)], axis=1
    )
    root = np.array([len(table) - 1 for table in raised])
    levels = np.unique(np.vstack([levels, root]), axis=0)
    if len(levels) <= _MOST_WITH_NEIGHBOURS:
        up = np.eye(len(root), dtype=levels.dtype)
        near = np.concatenate([levels + step for step in (*up, *-up)])
        levels = np.unique(np.vstack([levels, np.clip(near, 0, root)]), axis=0)
    kept = np.zeros(len(levels))  # what the table keeps at these levels
    for j, (table, depth) in enumerate(zip(raised, task.potentials, strict=True)):
        per_level = (depth[table[:, classes.nodes[:, j]]] * classes.counts).sum(axis=1)
        kept += per_level[levels[:, j]]
    sizes = [tree.n_nodes for tree in trees]
    targets, rest = classes.nodes.copy(), np.arange(classes.n_classes)
    n_released = 0
    for place, node in enumerate(levels[np.argsort(-kept, kind="stable")]):
        at = np.stack(
            [table[level, classes.nodes[rest, j]]
             for j, (table, level) in enumerate(zip(raised, node, strict=True))], axis=1,
        )  # fmt: skip
        _, counts, group = group_tuples(at, classes.counts[rest], sizes)
        large = counts >= task.k
        if large.any():
            number = np.where(large, np.cumsum(large) - 1, -1)
            members = large[group]
            pooled = classes.pooled(rest[members], number[group[members]], int(large.sum()))
            large[large] = ~find_broken(task.models, pooled)
            members = large[group]
            targets[rest[members]] = at[members]
            rest = rest[~members]
            n_released += int(large.sum())
        if not len(rest):
            break
        progress(
            place / len(levels),
            f"{count_noun(place, 'node')} of {write_count(len(levels))}, "
            f"{count_noun(len(rest), 'class', 'classes')} left",
        )
    rest = _join_rest(task, targets, rest, scale_progress(progress, 0.5, 1))
    swept = Recoding.from_targets(classes, targets, trace=Trace(evaluated=len(levels)))
    if len(rest):
        swept = merge_breaking_classes(swept, merging_on(task))
    return swept.with_trace(replace(swept.trace, steps=swept.trace.steps + n_released))


def _join_rest(task: Task, targets: np.ndarray, rest: np.ndarray, progress: Progress) -> np.ndarray:
    """Let each class left over join the cheapest released one that it can; those that cannot."""
    classes = task.classes
    is_left = np.zeros(classes.n_classes, dtype=bool)
    is_left[rest] = True
    before = Recoding.from_targets(classes, targets, suppressed=is_left)
    nodes, counts = before.nodes.copy(), before.counts.copy()
    ends = np.cumsum(np.bincount(before.assigned[~is_left], minlength=len(counts)))
    members = np.split(np.argsort(before.assigned, kind="stable")[len(rest) :], ends[:-1])
    parents, depths = in_one_width(task)
    tuples = np.array(classes.nodes, dtype=np.int32, order="C")
    costs, met = np.empty_like(counts), np.empty_like(nodes)
    refused = []
    for place, c in enumerate(rest.tolist()):
        fill_joining_costs(
            nodes, counts, tuples[c], int(classes.counts[c]), parents, depths, met, costs
        )
        order = np.argsort(costs, kind="stable")
        taker = _find_taker(task, members, order[counts[order] > 0], c)
        if taker < 0:
            refused.append(c)
            continue
        nodes[taker] = met[taker]
        same = np.flatnonzero((nodes == nodes[taker]).all(axis=1) & (counts > 0))
        members[taker] = np.concatenate([[c], *(members[number] for number in same)])
        counts[same] = 0
        counts[taker] = classes.counts[members[taker]].sum()
        if place % 64 == 0:
            progress(
                place / len(rest),
                f"{count_noun(len(rest) - place, 'class', 'classes')} left over to join others",
            )
    for number in np.flatnonzero(counts > 0).tolist():
        targets[members[number]] = nodes[number]
    return np.array(refused, dtype=np.int64)


def _find_taker(task: Task, members: list[np.ndarray], order: np.ndarray, c: int) -> int:
    """The first class in an order that meets every model with one class more; -1 if none does."""
    begin, size = 0, 1
    while begin < len(order):
        asked = order[begin : begin + size]
        parts = [np.append(members[number], c) for number in asked]
        group = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        pooled = task.classes.pooled(np.concatenate(parts), group, len(parts))
        takes = np.flatnonzero(~find_broken(task.others, pooled))
        if len(takes):
            return int(asked[takes[0]])
        begin, size = begin + size, min(4 * size, 256)
    return -1
