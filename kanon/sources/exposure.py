"""How exposed the people of a table are, and which of its rows show nothing."""

from dataclasses import dataclass

import numpy as np

from kanon.base.formatting import CountedUnit, count_noun
from kanon.base.values import Frequencies
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.sources.tables import Table


@dataclass(frozen=True)
class Exposure:
    of: CountedUnit  # what is counted: records, or persons where a column identifies them
    n_records: int  # n
    sizes: np.ndarray  # the sizes of equivalence classes, ascending
    classes: np.ndarray  # the number of classes of each size
    members: np.ndarray  # the number of records (or persons) whose smallest class has each size

    @property
    def number(self) -> int:
        return int(self.members.sum())

    @property
    def n_classes(self) -> int:
        return int(self.classes.sum())

    @property
    def min_k(self) -> int:
        return int(self.sizes.min())

    @property
    def unique(self) -> int:
        return int(self.members[self.sizes == 1].sum())


def measure_exposure(classes: EquivalenceClasses) -> Exposure:
    sizes = members = classes.hiding
    if classes.persons is not None:
        person, of_entry = classes.persons.value, classes.persons.of_entry
        smallest_first = np.lexsort((of_entry, sizes[of_entry], person))
        _, first = np.unique(person[smallest_first], return_index=True)
        members = np.bincount(of_entry[smallest_first[first]], minlength=len(sizes))
    distinct_sizes, place, number = np.unique(sizes, return_inverse=True, return_counts=True)
    members_by_size = np.zeros(len(distinct_sizes), dtype=np.int64)
    np.add.at(members_by_size, place, members)
    return Exposure(classes.of, classes.n_records, distinct_sizes, number, members_by_size)


def build_exposure(sizes: Frequencies) -> Exposure:
    records = sizes.distinct.n_filled
    return Exposure("records", records, sizes.sizes, sizes.values, sizes.sizes * sizes.values)


def count_unique_without_each(classes: EquivalenceClasses) -> dict[str, int]:
    if len(classes.attributes) == 1:
        return {}
    sizes = (classes.nodes.max(axis=0) + 1).tolist()
    unique_counts = {}
    for j, column in enumerate(classes.attributes):
        others = [*sizes[:j], *sizes[j + 1 :]]
        nodes_without = np.delete(classes.nodes, j, axis=1)
        nodes, counts, group = group_tuples(nodes_without, classes.counts, others)
        parts = (histogram.grouped(group, len(counts)) for histogram in classes.histograms)
        unique_counts[column] = classes.regrouped(nodes, counts, parts).unique
    return unique_counts


def find_suppressed(table: Table, classes: EquivalenceClasses) -> np.ndarray:
    """Which classes consist of rows that show nothing. Shape (E,), bool."""
    silent = np.ones(classes.n_classes, dtype=bool)
    for place, column in enumerate(classes.attributes):
        if silent.any():
            nodes = classes.nodes[:, place]
            texts = sorted(table.count_column_values(column).counts)
            codes = [code for code, text in enumerate(texts, 1) if is_blank_or_stars(text)]
            if len(classes.attributes) > 1:
                codes.append(0)  # a missing cell
            silent &= np.isin(nodes, codes)
    others = classes.counts[~silent]
    return silent & (classes.counts.sum(where=silent) <= others.min(initial=classes.n_records - 1))


def is_blank_or_stars(text: str) -> bool:
    """Whether a cell holds only asterisks."""
    return not text.strip().strip("*")


def describe_suppressed(number: int) -> str:
    many = number != 1
    return (
        f"{count_noun(number, 'record')} {'show' if many else 'shows'} nothing in any "
        f"quasi-identifier (* or blank): {'they count' if many else 'it counts'} as suppressed "
        f"and {'belong' if many else 'belongs'} to no class."
    )
