"""Incognito: which levels satisfy, from few quasi-identifiers to all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    begin,
    check_full_domain,
    least_loss,
    loss_of,
    released,
)
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.cards import Card
from kanon.recoding import Recoding

__all__ = [
    "CARD",
    "FAMILY",
    "GUARANTEES",
    "HOW",
    "PARAMETERS",
    "SLOW",
    "USES",
    "anonymise",
    "check",
]

CARD = Card(
    name="incognito",
    title="Incognito",
    summary="Finds the levels of least loss. It rules most of them out early, by looking at a "
    "few columns at a time.",
    source="LeFevre, DeWitt, Ramakrishnan 2005, Incognito: Efficient Full-Domain k-Anonymity, "
    "SIGMOD",
)

FAMILY = "levels"

HOW = (
    f"{FULL_DOMAIN} "
    "What does not satisfy for some of the quasi-identifiers does not for all of them. So "
    "levels are tried on single columns first, then on pairs, and so on; only what "
    "satisfies is tried with one column more. Of all nodes that satisfy in the end the one "
    "of least loss is released; records in classes that are too small, at most the allowed "
    "number, are suppressed."
)
"""What the algorithm does, for who reads a release."""

GUARANTEES = "No other levels lose less; at most the allowed number of records is suppressed."

SLOW = "With many quasi-identifiers: it goes through all subsets of them."

USES = ("metric", "attribute_weights", "suppression")

PARAMETERS = (LOSS,)


def check(task: Task) -> None:
    """Check that the search can do what is asked for.

    Raises
    ------
    PlanError
        See :func:`kanon.algorithms.search.check_full_domain`.
    """
    check_full_domain(task, CARD.title, complete=True)


def anonymise(task: Task, progress: Progress = no_progress) -> Recoding:
    """The full-domain release of least loss, found by Incognito.

    For subsets of the quasi-identifiers, the smallest first, which combinations of levels satisfy
    is found by breadth-first search: by height, and in canonical order; above one that satisfies
    all do. A combination is a candidate only if it satisfies for every subset with one
    quasi-identifier less. The classes by some quasi-identifiers alone are those of the node with
    the others at their roots. Of the nodes that satisfy for all quasi-identifiers the one of least
    loss is released.

    Raises
    ------
    PlanError
        See :func:`check`.
    Unsatisfiable
        No release of the table can meet k or a model.

    Notes
    -----
    Source: LeFevre, DeWitt, Ramakrishnan 2005.
    """
    task.check()
    check(task)
    lattice = begin(task, progress)
    every = tuple(range(len(lattice.tops)))
    smaller: dict[tuple[int, ...], np.ndarray] = {(): np.array(True)}
    for size in range(1, len(every) + 1):
        smaller = {
            subset: _satisfying(lattice, subset, smaller) for subset in combinations(every, size)
        }
    best = least_loss(lattice, loss_of(lattice, task), smaller[every])
    return released(lattice, best, [best])


def _satisfying(
    lattice: Lattice, subset: tuple[int, ...], smaller: dict[tuple[int, ...], np.ndarray]
) -> np.ndarray:
    """Which levels satisfy for some quasi-identifiers alone, given those of all smaller subsets."""
    tops = [lattice.tops[j] for j in subset]
    candidates = np.ones([top + 1 for top in tops], dtype=bool)
    for place in range(len(subset)):
        without = (*subset[:place], *subset[place + 1 :])
        candidates &= np.expand_dims(smaller[without], place)
    found = np.zeros_like(candidates)
    waiting = np.argwhere(candidates)
    for levels in waiting[np.argsort(waiting.sum(axis=1), kind="stable")].tolist():
        if found[tuple(levels)]:
            continue
        node = list(lattice.tops)
        for j, level in zip(subset, levels, strict=True):
            node[j] = level
        if lattice.satisfies(tuple(node)):
            found[tuple(slice(level, None) for level in levels)] = True
    return found
