"""How exposed the records of a table are, seen from its classes alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon.classes import EquivalenceClasses, group_tuples


@dataclass(frozen=True)
class Exposure:
    """How exposed the records of a table are by some of its columns.

    Attributes
    ----------
    n_records
        n.
    sizes : numpy.ndarray
        The size of every equivalence class, falling.
    """

    n_records: int
    sizes: np.ndarray

    @property
    def n_classes(self) -> int:
        """The number of equivalence classes."""
        return len(self.sizes)

    @property
    def min_k(self) -> int:
        """The size of the smallest class: the k that the table has."""
        return int(self.sizes.min())

    @property
    def unique_records(self) -> int:
        """The number of records that nobody shares all the columns with."""
        return int((self.sizes == 1).sum())


def exposure(classes: EquivalenceClasses) -> Exposure:
    """The class sizes of a table.

    >>> import pandas as pd
    >>> from kanon.sources.memory import classes_of_columns
    >>> table = pd.DataFrame({"a": ["x", "x", None]})
    >>> exposure(classes_of_columns(table, ["a"])).sizes.tolist()
    [2, 1]
    """
    return Exposure(classes.n_records, np.sort(classes.counts)[::-1])


def unique_without_each(classes: EquivalenceClasses) -> dict[str, int]:
    """The number of unique records if one of the columns were not there, for each of them.

    Empty for a single column.

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
        _, counts, _ = group_tuples(np.delete(classes.nodes, j, axis=1), classes.counts, others)
        found[column] = int((counts == 1).sum())
    return found
