"""Missing cells: the texts that mark them, their numbers, and sentences about them.

A blank text is always missing: no reader of a CSV tells the two apart. Counted as two values, they
would make a release look more diverse than it is.

>>> table, present = mark_missing(pd.DataFrame({"age": ["39", "?", "NA", " "]}), ("?",))
>>> table["age"].isna().tolist(), present
([False, True, False, True], {'': 1, '?': 1, 'NA': 1})
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kanon.base.formatting import write_count
from kanon.base.spelling import BLANK, KNOWN_MARKERS, LIKELY_MARKERS
from kanon.errors import quote

NUMBER_MARKERS = ("9", "99", "999", "9999", "99999", "999999", "9999999", "99999999",
                  "-1", "-9", "-99", "-999", "-9999", "-99999")  # fmt: skip
"""Numbers that often stand for a missing one; see :func:`find_odd_numbers`."""

STARS = tuple("*" * number for number in range(1, 11))
"""Suppressed cells of a table that was generalised before."""

_NUMBER = r"-?\d+(\.\d+)?"


def mark_missing(
    table: pd.DataFrame, markers: Sequence[str] = KNOWN_MARKERS, numbers: bool = False
) -> tuple[pd.DataFrame, dict[str, int]]:
    used = {BLANK, *(marker.strip() for marker in markers)}
    candidates = list(dict.fromkeys([*KNOWN_MARKERS, *sorted(used), *STARS]))
    total: Counter[str] = Counter()
    columns = {}
    for name, column in table.items():
        texts = trim_texts(column)
        if texts is not None:
            hits = pc.or_(
                pc.is_in(texts, value_set=pa.array(candidates, texts.type)),
                pc.is_in(pc.utf8_lower(texts), value_set=pa.array(LIKELY_MARKERS, texts.type)),
            )
            counts = _count_all(texts.filter(hits))
            total.update(counts)
            if not used.isdisjoint(counts):
                column = _mask_cells(column, texts, list(used))
        elif numbers and (number_counts := _count_numbers(column, used)):
            total.update(number_counts)
            whole = pd.api.types.is_integer_dtype(column)
            hidden = column.isin([*map(float, number_counts)])
            column = (column.astype("Int64") if whole else column).mask(hidden)
        columns[name] = column
    present = dict.fromkeys([*candidates, *(text for text, _ in total.most_common())])
    return pd.DataFrame(columns), {m: total[m] for m in present if total[m]}


@dataclass(frozen=True)
class OddNumber:
    marker: str  # the number, as it is written
    columns: Mapping[str, int]  # the columns in which it stands out, each with its cells
    other_cells: int  # cells of other columns that hold it, where it would mark missing ones too


def find_odd_numbers(table: pd.DataFrame, numbers: bool = False) -> tuple[OddNumber, ...]:
    """The numbers such as 999 or -1 that stand out in a column of numbers."""
    cells: dict[str, dict[str, int]] = {}
    odd: set[tuple[str, str]] = set()
    for name, column in table.items():
        present = _count_number_markers(column, numbers)
        for marker, count in present.items():
            cells.setdefault(marker, {})[str(name)] = count
        if present:
            odd |= {(str(name), marker) for marker in _find_outliers(column, present)}
    odd_list = []
    for marker in sorted(cells, key=NUMBER_MARKERS.index):
        columns = {name: n for name, n in cells[marker].items() if (name, marker) in odd}
        if columns:
            elsewhere = sum(cells[marker].values()) - sum(columns.values())
            odd_list.append(OddNumber(marker, columns, elsewhere))
    return tuple(odd_list)


def _count_number_markers(column: pd.Series, numbers: bool) -> dict[str, int]:
    texts = trim_texts(column)
    if texts is None:
        return _count_numbers(column, NUMBER_MARKERS) if numbers else {}
    return _count_all(texts.filter(pc.is_in(texts, value_set=pa.array(NUMBER_MARKERS, texts.type))))


def _count_all(texts: Any) -> dict[str, int]:
    return {entry["values"]: entry["counts"] for entry in pc.value_counts(texts).to_pylist()}


def _count_numbers(column: pd.Series, markers: Collection[str]) -> dict[str, int]:
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return {}
    known = {marker: float(marker) for marker in markers if re.fullmatch(_NUMBER, marker)}
    counts = column[column.isin(list(known.values()))].value_counts()
    return {m: int(counts[n]) for m, n in known.items() if n in counts.index}


def _find_outliers(column: pd.Series, markers: Iterable[str]) -> list[str]:
    counted = column.value_counts()
    texts = counted.index.astype(str).str.strip().str.replace(",", ".")
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    counts = counted.to_numpy()
    if counts[~np.isnan(values)].sum() < 0.9 * counts.sum():
        return []  # a column of texts, some of them numbers
    is_marker = np.isin(values, [float(marker_text) for marker_text in NUMBER_MARKERS])
    others = np.unique(values[~is_marker & ~np.isnan(values)])
    if len(others) < 2:
        return []
    smallest, largest = others[0], others[-1]

    def count_cells(number: float) -> int:
        return int(counts[values == number].sum())

    def is_outlier(number: float) -> bool:
        if number < 0:
            return bool(smallest >= 0)
        far = number - largest >= largest - smallest
        return bool(number > largest and (far or count_cells(number) >= 5 * count_cells(largest)))

    return [marker for marker in markers if is_outlier(float(marker))]


def mark_blanks_missing(table: pd.DataFrame) -> pd.DataFrame:
    """The table, its blank texts missing; the table itself if it has none."""
    result = table
    for place, (_, column) in enumerate(table.items()):
        texts = trim_texts(column)
        if texts is None or not pc.any(pc.equal(texts, BLANK)).as_py():
            continue
        result = result.copy(deep=False) if result is table else result
        result.isetitem(place, _mask_cells(column, texts, [BLANK]))
    return result


def describe_missing_cells(
    missing: Mapping[str, int], present: Mapping[str, int], used: Sequence[str]
) -> list[str]:
    sentences = []
    counting = {BLANK, *(marker.strip() for marker in used)}
    if missing:
        markers = ", ".join(_quote_marker(marker) for marker in present if marker in counting)
        parts = [f"{quote(column)} {write_count(count)}" for column, count in missing.items()]
        more = f" and {len(parts) - 5} more" if len(parts) > 5 else ""
        sentences.append(
            f"{len(parts)} {'column has' if len(parts) == 1 else 'columns have'} missing cells"
            f"{f' ({markers})' if markers else ''}: {', '.join(parts[:5])}{more}."
        )
    marking = ", ".join(_quote_marker(marker) for marker in present if marker in counting - {BLANK})
    if missing and marking:
        sentences.append(
            f"In columns that pass through, cells that hold {marking} will be blank in a release. "
            "To keep them, choose other markers of missing cells."
        )
    values = [
        f"{_quote_marker(marker)} ({write_count(count)})"
        for marker, count in present.items()
        if marker not in counting
    ]
    if values:
        sentences.append(f"These count as values, not as missing: {', '.join(values)}.")
    return sentences


def _mask_cells(column: pd.Series, texts: Any, markers: Sequence[str]) -> pd.Series:
    cells = pc.is_in(texts, value_set=pa.array(markers, texts.type))
    return column.mask(cells.to_numpy(zero_copy_only=False))


def trim_texts(column: pd.Series) -> Any:
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


def _quote_marker(marker: str) -> str:
    return quote(marker) if marker.strip() else "blank"
