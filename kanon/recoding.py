"""What an algorithm returns: the recoding of every class, for one k or for every k."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.classes import EquivalenceClasses, count_cells_at, group_tuples, number_tuples
from kanon.errors import Unsatisfiable
from kanon.hierarchy import Hierarchy


def find_merge_ends(into: np.ndarray) -> np.ndarray:
    """Follow chains of merges: the last cluster that each one was merged into.

    >>> find_merge_ends(np.array([2, 1, 3, 3])).tolist()
    [3, 1, 3, 3]
    """
    while True:  # each round doubles the length of the chains that are followed
        further = into[into]
        if np.array_equal(further, into):
            return further
        into = further


def rename_merges(parts: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The classes of merges by their numbers in another path; -1 stays.

    >>> rename_merges(np.array([[0, 1, -1]]), np.array([7, 9])).tolist()
    [[7, 9, -1]]
    """
    return np.where(parts >= 0, names[parts], -1).astype(np.int32)


def is_unchanged(tree: Hierarchy, released: np.ndarray, original: np.ndarray) -> np.ndarray:
    """Whether released nodes are unchanged: the original node, or a range of one value."""
    one_value = (released > tree.root) & (tree.leaves_covered[released] == 1)
    return np.asarray((released == original) | one_value)


def _create_no_nodes() -> np.ndarray:
    return np.zeros((0, 0), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Trace:
    """What an algorithm did on its way to a release."""

    node: tuple[int, ...] | None = None  #: the levels, if they are the same for all records
    walk: tuple[tuple[int, ...], ...] = ()  #: the nodes that a search of the lattice moved through
    #: (V, m) int32: the nodes whose classes it counted, in order; of the searches for one node
    visited: np.ndarray = field(default_factory=_create_no_nodes)
    evaluated: int = 0  #: the number of nodes it evaluated
    steps: int = 0  #: the number of merges, cuts, clusters, or nodes it moved through
    parts: int = 1  #: the number of parts of the table, each merged by itself
    sampled: int = 0  #: the classes on which parts were compared with the whole; 0 for none
    loss_ratio: float | None = None  #: the loss of the parts by that of the whole, on these classes
    #: the most by which the loss exceeds the least possible, in percent; 0 if it is proved to be
    #: the least, infinite if nothing is proved, None for algorithms that prove nothing
    gap: float | None = None
    #: the number of classes divided by that of the release for k alone, where greedy merging for
    #: other models left less than half of 20 classes or more; 1 elsewhere
    share_left: float = 1.0


@dataclass(frozen=True, eq=False)
class Recoding:
    """The released class of every original class."""

    classes: EquivalenceClasses  #: the original classes
    nodes: np.ndarray  #: (R, m) int32: the released tuples, in canonical order
    counts: np.ndarray  #: (R,) int64: the number of records of each released class
    assigned: np.ndarray  #: (E,) int64: per original class its released class; -1 if suppressed
    ranged: tuple[Hierarchy, ...] = ()  #: the hierarchies with ranges, see :attr:`hierarchies`
    trace: Trace = field(default_factory=Trace)  #: what the algorithm did
    in_engine: ClassVar[bool] = False  # whether an engine keeps the assignment of classes

    @classmethod
    def from_targets(
        cls,
        classes: EquivalenceClasses,
        targets: np.ndarray,
        suppressed: np.ndarray | None = None,
        hierarchies: tuple[Hierarchy, ...] | None = None,
        trace: Trace | None = None,
    ) -> Recoding:
        """Group the classes by the tuples to which they are raised, ``targets``, shape (E, m).

        ``suppressed`` marks the classes to suppress, shape (E,), bool; ``hierarchies`` are those
        with ranges, if some tuples have ranges.
        """
        stays = np.ones(classes.n_classes, bool) if suppressed is None else ~suppressed
        nodes, counts, group = group_tuples(
            targets[stays],
            classes.counts[stays],
            [tree.n_nodes for tree in hierarchies or classes.hierarchies],
        )
        group_of_class = np.full(classes.n_classes, -1, dtype=np.int64)
        group_of_class[stays] = group
        return cls(classes, nodes, counts, group_of_class, hierarchies or (), trace or Trace())

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies of ``nodes``: those of the classes, or those with ranges.

        With ranges (see :mod:`kanon.hierarchy.ranges`) all nodes keep their numbers.
        """
        return self.ranged or self.classes.hierarchies

    @cached_property
    def original(self) -> EquivalenceClasses:
        """The original classes in the hierarchies of the release, to compare the two."""
        return replace(self.classes, hierarchies=self.ranged) if self.ranged else self.classes

    @property
    def n_classes(self) -> int:
        """R, the number of released classes."""
        return len(self.counts)

    @property
    def min_k(self) -> int | None:
        """The size of the smallest released class; None if every record is suppressed."""
        return int(self.counts.min()) if len(self.counts) else None

    @cached_property
    def released(self) -> EquivalenceClasses:
        """The classes of the released table, with their sensitive values and persons."""
        histograms = (
            part.grouped(self.assigned, self.n_classes) for part in self.classes.histograms
        )
        return self.original.regrouped(self.nodes, self.counts, histograms)

    def suppressed_below(self, k: int, bad: np.ndarray | None = None) -> Recoding:
        """The release without its classes of fewer than k records, and without other bad ones."""
        out = self.counts < k if bad is None else bad | (self.counts < k)
        if not out.any():
            return self
        place = np.where(out, -1, np.cumsum(~out) - 1)
        assigned = np.where(self.assigned < 0, -1, place[self.assigned])
        return replace(self, nodes=self.nodes[~out], counts=self.counts[~out], assigned=assigned)

    @property
    def suppressed_records(self) -> int:
        """The number of suppressed records."""
        return self.classes.n_records - int(self.counts.sum())

    def with_trace(self, trace: Trace) -> Recoding:
        """The same recoding with the trace of an algorithm."""
        return replace(self, trace=trace)

    @property
    def squared_sizes(self) -> int:
        """The sum of the squared sizes of the released classes."""
        return int((self.counts.astype(np.int64) ** 2).sum())

    @cached_property
    def cells(self) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of released cells at each node, int64. Shapes (N_j,).

        The cells of a suppressed record count as root cells, so that all n are counted.
        """
        node_cells = []
        for j, tree in enumerate(self.hierarchies):
            cells = count_cells_at(tree.n_nodes, self.nodes[:, j], self.counts)
            cells[tree.root] += self.suppressed_records
            node_cells.append(cells)
        return tuple(node_cells)

    @cached_property
    def unchanged(self) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of unchanged released cells by node.

        Shapes (N_j,), int64. A range of one value counts as that value.
        """
        is_released = self.assigned >= 0
        counts, node_cells = self.classes.counts[is_released], []
        for j, tree in enumerate(self.hierarchies):
            before = self.classes.nodes[is_released, j]
            same = is_unchanged(tree, self.nodes[self.assigned[is_released], j], before)
            node_cells.append(count_cells_at(tree.n_nodes, before[same], counts[same]))
        return tuple(node_cells)

    @cached_property
    def targets(self) -> np.ndarray:
        """Per original class its released tuple; the roots for a suppressed one. Shape (E, m)."""
        roots = np.array([tree.root for tree in self.classes.hierarchies], dtype=np.int32)
        return np.vstack([self.nodes, roots[None, :]])[self.assigned]


@dataclass(frozen=True, eq=False)
class Partition:
    """How a table was cut for a greedy run, and what that cost on a sample of its classes."""

    parts: int  #: the number of parts, each merged by itself
    up_to: int  #: the last k of the parts; beyond it, all remaining classes were merged together
    sampled: int  #: the number of classes in the sample
    #: (S,) int64: where the ratio changes, rising: row s is for every k above ``ks[s - 1]`` up to
    #: ``ks[s]``
    ks: np.ndarray
    ratios: np.ndarray  #: (S,): the loss of the sample, cut into the same parts, by that uncut

    def ratio_at(self, k: int) -> float | None:
        """The ratio for k; None beyond the last k of the sample.

        >>> partition = Partition(2, 9, 100, np.array([2, 5]), np.array([1.0, 1.01]))
        >>> [partition.ratio_at(k) for k in (2, 3, 5, 6)]
        [1.0, 1.01, 1.01, None]
        """
        row = int(np.searchsorted(self.ks, k, side="left"))
        return float(self.ratios[row]) if row < len(self.ks) else None


@dataclass(frozen=True, eq=False)
class MergePath:
    """The merges of one greedy run: the recoding at every k up to ``k_max``.

    In greedy merging with k-anonymity neither the smallest class nor its partner depends on k,
    so the run for a larger k passes through the release of every smaller one.

    Source: Mauger, Le Mahec, Dequen 2023, Algorithm 1.

    The original classes are numbered 0 .. E-1. Merge i makes the class E + i.
    """

    classes: EquivalenceClasses  #: the original classes
    #: (M, 3) int32: per merge the smallest class, its partner, and a third class that already had
    #: the merged tuple (-1 if none)
    parts: np.ndarray
    smallest: np.ndarray  #: (M,) int64: per merge the size of the smallest class; never falls
    nodes: np.ndarray  #: (E + M, m) int32: the tuple of every class
    counts: np.ndarray  #: (E + M,) int64: the number of records of every class
    k_max: int  #: the largest k of the run
    parted: Partition | None = None  #: how the table was cut, for a run in parts

    @cached_property
    def into(self) -> np.ndarray:
        """Per class the class it was merged into; -1 if it never was. Shape (E + M,)."""
        into = np.full(len(self.counts), -1, dtype=np.int64)
        new_classes = np.arange(self.classes.n_classes, len(self.counts))
        for column in range(self.parts.shape[1]):
            part = self.parts[:, column]
            into[part[part >= 0]] = new_classes[part >= 0]
        return into

    @cached_property
    def distinct_k(self) -> np.ndarray:
        """The minimum k of every release on the path, rising.

        The release is the same for all k above one value up to the next. If the path ends with
        one class, the last value is n.
        """
        last = self.after(len(self.parts)).min_k or 0
        return np.unique(np.concatenate([self.smallest, [last]]))

    def merges_for(self, k: int) -> int:
        """The number of merges after which every class has at least k records.

        Unsatisfiable if the table has fewer; a ValueError if the run did not go as far as k.
        """
        if k > self.classes.n_records:
            raise Unsatisfiable(
                f"k = {k} cannot be reached: the table has "
                f"{count_noun(self.classes.n_records, 'record')}. Choose a k of at most that "
                "number."
            )
        if k > self.k_max:
            raise ValueError(f"this path ends at k = {self.k_max}")
        return int(np.searchsorted(self.smallest, k, side="left"))

    def at(self, k: int) -> Recoding:
        """The recoding for k: after all merges whose smallest class had fewer than k records."""
        recoding = self.after(self.merges_for(k))
        if self.parted is None:
            return recoding
        cut = self.parted
        trace = replace(
            recoding.trace, parts=cut.parts, sampled=cut.sampled, loss_ratio=cut.ratio_at(k)
        )
        return replace(recoding, trace=trace)

    def after(self, merges: int) -> Recoding:
        """The recoding after the first merges of the run."""
        limit = self.classes.n_classes + merges
        top = find_merge_ends(
            np.where((self.into >= 0) & (self.into < limit), self.into, np.arange(len(self.into)))
        )[: self.classes.n_classes]
        # Group the remaining classes, as they are fewer than the original ones.
        place = np.zeros(len(self.into), dtype=np.int64)
        place[top] = 1
        live = np.flatnonzero(place)
        place[live] = np.arange(len(live))
        nodes, counts, group = group_tuples(
            self.nodes[live], self.counts[live], [tree.n_nodes for tree in self.classes.hierarchies]
        )
        return Recoding(self.classes, nodes, counts, group[place[top]], trace=Trace(steps=merges))

    def followed_by(self, further: MergePath) -> MergePath:
        """This path, continued by a run on the released classes after its last merge."""
        live = np.flatnonzero(self.into < 0)
        node_counts = [tree.n_nodes for tree in self.classes.hierarchies]
        live = live[np.argsort(number_tuples(self.nodes[live], node_counts))]
        n_live = len(live)
        assert n_live == further.classes.n_classes, "no two classes look the same"
        new = len(self.counts) + np.arange(len(further.parts))
        return MergePath(
            self.classes,
            np.concatenate([self.parts, rename_merges(further.parts, np.concatenate([live, new]))]),
            np.concatenate([self.smallest, further.smallest]),
            np.concatenate([self.nodes, further.nodes[n_live:]]),
            np.concatenate([self.counts, further.counts[n_live:]]),
            further.k_max,
        )
