"""Repairs of a table: replace values or drop records, in the order of a plan, before counting.

Values are compared as texts (:func:`kanon.base.values.convert_to_text`), so that 39, 39.0 and "39"
are one value. Missing cells are no value: only ``missing`` drops them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import Field

from kanon.base.checked_json import Strict
from kanon.base.formatting import count_noun
from kanon.base.kinds import TEXT, ColumnKind, find_number_kinds
from kanon.base.spelling import KNOWN_MARKERS
from kanon.base.values import ValueCounts, convert_to_text
from kanon.errors import PlanError, TableError, list_names, quote

_Bound = Annotated[float, Field(strict=True, allow_inf_nan=False)]

Targets = Mapping[str | None, str | None]
"""What replaces the values that a step hits; None is a missing cell."""


class DropCondition(Strict):
    """Which records are dropped, by one column; exactly one key is given."""

    one_of: list[str] | None = Field(default=None, min_length=1)
    none_of: list[str] | None = Field(default=None, min_length=1)
    missing: Literal[True] | None = None
    below: _Bound | None = None
    above: _Bound | None = None


class Repair(Strict):
    """A step on a table: replace values of a column (null: by a missing cell), or drop records."""

    column: str
    replace: dict[str, str | None] | None = Field(default=None, min_length=1)
    drop: DropCondition | None = None

    @property
    def named_values(self) -> list[str]:
        return [*(self.replace or (self.drop and self.drop.one_of) or ())]

    @property
    def compares_numbers(self) -> bool:
        return self.drop is not None and (self.drop.below, self.drop.above) != (None, None)

    @property
    def description(self) -> str:
        """What the step does, with the values that it names.

        >>> Repair(column="sex", replace={"m": "male", "M": "male", "x": None}).description
        "'sex': replace 'm', 'M' by 'male'; replace 'x' by a missing cell"
        >>> Repair(column="age", drop={"below": 0}).description
        "'age': drop the records below 0"
        """
        if self.drop is None:
            values: dict[str | None, list[str]] = {}
            for value, target in (self.replace or {}).items():
                values.setdefault(target, []).append(value)
            actions = [
                f"replace {list_names(names)} by "
                f"{'a missing cell' if target is None else quote(target)}"
                for target, names in values.items()
            ]
            return f"{quote(self.column)}: {'; '.join(actions)}"
        ((kind, what),) = self.drop.model_dump(exclude_none=True).items()
        if kind == "missing":
            which = "without a value"
        elif isinstance(what, list):
            which = f"with {'' if kind == 'one_of' else 'a value other than '}{list_names(what)}"
        else:
            which = f"{kind} {convert_to_text(what)}"
        return f"{quote(self.column)}: drop the records {which}"

    def find_targets(
        self, values: ValueCounts, kind: ColumnKind | None
    ) -> tuple[Targets, list[str]]:
        """What the step hits of a column, and the values that are no numbers to compare.

        >>> ages = ValueCounts({"39": 2, "999": 1, "old": 1})
        >>> Repair(column="age", drop={"above": 99}).find_targets(ages, None)
        ({'999': None}, ['old'])
        """
        drop, texts = self.drop or DropCondition(), values.texts
        if drop.missing:
            return ({None: None} if values.missing else {}), []
        if drop.none_of:
            return dict.fromkeys(set(texts).difference(map(convert_to_text, drop.none_of))), []
        if not self.compares_numbers:
            pairs = self.replace or dict.fromkeys(self.named_values)
            targets = {convert_to_text(name): target for name, target in pairs.items()}
            return {text: targets[text] for text in texts if text in targets}, []
        if kind is None or not kind.is_number:
            likely = [text for text in texts if find_number_kinds([text])]
            kind = next(iter(find_number_kinds(likely)), TEXT)
        numbers = {text: kind.number(text) if kind.is_number else None for text in texts}
        low = -math.inf if drop.below is None else drop.below
        high = math.inf if drop.above is None else drop.above
        unread = [text for text, number in numbers.items() if number is None]
        return {
            text: None
            for text, number in numbers.items()
            if number is not None and not low <= number <= high
        }, unread


def check_repairs(steps: Iterable[Repair], markers: Iterable[str] | None) -> None:
    """Check that each step does one thing, names no blank and writes no marker of missing cells."""
    missing = {marker.strip() for marker in (*KNOWN_MARKERS, *(markers or ()))}
    for place, step in enumerate(steps):
        key = f"Plan key repairs.{place}"
        if (step.replace is None) == (step.drop is None):
            raise PlanError(f"{key}: give either 'replace' or 'drop'.")
        if step.drop is not None and len(step.drop.model_dump(exclude_none=True)) != 1:
            raise PlanError(
                f"{key}.drop: give exactly one of {', '.join(DropCondition.model_fields)}."
            )
        if not all(map(str.strip, step.named_values)):
            raise PlanError(
                f"{key}: no step can name blank cells, because they are missing; "
                '"drop": {"missing": true} drops their records.'
            )
        if len({*map(convert_to_text, step.named_values)}) < len(step.named_values):
            raise PlanError(f"{key}: two spellings are the same value for kanon; keep one of them.")
        for target in (step.replace or {}).values():
            if target is not None and target.strip() in missing:
                raise PlanError(
                    f"{key}.replace: {{cells}} counts as a missing cell; to make cells missing, "
                    "write null.",
                    [target],
                )


@dataclass(frozen=True)
class RepairResult:
    step: Repair
    kind: ColumnKind | None  # as which numbers were compared, where a user chose it
    changed: int  # cells that were replaced, or records that were dropped
    absent: int = 0  # values that the step names and the column lacks
    unread: int = 0  # cells that are no numbers, where numbers are compared

    @property
    def amount(self) -> str:
        """How much it changed, such as ``3 cells replaced``."""
        if self.step.drop is not None:
            return f"{count_noun(self.changed, 'record')} dropped"
        return f"{count_noun(self.changed, 'cell')} replaced"

    @property
    def notes(self) -> tuple[str, ...]:
        """What it did not find or could not read, in sentences without values."""
        notes = []
        if not self.changed:
            notes.append("It hits nothing in this table.")
        elif self.absent:
            do = "does" if self.absent == 1 else "do"
            number = len(self.step.named_values)
            notes.append(f"{self.absent} of its {number} values {do} not occur in this table.")
        if self.unread:
            cells = count_noun(self.unread, "cell is", "cells are")
            notes.append(f"{cells} not a number that kanon can compare, and stayed.")
        return tuple(notes)

    @property
    def figures(self) -> dict[str, Any]:
        """The numbers of the step for a file of measures, without any value."""
        counted = "replaced_cells" if self.step.drop is None else "dropped_records"
        return {"column": self.step.column, counted: self.changed}


def describe_notes(results: Sequence[RepairResult]) -> list[tuple[str, str]]:
    """The columns and sentences of what the steps did not find or could not read."""
    return [
        (column, f"Step {place} of the repairs, on {quote(column)}: {note}")
        for place, result in enumerate(results, 1)
        for column in [result.step.column]
        for note in result.notes
    ]


def describe_repair_kinds(steps: Iterable[Repair] | None) -> str:
    """How many steps did what, without values and counts of a table; nothing without steps."""
    drops = [step.drop is not None for step in steps or ()]
    numbers = {"values replaced": drops.count(False), "records dropped": drops.count(True)}
    parts = [f"{what} in {count_noun(n, 'step')}" for what, n in numbers.items() if n]
    return f"Before anonymisation, the table was repaired: {', '.join(parts)}." if parts else ""


def convert_target(text: str, kind: pa.DataType, column: str) -> Any:
    if pa.types.is_null(kind):  # of several types
        return text
    try:
        return pa.array([text]).cast(kind)[0].as_py()
    except pa.ArrowException:
        raise TableError(
            f"{quote(column)} holds no texts but {kind}, and a new value is none; replace by one "
            "that is, or by a missing cell (null)."
        ) from None
