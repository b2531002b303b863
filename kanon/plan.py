"""The plan: all choices, as names and parameters, saved as JSON.

A plan is a public format (see docs/reference/plan.md): the dashboard saves it, and the command
line repeats it. Unknown keys are errors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    Field,
    ValidationError,
    model_validator,
)

import kanon.algorithms
from kanon.base.checked_json import (
    Strict,
    describe_problem,
    load_json,
    read_json,
    write_json,
)
from kanon.cards import parts_of
from kanon.errors import PlanError, PlanWarning, list_names, quote
from kanon.hierarchy import LARGEST_WEIGHT
from kanon.hierarchy.plans import HierarchyPlan, LevelBounds
from kanon.metrics import METRICS, Metric, check_metric_name, metric_named
from kanon.plan_parts import (
    AlgorithmPlan,
    ColumnPlan,
    MetricPlan,
    RecordsPlan,
    SuppressionLimit,
    build_composed_metrics,
    get_own_parameters,
)
from kanon.privacy import k_anonymity
from kanon.privacy.known_columns import KNOWN
from kanon.privacy.model import Model
from kanon.privacy.persons import KInPersons
from kanon.privacy.plans import MODEL_PLANS, MODELS, OF_RELEASE, AnyModelPlan, ModelPlan
from kanon.schema import Role, Schema
from kanon.sources.read_settings import ReadPlan
from kanon.sources.repairs import Repair, check_repairs
from kanon.strategies import LOOKS_AT, STRATEGIES, needs_sensitive

VERSION = 2  # of the plans that kanon writes


def update_plan_version(content: Any) -> tuple[Any, str]:
    """Upgrade a parsed plan to this version; returns also a sentence on what changed, if anything.

    >>> update_plan_version({"version": 1})[0]
    {'version': 2}
    >>> update_plan_version({"version": 2})
    ({'version': 2}, '')
    """
    if not isinstance(content, dict) or content.get("version") != 1:
        return content, ""
    return {**content, "version": VERSION}, (
        "The plan was made by an earlier version (1), which counted an original value as 1 lost "
        "leaf; now it counts as 0: nl(leaf) = 0. Figures for NCP, LLM, NLLM, WLLM, WNLLM and "
        "metrics composed of lost leaves may differ, and so may releases made with these."
    )


_MODEL_NAMES = ", ".join(map(quote, MODELS))
_K = k_anonymity.CARD.name


class Plan(Strict):
    """A whole plan.

    >>> plan = Plan.from_json('''{"version": 2, "algorithm": {"name": "gaa"},
    ...   "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...   "privacy": [{"model": "k-anonymity", "k": 5}]}''')
    >>> plan.k, plan.algorithm.metric
    (5, 'nllm')
    """

    version: Literal[1, 2]
    columns: dict[str, ColumnPlan]
    algorithm: AlgorithmPlan
    privacy: list[AnyModelPlan] = Field(min_length=1)
    metrics: dict[str, MetricPlan] = Field(default_factory=dict)
    read: ReadPlan = ReadPlan()
    repairs: list[Repair] | None = None
    suppression_limit: SuppressionLimit | None = None
    outliers: SuppressionLimit | None = None
    suppressed: Literal["leave-out", "keep"] = "leave-out"
    order: Literal["released", "table"] = "released"
    person: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _move_ranges(cls, content: Any) -> Any:
        """Move ``ranges`` into ``algorithm`` where it stands beside it."""
        algorithm = content.get("algorithm") if isinstance(content, dict) else None
        if not isinstance(algorithm, dict) or "ranges" not in content:
            return content
        if "ranges" in algorithm:
            raise ValueError("'ranges' occurs twice, beside and inside 'algorithm'; remove one")
        rest = {key: value for key, value in content.items() if key != "ranges"}
        return {**rest, "algorithm": {**algorithm, "ranges": content["ranges"]}}

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read and check a plan; a PlanError says what in it is not allowed."""
        return cls.from_content(read_json(text))

    @classmethod
    def from_content(cls, content: Any) -> Plan:
        """Check a parsed plan; a PlanWarning says if an earlier version had other figures."""
        content, change = update_plan_version(content)
        if change:
            warnings.warn(change, PlanWarning, stacklevel=2)
        try:
            plan = cls.model_validate(content)
        except ValidationError as error:
            raise _describe_plan_error(error) from None
        plan._check_names()
        return plan

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Read and check a plan file; a PlanError says why it cannot be read."""
        return cls.from_content(load_json(path, "The plan"))

    def to_json(self) -> str:
        """The plan as JSON, without empty keys."""
        return write_json(self.model_dump(mode="json", exclude_none=True))

    @property
    def k(self) -> int:
        """The largest k that the release has to reach, in persons if they are named; 1 without.

        It is that of some known columns only where no class has to reach a k.
        """
        known = [part for part in self.privacy if part.counted_as == KNOWN.name]
        names = {part.model for part in self.privacy if part not in known}
        return known[0].k if known and _K not in names else self.class_k  # type: ignore[attr-defined]

    @property
    def class_k(self) -> int:
        """The k that every class has to reach: 1 if k is about some known columns alone."""
        parts = [part for part in self.privacy if part.counted_as not in OF_RELEASE]
        return max((getattr(part, "k", 1) for part in parts), default=1)

    def with_k(self, k: int) -> Plan:
        """The same plan with another k, in place of the first k-anonymity or before all models."""
        names = [part.counted_as for part in self.privacy]
        name = KNOWN.name if KNOWN.name in names and _K not in names else _K
        known = {"known": self.privacy[names.index(name)].known} if name != _K else {}  # type: ignore[attr-defined]
        new_part = MODEL_PLANS[_K].model_validate({"model": _K, "k": k, **known})
        place = names.index(name) if name in names else 0
        rest = [part for part in self.privacy if part.counted_as != name]
        return self.model_copy(update={"privacy": [*rest[:place], new_part, *rest[place:]]})

    @property
    def roles(self) -> Schema:
        """The role of each column."""
        return Schema({name: column.role for name, column in self.columns.items()})

    @property
    def coarsened(self) -> dict[str, tuple[HierarchyPlan, int]]:
        """The sensitive columns that are coarsened before counting, with hierarchy and level."""
        return {
            name: (column.hierarchy, column.level)
            for name, column in self.columns.items()
            if column.hierarchy is not None and column.level is not None
        }

    @property
    def written(self) -> dict[str, str]:
        """What the release shows for a class, for some quasi-identifiers."""
        return {name: column.written for name, column in self.columns.items() if column.written}

    @property
    def level_bounds(self) -> dict[str, LevelBounds]:
        """The levels that released values may have, of the columns where they are bounded."""
        return {name: part.levels for name, part in self.columns.items() if part.levels}

    @property
    def models(self) -> list[Model]:
        """The privacy models that have to hold together, each with its column.

        Where the plan names the column that identifies the person, the last one is k in persons.
        A PlanError says which column is not sensitive or missing, or what does not fit together.
        """
        models = [self._build_model(place, part) for place, part in enumerate(self.privacy)]
        return models if self.person is None else [*models, KInPersons(self.k, self.person)]

    @property
    def led_by(self) -> str | None:
        """The sensitive column that the strategy uses: the one named in the plan, or the only one.

        None if there are several or none and the strategy uses none; a PlanError if it is not
        sensitive.
        """
        column, sensitive_columns = self.algorithm.sensitive, self.roles.columns(Role.SENSITIVE)
        if column is not None or needs_sensitive(self.algorithm.strategy):
            return self._find_sensitive_column("algorithm.sensitive", column)
        return sensitive_columns[0] if len(sensitive_columns) == 1 else None

    def suppression(self, n_records: int, outliers: bool = False) -> int | None:
        """The most records that may be suppressed, or as outliers; None if there is no limit."""
        limit = self.outliers if outliers else self.suppression_limit
        if limit is None or isinstance(limit, RecordsPlan):
            return None if limit is None else min(limit.records, n_records)
        return math.floor(limit * n_records + 1e-9)  # what a float loses is no record

    @property
    def metric(self) -> Metric:
        """The metric that guides the algorithm."""
        return metric_named(self.algorithm.metric, self.composed_metrics)

    @property
    def composed_metrics(self) -> dict[str, Metric]:
        """The metrics that the plan composes."""
        return build_composed_metrics(self.metrics)

    def _build_model(self, place: int, part: ModelPlan) -> Model:
        key = f"privacy.{place}"
        columns = part.choose_columns(
            lambda end, column: self._find_sensitive_column(key + end, column)
        )
        try:
            return part.build_model(columns, self.roles.columns(Role.SENSITIVE))
        except PlanError as error:
            raise error.add_place(f"Plan key {key}") from None

    def _find_sensitive_column(self, key: str, column: str | None) -> str:
        columns = self.roles.columns(Role.SENSITIVE)
        if column is None and len(columns) == 1:
            return columns[0]
        if column in columns:
            return column
        if not columns:
            problem = "no column has the role sensitive"
        elif column is None:
            problem = f"name one of the sensitive columns, {list_names(columns, most=12)}"
        else:
            problem = (
                f"{quote(column)} is not sensitive; choose from {list_names(columns, most=12)}"
            )
        raise PlanError(f"Plan key {key}: {problem}.")

    def _check_names(self) -> None:
        for name in self.metrics:
            check_metric_name(name)
        names_by_key = {
            "name": parts_of(kanon.algorithms),
            "metric": [*METRICS, *self.metrics],
            "strategy": STRATEGIES,
        }
        for key, names in names_by_key.items():
            given = getattr(self.algorithm, key)
            if given not in names:
                raise PlanError(
                    f"Plan key algorithm.{key}: {quote(given)} is unknown; "
                    f"choose from {', '.join(names)}."
                )
        check_repairs(self.repairs or (), self.read.missing_markers)
        self._check_person()
        self._check_levels()
        for name in self.written:
            if name not in self.roles.quasi_identifiers:
                raise PlanError(
                    f"Plan key columns.{name}.written: {quote(name)} has the role "
                    f"{self.columns[name].role}; only quasi-identifiers are written for a class."
                )
        _ = self.models, self.led_by  # both raise errors
        self._check_options()
        for column, weight in self.algorithm.attribute_weights.items():
            if column not in self.roles.quasi_identifiers:
                raise PlanError(
                    f"Plan key algorithm.attribute_weights: {quote(column)} is not one of the "
                    f"quasi-identifiers ({list_names(self.roles.quasi_identifiers, most=12)})."
                )
            if not 0 <= weight <= LARGEST_WEIGHT:
                raise PlanError(
                    f"Plan key algorithm.attribute_weights.{column}: {weight} is not allowed; "
                    f"a weight has to be a number from 0 to {LARGEST_WEIGHT:g}."
                )

    def _check_person(self) -> None:
        """Check that the column of the person is an identifier, as others are released."""
        if self.person is None or self.person in self.roles.columns(Role.IDENTIFIER):
            return
        role = self.roles.roles.get(self.person)
        problem = "is not among the columns" if role is None else f"has the role {role}"
        raise PlanError(
            f"Plan key person: {quote(self.person)} {problem}. The column that identifies the "
            "person needs the role identifier."
        )

    def _check_levels(self) -> None:
        """Check that only columns of the right role have levels."""
        for name in self.level_bounds:
            if (role := self.columns[name].role) is not Role.QUASI_IDENTIFIER:
                raise PlanError(
                    f"Plan key columns.{name}.levels: {quote(name)} has the role {role}. Only a "
                    "quasi-identifier can have level bounds."
                )
        for name, column in self.columns.items():
            if column.level is None or (column.role is Role.SENSITIVE and column.hierarchy):
                continue
            lacks = "no hierarchy" if column.role is Role.SENSITIVE else f"the role {column.role}"
            raise PlanError(
                f"Plan key columns.{name}.level: {quote(name)} has {lacks}. Only a sensitive "
                "column with a hierarchy can be coarsened to a level."
            )

    def _check_options(self) -> None:
        algorithm = self.algorithm
        for parameter in get_own_parameters(algorithm.name):
            value = algorithm.options.get(parameter.name, parameter.default)
            if not isinstance(value, str) or value not in parameter.choices:
                raise PlanError(
                    f"Plan key algorithm.{parameter.name}: {quote(value)} is not allowed; "
                    f"choose from {', '.join(parameter.choices)}."
                )
        uses = parts_of(kanon.algorithms)[algorithm.name].CARD.uses
        if LOOKS_AT[algorithm.strategy] and "strategy" not in uses:
            raise PlanError(
                f"The algorithm {quote(algorithm.name)} does not merge pairs; the strategy "
                f"{quote(algorithm.strategy)} needs 'gaa'."
            )
        if algorithm.node is not None:
            if "node" not in uses:
                raise PlanError(
                    f"Plan key algorithm.node: {quote(algorithm.name)} does not use a node."
                )
            columns = self.roles.quasi_identifiers
            if sorted(algorithm.node) != sorted(columns):
                raise PlanError(
                    "Plan key algorithm.node: give a level for each quasi-identifier "
                    f"({list_names(columns, most=12)}) and for no other column."
                )


def _describe_plan_error(error: ValidationError) -> PlanError:
    first = error.errors(include_url=False)[0]
    kind, value = first["type"], first.get("input")
    path = _join_place(first["loc"])
    place = f"Plan key {path}" if path else "The plan"
    if kind == "union_tag_not_found" and isinstance(value, dict):
        return PlanError(f"The plan lacks the key {path}.model; choose from {_MODEL_NAMES}.")
    if kind == "union_tag_invalid" and path.startswith("privacy"):
        return PlanError(
            f"{place}.model: {{cells}} is unknown; choose from {_MODEL_NAMES}.", [value["model"]]
        )
    if kind == "union_tag_invalid" and not first["ctx"]["tag"]:
        return PlanError(f"{place}: a hierarchy has to be a path, or have 'build' or 'nodes'.")
    if kind == "union_tag_invalid":
        names = "'suppression', 'intervals', 'mask', 'codes', 'dates' and 'groups'"
        return PlanError(
            f"{place}: the builder {{cells}} is unknown; choose from {names}.",
            [first["ctx"]["tag"]],
        )
    return describe_problem(first, path, "plan", PlanError)


def _join_place(place: Sequence[int | str]) -> str:
    """Join the place in a plan, without the kinds of its parts and the values of the table."""
    parts = [str(part) for part in place]
    if parts[:1] == ["repairs"]:
        del parts[3 if parts[2:3] == ["replace"] else len(parts) :]
    kinds = {"privacy": 2, "columns": 3, "suppression_limit": 1, "outliers": 1}
    has_kind = parts[2:3] != ["levels"]  # which has one form alone
    if parts and has_kind and len(parts) > kinds.get(parts[0], len(parts)):
        del parts[kinds[parts[0]]]
    return ".".join(parts)
