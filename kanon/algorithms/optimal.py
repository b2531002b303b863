"""The bounded search: the full-domain release with the least loss, from few nodes."""

from dataclasses import replace

import numpy as np

from kanon.algorithms.algorithm_card import AlgorithmCard
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    CellLoss,
    NodeTags,
    begin_search,
    build_search_check,
    build_unsatisfiable,
    finish_search,
)
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.recoding import Recoding

CARD = AlgorithmCard(
    name="optimal",
    title="Bounded search (optimal levels)",
    summary="Raises each column to one level, the same for all records, and finds the levels with "
    "the least loss. Each node's least possible loss is known in advance, so few nodes are "
    "counted.",
    source="kanon 2026; conclusions from one node about others: Samarati 2001",
    family="levels",
    how=f"{FULL_DOMAIN} Of all nodes that leave at most the allowed number of records in classes "
    "that are too small, the one with the least loss is released, and those records are "
    "suppressed. The least that a node can lose follows from its levels alone. A node is never "
    "counted if the least that it can lose exceeds the best loss so far, or if a node above it "
    "failed.",
    guarantees="No other levels lose less, and no more records are suppressed than allowed.",
    slow="With many quasi-identifiers; the limit is a lattice of 10 million nodes.",
    uses=("metric", "attribute_weights", "suppression"),
    parameters=(
        replace(LOSS, choices={name: LOSS.choices[name] for name in ("metric", "precision")}),
    ),
)

check = build_search_check(CARD.title)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release with the least loss.

    A greedy descent from the top gives a first good node. Then the nodes whose loss with nothing
    suppressed is at most that of the best so far are looked at, the highest such bound first. One
    that fails tags all below it as failing, and those have lower bounds; one that meets the
    requirements lowers the best loss. Meeting the models is monotone (predictive tagging).

    Raises
    ------
    PlanError
        See :func:`check`.
    Unsatisfiable
        The table has fewer than k records.
    """
    task.check()
    check(task)
    lattice = begin_search(task, progress)
    tags, loss = NodeTags(lattice), CellLoss(lattice)
    bounds = loss.bounds()
    walk = _descend(lattice, tags, bounds)
    if not walk:
        raise build_unsatisfiable(task)
    best = min((loss.of(node, lattice.evaluate(node)), node) for node in walk)
    flat, failing = bounds.reshape(-1), tags.failing.reshape(-1)
    places = np.flatnonzero((flat <= best[0]) & ~failing)
    walked_nodes = set(walk)
    for place in lattice.walk_places(places[np.argsort(-flat[places], kind="stable")]):
        if failing[place] or flat[place] > best[0]:
            continue
        node = lattice.decode_node(place)
        if node in walked_nodes or (flat[place] == best[0] and node > best[1]):
            continue
        if tags.check(node):
            best = min(best, (loss.of(node, lattice.evaluate(node)), node))
    return finish_search(lattice, best[1], walk)


def _descend(lattice: Lattice, tags: NodeTags, bounds: np.ndarray) -> list[Node]:
    """Down from the top, each time to the good node with the lowest bound."""
    if not tags.check(lattice.tops):
        return []
    walk = [lattice.tops]
    while True:
        for node in sorted(
            lattice.list_nodes_below(walk[-1]), key=lambda lower: (bounds[lower], lower)
        ):
            if tags.get_tag(node) is None and tags.check(node):
                walk.append(node)
                break
        else:
            return walk
