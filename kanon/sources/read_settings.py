"""How to read a file, and the result of reading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from kanon.sources.text_form import PLAIN, TextForm


@dataclass(frozen=True)
class ReadSettings:
    """How to read a file; None means that it is detected.

    Attributes
    ----------
    separator
        One character between two cells of a CSV or TSV.
    encoding
        The encoding of a CSV or TSV, by its Python name.
    missing_markers
        The texts that count as a missing cell; an empty tuple means none.
    sheet
        The sheet of an XLSX file that has several.
    header
        Whether the first line contains the column names; otherwise columns are numbered.
    footer
        The number of rows with totals or notes at the end of a CSV, TSV or XLSX.
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
    found: list[str] = field(default_factory=list)  # sentences about how it was read
    separator: str | None = None  # of a text file
    encoding: str | None = None
    form: TextForm = PLAIN
    sheet: str | None = None  # the sheet that was read, of several
    # the filled sheets, each with its numbers of rows and columns
    sheets: Mapping[str, tuple[int, int]] = field(default_factory=dict)
