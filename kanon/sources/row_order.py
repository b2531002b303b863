"""The order of released rows: it depends on their released cells, not on the table's order.

A table that was sorted by age or name would reveal them by the order of its rows. So rows are
sorted by their released cells, column after column: missing cells first, then numbers by size, then
texts by their characters. Rows that differ only in pseudonyms are in random order.
"""

import re
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

NUMBER = r"^[+-]?[0-9]{1,300}([.][0-9]{1,300})?$"
"""Texts that are sorted as numbers; every engine understands this pattern."""

_NUMBER = re.compile(NUMBER, re.ASCII)


def rank_texts(texts: Sequence[str]) -> np.ndarray:
    """Rank distinct texts: numbers by size, then the others."""
    rank = np.empty(len(texts), dtype=np.int64)
    order = sorted(range(len(texts)), key=lambda place: _get_text_key(texts[place]))
    rank[order] = range(len(texts))
    return rank


def sort_rows(released: pd.DataFrame, pseudonyms: Collection[str] = ()) -> np.ndarray:
    """The positions of the rows of a release in their released order."""
    keys = [
        key
        for place, name in enumerate(released.columns)
        if name not in pseudonyms
        for key in _build_sort_keys(released.iloc[:, place])
    ]
    if pseudonyms:
        keys.append(np.random.default_rng().permutation(len(released)))
    return np.lexsort(keys[::-1]) if keys else np.arange(len(released))


def _build_sort_keys(column: pd.Series) -> list[np.ndarray]:
    """Sort keys per cell, most important first; equal where cells are written alike."""
    kind = getattr(column.dtype, "kind", "O")
    if isinstance(column.dtype, np.dtype) and kind in "iub":
        return [column.to_numpy()]
    if isinstance(column.dtype, np.dtype) and kind == "f":
        numbers = column.to_numpy()
        present = ~np.isnan(numbers)
        return [present, np.where(present, numbers, 0), ~np.signbit(numbers) & present]
    if column.dtype == object:  # a lookup of distinct values would take True for 1
        column = pd.Series([None if pd.isna(cell) else str(cell) for cell in column], dtype="str")
    codes, values = pd.factorize(column)  # -1 where a cell is missing
    if kind in "iufbmM":
        rank = np.empty(len(values), dtype=np.int64)
        rank[pd.Index(values).argsort()] = np.arange(len(values))
    else:
        rank = rank_texts([str(value) for value in values])
    return [np.append(rank, -1)[codes]]


def _get_text_key(text: str) -> tuple[bool, float, str]:
    number = float(text) if _NUMBER.fullmatch(text) else np.inf
    return number == np.inf, number, text
