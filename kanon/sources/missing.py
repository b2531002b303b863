"""Missing cells: which texts mark them, how many there are, and how that is told.

A text of nothing but blanks is missing whatever else marks a missing cell: no reader of a CSV tells
the two apart, so that counted as two values they would make a release look more diverse than it is.

>>> table, present = mark_missing(pd.DataFrame({"age": ["39", "?", "NA", " "]}), ("?",))
>>> table["age"].isna().tolist(), present
([False, True, False, True], {'': 1, '?': 1, 'NA': 1})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kanon.base.formatting import thin
from kanon.errors import quoted

BLANK = ""
"""The text, its outer blanks left out, that always counts as a missing cell."""

KNOWN_MARKERS = (BLANK, "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A")
"""Texts that count as a missing cell unless the settings say otherwise."""


def mark_missing(
    table: pd.DataFrame, markers: Sequence[str] = KNOWN_MARKERS
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Make cells that hold a marker missing, and count every marker.

    Parameters
    ----------
    table
        The table as read; outer blanks of its texts do not count.
    markers
        The texts that mark a missing cell, beside a blank one.

    Returns
    -------
    table : pandas.DataFrame
        The table with its missing cells.
    present : dict
        The number of cells of every known or given marker that occurs, used or not.
    """
    used = {BLANK, *(marker.strip() for marker in markers)}
    looked_for = list(dict.fromkeys([*KNOWN_MARKERS, *sorted(used)]))
    total: Counter[str] = Counter()
    columns = {}
    for name, column in table.items():
        texts = _trimmed(column)
        if texts is not None:
            hits = pc.is_in(texts, value_set=pa.array(looked_for, texts.type))
            counts = pc.value_counts(texts.filter(hits)).to_pylist()
            total.update({count["values"]: count["counts"] for count in counts})
            if any(count["values"] in used for count in counts):
                column = _masked(column, texts, list(used))
        columns[name] = column
    return pd.DataFrame(columns), {m: total[m] for m in looked_for if total[m]}


def without_blanks(table: pd.DataFrame) -> pd.DataFrame:
    """The table, its blank texts missing; the table itself if it has none.

    >>> without_blanks(pd.DataFrame({"ill": ["flu", " ", None]}))["ill"].isna().tolist()
    [False, True, True]
    """
    found = table
    for place, (_, column) in enumerate(table.items()):
        texts = _trimmed(column)
        if texts is None or not pc.any(pc.equal(texts, BLANK)).as_py():
            continue
        found = found.copy(deep=False) if found is table else found
        found.isetitem(place, _masked(column, texts, [BLANK]))
    return found


def about_missing(
    missing: Mapping[str, int], present: Mapping[str, int], used: Sequence[str]
) -> list[str]:
    """Sentences about missing cells, and about markers that count as values.

    Parameters
    ----------
    missing
        The number of missing cells of every column that has some.
    present
        The number of cells of every marker that occurs.
    used
        The markers that made cells missing.

    >>> about_missing({"age": 2}, {"?": 2, "NA": 1}, ["?"])
    ["1 column has missing cells ('?'): 'age' 2.", "Counted as values, not as missing: 'NA' (1)."]
    """
    sentences = []
    counting = {BLANK, *(marker.strip() for marker in used)}
    if missing:
        why = ", ".join(_shown(marker) for marker in present if marker in counting)
        parts = [f"{quoted(column)} {thin(count)}" for column, count in missing.items()]
        more = f" and {len(parts) - 5} more" if len(parts) > 5 else ""
        sentences.append(
            f"{len(parts)} {'column has' if len(parts) == 1 else 'columns have'} missing cells"
            f"{f' ({why})' if why else ''}: {', '.join(parts[:5])}{more}."
        )
    kept = [
        f"{_shown(marker)} ({thin(count)})"
        for marker, count in present.items()
        if marker not in counting
    ]
    if kept:
        sentences.append(f"Counted as values, not as missing: {', '.join(kept)}.")
    return sentences


def _masked(column: pd.Series, texts: Any, markers: Sequence[str]) -> pd.Series:
    """The column, its cells with one of these texts missing."""
    cells = pc.is_in(texts, value_set=pa.array(markers, texts.type))
    return column.mask(cells.to_numpy(zero_copy_only=False))


def _trimmed(column: pd.Series) -> Any:
    """The texts of a column without outer blanks; None if it has no text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    kind = column.dtype
    if isinstance(kind, pd.StringDtype) or (
        isinstance(kind, pd.ArrowDtype) and pd.api.types.is_string_dtype(kind)
    ):
        texts = pa.array(column, pa.large_string(), from_pandas=True)
    elif column.dtype == object:
        cells = [cell if isinstance(cell, str) else None for cell in column]
        texts = pa.array(cells, pa.large_string())
    else:
        return None
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return pc.utf8_trim_whitespace(texts)


def _shown(marker: str) -> str:
    return quoted(marker) if marker.strip() else "blank"
