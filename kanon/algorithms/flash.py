"""Flash: binary searches along paths through the lattice."""

import heapq
import math
from functools import partial

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node, compute_node_heights
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    NodeLog,
    NodeTags,
    begin_search,
    check_full_domain,
    log_nothing,
    run_search,
)
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, (LOSS,), family_text=FULL_DOMAIN)

check = partial(check_full_domain, title=CARD.title)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release with the least loss, found by Flash.

    By height, and within it in the order of :func:`node_order`, a path is built upwards from every
    undecided node, each time to the first undecided node above. A binary search finds the first
    node of the path that meets the requirements. The nodes found to fail wait in a heap; paths from
    the nodes above them are searched next, those of the first node first.

    Source: Kohlmayer, Prasser, Eckert, Kemper, Kuhn 2012. With suppression, the best node need not
    be the first good one of a path, so all that could be better are looked at in the end.
    """
    return run_search(search, begin_search(task, progress, check))


def search(lattice: Lattice, tags: NodeTags, log_node: NodeLog = log_nothing) -> None:
    """Decide for every node whether it meets the requirements; logs it with its path's rest."""
    order = node_order(lattice)
    place = np.empty(lattice.shape, dtype=np.int32)
    place.reshape(-1)[order] = np.arange(lattice.size, dtype=np.int32)
    tagged = tags.satisfying.reshape(-1), tags.failing.reshape(-1)
    for place_of_node in lattice.walk_places(order):
        if tagged[0][place_of_node] or tagged[1][place_of_node]:
            continue
        path = _build_path(lattice, tags, place, lattice.decode_node(place_of_node))
        heap = _search_path(tags, path, place, log_node)
        while heap:
            _, failing = heapq.heappop(heap)
            for node in sorted(lattice.above(failing), key=lambda node_above: place[node_above]):
                if tags.get_tag(node) is None:
                    path = _build_path(lattice, tags, place, node)
                    for item in _search_path(tags, path, place, log_node):
                        heapq.heappush(heap, item)


def node_order(lattice: Lattice) -> np.ndarray:
    """The places of all nodes in the order of the search. Shape (size,).

    By height; then by the mean level as a share of the top level, the lower first; then by the
    mean share of the distinct values that is left, the higher first; then canonical.
    """
    order = lattice.sort_places_by_height()
    common = math.lcm(*(top for top in lattice.tops if top))
    end = 0
    for size in np.bincount(compute_node_heights(lattice.shape).ravel()).tolist():
        lattice.show_progress()
        start, end = end, end + size
        places = order[start:end]
        level_share, share_left = np.zeros(size, dtype=np.int64), np.zeros(size)
        levels_of = np.unravel_index(places, lattice.shape)
        for top, values, levels in zip(
            lattice.tops, lattice.distinct_by_level, levels_of, strict=True
        ):
            if top:
                level_share += levels * (common // top)
            share_left += (np.array(values) / values[0])[levels]
        # Rounded, so that equal sums tie in whatever order they were added.
        order[start:end] = places[np.lexsort((-share_left.round(9), level_share))]
    return order


def _build_path(lattice: Lattice, tags: NodeTags, place: np.ndarray, node: Node) -> list[Node]:
    """A path upwards from a node, each time to the first undecided node above."""
    path = [node]
    while True:
        unknown = [upper for upper in lattice.above(path[-1]) if tags.get_tag(upper) is None]
        if not unknown:
            return path
        path.append(min(unknown, key=lambda upper: place[upper]))


def _search_path(
    tags: NodeTags, path: list[Node], place: np.ndarray, log_node: NodeLog
) -> list[tuple[int, Node]]:
    """Find by binary search the first good node of a path; returns the nodes found to fail."""
    low, high, failing = 0, len(path) - 1, []
    while low <= high:
        middle = (low + high) // 2
        log_node(path[middle], path[low : high + 1])
        if tags.check(path[middle]):
            high = middle - 1
        else:
            failing.append((int(place[path[middle]]), path[middle]))
            low = middle + 1
    heapq.heapify(failing)
    return failing
