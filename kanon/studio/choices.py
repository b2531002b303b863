"""The hierarchy that a user chose for a column: what was typed, and the tree or the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from kanon.errors import CoverageError, HierarchyError, KanonError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import DATE_LEVELS
from kanon.hierarchy.files import read_hierarchy, to_nodes
from kanon.hierarchy.suggest import starting_parameters, strays, suggest_builder
from kanon.plan import (
    DatesPlan,
    HierarchyPlan,
    IntervalsPlan,
    MaskPlan,
    NodesPlan,
    SuppressionPlan,
    build_hierarchy,
)
from kanon.sources.memory import coverage
from kanon.values import canonical_texts
from kanon.words import counted

__all__ = ["BUILDERS", "FIELDS", "Choice", "choose", "start_with", "starting_text", "with_tree"]

BUILDERS: Mapping[str, str] = {
    "suppression": "Keep or lose",
    "intervals": "Intervals",
    "mask": "Mask characters",
    "dates": "Periods of dates",
    "file": "From a file",
}
"""The builders on the page, and what they are called there."""


FIELDS = ("widths", "lowest", "highest", "keep", "side", "levels")
"""The parameters of builders that are typed on the page."""


@dataclass(frozen=True)
class Choice:
    """A builder, what was typed for it, and what came of it.

    Attributes
    ----------
    builder
        A key of :data:`BUILDERS`.
    typed
        The text of each parameter as it was typed; it survives an error.
    tree
        The hierarchy, or None.
    problem, hint
        Why there is no usable tree, in a sentence: a mistake, or what is still to do.
    notes
        What else the user should know.
    plan
        The choice as a plan has it, or None.
    """

    builder: str
    typed: Mapping[str, Any] = field(default_factory=dict)
    tree: Hierarchy | None = None
    problem: str | None = None
    hint: str | None = None
    notes: tuple[str, ...] = ()
    plan: HierarchyPlan | None = None


def choose(builder: str, typed: Mapping[str, Any], column: str, values: pd.Series) -> Choice:
    """Build the tree that was asked for; a mistake becomes the choice's problem.

    Parameters
    ----------
    builder
        A key of :data:`BUILDERS`.
    typed
        ``widths``, ``lowest`` and ``highest``; ``keep`` and ``side``; ``levels``; or ``content``
        and ``name`` of a file.
    column, values
        The column that the tree is for.
    """
    notes: tuple[str, ...] = ()
    try:
        if builder == "file":
            if "content" not in typed:
                return Choice(builder, typed, hint="Choose a CSV or JSON file of the hierarchy.")
            imported = read_hierarchy(typed["content"], str(typed["name"]))
            tree, notes = imported.hierarchy, imported.notes
            plan: HierarchyPlan = NodesPlan(nodes=to_nodes(tree))
        else:
            plan = _builder_plan(builder, typed)
            tree = build_hierarchy(column, plan, values, Path())
        lacking = coverage(values, tree)
        if lacking:
            raise CoverageError(
                f"This hierarchy lacks {counted(len(lacking), 'distinct value')} ({{cells}}) of "
                f"{counted(sum(lacking.values()), 'record')}; add what is missing to the file.",
                list(lacking),
            )
    except KanonError as error:
        return Choice(builder, typed, problem=error.sentence)
    return Choice(builder, typed, tree, notes=notes, plan=plan)


def start_with(column: str, values: pd.Series) -> Choice:
    """The choice that a new table starts with: suggested, shown, and the user's to change."""
    texts = canonical_texts(values)[1]
    builder = suggest_builder(texts).builder
    choice = choose(builder, starting_text(builder, values), column, values)
    if choice.tree is None:
        choice = choose("suppression", {}, column, values)
    odd = strays(texts)
    if not odd:
        return choice
    note = (
        f"All other values are numbers; if {listing(odd)} stands for missing, add it to the cells "
        "that count as missing under 'How it was read'."
    )
    return replace(choice, notes=(*choice.notes, note))


def starting_text(builder: str, values: pd.Series) -> dict[str, str]:
    """What the fields of a builder hold before anything is typed."""
    found = starting_parameters(builder, canonical_texts(values)[1])
    return {name: ", ".join(map(str, value)) for name, value in found.items()}


def with_tree(name: str, content: bytes, column: str, values: pd.Series) -> Choice:
    """The choice of a file that comes with a sample."""
    return choose("file", {"name": name, "content": content}, column, values)


def _builder_plan(builder: str, typed: Mapping[str, Any]) -> HierarchyPlan:
    if builder == "intervals":
        return IntervalsPlan(
            build="intervals",
            widths=_numbers("Widths", typed.get("widths", ""), "5, 10, 20"),
            lowest=_number_or_none("The lowest bound", typed.get("lowest", "")),
            highest=_number_or_none("The highest bound", typed.get("highest", "")),
        )
    if builder == "mask":
        keep = _numbers("Kept characters", typed.get("keep", ""), "4, 3, 2")
        if any(not number.is_integer() for number in keep):
            raise HierarchyError("Kept characters are whole numbers, such as 4, 3, 2.")
        return MaskPlan(
            build="mask", keep=[int(number) for number in keep], side=typed.get("side", "left")
        )
    if builder == "dates":
        levels = [part.strip() for part in str(typed.get("levels", "")).split(",") if part.strip()]
        unknown = [level for level in levels if level not in DATE_LEVELS]
        if unknown or not levels:
            raise HierarchyError(
                f"Periods are {', '.join(DATE_LEVELS)} with commas between, "
                f"not {quoted(unknown[0] if unknown else '')}."
            )
        return DatesPlan(build="dates", levels=levels)  # type: ignore[arg-type]
    return SuppressionPlan(build="suppression")


def _numbers(what: str, text: object, example: str) -> list[float]:
    """Numbers with commas between."""
    try:
        found = [float(part) for part in str(text).split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        given = f", not {quoted(text)}" if str(text).strip() else ""
        raise HierarchyError(f"{what} are numbers with commas between, such as {example}{given}.")
    return found


def _number_or_none(what: str, text: object) -> float | None:
    if not str(text).strip():
        return None
    try:
        return float(str(text))
    except ValueError:
        raise HierarchyError(f"{what} is a number or left empty, not {quoted(text)}.") from None
