"""Merge on until the models of the whole release hold."""

import heapq
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon.algorithms.merge_until_models_hold import (
    ContinuedMerging,
    build_class_heap,
    release_after,
)
from kanon.algorithms.merging import begin_merging
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError
from kanon.kernels.merging import merge_class
from kanon.measures.overview import build_all_at_root
from kanon.privacy.conjunction import find_broken
from kanon.privacy.model import Model
from kanon.recoding import Recoding

_SHARE = 10
"""In a round one class of so many that break a model is merged; then all are counted again."""


def repair_release(
    recoding: Recoding, task: Task, progress: Progress = ignore_progress
) -> Recoding:
    """The release after merging classes with the partners that cost least, until all models hold.

    In each round the smallest tenth of the classes that break a model of the whole release are
    merged, at least one. Merging never breaks a model of single classes; in one class at the roots
    all records meet all models, which :meth:`Task.check` asks first.
    """
    n_at_first = 0
    while task.of_release:
        released = recoding.released
        breaks = find_broken(task.of_release, released)
        n_breaking = int(breaks.sum())
        if not n_breaking:
            break
        if released.n_classes == 1:  # below the roots it fits too few people of a population
            return replace(build_all_at_root(task.classes), trace=recoding.trace)
        n_at_first = max(n_at_first, n_breaking)
        progress(
            1 - n_breaking / n_at_first,
            f"{count_noun(n_breaking, 'class', 'classes')} to merge for the whole release",
        )
        merging, rules, view = begin_merging(task, released, any_size=True)
        heap = build_class_heap(merging, np.flatnonzero(breaks).tolist())
        merges, wanted = 0, -(-n_breaking // _SHARE)
        while heap and merges < wanted:
            *_, breaking = heapq.heappop(heap)
            if merging.alive[breaking]:
                merge_class(merging, rules, view, breaking)
                merges += 1
        end = released.n_classes + merges
        recoding = release_after(
            recoding,
            ContinuedMerging(
                released, merging.parts[:merges], merging.nodes[:end], merging.counts[:end]
            ),
        )
    return recoding


def refuse_models(models: Sequence[Model], title: str, reason: str) -> None:
    """Refuse models that an algorithm cannot meet, in a PlanError that says why."""
    if models:
        raise PlanError(
            f"{title} {reason}, so it cannot meet {models[0].sentence}; use 'gaa', 'lattice-sweep' "
            "or 'optimal'."
        )
