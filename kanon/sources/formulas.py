"""Cells that a spreadsheet would take for formulas, and how to prevent that.

A CSV holds only text, so a spreadsheet runs whatever begins like a formula: a value such as
``=HYPERLINK(…)`` may send the cells beside it away. With an apostrophe in front it is shown and not
run. A spreadsheet that splits at other separators makes cells of the parts of a cell; so those
parts are treated alike.

Source: OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection
"""

import re

import pandas as pd

SIGNS = frozenset("=+-@\t\r\n＝＋－＠")
"""What a formula begins with; the last four are the full-width forms of East Asian keyboards."""

_SPLITS = ";,\t|\r\n"  # where one spreadsheet or another splits a line or a file into cells

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?( ?%)?")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet could read a cell as a formula: it begins like one but is not a number.

    Apostrophes in front do not count, so that one more can be taken away again; nor do quotes,
    which a spreadsheet that splits elsewhere takes for its own.
    """
    return text.lstrip("'\"")[:1] in SIGNS and not _NUMBER.fullmatch(text)


def escape_formula(text: str) -> str:
    """A cell with an apostrophe in front if a spreadsheet could take it for a formula.

    So has every part that another separator or the end of a line would cut off. To get the cell
    back, take one apostrophe away before each such sign.
    """
    result = _neutralise_part(text)
    for split in _SPLITS:
        first, *others = result.split(split)
        last = len(others) - 1
        parts = [_neutralise_part(part, split if i < last else "") for i, part in enumerate(others)]
        result = split.join([first, *parts])
    return result


def _neutralise_part(part: str, after: str = "") -> str:
    """``after`` is what cut the part off.

    An apostrophe that the part has itself before a line end or a tab would look like an added one.
    """
    own = part[:1] == "'" and not part.strip("'\"") and after in SIGNS
    return f"'{part}" if own or is_formula(part) else part


def escape_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts and column names no spreadsheet takes for formulas.

    >>> escape_formulas(pd.DataFrame({"@a": ["=1+1", "-5"], "n": [-5, 1]})).to_dict("list")
    {"'@a": ["'=1+1", '-5'], 'n': [-5, 1]}
    """
    columns = [_neutralise_column(column) for _, column in table.items()]
    result = pd.concat(columns, axis=1) if columns else table.copy()
    result.columns = pd.Index([escape_formula(str(name)) for name in table.columns], dtype=object)
    return result


def _neutralise_column(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    values = column.astype(object)
    return values.map(lambda cell: escape_formula(cell) if isinstance(cell, str) else cell)
