"""A privacy model as a plan names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import Discriminator, Field, StrictInt, create_model

import kanon.privacy
from kanon.base.checked_json import Number, Strict
from kanon.cards import parts_of
from kanon.privacy.model import Model, Range, ranges


class ModelPlan(Strict):
    """A privacy model with its parameters; there is a class of plans for each model."""

    model: str

    def made(self, column: str | None) -> Model:
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "model"}
        if "column" in given:
            given["column"] = column
        made: Model = MODELS[self.model](**given)
        return made


def _parameter(allowed: Range) -> Any:
    end: dict[str, Any] = {"gt" if allowed.above else "ge": allowed.lowest}
    if allowed.highest < float("inf"):
        end["le"] = allowed.highest
    field = Field(allow_inf_nan=False, **end) if not allowed.whole else Field(**end)
    return Annotated[StrictInt if allowed.whole else Number, field]


def _model_plan(name: str, model: type[Model]) -> type[ModelPlan]:
    hints, numbers = get_type_hints(model), ranges(model)
    made: dict[str, Any] = {"model": (Literal[name], ...)}
    for part in fields(model):  # type: ignore[arg-type]
        if part.name == "column":
            made["column"] = (str | None, None)
        elif part.name in numbers:
            made[part.name] = (_parameter(numbers[part.name]), ...)
        else:
            made[part.name] = (hints[part.name], part.default)
    return create_model(f"{model.__name__}Plan", __base__=ModelPlan, __doc__=model.__doc__, **made)


MODELS: Mapping[str, type[Model]] = {
    name: module.MODEL
    for name, module in parts_of(kanon.privacy).items()
    if hasattr(module, "MODEL")
}
"""Every privacy model, by its name in plans."""

RECOUNTS: Mapping[str, tuple[Callable[..., tuple[float, bool]], bool]] = {
    name: (parts_of(kanon.privacy)[name].recount, model.folds) for name, model in MODELS.items()
}
"""Per model how its recipient reckons it, and whether values that read alike count as one."""

MODEL_PLANS = {name: _model_plan(name, model) for name, model in MODELS.items()}
"""The class of plans for each model."""

if TYPE_CHECKING:
    AnyModelPlan = ModelPlan
else:
    AnyModelPlan = Annotated[reduce(or_, MODEL_PLANS.values()), Discriminator("model")]
