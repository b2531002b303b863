"""The fields of a form, generated from a class of checked files: nothing is written per class.

A field with a title is one of the form. Its type and limits are those that the file is checked by;
``json_schema_extra`` says what a type cannot: ``titles`` of values, whose ``choices`` it takes,
what stands there while it is ``empty``, with which values of other fields ``only`` it counts.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

FormField = Mapping[str, Any]  # a property of a JSON schema, without references and alternatives


@cache
def form_fields(model: type[BaseModel]) -> Mapping[str, FormField]:
    """The fields with a title, each as a property of a JSON schema."""
    schema = model.model_json_schema()
    found = {}
    for name, field in model.model_fields.items():
        if field.title:
            given = schema["properties"][name]
            kinds = [each for each in given.get("anyOf", []) if each["type"] != "null"]
            named = schema.get("$defs", {}).get(given.get("$ref", "").rpartition("/")[2], {})
            found[name] = {**named, **(kinds[0] if kinds else {}), **given, "optional": bool(kinds)}
    return found


def first_value(field: FormField) -> Any:
    """What stands in a field at first: its default, or the first value that is allowed."""
    if field["type"] == "object":
        return {}
    allowed = field.get("enum", [field.get("const", field.get("minimum"))])
    return field.get("default", allowed[0])


def counts_with(field: FormField, values: Mapping[str, Any]) -> bool:
    return all(values.get(name) in allowed for name, allowed in field.get("only", {}).items())
