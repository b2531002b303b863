"""KACA: any class below k is merged with the class nearest to it."""

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.clusters import finish_clusters
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.merging import begin_merging
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.merging import merge_class
from kanon.kernels.merging_state import Merging
from kanon.recoding import Recoding, find_merge_ends

CARD = read_algorithm_card(__file__)


def merged(task: Task, progress: Progress = ignore_progress) -> tuple[Merging, int]:
    """All merges for ``task.k``, in their order.

    Returns also their number. ``Merging.parts`` has a row per merge: the drawn class, the one
    nearest to it, and a third that already had the merged tuple (-1 if none). Merge i made the
    class E + i.

    A class is drawn from those below k, every one alike: the original ones in canonical order,
    then the merged ones in the order in which they were made. The distance of two classes is their
    merge cost by the metric of the task, in the place of the paper's weighted hierarchical
    distance; of several at the same distance the first by ties is taken.

    Source: Li, Wong, Fu, Pei 2006, the algorithm KACA.
    """
    size = task.classes.n_classes
    nearest = replace(task, strategy="s1", sensitive=None)
    merging, rules, view = begin_merging(nearest, task.classes, any_size=True)
    generator = np.random.default_rng(task.seed)
    small = np.flatnonzero(task.classes.counts < task.k).tolist()  # stays in rising order
    n_at_first, merges = len(small), 0
    while small:
        drawn = small[int(generator.integers(len(small)))]
        merged_class = int(merge_class(merging, rules, view, drawn))
        for part in merging.parts[merges].tolist():
            if part >= 0 and merging.counts[part] < task.k:
                del small[bisect_left(small, part)]
        if merging.counts[merged_class] < task.k:
            small.append(merged_class)
        merges += 1
        if merges % 64 == 0 or not small:
            n_small = len(small)
            progress(
                1 - n_small / n_at_first,
                f"{write_count(n_small)} classes below k left of {write_count(n_at_first)}, out of "
                f"{write_count(size)}",
            )
    return merging, merges


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The recoding of KACA for ``task.k`` and all the models of the task.

    Ages 1 and 2 below 1-2, ages 8 and 9 below 8-9: whatever is drawn, neighbours meet.

    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy.build import groups
    >>> from kanon.metrics import exact_potentials, metric_named
    >>> from kanon.hierarchy.scaled_potentials import scale_potentials
    >>> age = groups([{"1-2": ["1", "2"], "8-9": ["8", "9"]}, {"*": ["1-2", "8-9"]}])
    >>> classes = EquivalenceClasses(("age",), (age,), np.arange(4, dtype=np.int32)[:, None],
    ...                              np.ones(4, dtype=np.int64))
    >>> depths = scale_potentials(exact_potentials(metric_named("ncp"), (age,)), 4)
    >>> release = anonymise(Task(classes, depths, k=2))
    >>> [age.labels[node] for node in release.nodes[:, 0]], release.counts.tolist()
    (['1-2', '8-9'], [2, 2])
    """

    def build_targets(progress: Progress) -> tuple[np.ndarray, int]:
        merging, merges = merged(task, progress)
        size = task.classes.n_classes
        merged_into = np.arange(size + merges)
        for merged_class, parts in enumerate(merging.parts[:merges], start=size):
            merged_into[parts[parts >= 0]] = merged_class
        return merging.nodes[find_merge_ends(merged_into)[:size]], merges

    return finish_clusters(task, progress, build_targets)
