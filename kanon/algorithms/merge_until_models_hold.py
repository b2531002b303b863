"""Merge on until every class meets every model: what greedy merging does beyond k-anonymity."""

import heapq
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms.merging import begin
from kanon.algorithms.task import Task
from kanon.base.formatting import thin
from kanon.base.progress import Progress, no_progress
from kanon.classes import EquivalenceClasses
from kanon.kernels.merging import merge_chosen
from kanon.privacy.conjunction import broken
from kanon.recoding import Recoding, ends
from kanon.sensitive import Sensitive


@dataclass(frozen=True, eq=False)
class ContinuedMerging:
    before: EquivalenceClasses  # the R classes that it began with
    # per merge the class that broke a model, its partner, and a third class that already had the
    # merged tuple (-1 if none)
    parts: np.ndarray
    nodes: np.ndarray  # the tuple of every class
    counts: np.ndarray  # the number of records of every class


def repaired(recoding: Recoding, task: Task, progress: Progress = no_progress) -> Recoding:
    """The release after merging on every class that breaks a model, the smallest first."""
    before = recoding.released
    found = continued(before, task, progress)
    if not len(found.parts):
        return recoding
    size, into = before.n_classes, np.arange(len(found.counts))
    for made, parts in enumerate(found.parts, start=size):
        into[parts[parts >= 0]] = made
    trace = replace(recoding.trace, steps=recoding.trace.steps + len(found.parts))
    final = found.nodes[ends(into)[:size]]
    merged = Recoding.from_targets(recoding.classes, final[recoding.assigned], trace=trace)
    live = len(found.counts) - int((found.parts >= 0).sum())
    assert merged.n_classes == live, "classes of the same tuple are one class"
    return merged


def continued(
    before: EquivalenceClasses, task: Task, progress: Progress = no_progress
) -> ContinuedMerging:
    breaks = broken(task.models, before)
    if not breaks.any():
        none = np.zeros((0, 3), dtype=np.int32)
        return ContinuedMerging(before, none, before.nodes, before.counts)
    work, rules, looking = begin(task, before, any_size=True)
    size = before.n_classes
    histograms: dict[int, list[Sensitive]] = {}

    def seen(each: int) -> list[Sensitive]:
        if each < size:
            return [one.only(np.array([each])) for one in before.histograms]
        return histograms.pop(each)

    def waiting(each: int) -> tuple[int, int, tuple[int, ...], int]:
        rank = int(work.ranks[each])
        return int(work.counts[each]), rank, tuple(work.nodes[each].tolist()), each

    heap = [waiting(each) for each in np.flatnonzero(breaks).tolist()]
    heapq.heapify(heap)
    at_first, merges = len(heap), 0
    while heap:
        *_, chosen = heapq.heappop(heap)
        if not work.alive[chosen]:
            continue
        made = int(merge_chosen(work, rules, looking, chosen))
        parts = [int(part) for part in work.parts[merges] if part >= 0]
        histograms[made] = [_joined(each) for each in zip(*map(seen, parts), strict=True)]
        alone = slice(made, made + 1)
        now = before.regrouped(work.nodes[alone], work.counts[alone], histograms[made])
        if broken(task.models, now)[0]:
            heapq.heappush(heap, waiting(made))
        merges += 1
        if merges % 64 == 0:
            left = len(heap)
            progress(
                max(0.0, 1 - left / at_first),
                f"{thin(left)} classes left to merge for the other models",
            )
    made = size + merges
    return ContinuedMerging(before, work.parts[:merges], work.nodes[:made], work.counts[:made])


def _joined(parts: tuple[Sensitive, ...]) -> Sensitive:
    """One class made of several; the total stays that of the whole table."""
    value = np.concatenate([part.value for part in parts])
    count = np.concatenate([part.count for part in parts])
    values, place = np.unique(value, return_inverse=True)
    summed = np.zeros(len(values), dtype=np.int64)
    np.add.at(summed, place, count)
    return replace(
        parts[0], start=np.array([0, len(values)]), value=values.astype(np.int32), count=summed
    )
