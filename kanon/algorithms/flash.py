"""Flash: binary searches along paths through the lattice."""

import heapq
import math

import numpy as np

from kanon.algorithms.algorithm_card import AlgorithmCard
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node, nodes_per_height
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    NodeTags,
    Told,
    complete_search,
    nobody,
    release_by,
)
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, no_progress
from kanon.recoding import Recoding

CARD = AlgorithmCard(
    name="flash",
    title="Flash",
    summary="Finds the levels of least loss. It searches along paths from the bottom of the "
    "lattice to its top, half of a path at a time.",
    source="Kohlmayer, Prasser, Eckert, Kemper, Kuhn 2012, Flash: Efficient, Stable and Optimal "
    "K-Anonymity, PASSAT",
    family="levels",
    how=f"{FULL_DOMAIN} From each node that nothing is known of, a path leads upwards through "
    "others of the kind; a binary search finds where it begins to satisfy. A node above one that "
    "satisfies does too, and none below one that fails does. Of all nodes that satisfy the one of "
    "least loss is released; records in classes that are too small, at most the allowed number, "
    "are suppressed.",
    guarantees="No other levels lose less; at most the allowed number of records is suppressed.",
    slow="With many quasi-identifiers: the lattice may have 10 million nodes at most.",
    uses=("metric", "attribute_weights", "suppression"),
    parameters=(LOSS,),
)

check = complete_search(CARD.title)


def anonymise(task: Task, progress: Progress = no_progress) -> Recoding:
    """The full-domain release of least loss, found by Flash.

    By height, and within it in the order of :func:`node_order`: from every node of which nothing is
    known a path is built upwards, each time to the first node above of which nothing is known. A
    binary search on the path finds where it begins to satisfy. The nodes found to fail wait in a
    heap; paths from the nodes above them are searched next, those of the first node first.

    Raises
    ------
    PlanError
        See :func:`check`.
    Unsatisfiable
        No release of the table can meet k or a model.

    Notes
    -----
    Source: Kohlmayer, Prasser, Eckert, Kemper, Kuhn 2012. With suppression the best node need not
    be one where a path begins to satisfy, so all that could be better are looked at in the end.
    """
    task.check()
    check(task)
    return release_by(search, task, progress)


def search(lattice: Lattice, known: NodeTags, told: Told = nobody) -> None:
    """Find out of every node whether it satisfies.

    Parameters
    ----------
    lattice, known
        The lattice, and what is known of it: nothing yet.
    told
        Told of every node before it is counted, with what is left of the path that it lies on.
    """
    order = node_order(lattice)
    place = np.empty(lattice.shape, dtype=np.int32)
    place.reshape(-1)[order] = np.arange(lattice.size, dtype=np.int32)
    tagged = known.satisfying.reshape(-1), known.failing.reshape(-1)
    for flat in lattice.one_by_one(order):
        if tagged[0][flat] or tagged[1][flat]:
            continue
        path = _path(lattice, known, place, lattice.node_at(flat))
        heap = _search_path(known, path, place, told)
        while heap:
            _, failed = heapq.heappop(heap)
            for node in sorted(lattice.above(failed), key=lambda one: place[one]):
                if known.says(node) is None:
                    path = _path(lattice, known, place, node)
                    for item in _search_path(known, path, place, told):
                        heapq.heappush(heap, item)


def node_order(lattice: Lattice) -> np.ndarray:
    """The places of all nodes in the order of the search. Shape (size,).

    By height; then by the mean level as a share of the top level, the lower first; then by the
    mean share of the distinct values that is left, the higher first; then canonical.
    """
    order = lattice.by_height()
    common = math.lcm(*(top for top in lattice.tops if top))
    end = 0
    for size in nodes_per_height(lattice.trees):
        lattice.tell()
        start, end = end, end + size
        places = order[start:end]
        share, left = np.zeros(size, dtype=np.int64), np.zeros(size)
        levels_of = np.unravel_index(places, lattice.shape)
        for top, values, levels in zip(lattice.tops, lattice.values_left, levels_of, strict=True):
            if top:
                share += levels * (common // top)
            left += (np.array(values) / values[0])[levels]
        # Rounded, so that equal sums tie in whatever order they were added.
        order[start:end] = places[np.lexsort((-left.round(9), share))]
    return order


def _path(lattice: Lattice, known: NodeTags, place: np.ndarray, node: Node) -> list[Node]:
    """Upwards from a node, each time to the first one above of which nothing is known."""
    path = [node]
    while True:
        unknown = [one for one in lattice.above(path[-1]) if known.says(one) is None]
        if not unknown:
            return path
        path.append(min(unknown, key=lambda one: place[one]))


def _search_path(
    known: NodeTags, path: list[Node], place: np.ndarray, told: Told
) -> list[tuple[int, Node]]:
    """Find by binary search where a path begins to satisfy; returns the nodes found to fail."""
    low, high, failed = 0, len(path) - 1, []
    while low <= high:
        middle = (low + high) // 2
        told(path[middle], path[low : high + 1])
        if known.check(path[middle]):
            high = middle - 1
        else:
            failed.append((int(place[path[middle]]), path[middle]))
            low = middle + 1
    heapq.heapify(failed)
    return failed
