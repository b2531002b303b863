"""Hierarchies in a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, StrictInt, Tag, field_validator, model_validator

from kanon.base.checked_json import Number, Strict
from kanon.base.formatting import choose_plural
from kanon.base.kinds import ColumnKind
from kanon.base.values import MISSING_LABEL
from kanon.errors import KanonError, PlanError, list_names, quote
from kanon.hierarchy import Hierarchy, build
from kanon.hierarchy.codes import (
    CodeRange,
    build_code_hierarchy,
    find_outside_ranges,
    find_values_beyond_names,
    parse_ranges,
)
from kanon.hierarchy.files import parse_nodes, read_hierarchy, text_of_file


class SuppressionPlan(Strict):
    build: Literal["suppression"]

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        return build.suppression(sorted(values))


class IntervalsPlan(Strict):
    build: Literal["intervals"]
    widths: list[Number] = Field(default=[])
    origin: Number = 0.0
    lowest: Number | None = None
    highest: Number | None = None

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        return build.intervals(values, self.widths, self.origin, self.lowest, self.highest, kind)


class MaskPlan(Strict):
    build: Literal["mask"]
    keep: list[StrictInt] = Field(min_length=1)
    side: Literal["left", "right"] = "left"

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        return build.mask(values, self.keep, self.side)


class CodesPlan(Strict):
    build: Literal["codes"]
    separators: str = "."
    prefixes: list[StrictInt] = Field(default=[])
    ranges: list[CodeRange] = Field(default=[])
    ranges_file: str | None = None

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        return build_code_hierarchy(values, self.separators, self.prefixes, self.ranges)

    def read_ranges(self, folder: Path) -> CodesPlan:
        """Add the ranges of the file to those in the plan."""
        if self.ranges_file is None:
            return self
        path = folder / self.ranges_file
        read = parse_ranges(text_of_file(path, path.name))
        return self.model_copy(update={"ranges": [*self.ranges, *read], "ranges_file": None})


class DatesPlan(Strict):
    build: Literal["dates"]
    levels: list[Literal["hour", "part of day", "day", "month", "quarter", "year", "decade"]] = (
        Field(min_length=1)
    )

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        return build.dates(values, self.levels, kind)


class AgesPlan(Strict):
    build: Literal["ages"]
    day: str
    widths: list[Number] = Field(min_length=1)
    lowest: Number | None = None
    highest: Number | None = None

    @field_validator("day")
    @classmethod
    def _check_day(cls, text: str) -> str:
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            raise ValueError(f"{quote(text)} is not a date such as 2026-11-25") from None

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        day = date.fromisoformat(self.day)
        return build.ages(values, day, self.widths, self.lowest, self.highest, kind)


class GroupsPlan(Strict):
    build: Literal["groups"]
    levels: list[dict[str, list[str]]] = Field(min_length=1)

    def make(self, values: list[str], kind: ColumnKind | None) -> Hierarchy:
        """Build the hierarchy; values in no group raise an error when it is used."""
        return build.groups(self.levels)


class NodesPlan(Strict):
    nodes: list[dict[str, Any]]

    @field_validator("nodes")
    @classmethod
    def _check_finite(cls, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # JSON has only finite numbers, so no program could read the plan again.
        for place, node in enumerate(nodes, 1):
            for key in ("name", "parent", "weight"):
                if isinstance(node.get(key), float) and not math.isfinite(node[key]):
                    raise ValueError(
                        f"the {key} of node {place} is {node[key]}, but has to be finite"
                    )
        return nodes


def _get_hierarchy_kind(content: Any) -> str:
    if isinstance(content, str):
        return "file"
    if isinstance(content, dict):
        return "nodes" if "nodes" in content else str(content.get("build", ""))
    return getattr(content, "build", "nodes")


HierarchyPlan = Annotated[
    Annotated[SuppressionPlan, Tag("suppression")]
    | Annotated[IntervalsPlan, Tag("intervals")]
    | Annotated[MaskPlan, Tag("mask")]
    | Annotated[CodesPlan, Tag("codes")]
    | Annotated[DatesPlan, Tag("dates")]
    | Annotated[AgesPlan, Tag("ages")]
    | Annotated[GroupsPlan, Tag("groups")]
    | Annotated[NodesPlan, Tag("nodes")]
    | Annotated[str, Tag("file")],
    Discriminator(_get_hierarchy_kind),
]


class LevelBounds(Strict):
    """The lowest and the highest level that released values of a quasi-identifier may have."""

    least: Annotated[StrictInt, Field(ge=0)] = 0
    most: Annotated[StrictInt, Field(ge=0)] | None = None  # None: up to the root

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.most is not None and self.least > self.most:
            raise ValueError(
                f"least is {self.least} and most is {self.most}, but least has to be at most most"
            )
        return self

    @property
    def highest(self) -> str:
        return "the root" if self.most is None else f"level {self.most}"

    def fit(self, column: str, tree: Hierarchy) -> tuple[int, int]:
        """The two levels in a hierarchy; PlanError if it does not have so many."""
        top = tree.height - 1
        for name, level in (("least", self.least), ("most", self.most or 0)):
            if level > top:
                raise PlanError(
                    f"Plan key columns.{column}.levels.{name}: level {level} is not allowed; the "
                    f"hierarchy has levels 0 to {top}."
                )
        return self.least, top if self.most is None else self.most


def get_hierarchy_file(plan: HierarchyPlan | None) -> str | None:
    """The file beside a plan from which a hierarchy is read, or None."""
    if isinstance(plan, CodesPlan):
        return plan.ranges_file
    return plan if isinstance(plan, str) else None


def build_hierarchy(
    column: str,
    plan: HierarchyPlan,
    texts: Sequence[str],
    folder: Path,
    kind: ColumnKind | None = None,
) -> Hierarchy:
    try:
        if isinstance(plan, str):
            return read_hierarchy(folder / plan).hierarchy
        if isinstance(plan, NodesPlan):
            return parse_nodes(plan.nodes)
        if isinstance(plan, CodesPlan):
            plan = plan.read_ranges(folder)
        if not texts:  # all are missing, which may count as a value
            return build.suppression([MISSING_LABEL])
        return plan.make(list(texts), kind)
    except KanonError as error:
        raise error.add_place(f"Hierarchy of column {quote(column)}") from None


def describe_reading(plan: HierarchyPlan | None, tree: Hierarchy, folder: Path) -> list[str]:
    if isinstance(plan, str):
        return list(read_hierarchy(folder / plan).notes)
    if isinstance(plan, CodesPlan):
        return describe_ranges(plan.read_ranges(folder), tree)
    return []


def describe_ranges(plan: CodesPlan, tree: Hierarchy) -> list[str]:
    """Describe the values in no range of codes, and those in a range that excludes their number."""
    if not plan.ranges:
        return []
    sentences = [
        (
            f"{quote(group)} also contains {list_names(values)}: the beginning fits the range, but "
            "the number does not."
        )
        for group, values in find_values_beyond_names(tree, plan.ranges).items()
    ]
    outside = [label for label in find_outside_ranges(tree, plan.ranges) if label != MISSING_LABEL]
    if outside:
        sentences.append(
            choose_plural(
                len(outside),
                "{labels} is outside all ranges and directly under the root.",
                "{count} values or groups are outside all ranges and directly under the root: "
                "{labels}.",
                labels=list_names(outside),
            )
        )
    return sentences
