"""Columns whose numbers are written in two ways, as happens where tables were joined."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from kanon.base.formatting import counted
from kanon.base.kinds import number_kinds
from kanon.errors import listing, quoted
from kanon.sources.missing import trimmed

_WHOLE, _ZERO = r"^[+-]?\d+$", r"^[+-]?\d+\.0$"
_COMMA, _POINT = r"^[+-]?\d+,\d+$", r"^[+-]?\d+\.\d+$"
_LONG = r"^-?\d{16,}$"
_SCIENTIFIC = r"^[+-]?\d([.,]\d+)?[eE]\+?(1[5-9]|[2-9]\d)$"


def about_mixed_numbers(table: pd.DataFrame) -> list[str]:
    """A sentence per column and pair of ways, with numbers of distinct values and no value.

    >>> about_mixed_numbers(pd.DataFrame({"age": ["39", "39.0", "40"], "zip": ["1", "2", "3"]}))
    ["'age' has numbers written in two ways, with '.0' (1 value) and without: they count alike."]
    """
    return [
        f"{quoted(name)} has numbers written in two ways, {ways}."
        for name, column in table.items()
        for ways in _pairs_of_ways(column, _distinct_texts(column))
    ]


def about_long_numbers(table: pd.DataFrame, in_sheet: bool = False) -> list[str]:
    """A sentence about the columns whose long numbers may have lost their last digits.

    >>> about_long_numbers(pd.DataFrame({"id": [9.1e18, 1.0], "n": [0.5, 1.5]}))[0][:42]
    "The numbers of 'id' have more than 15 digi"
    """
    cut = [str(name) for name, column in table.items() if _may_be_cut(column, in_sheet)]
    return [
        f"The numbers of {listing(cut)} have more than 15 digits, of which spreadsheets and "
        "floating-point numbers keep 15: different ones may have become equal. Have them saved "
        "as text."
    ] * bool(cut)


def _distinct_texts(column: pd.Series) -> Any:
    texts = trimmed(column)
    return None if texts is None else pc.drop_null(pc.unique(texts))


def _like(texts: Any, form: str) -> Any:
    return texts.filter(pc.match_substring_regex(texts, form))


def _may_be_cut(column: pd.Series, in_sheet: bool) -> bool:
    if pd.api.types.is_float_dtype(column):
        return bool((column.abs() >= 2**53).any())
    if in_sheet and pd.api.types.is_integer_dtype(column):
        column = column.astype("str")
    texts = _distinct_texts(column)
    if texts is None:
        return False
    long = _like(texts, _LONG) if in_sheet else []
    cut = len(long) > 1 and pc.all(pc.ends_with(long, "0")).as_py()
    return bool(cut or len(_like(texts, _SCIENTIFIC)))


def _pairs_of_ways(column: pd.Series, texts: Any) -> Iterator[str]:
    if texts is None:
        return
    whole, zero = _like(texts, _WHOLE), _like(texts, _ZERO)
    if len(whole) and len(zero):
        yield f"with '.0' ({counted(len(zero), 'value')}) and without: they count alike"
    comma, point = _like(texts, _COMMA), _like(texts, _POINT)
    both = len(comma) and len(point)
    if both and not number_kinds([*comma.to_pylist(), *point.to_pylist()]):
        yield (
            f"with a comma ({counted(len(comma), 'value')}) and with a point "
            f"({counted(len(point), 'value')}): they count as different values"
        )
    differing = len(whole) - len(pc.unique(pc.utf8_ltrim(whole, "0")))
    if differing:
        yield (
            f"with zeros in front ({counted(differing, 'value')}) and without: they count as "
            "different values"
        )
    typed = column.dropna() if column.dtype == object and len(whole) else []
    if any(isinstance(cell, int | float) for cell in typed):
        yield f"as text ({counted(len(whole), 'value')}) and as numbers: they count alike"
