"""Repairs of a table: replace values or drop records, in the order of a plan, before counting.

Values are compared as texts (:func:`kanon.base.values.convert_to_text`), so that 39, 39.0 and "39"
are one value. Missing cells are no value: only ``missing`` drops them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, Field

from kanon.base.checked_json import Strict
from kanon.base.formatting import count_noun
from kanon.base.kinds import TEXT, ColumnKind, find_number_kinds
from kanon.base.spelling import KNOWN_MARKERS
from kanon.base.values import convert_to_text, encode_texts
from kanon.errors import PlanError, TableError, list_names, quote
from kanon.schema import check_columns

MISSING = -1  # the place of missing cells among the values of a column

_Bound = Annotated[float, Field(strict=True, allow_inf_nan=False)]


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
    def named_values(self) -> dict[str, str]:
        """The values that the step looks for, as they are compared, each with its own spelling."""
        names: Iterable[str] = self.replace or (self.drop and self.drop.one_of) or ()
        return {convert_to_text(name): name for name in names}

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The numbers below and above which records are dropped."""
        return (None, None) if self.drop is None else (self.drop.below, self.drop.above)

    @property
    def description(self) -> str:
        """What the step does, with the values that it names.

        >>> Repair(column="sex", replace={"m": "male", "M": "male", "x": None}).description
        "'sex': replace 'm', 'M' by 'male'; replace 'x' by a missing cell"
        >>> Repair(column="age", drop={"below": 0}).description
        "'age': drop the records below 0"
        """
        return f"{quote(self.column)}: {'; '.join(self._list_actions())}"

    def _list_actions(self) -> list[str]:
        if self.drop is None:
            values: dict[str | None, list[str]] = {}
            for value, target in (self.replace or {}).items():
                values.setdefault(target, []).append(value)
            return [
                f"replace {list_names(group)} by "
                f"{'a missing cell' if target is None else quote(target)}"
                for target, group in values.items()
            ]
        if self.drop.missing:
            return ["drop the records without a value"]
        if self.drop.one_of:
            return [f"drop the records with {list_names(self.drop.one_of)}"]
        if self.drop.none_of:
            return [f"drop the records with a value other than {list_names(self.drop.none_of)}"]
        below, above = self.bounds
        side = f"below {below:g}" if below is not None else f"above {above:g}"
        return [f"drop the records {side}"]


def check_repairs(steps: Sequence[Repair]) -> Sequence[Repair]:
    """Check that each step does one thing, and that no step undoes or repeats an earlier one.

    Raises
    ------
    PlanError
        A step is empty or ambiguous, or names a value that an earlier step has removed.
    """
    removed: dict[tuple[str, str], int] = {}
    for place, step in enumerate(steps):
        key = f"Plan key repairs.{place}"
        if (step.replace is None) == (step.drop is None):
            raise PlanError(f"{key}: give either 'replace' or 'drop'.")
        if step.drop is not None and len(step.drop.model_dump(exclude_none=True)) != 1:
            raise PlanError(
                f"{key}.drop: give exactly one of {', '.join(DropCondition.model_fields)}."
            )
        _check_targets(f"{key}.replace", step)
        for text, name in step.named_values.items():
            if (step.column, text) in removed:
                raise PlanError(
                    f"{key}: {{cells}} of {quote(step.column)} was already replaced or dropped by "
                    f"step {removed[step.column, text] + 1} of the repairs; remove it from one of "
                    "the two.",
                    [name],
                )
        removed |= {(step.column, text): place for text in step.named_values}
        for target in filter(None, (step.replace or {}).values()):
            removed.pop((step.column, convert_to_text(target)), None)
    check_replacing_markers(steps, KNOWN_MARKERS)
    return steps


def _check_targets(key: str, step: Repair) -> None:
    pairs = step.replace or {}
    if len(step.named_values) < len(pairs):
        raise PlanError(f"{key}: two spellings are the same value for kanon; keep one of them.")
    for value, target in pairs.items():
        if not value.strip():
            raise PlanError(f"{key}: a blank cell is missing, and is no value to replace.")
        if target is None:
            continue
        if convert_to_text(target) == convert_to_text(value):
            raise PlanError(f"{key}: {{cells}} is the same value for kanon.", [target])
        if convert_to_text(target) in step.named_values:
            raise PlanError(
                f"{key}: {{cells}} is replaced and also replaces another value; make two steps.",
                [target],
            )


def check_replacing_markers(steps: Iterable[Repair], markers: Iterable[str]) -> None:
    """Check that no value is replaced by a text that counts as a missing cell.

    Raises
    ------
    PlanError
        One is.
    """
    missing = {marker.strip() for marker in markers}
    for place, step in enumerate(steps):
        for target in (step.replace or {}).values():
            if target is not None and target.strip() in missing:
                raise PlanError(
                    f"Plan key repairs.{place}.replace: {{cells}} counts as a missing cell; to "
                    "make cells missing, write null.",
                    [target],
                )


Repairs = Annotated[list[Repair], AfterValidator(check_repairs)]


@dataclass(frozen=True)
class RepairHits:
    """What a step hits among the distinct values of a column, by their places."""

    targets: Mapping[int, str | None]  # what replaces a value; None too where records are dropped
    absent: tuple[str, ...] = ()  # values that the step names and the column lacks
    unread: tuple[int, ...] = ()  # values that are no numbers, where numbers are compared


def find_hits(step: Repair, texts: Sequence[str], kind: ColumnKind | None = None) -> RepairHits:
    """Find which values of a column a step hits.

    >>> find_hits(Repair(column="age", drop={"above": 99}), ["39", "999", "old"])
    RepairHits(targets={1: None}, absent=(), unread=(2,))
    """
    below, above = step.bounds
    if below is not None or above is not None:
        numbers = _read_each_number(texts, kind)
        hits = {
            place: None
            for place, number in enumerate(numbers)
            if number is not None
            and ((below is not None and number < below) or (above is not None and number > above))
        }
        return RepairHits(hits, (), tuple(n for n, number in enumerate(numbers) if number is None))
    if step.drop is not None and step.drop.missing:
        return RepairHits({MISSING: None})
    if step.drop is not None and step.drop.none_of:
        stay = set(map(convert_to_text, step.drop.none_of))
        return RepairHits({place: None for place, text in enumerate(texts) if text not in stay})
    place_of = {text: place for place, text in enumerate(texts)}
    targets = {
        place_of[text]: step.replace[name] if step.replace else None
        for text, name in step.named_values.items()
        if text in place_of
    }
    absent = (name for text, name in step.named_values.items() if text not in place_of)
    return RepairHits(targets, tuple(absent))


def _read_each_number(texts: Sequence[str], kind: ColumnKind | None) -> list[float | None]:
    """Read the texts that are numbers written alike; the others are None."""
    if kind is None or not kind.is_number:
        likely = [text for text in texts if find_number_kinds([text])]
        kind = next(iter(find_number_kinds(likely)), TEXT)
    return [kind.number(text) if kind.is_number else None for text in texts]


@dataclass(frozen=True)
class RepairResult:
    """What a step has done to a table."""

    step: Repair
    changed: int  # cells that were replaced, or records that were dropped
    absent: tuple[str, ...] = ()  # values that the step names and the column lacks
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
        notes, named = [], len(self.step.named_values)
        if not self.changed:
            notes.append("It hits nothing in this table.")
        elif self.absent:
            do = "does" if len(self.absent) == 1 else "do"
            notes.append(f"{len(self.absent)} of its {named} values {do} not occur in this table.")
        if self.unread:
            cells = count_noun(self.unread, "cell is", "cells are")
            notes.append(f"{cells} not a number that kanon can compare, and stayed.")
        return tuple(notes)

    @property
    def figures(self) -> dict[str, Any]:
        """The numbers of the step for a file of measures, without any value."""
        counted = "replaced_cells" if self.step.drop is None else "dropped_records"
        return {"column": self.step.column, counted: self.changed}


@dataclass(frozen=True, eq=False)
class RepairRecord:
    """How a table was repaired, and the table as it was before."""

    original: Any
    key: list[tuple[Repair, ColumnKind | None]]
    results: tuple[RepairResult, ...]


def build_repair_key(
    steps: Sequence[Repair], kinds: Mapping[str, ColumnKind] | None
) -> list[tuple[Repair, ColumnKind | None]]:
    """The steps, each with the kind of its column where it compares numbers."""
    chosen = kinds or {}
    return [
        (step, None if step.bounds == (None, None) else chosen.get(step.column)) for step in steps
    ]


@contextmanager
def name_step(place: int) -> Iterator[None]:
    """Say in an error which step of the repairs it is about."""
    try:
        yield
    except (PlanError, TableError) as error:
        raise error.add_place(f"Step {place + 1} of the repairs") from None


def describe_repair_kinds(steps: Iterable[Repair]) -> str:
    """How many steps did what, without values and counts of a table; nothing without steps.

    >>> describe_repair_kinds([Repair(column="sex", replace={"m": "male"})])
    'Before anonymisation, the table was repaired: values replaced in 1 step.'
    """
    step_list = list(steps)
    drops = sum(step.drop is not None for step in step_list)
    parts = []
    if replaced := len(step_list) - drops:
        parts.append(f"values replaced in {count_noun(replaced, 'step')}")
    if drops:
        parts.append(f"records dropped in {count_noun(drops, 'step')}")
    text = f"Before anonymisation, the table was repaired: {', '.join(parts)}."
    return text if parts else ""


def repair_frame(
    frame: pd.DataFrame, step: Repair, kind: ColumnKind | None = None
) -> tuple[pd.DataFrame, RepairResult]:
    """Do one step of the repairs; the table that was given stays as it is.

    >>> ages = pd.DataFrame({"age": ["39", "?", "39", None]})
    >>> rows, result = repair_frame(ages, Repair(column="age", drop={"one_of": ["39", "40"]}))
    >>> rows["age"].isna().tolist(), result.changed, result.absent
    ([False, True], 2, ('40',))
    """
    check_columns(list(frame.columns), [step.column])
    column = frame[step.column]
    codes, texts = encode_texts(column)
    hits = find_hits(step, texts, kind)
    is_hit = np.isin(codes, [*hits.targets])
    result = RepairResult(
        step, int(is_hit.sum()), hits.absent, int(np.isin(codes, hits.unread).sum())
    )
    if not result.changed:
        return frame, result
    if step.drop is None:
        cells = _replace_cells(column, codes, texts, hits.targets)
        return frame.assign(**{step.column: cells}), result
    if is_hit.all():
        raise TableError("it drops every record, so none is left.")
    return frame[~is_hit], result


def _replace_cells(
    column: pd.Series, codes: np.ndarray, texts: Sequence[str], targets: Mapping[int, str | None]
) -> pd.Series:
    """The column with some values replaced; one that is no text becomes text if it has to."""
    blanked = np.isin(codes, [place for place, text in targets.items() if text is None])
    if not any(targets.values()):
        whole = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub"
        return (column.convert_dtypes() if whole else column).mask(blanked)
    if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
        cells = column.mask(blanked)
        for place, text in targets.items():
            if text is not None:
                cells = cells.mask(codes == place, text)
        return cells
    new = [targets.get(place, text) for place, text in enumerate(texts)]
    texts_now = pd.Series(pd.array([*new, None], dtype="str").take(codes), index=column.index)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        with suppress(ValueError, TypeError):
            return texts_now.astype(column.dtype)
    return texts_now
