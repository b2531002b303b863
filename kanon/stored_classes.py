"""Equivalence classes that are too many to fetch: they stay in the engine that holds the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from kanon.base.formatting import write_count
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding, Trace
from kanon.settings import describe_exceeded_limit, get_settings

PartWork = Callable[[pa.Table, Progress], pa.Table]
"""Processes the rows of a part: a function of a module or a callable frozen dataclass, so that it
can be sent to another machine. Its result has the columns of a given schema."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """How many classes have how many records."""

    sizes: np.ndarray  # the sizes that occur, ascending
    classes: np.ndarray  # the number of classes of each

    @property
    def n_classes(self) -> int:
        """The number of classes of all sizes."""
        return int(self.classes.sum())

    @property
    def n_records(self) -> int:
        """The number of records in classes of all sizes."""
        return int(self.sizes @ self.classes)

    def select_at_least(self, k: int) -> ClassSizes:
        """The classes of k records or more.

        >>> some = ClassSizes(np.array([1, 4]), np.array([3, 2])).select_at_least(2)
        >>> some.n_classes, some.n_records
        (2, 8)
        """
        large = self.sizes >= k
        return ClassSizes(self.sizes[large], self.classes[large])


class TupleNumbers:
    """Tuples of small numbers written as whole numbers below 2 ** 62, which sort as they do.

    >>> TupleNumbers([3, 10, 2]).numbers, TupleNumbers([2**40, 2**40]).numbers
    ([{0: 20, 1: 2, 2: 1}], [{0: 1}, {1: 1}])
    >>> both = TupleNumbers([3, 10])
    >>> both.encode_tuples(np.array([[2, 7], [0, 1]])).tolist()
    [[27], [1]]
    >>> both.decode_tuples(np.array([[27]])).tolist()
    [[2, 7]]
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = list(sizes)
        runs: list[list[int]] = [[]]
        largest = 1
        for j, size in enumerate(sizes):
            if largest * size > 2**62:
                runs.append([])
                largest = 1
            runs[-1].append(j)
            largest *= size
        self.numbers: list[dict[int, int]] = []
        for run in runs:
            factor, number = 1, {}
            for j in reversed(run):
                number[j] = factor
                factor *= sizes[j]
            self.numbers.append({j: number[j] for j in run})

    def place(self, column: int) -> tuple[int, int]:
        """The number that holds a column, and the factor of the column in it."""
        for place, number in enumerate(self.numbers):
            if column in number:
                return place, number[column]
        raise ValueError(column)

    def encode_tuples(self, tuples: np.ndarray) -> np.ndarray:
        """The numbers of some tuples. Shape (n, q), int64."""
        packed = np.zeros((len(tuples), len(self.numbers)), dtype=np.int64)
        for place, number in enumerate(self.numbers):
            for j, factor in number.items():
                packed[:, place] += tuples[:, j].astype(np.int64) * factor
        return packed

    def decode_tuples(self, numbers: np.ndarray) -> np.ndarray:
        """The tuples of some numbers. Shape (n, m), int32."""
        unpacked = np.empty((len(numbers), len(self.sizes)), dtype=np.int32)
        for place, number in enumerate(self.numbers):
            for j, factor in number.items():
                unpacked[:, j] = numbers[:, place] // factor % self.sizes[j]
        return unpacked


@dataclass(frozen=True)
class PartCut:
    """Cut a part of a table in two: records below a node of a hierarchy become a new part."""

    part: int  # the part that is cut, by its number
    column: int  # the quasi-identifier, by its place
    node: int  # the node of its hierarchy


def is_below_node(tree: Hierarchy, node: int) -> np.ndarray:
    """Whether each node is a node or below it. Shape (N,), bool."""
    # In a chain of only children, which share a range, the lower one has the smaller number.
    inside = (tree.first >= tree.first[node]) & (tree.last <= tree.last[node])
    return np.asarray(inside & (np.arange(tree.n_nodes) <= node))


class StoredGroups(ABC):
    """Classes at some levels, as a table that the engine keeps."""

    sizes: ClassSizes  # how many classes have how many records

    @abstractmethod
    def raise_nodes(self, raised: Sequence[np.ndarray]) -> StoredGroups:
        """The classes after each node is raised to another."""

    @abstractmethod
    def count_cells_below(self, k: int) -> tuple[np.ndarray, ...]:
        """The cells of the records in classes of fewer than k records, by their nodes."""

    @abstractmethod
    def read_classes(self) -> EquivalenceClasses:
        """The classes themselves, without sensitive values."""

    @abstractmethod
    def drop(self) -> None:
        """Delete the table."""


@dataclass(frozen=True, eq=False)
class PartCells:
    # per quasi-identifier the number of its classes, and of its records, at each node
    classes: tuple[np.ndarray, ...]
    records: tuple[np.ndarray, ...]

    @property
    def n_classes(self) -> int:
        """The number of classes in this part of the table."""
        return int(self.classes[0].sum())


class StoredRecoding(Recoding, ABC):
    """A recoding that the engine keeps, without a list of classes here."""

    in_engine = True

    @property
    @abstractmethod
    def sizes(self) -> ClassSizes:
        """How many released classes have how many records."""

    @abstractmethod
    def read_classes(self) -> EquivalenceClasses:
        """The released classes without sensitive values."""

    @abstractmethod
    def read_lowest_hashes(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The original classes with the lowest hashes, of parts that were merged."""

    @abstractmethod
    def followed_by(self, further: Recoding) -> StoredRecoding:
        """This recoding followed by one of :meth:`fetched`."""


class StoredClasses(EquivalenceClasses, ABC):
    """The classes of a table, kept by the engine that holds its rows."""

    in_engine = True

    def __init__(
        self, whole: EquivalenceClasses, cells: tuple[np.ndarray, ...], number: int
    ) -> None:
        self._whole, self._cells, self._number = whole, cells, number

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the plan's order."""
        return self._whole.attributes

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchy of each quasi-identifier, in the plan's order."""
        return self._whole.hierarchies

    @property
    def nodes(self) -> Any:
        """Always raises :attr:`refusal`: the engine keeps what each class holds."""
        raise self.refusal

    counts = sensitive = nodes

    @property
    def refusal(self) -> PlanError:
        """The error that the classes are too many to be loaded."""
        return get_class_limit_error(self._number)

    @property
    def cells(self) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of its cells at each node, int64. Shapes (N_j,)."""
        return self._cells

    @property
    def n_classes(self) -> int:
        """E."""
        return self._number

    @property
    def n_records(self) -> int:
        """n."""
        return self._whole.n_records

    @property
    def as_one_class(self) -> EquivalenceClasses:
        """The table as one class: every quasi-identifier at its root."""
        return self._whole

    @property
    def numbers(self) -> TupleNumbers:
        """How the engine numbers tuples: by the nodes of the hierarchies."""
        return TupleNumbers([tree.n_nodes for tree in self.hierarchies])

    @property
    @abstractmethod
    def groups(self) -> StoredGroups:
        """The classes as they are."""

    @abstractmethod
    def raise_to_levels(self, raised: Sequence[np.ndarray], trace: Trace) -> StoredRecoding:
        """The recoding that raises each node to another, in all records."""

    @abstractmethod
    def count_part_cells(self, cuts: Sequence[PartCut], part: int) -> PartCells:
        """The numbers of classes and records of a part by node."""

    @abstractmethod
    def merge_parts(
        self, cuts: Sequence[PartCut], sizes: Sequence[int], work: PartMerge, progress: Progress
    ) -> StoredRecoding:
        """Merge the classes of each part separately, within the engine."""


class PartMerge(Protocol):
    """Merges the classes of a part."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that are returned."""

    def __call__(self, table: pa.Table, progress: Progress, /) -> pa.Table:
        """The table of a part with its released tuples."""


def has_released_in_engine(recoding: Recoding) -> bool:
    """Whether even the released classes are too many to fetch."""
    return recoding.in_engine and recoding.n_classes > get_settings().classes


def get_class_limit_error(number: int) -> PlanError:
    """The error that a table has ``number`` classes or more, above the limit of the settings."""
    what = (
        f"The quasi-identifiers have {write_count(number)} different combinations of values or more"
    )
    return PlanError(describe_exceeded_limit("classes", what))
