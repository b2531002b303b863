"""The parts of a plan: columns, how the table is read, metrics, the algorithm, limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    model_validator,
)

import kanon.algorithms
from kanon.base.checked_json import Number, Strict
from kanon.cards import Card, Parameter, parts_of
from kanon.errors import quote
from kanon.hierarchy.intermediate_costs import COMPOSED
from kanon.hierarchy.plans import HierarchyPlan, LevelBounds
from kanon.metrics import MULTIPLIERS, Metric
from kanon.schema import Role


class ColumnPlan(Strict):
    """The role of a column, its hierarchy, and what of it is released."""

    role: Role
    hierarchy: HierarchyPlan | None = None
    written: Literal["range", "mean", "median", "mode"] | None = None
    level: Annotated[StrictInt, Field(ge=1)] | None = None  # to which a sensitive one is coarsened
    levels: LevelBounds | None = None  # of a quasi-identifier
    pseudonym: StrictBool = False


if TYPE_CHECKING:
    _First: TypeAlias = str
    _Second: TypeAlias = str
else:
    _First, _Second = Literal[COMPOSED], Literal[tuple(MULTIPLIERS)]


class MetricPlan(Strict):
    """A metric composed of its two phases."""

    intermediate: _First
    multiplier: _Second


def build_composed_metrics(parts: Mapping[str, MetricPlan]) -> dict[str, Metric]:
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

    model_config = ConfigDict(frozen=True, extra="allow")  # the algorithm's own parameters

    @model_validator(mode="before")
    @classmethod
    def _check_known_keys(cls, raw: Any) -> Any:
        if isinstance(raw, dict):
            choices = {part.name: part.choices for part in get_own_parameters(raw.get("name"))}
            keys = [*cls.model_fields, *choices]
            texts = {key: _convert_choice(raw[key], choices[key]) for key in choices if key in raw}
            raw = {**raw, **texts}
            unknown = [key for key in raw if key not in keys]
            if unknown:
                raise ValueError(
                    f"the key {quote(unknown[0])} is unknown; choose from {', '.join(keys)}"
                )
        return raw

    @property
    def options(self) -> dict[str, Any]:
        """The values of the algorithm's own parameters."""
        return dict(self.__pydantic_extra__ or {})


def _convert_choice(value: Any, choices: Iterable[str]) -> Any:
    """Convert a choice such as 60 to text, as choices are; other values stay."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return next((text for text in choices if text.isdecimal() and int(text) == value), value)
    return value


def get_own_parameters(algorithm: object) -> tuple[Parameter, ...]:
    """The own parameters of an algorithm; none for an unknown one."""
    module = parts_of(kanon.algorithms).get(algorithm) if isinstance(algorithm, str) else None
    return () if module is None else tuple(module.CARD.parameters)


class RecordsPlan(Strict):
    """A number of records."""

    records: Annotated[StrictInt, Field(ge=0)]


SuppressionLimit = Annotated[
    Annotated[Number, Field(ge=0, le=1), Tag("share")] | Annotated[RecordsPlan, Tag("records")],
    Discriminator(lambda given: "records" if isinstance(given, dict | RecordsPlan) else "share"),
]
