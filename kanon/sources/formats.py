"""The kinds of table file: how each is called, read, written, and read back from a release."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any, Literal

import pandas as pd

from kanon.errors import TableError, quote
from kanon.sources.addresses import DATABASES, Address
from kanon.sources.arrow_tables import (
    build_sheet_columns,
    write_feather,
    write_parquet,
    write_sheet,
)
from kanon.sources.read_back import (
    Columns,
    read_back_feather,
    read_back_labelled,
    read_back_parquet,
    read_back_sheet,
    read_back_text,
)
from kanon.sources.read_settings import FileContent, ReadSettings
from kanon.sources.statistics_files import (
    SPSS,
    STATA,
    build_variables,
    read_dta,
    read_sas,
    read_sav,
    write_dta,
    write_sav,
)
from kanon.sources.text_files import read_text
from kanon.sources.text_form import TextForm, write_text
from kanon.sources.typed_files import read_feather, read_parquet, read_sheet


@dataclass(frozen=True)
class TableFormat:
    name: str
    title: str
    endings: tuple[str, ...]  # of the names of its files; the first is the usual one
    mime: str  # the media type of a download
    read: Callable[[bytes, str, ReadSettings], FileContent]
    write: Callable[[pd.DataFrame, TextForm, bool], bytes]  # the last says to neutralise formulas
    read_back: Callable[[bytes, str, str], Columns]  # shares no code with the other two
    # whether its cells are texts, of a spreadsheet, or of columns that have a type each
    cells: Literal["text", "sheet", "typed"] = "typed"
    separator: str = ""  # of a text file, if it may have no other one
    check: Callable[[pd.DataFrame], object] | None = None  # raises if the format cannot hold it
    in_engine: bool = False  # whether engines read and write it where it is

    def set_separator(self, form: TextForm) -> TextForm:
        return replace(form, separator=self.separator) if self.separator else form


FORMATS: Mapping[str, TableFormat] = {
    its.name: its
    for its in (
        TableFormat(
            "csv", "CSV", (".csv", ".txt"), "text/csv",
            read_text, write_text, read_back_text, cells="text", in_engine=True,
        ),
        TableFormat(
            "tsv", "TSV", (".tsv", ".tab"), "text/tab-separated-values",
            partial(read_text, separates="\t"), write_text, read_back_text,
            cells="text", separator="\t", in_engine=True,
        ),
        TableFormat(
            "parquet", "Parquet", (".parquet", ".pq"), "application/vnd.apache.parquet",
            read_parquet, write_parquet, read_back_parquet, in_engine=True,
        ),
        TableFormat(
            "feather", "Feather", (".feather", ".arrow"), "application/vnd.apache.arrow.file",
            read_feather, write_feather, read_back_feather,
        ),
        TableFormat(
            "xlsx", "XLSX", (".xlsx",),
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            read_sheet, write_sheet, read_back_sheet, cells="sheet", check=build_sheet_columns,
        ),
        TableFormat(
            "sav", "SPSS", (".sav", ".zsav"), "application/x-spss-sav",
            read_sav, write_sav, read_back_labelled, check=partial(build_variables, SPSS),
        ),
        TableFormat(
            "dta", "Stata", (".dta",), "application/x-stata-dta",
            read_dta, write_dta, read_back_labelled, check=partial(build_variables, STATA),
        ),
        # A new file format goes here.
    )
}  # fmt: skip
"""The kinds of table file that are read and written, by their names."""


def _refuse_writing(*_: object) -> Any:
    raise TableError("kanon reads SAS files and writes none: choose another format.")


_SAS = TableFormat(
    "sas", "SAS", (".sas7bdat", ".xpt"), "application/x-sas-data",
    read_sas, _refuse_writing, _refuse_writing,
)  # fmt: skip

READ_FORMATS: Sequence[TableFormat] = (*FORMATS.values(), _SAS)
"""The kinds of table file that are read."""

ENDINGS: Mapping[str, TableFormat] = {ending: its for its in READ_FORMATS for ending in its.endings}
"""The format of a table file by its ending."""

ENGINE_KINDS = ("folder", *(its.name for its in FORMATS.values() if its.in_engine))
"""What engines write, apart from databases; ``folder`` is a folder of Parquet files."""

WRITTEN_BY_ENGINES: Mapping[str, str] = {
    "": "folder",
    **{ending: its.name for ending, its in ENDINGS.items() if its.in_engine},
    **{ending: kind for ending, kind in DATABASES.items() if kind == "duckdb"},
}
"""What an engine writes, by the ending of the path."""

_COMPRESSED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tgz")


def find_format(name: str, writes: bool = False) -> TableFormat:
    """The format of a file by the ending of its name, to read it or to write it."""
    ending = PurePath(name).suffix.lower()
    if ending in _COMPRESSED:
        raise TableError(
            f"{quote(name)} is compressed, and kanon does not unpack tables: unpack it first, so "
            f"that its name ends with {', '.join(ENDINGS)}."
        )
    if ending not in ENDINGS:
        raise TableError(f"The name {quote(name)} has to end with one of {', '.join(ENDINGS)}.")
    if writes and ENDINGS[ending] is _SAS:
        _refuse_writing()
    return ENDINGS[ending]


def find_stored_format(address: Address) -> TableFormat | None:
    """The format of a table that engines read where it is; Parquet for a folder."""
    table_format = ENDINGS.get(f".{address.kind.replace('folder', 'parquet')}")
    return table_format if table_format is not None and table_format.in_engine else None


def read_back(content: bytes, kind: str, separator: str = ",", encoding: str = "utf-8") -> Columns:
    table_format = FORMATS[kind]
    return table_format.read_back(content, table_format.separator or separator, encoding)
