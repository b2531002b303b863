"""Privacy models in a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import Discriminator, Field, StrictInt, create_model

import kanon.privacy
from kanon.base.checked_json import Number, Strict
from kanon.cards import parts_of
from kanon.errors import PlanError
from kanon.privacy import known_columns
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.known_columns import KNOWN, KAmongKnown
from kanon.privacy.model import Model, Range, ranges


class ModelPlan(Strict):
    """A privacy model with its parameters; there is a class of plans for each model."""

    model: str

    def choose_columns(self, find: Callable[[str, str | None], str]) -> list[str]:
        """The columns that the model is about, each found by the key that names it."""
        names = self.model_dump(include={"column", "columns"})
        if not names:
            return []
        if names["columns"] is not None:
            return [find(".columns", name) for name in names["columns"]]
        return [find(".column", names["column"])]

    def build_model(self, columns: list[str], sensitive: Iterable[str]) -> Model:
        """Build the model about some of the sensitive columns."""
        values = {name: getattr(self, name) for name in type(self).model_fields if name != "model"}
        known = values.pop("known", None)
        if known is not None:
            return KAmongKnown(values["k"], known)
        if columns:
            if values["column"] is not None and values["columns"] is not None:
                raise PlanError("'column' and 'columns' exclude each other; remove one.")
            if values["others"] and {*columns} == {*sensitive}:
                raise PlanError("'others' has no meaning, as there is no other sensitive column.")
            values["column"] = " × ".join(columns)
            values["columns"] = None if values["columns"] is None else tuple(columns)
        model: Model = MODELS[self.model](**values)
        return model

    @property
    def counted_as(self) -> str:
        """The model that it is counted as: its own name, unless only some columns are known."""
        return KNOWN.name if getattr(self, "known", None) is not None else self.model


def _build_parameter(limits: Range) -> Any:
    end: dict[str, Any] = {"gt" if limits.above else "ge": limits.lowest}
    if limits.highest < float("inf"):
        end["le"] = limits.highest
    field = Field(allow_inf_nan=False, **end) if not limits.whole else Field(**end)
    return Annotated[StrictInt if limits.whole else Number, field]


def _build_model_plan(name: str, model: type[Model]) -> type[ModelPlan]:
    hints, numbers = get_type_hints(model), ranges(model)
    parts: dict[str, Any] = {"model": (Literal[name], ...)}
    for part in fields(model):  # type: ignore[arg-type]
        default = ... if part.default is MISSING else part.default
        if part.name == "column":
            parts["column"] = (str | None, None)
        elif part.name == "columns":
            parts["columns"] = (list[str] | None, None)
        elif part.name in numbers:
            parts[part.name] = (_build_parameter(numbers[part.name]), default)
        elif part.init and part.name != "people":
            parts[part.name] = (hints[part.name], default)
    if model is KAnonymity:
        parts["known"] = (_build_parameter(ranges(KAmongKnown)["known"]) | None, None)
    return create_model(f"{model.__name__}Plan", __base__=ModelPlan, __doc__=model.__doc__, **parts)


MODELS: Mapping[str, type[Model]] = {
    name: module.MODEL
    for name, module in parts_of(kanon.privacy).items()
    if hasattr(module, "MODEL")
}
"""Every privacy model, by its name in plans."""

COUNTED_MODELS: Mapping[str, ModuleType] = {
    **{name: parts_of(kanon.privacy)[name] for name in MODELS},
    KNOWN.name: known_columns,
}
"""The files that count the models, by :attr:`ModelPlan.counted_as`."""

OF_RELEASE = frozenset(
    name for name, module in COUNTED_MODELS.items() if hasattr(module, "check_classes")
)
"""The models of a whole release among them."""

RECOUNTS: Mapping[str, tuple[Callable[..., tuple[float, bool]], bool | None]] = {
    name: (module.recount, None if name in OF_RELEASE else MODELS[name].folds)
    for name, module in COUNTED_MODELS.items()
    if hasattr(module, "recount")
}
"""Per model its recount for the recipient, and whether spellings of one value count once.

That is None where the recount gets the classes of the whole release. Models of a population have
no recount: the recipient does not have the people.
"""

MODEL_PLANS = {name: _build_model_plan(name, model) for name, model in MODELS.items()}
"""The class of plans for each model."""

globals().update((plan.__name__, plan) for plan in MODEL_PLANS.values())  # where pickle looks

if TYPE_CHECKING:
    AnyModelPlan = ModelPlan
else:
    AnyModelPlan = Annotated[reduce(or_, MODEL_PLANS.values()), Discriminator("model")]
