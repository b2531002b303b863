"""How a plan says that a table is read."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, field_validator

from kanon.base.checked_json import Strict
from kanon.base.kinds import ColumnKind
from kanon.errors import PlanError, quote


class ReadPlan(Strict):
    """How the table is read; missing settings are detected."""

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
