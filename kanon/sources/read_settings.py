"""How to read a file, and the result of reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pandas as pd
from pydantic import Field, StrictBool, StrictInt, field_validator

from kanon.base.checked_json import Strict
from kanon.base.kinds import ColumnKind
from kanon.errors import PlanError, quote
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


class ReadPlan(Strict):
    """How a plan has its table read; missing settings are detected."""

    separator: str | None = None
    encoding: str | None = None
    missing_markers: list[str] | None = None
    sheet: str | None = None
    header: StrictBool | None = None
    footer: Annotated[StrictInt, Field(ge=0)] | None = None
    missing: Literal["drop-records", "as-value"] | None = None
    kinds: dict[str, str] | None = None

    @field_validator("kinds")
    @classmethod
    def _check_kinds(cls, kinds: dict[str, str] | None) -> dict[str, str] | None:
        for name, kind in (kinds or {}).items():
            try:
                ColumnKind.parse(kind)
            except PlanError as error:
                raise ValueError(f"column {quote(name)}: {str(error).rstrip('.')}") from None
        return kinds

    @property
    def column_kinds(self) -> dict[str, ColumnKind]:
        """How the texts of some columns are read; other kinds are detected."""
        return {name: ColumnKind.parse(kind) for name, kind in (self.kinds or {}).items()}


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
