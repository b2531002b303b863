"""GAA, the greedy anonymisation algorithm: merge a smallest class with its best partner."""

from __future__ import annotations

from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.repair import repaired
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.cards import Card
from kanon.recoding import MergePath, Recoding

__all__ = ["CARD", "FAMILY", "GUARANTEES", "HOW", "SLOW", "USES", "anonymise", "merge_path"]

CARD = Card(
    name="gaa",
    title="GAA (greedy merging)",
    summary="Merges a smallest class with the partner that the strategy picks, until all hold k "
    "records. One run serves every k.",
    source="Mauger, Le Mahec, Dequen 2023 (TDP 16), Algorithm 1",
)

FAMILY = "merging"

HOW = (
    "At first, records that share all quasi-identifiers form a class. As long as some class has "
    "fewer than k records, one of the smallest is merged with another class, its partner: in every "
    "quasi-identifier, all their records get the lowest group of the hierarchy that holds the "
    "values of both. Records that come to look the same are one class from then on. The strategy "
    "picks the partner. A run for a larger k begins like one for a smaller k, so one run to the "
    "end holds what is needed for every k."
)
"""What the algorithm does, for who reads a release."""


GUARANTEES = "Every class holds k records and meets all models; nothing is suppressed."

SLOW = "With more than about a million classes, or a strategy that looks at the merged class alone."

USES = ("metric", "attribute_weights", "strategy", "cost", "tie_seed")


def merge_path(task: Task, progress: Progress = no_progress) -> MergePath:
    """Run GAA up to ``task.k`` and keep the recoding at every smaller k too.

    While a class holds fewer than k records: take a class of minimal size, merge it with the
    partner that the strategy picks (see :mod:`kanon.strategies`), raise every quasi-identifier of
    both to their lowest common ancestor. Records with identical tuples always share a class. Ties
    are broken by the canonical order of the classes, lowest first, or by the hash of seed and
    tuple. Models beyond k-anonymity are not looked at: see :func:`anonymise`.

    Raises
    ------
    Unsatisfiable
        The table has fewer than k records.

    Examples
    --------
    The worked table of the paper: four women and four men, two of each race.

    >>> import numpy as np
    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy import Hierarchy
    >>> from kanon.metrics import metric_named, potentials, scaled_potentials
    >>> gender = Hierarchy.from_entries([("*", None, None), ("F", "*", 5), ("M", "*", 5)])
    >>> race = Hierarchy.from_entries([
    ...     ("Mammal", None, None), ("Felid", "Mammal", 3), ("Cat", "Felid", 1),
    ...     ("Lion", "Felid", 1), ("Dog", "Mammal", 4)])
    >>> trees = (gender, race)
    >>> classes = EquivalenceClasses(("gender", "race"), trees,
    ...     np.array([[0, 1], [0, 2], [1, 0], [1, 1]], dtype=np.int32), np.array([2, 2, 2, 2]))
    >>> depths = scaled_potentials(potentials(metric_named("custom"), trees), 8)
    >>> release = merge_path(Task(classes, depths, k=4)).at(4)
    >>> [[tree.labels[v] for tree, v in zip(trees, row)] for row in release.nodes]
    [['F', 'Mammal'], ['M', 'Felid']]
    """
    return merge_greedily(task, progress=progress)


def anonymise(task: Task, progress: Progress = no_progress) -> Recoding:
    """The recoding of GAA for ``task.k`` and all the models of the task.

    Raises
    ------
    Unsatisfiable
        No release of the table can meet k or a model.
    """
    return repaired(merge_path(task, progress).at(task.k), task, progress)
