"""A form generated from a class of checked files: a widget per field, by its type and limits."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from pydantic import BaseModel

from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.teaching.exercise_draft import (
    FormField,
    get_first_value,
    is_field_used,
    list_form_fields,
)

Choices = Mapping[str, Mapping[Any, Any]]
"""What fields can be chosen from, by the name of the choice: per value its title or its limit."""

Change = Callable[[str, Any], None]

_LINE = 100  # a text that may be longer has several lines


def draw_form(
    model: type[BaseModel],
    values: Mapping[str, Any],
    key: str,
    change: Change,
    choices: Choices | None = None,
) -> None:
    """Draw the fields that count; ``change`` is told the name of a field and its new value."""
    fields = {
        name: field
        for name, field in list_form_fields(model).items()
        if "const" not in field and is_field_used(field, values)
    }
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for name, field in fields.items():
        with st.container() if _is_long(field) else row:
            _draw_field(name, field, values, f"{key}-{name}", change, choices or {})


def _is_long(field: FormField) -> bool:
    return "lines" in field or field.get("maxLength", 0) > _LINE


def _draw_field(
    name: str,
    field: FormField,
    values: Mapping[str, Any],
    key: str,
    change: Change,
    choices: Choices,
) -> None:
    title, kind, now = field["title"], field["type"], values.get(name, get_first_value(field))
    titles_by_value: Mapping[Any, Any] = field.get("titles", {}) | choices.get(
        field.get("choices", ""), {}
    )
    if kind == "object":

        def take(numbers: Mapping[str, int]) -> None:
            change(name, {item: number for item, number in numbers.items() if number})

        draw_numbers(title, now, titles_by_value, key, take)
        return
    widget_options = attach_widget(key, now, lambda typed: change(name, typed))
    widget_options["help"] = field.get("description")
    if titles_by_value or "enum" in field:
        options = [*([None] if field["optional"] else []), *(titles_by_value or field["enum"])]
        titles = {None: field.get("empty", ""), **titles_by_value}
        st.selectbox(
            title,
            options if now in options else [*options, now],
            format_func=lambda value: titles.get(value, value),
            width=260,
            **widget_options,
        )
    elif kind == "boolean":
        st.toggle(title, **widget_options)
    elif _is_long(field):
        height = 24 * field.get("lines", 2) + 32
        st.text_area(title, max_chars=field.get("maxLength"), height=height, **widget_options)
    elif kind == "string":
        st.text_input(title, max_chars=field.get("maxLength"), width=340, **widget_options)
    else:
        number, unit = (int, 1) if kind == "integer" else (float, 0.01)
        st.number_input(
            title,
            min_value=_get_limit(field, "Minimum", number, unit),
            max_value=_get_limit(field, "Maximum", number, -unit),
            step=field.get("step", unit),
            format="%d" if kind == "integer" else "%g",
            placeholder=field.get("empty"),
            width=200,
            **widget_options,
        )


def _get_limit(field: FormField, name: str, number: type[int] | type[float], unit: float) -> Any:
    if f"exclusive{name}" in field:
        return number(field[f"exclusive{name}"] + unit)
    return number(field[name.lower()]) if name.lower() in field else None


def draw_numbers(
    title: str,
    now: Mapping[str, int],
    limits: Mapping[str, int],
    key: str,
    change: Callable[[dict[str, int]], None],
) -> None:
    for place, (name, most) in enumerate(limits.items()):
        value = now.get(name, 0)
        st.number_input(
            title.format(escape_markdown(name), most),
            min_value=0,
            max_value=max(most, value),
            **attach_widget(
                f"{key}-{place}", value, lambda typed, name=name: change({**now, name: int(typed)})
            ),
            width=220,
        )
