"""The controls of a builder: what is typed for a hierarchy, on every page where it is asked."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, FIELDS, HierarchyChoice
from kanon.studio.session.state import bound


def builder_fields(
    choice: HierarchyChoice,
    prefix: str,
    change: Callable[..., None],
    *arguments: Any,
    fine: bool = True,
) -> None:
    """Draw the controls of a choice's builder as filled in; their keys begin with ``prefix``."""
    parameters = [part for part in BUILDERS[choice.builder].parameters if fine or not part.fine]
    if not parameters:
        return
    wide = [part is parameters[0] or part.kind == "lines" for part in parameters]
    if fine or len(parameters) < 3:
        places = st.columns([1 + each for each in wide])
    else:
        places = [st.container() for _ in parameters]
    for parameter, place in zip(parameters, places, strict=True):
        label, about = parameter.label, parameter.about
        value = choice.typed.get(parameter.name) or ""
        if parameter.kind == "choice":
            value = value or parameter.options[0]
        field = bound(f"{prefix}-{parameter.name}", value, lambda _: change(*arguments))
        if parameter.kind == "choice":
            place.selectbox(label, parameter.options, **field, help=about)
        elif parameter.kind == "lines":
            place.text_area(label, **field, height=200, help=about)
        else:
            place.text_input(label, **field, help=about)


def typed_fields(prefix: str) -> dict[str, Any]:
    """What stands in the controls with that prefix; None where there is no such control."""
    return {field: state.typed(f"{prefix}-{field}") for field in FIELDS}
