"""Which people of a population could be in which released class."""

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy.ranges import join_sets
from kanon.kernels.linkage import count_records_below, match_known_tuples

NOTHING = np.zeros(0, dtype=np.int64)

_UNIT = 2**40  # the parts of a share that are summed as whole numbers


def count_people_below(released: EquivalenceClasses, population: EquivalenceClasses) -> np.ndarray:
    """F(C): for each released class, the people of a population who could be in it."""
    return count_records_below(
        get_ranges(population)[0],
        *get_ranges(released),
        find_next(released.nodes),
        population.counts,
    )


def sum_shares_above(
    population: EquivalenceClasses, released: EquivalenceClasses, shares: np.ndarray
) -> np.ndarray:
    """Per class of a population the sum of a share over the released classes that cover it."""
    none = (np.zeros(population.n_classes + 1, dtype=np.int64), NOTHING, NOTHING)
    nobody = (np.zeros(released.n_classes + 1, dtype=np.int64), NOTHING, NOTHING)
    sums, *_ = match_known_tuples(
        get_ranges(population)[0],
        *get_ranges(released),
        find_next(released.nodes),
        np.rint(shares * _UNIT).astype(np.int64),
        none,
        nobody,
        0,
        (np.zeros((2, 0), dtype=np.int64), NOTHING, NOTHING),
    )
    return sums / _UNIT


def get_ranges(classes: EquivalenceClasses) -> tuple[np.ndarray, np.ndarray]:
    """Get what the kernels compare of each cell, (5, E, m) int32, and the leaves of sets."""
    ranges = np.empty((5, *classes.nodes.shape), dtype=np.int32)
    ranges[0] = classes.nodes
    begins, stops, leaves = join_sets(classes.hierarchies)
    start = 0
    for j, tree in enumerate(classes.hierarchies):
        nodes = classes.nodes[:, j]
        ranges[1:3, :, j] = tree.first[nodes], tree.last[nodes]
        ranges[3:, :, j] = begins[start + nodes], stops[start + nodes]
        start += tree.n_nodes
    return ranges, leaves


def find_next(nodes: np.ndarray) -> np.ndarray:
    """Find per tuple and column j the next tuple that differs up to column j. Shape (Q, m)."""
    size, m = nodes.shape
    next_places = np.empty((size, m), dtype=np.int64)
    starts = np.zeros(size, dtype=bool)
    for j in range(m):
        starts[1:] |= nodes[1:, j] != nodes[:-1, j]
        places = np.append(np.flatnonzero(starts), size)
        next_places[:, j] = places[np.searchsorted(places, np.arange(size), side="right")]
    return next_places
