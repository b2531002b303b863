"""Meet the models after greedy merging: by merging on, or by a sweep where that loses less."""

from dataclasses import replace

import numpy as np

from kanon.algorithms.lattice_candidates import (
    WideLattice,
    list_nodes_next_to,
    walk_candidates,
)
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lattice_sweep_rest import with_the_rest
from kanon.algorithms.lower_bound import least_k
from kanon.algorithms.merge_until_models_hold import (
    ContinuedMerging,
    release_after,
    run_continued_merging,
)
from kanon.algorithms.repair_release import repair_release
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.recoding import Recoding, Trace

_LEAST_CLASSES = 20
"""Releases of fewer classes are only merged on, as the definition says."""

_MOST_WITH_NEIGHBOURS = 1_000  # the most levels whose neighbours, one up or down, are tried too

_MERGE_SHARE, _WALK_SHARE = 0.2, 0.5  # the shares of the time after merging, and after a walk


def repair_for_models(
    recoding: Recoding, task: Task, progress: Progress = ignore_progress
) -> Recoding:
    """The release after merging on; where that leaves less than half of the classes, or a sweep.

    The sweep is over the levels at which the merges left their classes and, where these are at
    most 1,000, over those one up or down in one quasi-identifier, the cheapest first. At each,
    groups of the remaining records that hold k records and meet every model are released. What is
    left joins the cheapest released class that it can, in canonical order; what can join none is
    merged. The release that loses less is taken, of equals the merged one. With fewer than 20
    classes before the repair there is no sweep. Then the models of the whole release are met.
    """
    return repair_release(_repair_classes(recoding, task, progress), task, progress)


def _repair_classes(recoding: Recoding, task: Task, progress: Progress) -> Recoding:
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
    wide = WideLattice(task)
    levels = [
        tree.level[nodes]
        for tree, nodes in zip(task.classes.hierarchies, merging.nodes.T, strict=True)
    ]
    root = np.array([len(rows) - 1 for rows in wide.raised])
    nodes = np.unique(np.vstack([np.stack(levels, axis=1), root]), axis=0)
    if len(nodes) <= _MOST_WITH_NEIGHBOURS:
        nodes = np.unique(np.vstack([nodes, list_nodes_next_to(nodes, root)]), axis=0)
    walk = walk_candidates(wide, nodes, scale_progress(progress, 0, _WALK_SHARE))
    trace = Trace(evaluated=walk.visited, steps=walk.released)
    targets = wide.find_targets(walk.group_of)
    rest = scale_progress(progress, _WALK_SHARE, 1)
    return with_the_rest(task, targets, walk.group_of < 0, trace, rest)
