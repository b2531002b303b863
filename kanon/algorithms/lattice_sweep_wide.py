"""The lattice sweep where the lattice has too many nodes to visit all."""

from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms.lattice_candidates import (
    WalkedCandidates,
    WideLattice,
    form_clusters,
    list_nodes_next_to,
    walk_candidates,
)
from kanon.algorithms.lattice_sweep_better import improve_release, total_loss
from kanon.algorithms.lattice_sweep_rest import merging_on, with_the_rest
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, scale_progress
from kanon.recoding import Recoding, Trace

_LARGEST_CLUSTERS = 1000
"""Records of the largest clusters that are formed where a model may ask for more than k records."""


@dataclass(frozen=True)
class Work:
    """How much is looked at, for the whole table."""

    pairs: float  # of classes that are compared to form clusters, about
    visits: float  # of classes by nodes, at most
    rounds: int  # walks along the nodes of what was found, at most


FAST = Work(pairs=1.5e8, visits=4e8, rounds=0)
THOROUGH = Work(pairs=6e8, visits=1.2e9, rounds=2)
CLOSEST = Work(pairs=1e10, visits=6e9, rounds=8)
EFFORTS = {"fast": FAST, "thorough": THOROUGH, "closest": CLOSEST}

_NEXT_SHARE = 0.3  # how much of the visits nodes next to those of clusters may bring the nodes to

_LEAST_GAIN = 0.0005  # a round that lowers the loss by a smaller share is the last


def sweep_wide_lattice(task: Task, work: Work, progress: Progress) -> Recoding:
    """The best release found along the nodes that clusters of near classes have in common.

    Each cluster takes near classes until it has k records, and the levels at which it is one are a
    node to visit. The nodes are visited by loss; groups of at least k records of what remains are
    released, each raised only as far as it needs. The clusters themselves are a release as well,
    unless there are other models than k-anonymity. Each further round visits the nodes of the best
    release so far.
    """
    wide, everything = WideLattice(task), np.arange(task.classes.n_classes)
    begun, formed, walked = 0.1, 0.5, 0.5 + 0.4 / (1 + work.rounds)  # shares of the time
    distances = wide.measure_distances(scale_progress(progress, 0, begun))
    sizes, largest = [task.k], min(_LARGEST_CLUSTERS, task.classes.n_records // 2)
    while task.others and 4 * sizes[-1] <= largest:
        sizes.append(4 * sizes[-1])
    formings, step = [], (formed - begun) / len(sizes)
    for turn, size in enumerate(sizes):
        pairs = work.pairs if turn == 0 else FAST.pairs
        part = scale_progress(progress, begun + turn * step, begun + (turn + 1) * step)
        formings.append(form_clusters(wide, everything, distances, size, pairs, part))
    clusters, found = formings[0], [wide.find_levels(clusters) for clusters in formings]
    walk = _visit(wide, found, work, scale_progress(progress, formed, walked))
    best, visited = _complete(wide, distances, walk.group_of), walk.visited
    if not task.others:
        best = _choose_better(task, best, _complete(wide, distances, clusters))
    for turn in range(work.rounds):
        begins, step = walked, (0.9 - walked) / work.rounds
        part = scale_progress(progress, begins + turn * step, begins + (turn + 1) * step)
        walk = _visit(wide, [wide.find_levels(best.assigned), walk.used], work, part)
        before, best = (
            total_loss(task, best),
            _choose_better(task, best, _complete(wide, distances, walk.group_of)),
        )
        visited += walk.visited
        if total_loss(task, best) > (1 - _LEAST_GAIN) * before:
            break
    best = replace(best, trace=Trace(evaluated=visited, steps=best.n_classes))
    if work is FAST:
        return best
    return improve_release(best, task, scale_progress(progress, 0.9, 1), splits=False)


def _visit(
    wide: WideLattice, found: list[np.ndarray], work: Work, progress: Progress
) -> WalkedCandidates:
    """Walk along some nodes, the root, and nodes next to them where there is time for more.

    Where all would take too long, some are drawn.
    """
    root = np.array([[len(rows) - 1 for rows in wide.raised]])
    levels = np.unique(np.concatenate([*found, root]), axis=0)
    most = max(1, int(work.visits / wide.task.classes.n_classes))
    draw = np.random.default_rng(wide.task.seed)
    if len(levels) > most:
        levels = np.concatenate([draw.choice(levels, most, replace=False), root])
    elif (room := int(_NEXT_SHARE * most) - len(levels)) > 0:
        further = list_nodes_next_to(levels, root[0])
        if len(further) > room:
            further = draw.choice(further, room, replace=False)
        levels = np.unique(np.concatenate([levels, further]), axis=0)
    return walk_candidates(wide, levels, progress)


def _complete(wide: WideLattice, distances: np.ndarray, group_of: np.ndarray) -> Recoding:
    """The release of some groups; what is left forms clusters, and the rest joins classes."""
    task, left = wide.task, np.flatnonzero(group_of < 0)
    if not task.others and task.classes.counts[left].sum() >= task.k:
        clusters = form_clusters(wide, left, distances, task.k, THOROUGH.pairs)
        group_of = np.where(clusters >= 0, clusters + group_of.max() + 1, group_of)
    targets = wide.find_targets(group_of)
    release = with_the_rest(task, targets, group_of < 0, Trace())
    return merge_breaking_classes(release, merging_on(task)) if task.others else release


def _choose_better(task: Task, first: Recoding, second: Recoding) -> Recoding:
    return min(first, second, key=lambda recoding: total_loss(task, recoding))
