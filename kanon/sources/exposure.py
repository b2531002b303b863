"""How exposed those are whom a table is about, and which of its rows show nothing."""

from dataclasses import dataclass

import numpy as np

from kanon.base.formatting import Counted, counted
from kanon.base.values import Frequencies
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.sources.tables import Table


@dataclass(frozen=True)
class Exposure:
    of: Counted  # what is counted: records, or persons where a column tells them apart
    n_records: int  # n
    sizes: np.ndarray  # the sizes that equivalence classes have, rising
    classes: np.ndarray  # how many classes have each size
    # how many have no smaller class than one of this size: all its records, as a record is in one
    # class
    members: np.ndarray

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


def exposure(classes: EquivalenceClasses) -> Exposure:
    """The class sizes of a table.

    >>> import pandas as pd
    >>> from kanon.sources.memory import classes_of_columns
    >>> table = pd.DataFrame({"a": ["x", "x", None], "who": ["Ann", "Ben", "Ben"]})
    >>> exposure(classes_of_columns(table, ["a"])).sizes.tolist()
    [1, 2]
    >>> found = exposure(classes_of_columns(table, ["a"], person="who"))
    >>> found.sizes.tolist(), found.members.tolist(), found.unique
    ([1, 2], [1, 1], 1)
    """
    sizes = members = classes.hiding
    if classes.persons is not None:
        who, of_entry = classes.persons.value, classes.persons.of_entry
        smallest_first = np.lexsort((of_entry, sizes[of_entry], who))
        _, first = np.unique(who[smallest_first], return_index=True)
        members = np.bincount(of_entry[smallest_first[first]], minlength=len(sizes))
    found, place, number = np.unique(sizes, return_inverse=True, return_counts=True)
    alike = np.zeros(len(found), dtype=np.int64)
    np.add.at(alike, place, members)
    return Exposure(classes.of, classes.n_records, found, number, alike)


def exposure_of_sizes(sizes: Frequencies) -> Exposure:
    """The same of records, from how many classes have how many of them.

    >>> exposure_of_sizes(Frequencies.of([2, 1, 1])).members.tolist()
    [2, 2]
    """
    records = sizes.distinct.filled
    return Exposure("records", records, sizes.sizes, sizes.values, sizes.sizes * sizes.values)


def unique_without_each(classes: EquivalenceClasses) -> dict[str, int]:
    """How many would be unique if one of the columns were not there, for each of them.

    >>> import pandas as pd
    >>> from kanon.sources.memory import classes_of_columns
    >>> table = pd.DataFrame({"a": ["x", "y"], "b": ["z", "z"]})
    >>> unique_without_each(classes_of_columns(table, ["a", "b"]))
    {'a': 0, 'b': 2}
    """
    if len(classes.attributes) == 1:
        return {}
    sizes = (classes.nodes.max(axis=0) + 1).tolist()
    found = {}
    for j, column in enumerate(classes.attributes):
        others = [*sizes[:j], *sizes[j + 1 :]]
        left = np.delete(classes.nodes, j, axis=1)
        nodes, counts, group = group_tuples(left, classes.counts, others)
        parts = (each.grouped(group, len(counts)) for each in classes.histograms)
        found[column] = classes.regrouped(nodes, counts, parts).unique
    return found


def find_suppressed(table: Table, classes: EquivalenceClasses) -> np.ndarray:
    """Which classes are of rows that show nothing. Shape (E,), bool."""
    silent = np.ones(classes.n_classes, dtype=bool)
    for place, column in enumerate(classes.attributes):
        if silent.any():
            nodes = classes.nodes[:, place]
            texts = sorted(table.counted(column).counts)
            codes = [code for code, text in enumerate(texts, 1) if shows_nothing(text)]
            if len(classes.attributes) > 1:
                codes.append(0)  # a missing cell
            silent &= np.isin(nodes, codes)
    others = classes.counts[~silent]
    return silent & (classes.counts.sum(where=silent) <= others.min(initial=classes.n_records - 1))


def shows_nothing(text: str) -> bool:
    """Whether a cell is made of nothing but asterisks."""
    return not text.strip().strip("*")


def describe_suppressed(number: int) -> str:
    """What is said of rows that were suppressed before.

    >>> describe_suppressed(1)
    '1 record shows nothing in any quasi-identifier (* or blank): it counts as suppressed, in no \
class.'
    """
    many = number != 1
    return (
        f"{counted(number, 'record')} {'show' if many else 'shows'} nothing in any "
        f"quasi-identifier (* or blank): {'they count' if many else 'it counts'} as suppressed, in "
        "no class."
    )
