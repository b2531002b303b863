"""Rows that another tool suppressed: they show nothing in any quasi-identifier."""

import numpy as np

from kanon.base.formatting import counted
from kanon.classes import EquivalenceClasses
from kanon.sources.tables import Table


def find_suppressed(table: Table, classes: EquivalenceClasses) -> np.ndarray:
    """Which classes are of rows that show nothing. Shape (E,), bool.

    >>> import pandas as pd
    >>> from kanon.sources.memory import MemoryTable
    >>> table = MemoryTable(pd.DataFrame({"age": ["30", "30", "*"], "sex": ["F", "F", "*"]}))
    >>> find_suppressed(table, table.classes_of(["age", "sex"])).tolist()
    [True, False]
    """
    silent = np.ones(classes.n_classes, dtype=bool)
    for place, column in enumerate(classes.attributes):
        if silent.any():
            nodes = classes.nodes[:, place]
            silent &= np.isin(nodes, _silent_codes(table, column, len(classes.attributes) > 1))
    others = classes.counts[~silent]
    return silent & (classes.counts.sum(where=silent) <= others.min(initial=classes.n_records - 1))


def _silent_codes(table: Table, column: str, blanks: bool) -> list[int]:
    """The codes of a column's cells that show nothing: 0 is a missing cell, texts follow."""
    texts = sorted(table.counted(column).counts)
    return [0] * blanks + [code for code, text in enumerate(texts, 1) if shows_nothing(text)]


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
