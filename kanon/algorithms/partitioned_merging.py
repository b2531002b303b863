"""Greedy merging of a table in parts, several at once, or where an engine keeps the classes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.task import Task
from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.classes import EquivalenceClasses, count_cells_at
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.scaled_potentials import Potentials
from kanon.kernels.hashing import hash_tuples
from kanon.measures.running import sum_nodes_along
from kanon.recoding import MergePath, Partition, Recoding, rename_merges
from kanon.settings import get_settings
from kanon.stored_classes import PartCells, PartCut, StoredClasses, TupleNumbers, is_below_node
from kanon.strategies import LOOKS_AT

_CLASSES_LEFT, _LEFT_IN_PART = 100, 64
"""Parts are merged apart until about one in so many classes is left, or so many in each part."""

SAMPLE = 20_000  # on so many classes the parts are held against the whole

SEED = 1  # the classes whose tuples have the lowest hashes with this seed are the sample

_APART, _WHOLE = 0.95, 0.97
"""After which shares of the time the parts are done, and the whole, about."""


def merge_apart(task: Task, number: int, progress: Progress = ignore_progress) -> MergePath:
    """Merge classes until every one of them holds k records, at first in parts."""
    task.check()
    part_of, up_to = cut_table(task, number)
    if not part_of.any():
        return merge_greedily(task, progress=progress)
    path = merge_in_parts(task, part_of, up_to, scale_progress(progress, 0, _WHOLE))
    return replace(
        path, parted=measure_part_loss(task, part_of, up_to, scale_progress(progress, _WHOLE, 1))
    )


def cut_table(task: Task, number: int) -> tuple[np.ndarray, int]:
    """The part of each class, and up to which k parts are merged apart.

    That k is a hundred times the mean size of a class at the start; less in small tables, so that
    64 classes are left of each part: the fewer are left, the more a cut costs. Every part holds at
    least so many records. Tables too small for that are one part.
    """
    classes, up_to = task.classes, compute_apart_k(task.classes, number)
    if up_to < 2:  # every class has one record already
        return np.zeros(classes.n_classes, dtype=np.int64), up_to
    return split_classes(classes, task.potentials, number, least=up_to), up_to


def compute_apart_k(classes: EquivalenceClasses, number: int) -> int:
    n = classes.n_records
    return min(math.ceil(_CLASSES_LEFT * n / classes.n_classes), n // (_LEFT_IN_PART * number))


def merge_in_parts(
    task: Task, part_of: np.ndarray, up_to: int, progress: Progress = ignore_progress
) -> MergePath:
    """Merge each part on its own for every k up to ``up_to``, then all of them together."""
    classes, k = task.classes, min(task.k, up_to)
    by_part = np.argsort(part_of, kind="stable")
    members = np.split(by_part, np.cumsum(np.bincount(part_of))[:-1])

    def merge_part(part_members: np.ndarray, progress: Progress) -> MergePath:
        # Whether the models can be met is a question to the whole table.
        own = replace(task, classes=classes.only(part_members), k=k, models=())
        return merge_greedily(own, progress=progress)

    share = _APART if task.k > up_to else 1.0
    paths = run_side_by_side(
        [partial(merge_part, part_members) for part_members in members],
        scale_progress(progress, 0, share),
        "part",
        weights=[len(part_members) for part_members in members],
    )
    path = _interleave(classes, members, paths, k)
    if task.k <= up_to:
        return path
    remaining = path.after(len(path.parts)).released
    rest = merge_greedily(
        replace(task, classes=remaining, models=()), progress=scale_progress(progress, share, 1)
    )
    return path.followed_by(rest)


def _interleave(
    classes: EquivalenceClasses,
    members: Sequence[np.ndarray],
    paths: Sequence[MergePath],
    k_max: int,
) -> MergePath:
    """The merges of all parts as one path, by the size of their smallest class."""
    size, m = classes.nodes.shape
    smallest = np.concatenate([path.smallest for path in paths])
    order = np.argsort(smallest, kind="stable")  # the merges of a part keep their order
    number = np.empty(len(order), dtype=np.int64)
    number[order] = size + np.arange(len(order))  # the class that each merge makes
    parts = np.empty((len(order), 3), dtype=np.int32)
    nodes = np.empty((size + len(order), m), dtype=np.int32)
    counts = np.empty(size + len(order), dtype=np.int64)
    nodes[:size], counts[:size] = classes.nodes, classes.counts
    start = 0
    for own, path in zip(members, paths, strict=True):
        new = number[start : start + len(path.parts)]
        parts[new - size] = rename_merges(path.parts, np.concatenate([own, new]))
        nodes[new], counts[new] = path.nodes[len(own) :], path.counts[len(own) :]
        start += len(path.parts)
    return MergePath(classes, parts, smallest[order], nodes, counts, k_max)


def measure_part_loss(
    task: Task, part_of: np.ndarray, up_to: int, progress: Progress = ignore_progress
) -> Partition:
    sampled = np.arange(task.classes.n_classes)
    if len(sampled) > SAMPLE:
        # By their tuples: neither the order of the rows nor a generator's state matters.
        hashes = hash_tuples(task.classes.nodes, SEED)
        sampled = np.sort(np.argpartition(hashes, SAMPLE)[:SAMPLE])
    sample, parts = task.classes.only(sampled), int(part_of.max()) + 1
    return measure_sample_loss(task, sample, part_of[sampled], parts, up_to, progress)


def measure_sample_loss(
    task: Task,
    sample: EquivalenceClasses,
    part_of: np.ndarray,
    parts: int,
    up_to: int,
    progress: Progress = ignore_progress,
) -> Partition:
    _, cut = np.unique(part_of, return_inverse=True)
    least = int(np.bincount(cut, sample.counts).min())
    sample_task = replace(task, classes=sample, k=min(task.k, sample.n_records), models=())
    whole = merge_greedily(sample_task, progress=scale_progress(progress, 0, 0.5))
    apart = merge_in_parts(sample_task, cut, min(up_to, least), scale_progress(progress, 0.5, 1))
    ks = np.union1d(whole.distinct_k, apart.distinct_k)
    ks = np.append(ks[ks < sample_task.k], sample_task.k)  # beyond that k the runs were not made
    lost, least_lost = _sum_path_losses(apart, task, ks), _sum_path_losses(whole, task, ks)
    ratios = np.divide(lost, least_lost, out=np.ones(len(ks)), where=least_lost > 0)
    return Partition(parts, up_to, sample.n_classes, ks, ratios)


def _sum_path_losses(path: MergePath, task: Task, ks: np.ndarray) -> np.ndarray:
    left = sum_nodes_along(path, task.potentials)
    merges = np.searchsorted(path.smallest, ks, side="left")
    return (left[0] - left[merges]).astype(float)


# --- classes that an engine keeps -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MergePart:
    """Merges the classes of a part until every one of them holds k records."""

    task: Task

    def __call__(self, table: pa.Table, progress: Progress) -> pa.Table:
        keys = np.stack([table[f"key {place}"].to_numpy() for place in self._places], axis=1)
        nodes, counts = self._numbers.decode_tuples(keys), table["records"].to_numpy()
        order = np.lexsort(nodes.T[::-1])
        classes = replace(self.task.classes, nodes=nodes[order], counts=counts[order])
        path = merge_greedily(replace(self.task, classes=classes), progress=progress)
        recoding = path.after(len(path.parts))
        released = self._numbers.encode_tuples(recoding.nodes)[recoding.assigned]
        steps = np.zeros(len(order), dtype=np.int32)
        steps[0] = len(path.parts)
        parts = [keys[order].T, [counts[order]], released.T, [_sign_hashes(nodes[order]), steps]]
        return pa.Table.from_arrays(
            [pa.array(column) for columns in parts for column in columns], schema=self.schema
        )

    @property
    def schema(self) -> pa.Schema:
        keys = [f"key {place}" for place in self._places]
        released = [f"released {place}" for place in self._places]
        whole = dict.fromkeys([*keys, "records", *released, "hash"], pa.int64())
        return pa.schema({**whole, "steps": pa.int32()})

    @property
    def _places(self) -> range:
        return range(len(self._numbers.numbers))

    @property
    def _numbers(self) -> TupleNumbers:
        return TupleNumbers([tree.n_nodes for tree in self.task.classes.hierarchies])


def _sign_hashes(nodes: np.ndarray) -> np.ndarray:
    """The hashes of tuples as signed numbers in the same order: engines have only those."""
    return (hash_tuples(nodes, SEED) ^ np.uint64(1 << 63)).view(np.int64)


def merge_in_engine(task: Task, number: int, progress: Progress = ignore_progress) -> Recoding:
    """The release of :func:`merge_apart` for the task's k, made where the classes are."""
    task.check()
    if LOOKS_AT[task.strategy]:
        raise PlanError(
            f"Strategy {task.strategy!r} looks at more than the cost of a merge, so it needs all "
            "classes in memory, and this table has too many; choose strategy 's1', or raise the "
            "limit 'classes' (see docs/operate/limits.md)."
        )
    classes = task.classes
    assert isinstance(classes, StoredClasses)
    first, second = 0.9, 0.95  # the shares of the time after the parts, and what is left of them
    up_to = compute_apart_k(classes, number)
    cuts, sizes = choose_cuts(
        classes.hierarchies, task.potentials, number, up_to, classes.count_part_cells
    )
    if max(sizes) > get_settings().classes:
        raise classes.refusal
    k = min(task.k, up_to)
    work = MergePart(replace(task, classes=_build_empty_classes(classes), k=k, models=()))
    recoding = classes.merge_parts(cuts, sizes, work, scale_progress(progress, 0, first))
    if task.k > up_to:
        rest = replace(task, classes=recoding.read_classes(), models=())
        path = merge_greedily(rest, progress=scale_progress(progress, first, second))
        recoding = recoding.followed_by(path.at(task.k))
    nodes, counts, part_of = recoding.read_lowest_hashes(SAMPLE)
    sample = replace(_build_empty_classes(classes), nodes=nodes, counts=counts)
    loss = measure_sample_loss(
        task, sample, part_of, len(cuts) + 1, up_to, scale_progress(progress, second, 1)
    )
    if task.others:
        released = recoding.released
        whole = Recoding.from_targets(released, released.nodes)
        recoding = recoding.followed_by(
            merge_breaking_classes(whole, replace(task, classes=released))
        )
    trace = replace(
        recoding.trace, parts=loss.parts, sampled=loss.sampled,
        loss_ratio=loss.ratio_at(task.k),
    )  # fmt: skip
    return recoding.with_trace(trace)


def _build_empty_classes(classes: EquivalenceClasses) -> EquivalenceClasses:
    nodes = np.zeros((0, len(classes.attributes)), dtype=np.int32)
    return EquivalenceClasses(
        classes.attributes, classes.hierarchies, nodes, np.zeros(0, dtype=np.int64)
    )


# --- the cuts ---------------------------------------------------------------------------------
_ROUNDING = 1e-12  # rounding may change what is expected of a cut by this share

CellsOfPart = Callable[[Sequence[PartCut], int], PartCells]
"""What a part holds, by the cuts made so far and its number."""


def split_classes(
    classes: EquivalenceClasses, potentials: Potentials, number: int, least: int = 1
) -> np.ndarray:
    """Cut classes into parts that never meet, each of at least ``least`` records."""
    members = [np.arange(classes.n_classes)]

    def count_cells(cuts: Sequence[PartCut], part: int) -> PartCells:
        for cut in cuts[len(members) - 1 :]:
            under = is_below_node(classes.hierarchies[cut.column], cut.node)
            inside = under[classes.nodes[members[cut.part], cut.column]]
            members.append(members[cut.part][inside])
            members[cut.part] = members[cut.part][~inside]
        inside_part = members[part]
        counts, once = classes.counts[inside_part], np.ones(len(inside_part), dtype=np.int64)
        columns = list(zip(classes.hierarchies, classes.nodes[inside_part].T, strict=True))
        return PartCells(
            tuple(count_cells_at(tree.n_nodes, nodes, once) for tree, nodes in columns),
            tuple(count_cells_at(tree.n_nodes, nodes, counts) for tree, nodes in columns),
        )

    cuts, _ = choose_cuts(classes.hierarchies, potentials, number, least, count_cells)
    count_cells(cuts, 0)  # so that the last cut is made
    part_of = np.zeros(classes.n_classes, dtype=np.int64)
    for place, part in enumerate(members):
        part_of[part] = place
    return part_of


def choose_cuts(
    hierarchies: Sequence[Hierarchy],
    potentials: Potentials,
    number: int,
    least: int,
    cells: CellsOfPart,
) -> tuple[list[PartCut], list[int]]:
    cuts: list[PartCut] = []
    sizes = [cells(cuts, 0).n_classes]
    uncut: set[int] = set()  # those that cannot be cut
    while len(sizes) < number and len(uncut) < len(sizes):
        largest = max(
            (place for place in range(len(sizes)) if place not in uncut), key=sizes.__getitem__
        )
        cut = _choose_cut(hierarchies, potentials, cells(cuts, largest), least)
        if cut is None:
            uncut.add(largest)
            continue
        column, node, held = cut
        cuts.append(PartCut(largest, column, node))
        sizes.append(held)
        sizes[largest] -= held
    return cuts, sizes


def _choose_cut(
    hierarchies: Sequence[Hierarchy], potentials: Potentials, part: PartCells, least: int
) -> tuple[int, int, int] | None:
    """The column and the node of the best cut, and how many classes lie below it; None if none."""
    size, records = part.n_classes, part.records[0].sum()
    # Where potentials are irrational, what cannot be told from each other is equal.
    irrational = potentials.slack > 0 and not potentials.digits
    tolerance = 1 + Fraction(_ROUNDING) if irrational else 1
    fewest, best = size / 4, (Fraction(0), 0.0)  # fewest: parts should take alike long
    best_cut = None
    for j, (tree, depth) in enumerate(zip(hierarchies, potentials, strict=True)):
        inner = slice(tree.root)
        below = tree.sum_below(part.classes[j])[inner]
        held = tree.sum_below(part.records[j])[inner]
        others = size - below
        even = np.minimum(below, others) >= fewest
        is_allowed = even & (np.minimum(held, records - held) >= least)
        weight = (depth - depth[tree.parent])[inner]
        expected = np.where(is_allowed, weight * (below * others).astype(float), 0.0)
        highest = max(best[1], expected.max(initial=0.0))
        if not highest:
            continue
        # Those that rounding may have put in the wrong order.
        for node in np.flatnonzero(expected >= highest * (1 - _ROUNDING)).tolist():
            exact = potentials.get_exact(j, node) - potentials.get_exact(j, int(tree.parent[node]))
            here = exact * int(below[node]) * int(others[node])
            if here > best[0] * tolerance:
                best, best_cut = (here, float(expected[node])), (j, node, int(below[node]))
    return best_cut
