"""A sensitive column at a level of its hierarchy, before anything is counted."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from kanon.base.values import ValueCounts, encode_texts
from kanon.errors import PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.sources.coverage import check_coverage, count_texts


@dataclass(frozen=True, eq=False)
class Coarsening:
    """The hierarchy of a sensitive column, and the level of it at which the column is released.

    >>> from kanon.hierarchy.build import intervals
    >>> tens = Coarsening("pay", intervals(["5", "12", "18"], [10]), 1)
    >>> tens.cells(pd.Series([12, None, 18, 5])).tolist()
    ['10-19', nan, '10-19', '0-9']
    >>> tens.counts(ValueCounts({"12": 3, "18": 1, "5": 1}, missing=2))
    ValueCounts(counts={'10-19': 4, '0-9': 1}, missing=2)
    """

    column: str
    tree: Hierarchy  # its hierarchy
    level: int  # a value becomes its highest group of at most this level

    def __post_init__(self) -> None:
        if self.level > self.tree.height - 1:
            raise PlanError(
                f"Plan key columns.{self.column}.level: level {self.level} is not allowed; the "
                f"hierarchy of {quote(self.column)} has levels 0 to {self.tree.height - 1}."
            )

    @cached_property
    def _group_by_node(self) -> np.ndarray:
        return self.tree.at_level(self.level)

    def label(self, text: str) -> str:
        return self.tree.labels[self._group_by_node[self.tree.node_of[text]]]

    @cached_property
    def group_labels(self) -> frozenset[str]:
        return frozenset(self.tree.labels[node] for node in np.flatnonzero(self._is_group_root))

    @property
    def group_tree(self) -> Hierarchy:
        """The hierarchy of the groups themselves, which are its leaves."""
        nodes = np.flatnonzero(self._is_group_root).tolist()
        labels, root = self.tree.labels, self.tree.root
        return Hierarchy.from_entries(
            (labels[node], None if node == root else labels[self.tree.parent[node]], None)
            for node in nodes
        )

    @property
    def n_groups(self) -> int:
        return int((self._is_group_root & (self.tree.level <= self.level)).sum())

    @property
    def _is_group_root(self) -> np.ndarray:
        above = self.tree.level[self.tree.parent]
        above[self.tree.root] = self.tree.height
        return above > self.level

    def counts(self, value_counts: ValueCounts) -> ValueCounts:
        check_coverage(self.column, value_counts.counts, self.tree)
        records_by_group: Counter[str] = Counter()
        for text, records in value_counts.counts.items():
            records_by_group[self.label(text)] += records
        return ValueCounts(dict(records_by_group.most_common()), value_counts.missing)

    def cells(self, column: pd.Series) -> pd.Series:
        codes, texts = encode_texts(column)
        check_coverage(self.column, count_texts(codes, texts), self.tree)
        labels = pd.array([*map(self.label, texts), None], dtype="str")
        return pd.Series(labels.take(codes), column.index, name=column.name)
