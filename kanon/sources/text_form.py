"""How a file is written: a release has the separator, encoding and labels of its table."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from kanon.errors import TableError
from kanon.sources.formulas import escape_formulas
from kanon.sources.separators import check_separator, is_padded

_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class ColumnLabels:
    """What SPSS, Stata and SAS know about a column besides its cells."""

    title: str = ""  # the label of the variable
    codes: Mapping[str, float | str] = field(default_factory=dict)  # by the label of each value


@dataclass(frozen=True)
class TextForm:
    separator: str = ","  # what stands between two cells of a CSV
    encoding: str = "utf-8"  # by a name that Python knows
    line_end: str = "\n"  # LF or CRLF
    # by column; only SPSS and Stata files are written with them
    labels: Mapping[str, ColumnLabels] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def find_form(cls, content: bytes, separator: str, encoding: str) -> TextForm:
        """The form of a file that was read with this separator and encoding."""
        if encoding == "utf-8" and content.startswith(codecs.BOM_UTF8):
            encoding = "utf-8-sig"
        try:
            start = content[:_LONGEST_HEADER].decode(encoding, "ignore")
        except UnicodeError:  # a codec that cannot ignore a cut end
            start = ""
        first, end, _ = start.partition("\n")
        return cls(separator, encoding, "\r\n" if end and first.endswith("\r") else "\n")

    def encode_text(self, text: str) -> bytes:
        try:
            return text.encode(self.encoding)
        except UnicodeError:
            raise TableError(
                f"{self.encoding.upper()} lacks some characters in the table: write it as UTF-8."
            ) from None

    def choose_encoding_for(self, text: str) -> TextForm:
        """The same form, but in UTF-8 if its encoding lacks a character of a text."""
        try:
            self.encode_text(text)
        except TableError:
            return replace(self, encoding="utf-8")
        return self


PLAIN = TextForm()  # what any program reads: UTF-8 with commas and LF

FOR_EXCEL = TextForm(";", "utf-8-sig", "\r\n")
"""The form that Excel opens by a double click where the decimal mark is a comma."""

FORMS = {"plain": PLAIN, "excel": FOR_EXCEL}  # the forms that are not a table's own, by name


def needs_all_quotes(content: bytes, separator: str = ",") -> bool:
    """Whether a CSV with the csv module's minimal quotes would be misread.

    It leaves some bytes unquoted that a reader would take for a line end, padding or a byte order
    mark.
    """
    return b"\r" in content or is_padded(content, separator) or content.startswith(b"\xef\xbb\xbf")


def write_text(table: pd.DataFrame, form: TextForm, escapes_formulas: bool) -> bytes:
    """A CSV or TSV of a table, in quotes where they are needed, and throughout if neutral."""
    check_separator(form.separator)
    table = escape_formulas(table) if escapes_formulas else table

    def write_csv(quoting: Any, line_end: str = "\n") -> str:
        return table.to_csv(
            sep=form.separator, index=False, lineterminator=line_end, quoting=quoting
        )

    quoting: Any = csv.QUOTE_ALL if escapes_formulas else csv.QUOTE_MINIMAL
    content = write_csv(quoting)
    if not escapes_formulas and needs_all_quotes(content.encode(), form.separator):
        quoting = csv.QUOTE_ALL
        content = write_csv(quoting)
    return form.encode_text(content if form.line_end == "\n" else write_csv(quoting, form.line_end))
