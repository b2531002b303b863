"""Greedy merging of a table in parts that are merged by themselves, several at once."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.partition import partition
from kanon.algorithms.task import Task
from kanon.base.parallel import side_by_side
from kanon.base.progress import Progress, no_progress, stretch
from kanon.classes import EquivalenceClasses
from kanon.kernels.hashing import tuple_hashes
from kanon.measures.running import node_sums
from kanon.recoding import MergePath, Partition, renamed

_CLASSES_LEFT, _LEFT_IN_PART = 100, 64
"""Parts are merged apart until about one in so many classes is left, or so many in each part."""

SAMPLE = 20_000  # on so many classes the parts are held against the whole

SEED = 1  # the classes whose tuples have the lowest hashes with this seed are the sample

_APART, _TOGETHER = 0.95, 0.97
"""After which shares of the time the parts are done, and the whole, about."""


def merge_apart(task: Task, number: int, progress: Progress = no_progress) -> MergePath:
    """Merge classes until every one of them holds k records, at first in parts."""
    task.check()
    part_of, up_to = cut_for(task, number)
    if not part_of.any():
        return merge_greedily(task, progress=progress)
    path = merge_in_parts(task, part_of, up_to, stretch(progress, 0, _TOGETHER))
    return replace(path, parted=sampled_loss(task, part_of, up_to, stretch(progress, _TOGETHER, 1)))


def cut_for(task: Task, number: int) -> tuple[np.ndarray, int]:
    """The part of each class, and up to which k parts are merged apart.

    That k is a hundred times the mean size of a class at the start. In small tables it is less:
    what 64 classes in each part would hold, since the fewer are left of a part the more costs a
    cut. Every part holds at least so many records. Tables too small for that are one part.
    """
    classes, up_to = task.classes, apart_up_to(task.classes, number)
    if up_to < 2:  # every class has one record already
        return np.zeros(classes.n_classes, dtype=np.int64), up_to
    return partition(classes, task.potentials, number, least=up_to), up_to


def apart_up_to(classes: EquivalenceClasses, number: int) -> int:
    n = classes.n_records
    return min(math.ceil(_CLASSES_LEFT * n / classes.n_classes), n // (_LEFT_IN_PART * number))


def merge_in_parts(
    task: Task, part_of: np.ndarray, up_to: int, progress: Progress = no_progress
) -> MergePath:
    """Merge parts by themselves for every k up to ``up_to``, and then all of them together."""
    classes, k = task.classes, min(task.k, up_to)
    by_part = np.argsort(part_of, kind="stable")
    members = np.split(by_part, np.cumsum(np.bincount(part_of))[:-1])

    def merged(each: np.ndarray, told: Progress) -> MergePath:
        # Whether the models can be met is a question to the whole table.
        own = replace(task, classes=classes.only(each), k=k, models=())
        return merge_greedily(own, progress=told)

    share = _APART if task.k > up_to else 1.0
    paths = side_by_side(
        [partial(merged, each) for each in members],
        stretch(progress, 0, share),
        "part",
        weights=[len(each) for each in members],
    )
    path = _interleaved(classes, members, paths, k)
    if task.k <= up_to:
        return path
    left = path.after(len(path.parts)).released
    further = merge_greedily(
        replace(task, classes=left, models=()), progress=stretch(progress, share, 1)
    )
    return path.followed_by(further)


def _interleaved(
    classes: EquivalenceClasses,
    members: Sequence[np.ndarray],
    paths: Sequence[MergePath],
    k_max: int,
) -> MergePath:
    """The merges of all parts as one path, by the size of their smallest class."""
    size, m = classes.nodes.shape
    every = np.concatenate([path.smallest for path in paths])
    order = np.argsort(every, kind="stable")  # the merges of a part keep their order
    number = np.empty(len(order), dtype=np.int64)
    number[order] = size + np.arange(len(order))  # the class that each merge makes
    parts = np.empty((len(order), 3), dtype=np.int32)
    nodes = np.empty((size + len(order), m), dtype=np.int32)
    counts = np.empty(size + len(order), dtype=np.int64)
    nodes[:size], counts[:size] = classes.nodes, classes.counts
    start = 0
    for own, path in zip(members, paths, strict=True):
        made = number[start : start + len(path.parts)]
        parts[made - size] = renamed(path.parts, np.concatenate([own, made]))
        nodes[made], counts[made] = path.nodes[len(own) :], path.counts[len(own) :]
        start += len(path.parts)
    return MergePath(classes, parts, every[order], nodes, counts, k_max)


def sampled_loss(
    task: Task, part_of: np.ndarray, up_to: int, progress: Progress = no_progress
) -> Partition:
    chosen = np.arange(task.classes.n_classes)
    if len(chosen) > SAMPLE:
        # By their tuples: neither the order of the rows nor a generator's state matters.
        hashes = tuple_hashes(task.classes.nodes, SEED)
        chosen = np.sort(np.argpartition(hashes, SAMPLE)[:SAMPLE])
    some, parts = task.classes.only(chosen), int(part_of.max()) + 1
    return loss_on_sample(task, some, part_of[chosen], parts, up_to, progress)


def loss_on_sample(
    task: Task,
    some: EquivalenceClasses,
    part_of: np.ndarray,
    parts: int,
    up_to: int,
    progress: Progress = no_progress,
) -> Partition:
    _, cut = np.unique(part_of, return_inverse=True)
    least = int(np.bincount(cut, some.counts).min())
    one = replace(task, classes=some, k=min(task.k, some.n_records), models=())
    whole = merge_greedily(one, progress=stretch(progress, 0, 0.5))
    apart = merge_in_parts(one, cut, min(up_to, least), stretch(progress, 0.5, 1))
    ks = np.union1d(whole.distinct_k, apart.distinct_k)
    ks = np.append(ks[ks < one.k], one.k)  # beyond that k the runs were not made
    lost, least_lost = _losses(apart, task, ks), _losses(whole, task, ks)
    ratios = np.divide(lost, least_lost, out=np.ones(len(ks)), where=least_lost > 0)
    return Partition(parts, up_to, some.n_classes, ks, ratios)


def _losses(path: MergePath, task: Task, ks: np.ndarray) -> np.ndarray:
    left = node_sums(path, task.potentials)
    merges = np.searchsorted(path.smallest, ks, side="left")
    return (left[0] - left[merges]).astype(float)
