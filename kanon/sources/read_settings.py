"""How a file is to be read, and what a reader finds in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from kanon.sources.text_form import PLAIN, TextForm


@dataclass(frozen=True)
class ReadSettings:
    """How a file is to be read; None means that it is to be found out.

    Attributes
    ----------
    separator
        One character between two cells of a CSV or TSV.
    encoding
        The encoding of a CSV or TSV, by a name that Python knows.
    missing_markers
        The texts that count as a missing cell; an empty tuple means none.
    sheet
        The sheet of an XLSX file that has several.
    header
        Whether the first line holds the names of the columns; else they are numbered.
    footer
        How many rows at the end of a CSV, TSV or XLSX are totals or notes, and no records.
    """

    separator: str | None = None
    encoding: str | None = None
    missing_markers: tuple[str, ...] | None = None
    sheet: str | None = None
    header: bool | None = None
    footer: int | None = None


@dataclass(frozen=True, eq=False)
class FileContent:
    table: pd.DataFrame  # the records
    found: list[str] = field(default_factory=list)  # short sentences for a person
    separator: str | None = None  # of a text file
    encoding: str | None = None
    form: TextForm = PLAIN
    sheet: str | None = None  # the sheet that was read, of several
    # the sheets that hold something, each with the rows and columns over which it does
    sheets: Mapping[str, tuple[int, int]] = field(default_factory=dict)
