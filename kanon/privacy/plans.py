"""Privacy models in a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import Discriminator, Field, StrictInt, create_model

import kanon.privacy
from kanon.base.checked_json import Number, Strict
from kanon.cards import parts_of
from kanon.errors import PlanError
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
        if columns:
            if values["column"] is not None and values["columns"] is not None:
                raise PlanError("'column' and 'columns' exclude each other; remove one.")
            if values["others"] and {*columns} == {*sensitive}:
                raise PlanError("'others' has no meaning, as there is no other sensitive column.")
            values["column"] = " × ".join(columns)
            values["columns"] = None if values["columns"] is None else tuple(columns)
        model: Model = MODELS[self.model](**values)
        return model


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
        if part.name == "column":
            parts["column"] = (str | None, None)
        elif part.name == "columns":
            parts["columns"] = (list[str] | None, None)
        elif part.name in numbers:
            parts[part.name] = (_build_parameter(numbers[part.name]), ...)
        else:
            parts[part.name] = (hints[part.name], part.default)
    return create_model(f"{model.__name__}Plan", __base__=ModelPlan, __doc__=model.__doc__, **parts)


MODELS: Mapping[str, type[Model]] = {
    name: module.MODEL
    for name, module in parts_of(kanon.privacy).items()
    if hasattr(module, "MODEL")
}
"""Every privacy model, by its name in plans."""

RECOUNTS: Mapping[str, tuple[Callable[..., tuple[float, bool]], bool]] = {
    name: (parts_of(kanon.privacy)[name].recount, model.folds) for name, model in MODELS.items()
}
"""Per model its recount for the recipient, and whether spellings of one value count once."""

MODEL_PLANS = {name: _build_model_plan(name, model) for name, model in MODELS.items()}
"""The class of plans for each model."""

if TYPE_CHECKING:
    AnyModelPlan = ModelPlan
else:
    AnyModelPlan = Annotated[reduce(or_, MODEL_PLANS.values()), Discriminator("model")]
