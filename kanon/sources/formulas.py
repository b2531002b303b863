"""Cells that a spreadsheet would take for a formula, and what keeps it from doing so.

A CSV has nothing but text, so a spreadsheet that opens one runs whatever begins like a formula: a
value such as ``=HYPERLINK(…)`` may send away what stands beside it. With an apostrophe in front it
is shown and not run. A spreadsheet that splits the file elsewhere, such as at semicolons one with
commas, makes cells of the parts of a cell; so those parts are treated alike.

Source: OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection
"""

import re

import pandas as pd

SIGNS = frozenset("=+-@\t\r\n＝＋－＠")
"""What a formula begins with; the last four are the wide forms of East Asian keyboards."""

_SPLITS = ";,\t|\r\n"  # where one spreadsheet or another splits a line or a file into cells

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?( ?%)?")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet could take a cell for a formula: it begins like one and is no number.

    Apostrophes in front count as nothing, so that one more of them can be taken away again; nor do
    quotes, which a spreadsheet that splits elsewhere takes for its own.
    """
    return text.lstrip("'\"")[:1] in SIGNS and not _NUMBER.fullmatch(text)


def neutral_text(text: str) -> str:
    """A cell with an apostrophe in front if a spreadsheet could take it for a formula.

    So is every part of it that another separator, or the end of a line, would cut off. Taking one
    apostrophe away from each place that has one before such a sign gives back what was.
    """
    found = _neutral(text)
    for split in _SPLITS:
        first, *others = found.split(split)
        last = len(others) - 1
        parts = [_neutral(part, split if i < last else "") for i, part in enumerate(others)]
        found = split.join([first, *parts])
    return found


def _neutral(part: str, after: str = "") -> str:
    """The part with an apostrophe in front, if one is needed; ``after`` is what cut it off.

    An apostrophe of its own before a line end or a tab would look like one that was put there.
    """
    own = part[:1] == "'" and not part.strip("'\"") and after in SIGNS
    return f"'{part}" if own or is_formula(part) else part


def neutralised(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts no spreadsheet takes for formulas, the names of its columns too.

    >>> neutralised(pd.DataFrame({"@a": ["=1+1", "-5"], "n": [-5, 1]})).to_dict("list")
    {"'@a": ["'=1+1", '-5'], 'n': [-5, 1]}
    """
    columns = [_neutral_column(column) for _, column in table.items()]
    found = pd.concat(columns, axis=1) if columns else table.copy()
    found.columns = pd.Index([neutral_text(str(name)) for name in table.columns], dtype=object)
    return found


def _neutral_column(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    values = column.astype(object)
    return values.map(lambda cell: neutral_text(cell) if isinstance(cell, str) else cell)
