"""Columns whose numbers are written in two ways, as happens where tables were joined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from kanon.base.formatting import counted
from kanon.base.kinds import number_kinds
from kanon.errors import quoted

_FORMS = {
    name: re.compile(pattern)
    for name, pattern in (
        ("whole", r"[+-]?\d+"),
        ("zero", r"[+-]?\d+\.0"),
        ("comma", r"[+-]?\d+,\d+"),
        ("point", r"[+-]?\d+\.\d+"),
    )
}


def about_mixed_numbers(table: pd.DataFrame) -> list[str]:
    """A sentence per column and pair of ways, with numbers of distinct values and no value.

    >>> about_mixed_numbers(pd.DataFrame({"age": ["39", "39.0", "40"], "zip": ["1", "2", "3"]}))
    ["'age' has numbers written in two ways, with '.0' (1 value) and without: they count alike."]
    """
    sentences = []
    for name, column in table.items():
        texts = [text.strip() for text in column.unique() if isinstance(text, str)]
        for ways in _pairs_of_ways(texts):
            sentences.append(f"{quoted(name)} has numbers written in two ways, {ways}.")
        if column.dtype == object and len(texts) < column.nunique():
            numbers = sum(map(bool, map(_FORMS["whole"].fullmatch, texts)))
            if numbers and any(isinstance(cell, int | float) for cell in column.dropna()):
                sentences.append(
                    f"{quoted(name)} has numbers written in two ways, as text "
                    f"({counted(numbers, 'value')}) and as numbers: they count alike."
                )
    return sentences


def _pairs_of_ways(texts: Sequence[str]) -> Iterator[str]:
    first: dict[str, list[str]] = {
        name: [text for text in texts if form.fullmatch(text)] for name, form in _FORMS.items()
    }
    if first["zero"] and first["whole"]:
        yield f"with '.0' ({counted(len(first['zero']), 'value')}) and without: they count alike"
    if first["comma"] and first["point"] and not number_kinds([*first["comma"], *first["point"]]):
        yield (
            f"with a comma ({counted(len(first['comma']), 'value')}) and with a point "
            f"({counted(len(first['point']), 'value')}): they count as different values"
        )
    plain = [text for text in first["whole"] if text.isdecimal()]
    differing = len(plain) - len({text.lstrip("0") for text in plain})
    if differing:
        yield (
            f"with zeros in front ({counted(differing, 'value')}) and without: they count as "
            "different values"
        )
