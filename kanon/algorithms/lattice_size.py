"""The size of a lattice, and what its nodes lose: known without counting a record."""

import math
from collections.abc import Sequence

import numpy as np

from kanon.base.formatting import write_count
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.scaled_potentials import Potentials

Node = tuple[int, ...]  # a level per quasi-identifier

MOST_NODES = 10**7  # the largest lattice that is searched completely


def compute_nodes_by_level(tree: Hierarchy) -> np.ndarray:
    """What every node becomes at every level. Shape (level(root) + 1, N), int32."""
    top = int(tree.level[tree.root])
    if (top + 1) * tree.n_nodes > 10**8:
        raise PlanError(
            f"A hierarchy has {write_count(top + 1)} levels and {write_count(tree.n_nodes)} nodes: "
            "too many for algorithms that work with levels. Use 'gaa', which works with edges, or "
            "remove levels."
        )
    above = np.where(tree.parent < 0, np.arange(tree.n_nodes), tree.parent)
    raised = np.tile(np.arange(tree.n_nodes, dtype=np.int32), (top + 1, 1))
    for level in range(1, top + 1):
        # One step up at most: what is above has a level of at least this one, or it was reached.
        higher = above[raised[level - 1]]
        raised[level] = np.where(tree.level[higher] <= level, higher, raised[level - 1])
    return raised


def count_lattice_nodes(hierarchies: Sequence[Hierarchy]) -> int:
    """The number of nodes of the lattice: the product of the heights."""
    return math.prod(tree.height for tree in hierarchies)


def compute_cell_recodings_log10(hierarchies: Sequence[Hierarchy], n_records: int) -> float:
    """How many recodings there are with a level per cell, as a power of ten.

    >>> from kanon.hierarchy.build import mask, suppression
    >>> trees = [suppression(["a", "b"]), mask(["1111", "2222"], [3, 2, 1])]
    >>> count_lattice_nodes(trees), round(compute_cell_recodings_log10(trees, 300), 9)
    (10, 300.0)
    """
    return n_records * math.fsum(math.log10(tree.height) for tree in hierarchies)


def count_nodes_per_height(hierarchies: Sequence[Hierarchy]) -> list[int]:
    """The number of nodes at each sum of levels."""
    counts = [1]
    for tree in hierarchies:
        higher_counts = [0] * (len(counts) + tree.height - 1)
        for height, count in enumerate(counts):
            for level in range(tree.height):
                higher_counts[height + level] += count
        counts = higher_counts
    return counts


def compute_node_heights(shape: Sequence[int]) -> np.ndarray:
    """The height (sum of levels) of every node. An array of the lattice's shape, uint16.

    >>> compute_node_heights((2, 3)).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    axes = np.ogrid[tuple(slice(size) for size in shape)]
    return np.asarray(sum(axes, np.zeros((), dtype=np.uint16)), dtype=np.uint16)


def estimate_largest_height(hierarchies: Sequence[Hierarchy]) -> float:
    spread = sum((tree.height**2 - 1) / 12 for tree in hierarchies)
    whole = float(count_lattice_nodes(hierarchies))
    return whole / math.sqrt(2 * math.pi * spread) if spread else whole


def can_search_lattice(hierarchies: Sequence[Hierarchy]) -> bool:
    """Whether a lattice is small enough to be searched completely."""
    return count_lattice_nodes(hierarchies) <= MOST_NODES


def check_size(hierarchies: Sequence[Hierarchy], title: str) -> None:
    size = count_lattice_nodes(hierarchies)
    if not can_search_lattice(hierarchies):
        raise PlanError(
            f"The lattice of these hierarchies has {write_count(size)} nodes, but {title} searches "
            f"at most {write_count(MOST_NODES)}. Use 'optimal', which searches larger ones without "
            "a proof, 'datafly' or 'improved-greedy', which follow one path, or 'gaa', 'mondrian' "
            "or 'lattice-sweep', which need no whole lattice, or choose fewer quasi-identifiers."
        )


def sum_losses_per_level(
    classes: EquivalenceClasses, potentials: Sequence[np.ndarray], raised: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Per quasi-identifier and level what raising all records to it costs. Shapes (h_j,)."""
    losses = []
    for records, depth, table in zip(classes.cells, potentials, raised, strict=True):
        losses.append(depth @ records - np.array([depth[row] @ records for row in table]))
    return losses


def sort_places_by_loss(
    classes: EquivalenceClasses, potentials: Potentials, raised: Sequence[np.ndarray]
) -> np.ndarray:
    """The places of all nodes by what raising all records to them costs, least first."""
    losses = potentials.ranks(
        lambda depths: compute_node_losses(sum_losses_per_level(classes, depths, raised))
    )
    return np.argsort(losses, axis=None, kind="stable")


def compute_node_losses(lost: Sequence[np.ndarray]) -> np.ndarray:
    """What raising all records to each node costs, with nothing suppressed."""
    losses = np.zeros((), dtype=np.int64)
    for level_losses in lost:
        losses = losses[..., None] + level_losses
    return losses
