"""The plan: everything that was chosen, as names and parameters, saved as JSON.

A plan is a public format (see docs/reference/plan.md): the dashboard saves it, the command line
repeats it. Unknown keys are errors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

import kanon.algorithms
from kanon.base.checked_json import Number, Strict, load_json, problem, read_json, write_json
from kanon.base.kinds import ColumnKind
from kanon.cards import Card, Parameter, parts_of
from kanon.errors import PlanError, PlanWarning, listing, quoted
from kanon.hierarchy import LARGEST_WEIGHT
from kanon.hierarchy.intermediate_costs import COMPOSED
from kanon.hierarchy.plans import HierarchyPlan
from kanon.metrics import METRICS, MULTIPLIERS, Metric, check_metric_name, metric_named
from kanon.privacy import k_anonymity
from kanon.privacy.model import Model
from kanon.privacy.persons import KInPersons
from kanon.privacy.plans import MODEL_PLANS, MODELS, AnyModelPlan, ModelPlan
from kanon.schema import Role, Schema
from kanon.strategies import LOOKS_AT, STRATEGIES, needs_sensitive

VERSION = 2  # of the plans that kanon writes


def of_this_version(content: Any) -> tuple[Any, str]:
    """A parsed plan as a plan of this version, and what is another now in a sentence, if anything.

    >>> of_this_version({"version": 1})[0]
    {'version': 2}
    >>> of_this_version({"version": 2})
    ({'version': 2}, '')
    """
    if not isinstance(content, dict) or content.get("version") != 1:
        return content, ""
    return {**content, "version": VERSION}, (
        "The plan is of version 1, when an original value counted as one leaf of itself; it "
        "counts as none now, nl(leaf) = 0. Figures by NCP, LLM, NLLM, WLLM, WNLLM and metrics "
        "composed of lost leaves, and releases that these guide, may differ from then."
    )


class ColumnPlan(Strict):
    """The role of a column; its hierarchy, and of a sensitive one the level it is released at."""

    role: Role
    hierarchy: HierarchyPlan | None = None
    level: Annotated[StrictInt, Field(ge=1)] | None = None
    pseudonym: StrictBool = False


class ReadPlan(Strict):
    """How the table is read; what is left out is found."""

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
    def _known_kinds(cls, given: dict[str, str] | None) -> dict[str, str] | None:
        for name, kind in (given or {}).items():
            try:
                ColumnKind.parse(kind)
            except PlanError as error:
                raise ValueError(f"column {quoted(name)}: {str(error).rstrip('.')}") from None
        return given

    @property
    def column_kinds(self) -> dict[str, ColumnKind]:
        """How the texts of some columns are read; those of others as it is found."""
        return {name: ColumnKind.parse(kind) for name, kind in (self.kinds or {}).items()}


if TYPE_CHECKING:
    _First: TypeAlias = str
    _Second: TypeAlias = str
else:
    _First, _Second = Literal[COMPOSED], Literal[tuple(MULTIPLIERS)]


class MetricPlan(Strict):
    """A metric composed of its two phases."""

    intermediate: _First
    multiplier: _Second


def composed_metrics(parts: Mapping[str, MetricPlan]) -> dict[str, Metric]:
    """Metrics composed of two phases, by their names."""
    return {
        name: Metric(
            Card(name, name, "Composed of two phases.", "your own"),
            part.intermediate,
            part.multiplier,
        )
        for name, part in parts.items()
    }


class AlgorithmPlan(Strict):
    """Which algorithm runs, and what guides it."""

    name: str
    metric: str = "nllm"
    strategy: str = "s1"
    scope: Literal["table", "class"] = "table"
    sensitive: str | None = None
    cost: Literal["weighted", "representatives"] = "weighted"
    attribute_weights: dict[str, Number] = Field(default_factory=dict)
    tie_seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] | None = None
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0
    node: dict[str, Annotated[StrictInt, Field(ge=0)]] | None = None

    model_config = ConfigDict(frozen=True, extra="allow")  # what the algorithm alone knows

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, given: Any) -> Any:
        if isinstance(given, dict):
            own = {one.name: one.choices for one in parameters_of(given.get("name"))}
            known = [*cls.model_fields, *own]
            texts = {key: _choice_as_text(given[key], own[key]) for key in own if key in given}
            given = {**given, **texts}
            unknown = [key for key in given if key not in known]
            if unknown:
                raise ValueError(
                    f"the key {quoted(unknown[0])} is unknown; known are {', '.join(known)}"
                )
        return given

    @property
    def options(self) -> dict[str, Any]:
        """What was chosen for the algorithm's own parameters."""
        return dict(self.__pydantic_extra__ or {})


def _choice_as_text(given: Any, choices: Iterable[str]) -> Any:
    """A choice such as 60 as the text that choices are; what is none of them stays."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return next((text for text in choices if text.isdecimal() and int(text) == given), given)
    return given


def parameters_of(algorithm: object) -> tuple[Parameter, ...]:
    """The parameters that one algorithm alone has; none of an unknown one."""
    module = parts_of(kanon.algorithms).get(algorithm) if isinstance(algorithm, str) else None
    return () if module is None else tuple(module.CARD.parameters)


_KNOWN_MODELS = ", ".join(map(quoted, MODELS))
_K = k_anonymity.CARD.name


class RecordsPlan(Strict):
    """A number of records."""

    records: Annotated[StrictInt, Field(ge=0)]


SuppressionLimit = Annotated[
    Annotated[Number, Field(ge=0, le=1), Tag("share")] | Annotated[RecordsPlan, Tag("records")],
    Discriminator(lambda given: "records" if isinstance(given, dict | RecordsPlan) else "share"),
]


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
    suppression_limit: SuppressionLimit | None = None
    suppressed: Literal["leave-out", "keep"] = "leave-out"
    order: Literal["released", "table"] = "released"
    person: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _move_ranges(cls, given: Any) -> Any:
        """``ranges`` may stand beside ``algorithm``, whose choice it is."""
        chosen = given.get("algorithm") if isinstance(given, dict) else None
        if not isinstance(chosen, dict) or "ranges" not in given:
            return given
        if "ranges" in chosen:
            raise ValueError("'ranges' stands in it twice, beside 'algorithm' and in it")
        rest = {key: value for key, value in given.items() if key != "ranges"}
        return {**rest, "algorithm": {**chosen, "ranges": given["ranges"]}}

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read and check a plan.

        Raises
        ------
        PlanError
            The text is not JSON, names a key twice, holds a key or value that is not allowed, or
            is too long.
        """
        return cls.from_content(read_json(text))

    @classmethod
    def from_content(cls, content: Any) -> Plan:
        """Check a plan that was already parsed.

        Raises
        ------
        PlanError
            A key or value is not allowed.

        Warns
        -----
        PlanWarning
            The plan is of an earlier version, whose figures differ.
        """
        content, change = of_this_version(content)
        if change:
            warnings.warn(change, PlanWarning, stacklevel=2)
        try:
            plan = cls.model_validate(content)
        except ValidationError as error:
            raise _plan_error(error) from None
        plan._check_names()
        return plan

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Read and check a plan file.

        Raises
        ------
        PlanError
            The file cannot be read, is too large, or is not a plan.
        """
        return cls.from_content(load_json(path, "The plan"))

    def to_json(self) -> str:
        """The plan as JSON, without keys that were left at nothing."""
        return write_json(self.model_dump(mode="json", exclude_none=True))

    @property
    def k(self) -> int:
        """The k that the release has to reach: the largest one asked for; 1 if none is.

        It counts persons where :attr:`person` says which records are of one, else records.
        """
        return max(getattr(part, "k", 1) for part in self.privacy)

    def with_k(self, k: int) -> Plan:
        """The same plan, asking for k-anonymity with another k; all other models stay.

        The new part stands where the first one with a k of its own stood, or first of all.
        """
        wanted = MODEL_PLANS[_K].model_validate({"model": _K, "k": k})
        names = [part.model for part in self.privacy]
        place = names.index(_K) if _K in names else 0
        others = [part for part in self.privacy if part.model != _K]
        return self.model_copy(update={"privacy": [*others[:place], wanted, *others[place:]]})

    @property
    def roles(self) -> Schema:
        """The role of each column."""
        return Schema({name: column.role for name, column in self.columns.items()})

    @property
    def coarsened(self) -> dict[str, tuple[HierarchyPlan, int]]:
        """The sensitive columns that are coarsened before anything is counted, and how."""
        return {
            name: (column.hierarchy, column.level)
            for name, column in self.columns.items()
            if column.hierarchy is not None and column.level is not None
        }

    @property
    def models(self) -> list[Model]:
        """The privacy models that have to hold together, each with its column.

        Last, where the plan names the column of the person, that k is reached in persons.

        Raises
        ------
        PlanError
            A column is not sensitive, or left out where there is not exactly one; parameters do
            not go together.
        """
        asked = [self._made(place, part) for place, part in enumerate(self.privacy)]
        return asked if self.person is None else [*asked, KInPersons(self.k, self.person)]

    @property
    def led_by(self) -> str | None:
        """The sensitive column that the strategy looks at.

        The one that was named, or the only one. None if there are several or none, which
        strategies that look at none do not mind.

        Raises
        ------
        PlanError
            The one that was named is not sensitive.
        """
        named, known = self.algorithm.sensitive, self.roles.columns(Role.SENSITIVE)
        if named is not None or needs_sensitive(self.algorithm.strategy):
            return self._sensitive("algorithm.sensitive", named)
        return known[0] if len(known) == 1 else None

    def suppression(self, n_records: int) -> int | None:
        """How many records may be suppressed at most; None if the plan does not say.

        A share of n is rounded down, but for what a float lacks of a whole number.
        """
        limit = self.suppression_limit
        if limit is None:
            return None
        if isinstance(limit, RecordsPlan):
            return min(limit.records, n_records)
        return math.floor(limit * n_records + 1e-9)

    @property
    def metric(self) -> Metric:
        """The metric that guides the algorithm."""
        return metric_named(self.algorithm.metric, self.composed_metrics)

    @property
    def composed_metrics(self) -> dict[str, Metric]:
        """The metrics that the plan composes."""
        return composed_metrics(self.metrics)

    def _made(self, place: int, part: ModelPlan) -> Model:
        key = f"privacy.{place}"
        column = None
        if "column" in type(part).model_fields:
            column = self._sensitive(f"{key}.column", getattr(part, "column", None))
        try:
            return part.made(column)
        except PlanError as error:
            raise error.within(f"Plan key {key}") from None

    def _sensitive(self, key: str, named: str | None) -> str:
        known = self.roles.columns(Role.SENSITIVE)
        if named is None and len(known) == 1:
            return known[0]
        if named in known:
            return named
        if not known:
            problem = "no column has the role sensitive"
        elif named is None:
            problem = f"name one of the sensitive columns, {listing(known, most=12)}"
        else:
            problem = f"{quoted(named)} is not sensitive; sensitive are {listing(known, most=12)}"
        raise PlanError(f"Plan key {key}: {problem}.")

    def _check_names(self) -> None:
        for name in self.metrics:
            check_metric_name(name)
        known = {
            "name": parts_of(kanon.algorithms),
            "metric": [*METRICS, *self.metrics],
            "strategy": STRATEGIES,
        }
        for key, names in known.items():
            given = getattr(self.algorithm, key)
            if given not in names:
                raise PlanError(
                    f"Plan key algorithm.{key}: {quoted(given)} is unknown; "
                    f"known are {', '.join(names)}."
                )
        self._check_person()
        self._check_coarsened()
        _ = self.models, self.led_by  # both name what is wrong
        self._check_options()
        for column, weight in self.algorithm.attribute_weights.items():
            if column not in self.roles.quasi_identifiers:
                raise PlanError(
                    f"Plan key algorithm.attribute_weights: {quoted(column)} is not one of the "
                    f"quasi-identifiers ({listing(self.roles.quasi_identifiers, most=12)})."
                )
            if not 0 <= weight <= LARGEST_WEIGHT:
                raise PlanError(
                    f"Plan key algorithm.attribute_weights.{column}: {weight} is not allowed; "
                    f"a weight is a number of at least 0 and at most {LARGEST_WEIGHT:g}."
                )

    def _check_person(self) -> None:
        """That the column of the person is an identifier: anything else would be released."""
        if self.person is None or self.person in self.roles.columns(Role.IDENTIFIER):
            return
        role = self.roles.roles.get(self.person)
        has = "is not among the columns" if role is None else f"has the role {role}"
        raise PlanError(
            f"Plan key person: {quoted(self.person)} {has}; the column that says which records are "
            "of one person has to have the role identifier."
        )

    def _check_coarsened(self) -> None:
        """That only what is sensitive, and has a hierarchy, is released at a level of it."""
        for name, column in self.columns.items():
            if column.level is None or (column.role is Role.SENSITIVE and column.hierarchy):
                continue
            lacks = "no hierarchy" if column.role is Role.SENSITIVE else f"the role {column.role}"
            raise PlanError(
                f"Plan key columns.{name}.level: {quoted(name)} has {lacks}; a level is for a "
                "sensitive column with a hierarchy, which is coarsened to it."
            )

    def _check_options(self) -> None:
        chosen = self.algorithm
        for parameter in parameters_of(chosen.name):
            given = chosen.options.get(parameter.name, parameter.default)
            if not isinstance(given, str) or given not in parameter.choices:
                raise PlanError(
                    f"Plan key algorithm.{parameter.name}: {quoted(given)} is not allowed; "
                    f"known are {', '.join(parameter.choices)}."
                )
        uses = parts_of(kanon.algorithms)[chosen.name].CARD.uses
        if LOOKS_AT[chosen.strategy] and "strategy" not in uses:
            raise PlanError(
                f"The algorithm {quoted(chosen.name)} picks no partners; the strategy "
                f"{quoted(chosen.strategy)} needs 'gaa'."
            )
        if chosen.node is not None:
            if "node" not in uses:
                raise PlanError(
                    f"Plan key algorithm.node: the algorithm {quoted(chosen.name)} takes no node."
                )
            wanted = self.roles.quasi_identifiers
            if sorted(chosen.node) != sorted(wanted):
                raise PlanError(
                    "Plan key algorithm.node: it needs a level for each quasi-identifier "
                    f"({listing(wanted, most=12)}) and for nothing else."
                )


def _plan_error(error: ValidationError) -> PlanError:
    first = error.errors(include_url=False)[0]
    kind, given = first["type"], first.get("input")
    path = _path(first["loc"])
    place = f"Plan key {path}" if path else "The plan"
    if kind == "union_tag_not_found" and isinstance(given, dict):
        return PlanError(f"The plan lacks the key {path}.model; known are {_KNOWN_MODELS}.")
    if kind == "union_tag_invalid" and path.startswith("privacy"):
        return PlanError(
            f"{place}.model: {{cells}} is unknown; known are {_KNOWN_MODELS}.", [given["model"]]
        )
    if kind == "union_tag_invalid" and not first["ctx"]["tag"]:
        return PlanError(f"{place}: a hierarchy is a path, or has 'build' or 'nodes'.")
    if kind == "union_tag_invalid":
        known = "'suppression', 'intervals', 'mask', 'codes', 'dates' and 'groups'"
        return PlanError(
            f"{place}: the builder {{cells}} is unknown; known are {known}.", [first["ctx"]["tag"]]
        )
    return problem(first, path, "plan", PlanError)


def _path(place: Sequence[int | str]) -> str:
    """Where in a plan something stands, without the kinds of hierarchies, models and limits."""
    parts = [str(part) for part in place]
    kinds = {"privacy": 2, "columns": 3, "suppression_limit": 1}
    if parts and len(parts) > kinds.get(parts[0], len(parts)):
        del parts[kinds[parts[0]]]
    return ".".join(parts)
