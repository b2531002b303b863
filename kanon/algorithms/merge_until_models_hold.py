"""Merge on until every class meets every model: what greedy merging does beyond k-anonymity."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms.merging import begin_merging
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.kernels.merging import merge_class
from kanon.kernels.merging_state import Merging
from kanon.privacy.conjunction import find_broken
from kanon.recoding import Recoding, find_merge_ends
from kanon.sensitive import Sensitive

RankedClass = tuple[int, int, tuple[int, ...], int]  # size, rank, tuple, number


@dataclass(frozen=True, eq=False)
class ContinuedMerging:
    before: EquivalenceClasses  # the R classes that it began with
    # per merge the class that broke a model, its partner, and a third class that already had the
    # merged tuple (-1 if none)
    parts: np.ndarray
    nodes: np.ndarray  # the tuple of every class
    counts: np.ndarray  # the number of records of every class


def merge_breaking_classes(
    recoding: Recoding, task: Task, progress: Progress = ignore_progress
) -> Recoding:
    """The release after merging every class that breaks a model, the smallest first."""
    return release_after(recoding, run_continued_merging(recoding.released, task, progress))


def release_after(recoding: Recoding, merging: ContinuedMerging) -> Recoding:
    if not len(merging.parts):
        return recoding
    before = recoding.released
    size, into = before.n_classes, np.arange(len(merging.counts))
    for merged_class, parts in enumerate(merging.parts, start=size):
        into[parts[parts >= 0]] = merged_class
    trace = replace(recoding.trace, steps=recoding.trace.steps + len(merging.parts))
    final = merging.nodes[find_merge_ends(into)[:size]]
    release = Recoding.from_targets(recoding.classes, final[recoding.assigned], trace=trace)
    n_classes = len(merging.counts) - int((merging.parts >= 0).sum())
    assert release.n_classes == n_classes, "classes of the same tuple are one class"
    return release


def run_continued_merging(
    before: EquivalenceClasses, task: Task, progress: Progress = ignore_progress
) -> ContinuedMerging:
    breaks = find_broken(task.of_classes, before)
    if not breaks.any():
        none = np.zeros((0, 3), dtype=np.int32)
        return ContinuedMerging(before, none, before.nodes, before.counts)
    merging, rules, view = begin_merging(task, before, any_size=True)
    size = before.n_classes
    histograms: dict[int, list[Sensitive]] = {}

    def get_histograms(number: int) -> list[Sensitive]:
        if number < size:
            return [histogram.only(np.array([number])) for histogram in before.histograms]
        return histograms.pop(number)

    heap = build_class_heap(merging, np.flatnonzero(breaks).tolist())
    n_at_first, merges = len(heap), 0
    while heap:
        *_, breaking = heapq.heappop(heap)
        if not merging.alive[breaking]:
            continue
        new = int(merge_class(merging, rules, view, breaking))
        parts = [int(part) for part in merging.parts[merges] if part >= 0]
        histograms[new] = [
            _merge_sensitive(columns) for columns in zip(*map(get_histograms, parts), strict=True)
        ]
        alone = slice(new, new + 1)
        merged = before.regrouped(merging.nodes[alone], merging.counts[alone], histograms[new])
        if find_broken(task.of_classes, merged)[0]:
            heapq.heappush(heap, rank_class(merging, new))
        merges += 1
        if merges % 64 == 0:
            n_waiting = len(heap)
            progress(
                max(0.0, 1 - n_waiting / n_at_first),
                f"{write_count(n_waiting)} classes left to merge for the other models",
            )
    new = size + merges
    return ContinuedMerging(
        before, merging.parts[:merges], merging.nodes[:new], merging.counts[:new]
    )


def build_class_heap(merging: Merging, classes: Sequence[int]) -> list[RankedClass]:
    """Classes to be merged, the smallest first, of several the first by ties."""
    heap = [rank_class(merging, c) for c in classes]
    heapq.heapify(heap)
    return heap


def rank_class(merging: Merging, c: int) -> RankedClass:
    return int(merging.counts[c]), int(merging.ranks[c]), tuple(merging.nodes[c].tolist()), c


def _merge_sensitive(parts: tuple[Sensitive, ...]) -> Sensitive:
    """One class made of several; its total stays that of the whole table."""
    value = np.concatenate([part.value for part in parts])
    count = np.concatenate([part.count for part in parts])
    values, place = np.unique(value, return_inverse=True)
    sums = np.zeros(len(values), dtype=np.int64)
    np.add.at(sums, place, count)
    return replace(
        parts[0], start=np.array([0, len(values)]), value=values.astype(np.int32), count=sums
    )
