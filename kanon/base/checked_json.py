"""Strict reading of JSON files such as plans; every problem is reported in one sentence."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from kanon.base.formatting import count_noun, write_count
from kanon.errors import KanonError, PlanError, quote
from kanon.settings import MEGABYTE, describe_exceeded_limit, get_byte_limit, read_up_to

E = TypeVar("E", bound=KanonError)
M = TypeVar("M", bound=BaseModel)

Number = Annotated[float, Field(strict=True)]
"""A number that is neither text nor true or false."""


class Strict(BaseModel):
    """A part of such a file: an unknown key is an error that lists the known ones."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_known_keys(cls, content: Any) -> Any:
        if isinstance(content, dict):
            unknown = [key for key in content if key not in cls.model_fields]
            if unknown:
                keys = ", ".join(cls.model_fields)
                raise ValueError(f"the key {quote(unknown[0])} is unknown; choose from {keys}")
        return content


def load_json(path: Path, file_name: str) -> Any:
    """The content of a JSON file; a ``PlanError`` if it is too large or cannot be read."""
    try:
        content, size = read_up_to(get_byte_limit("plan_megabytes"), path)
        _check_size(size, file_name)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError):  # a name may hold what no file system takes
        name = path.name or str(path)  # a folder such as "." has no name
        raise PlanError(f"{file_name} {quote(name)} cannot be read.") from None
    return read_json(text, file_name)


def read_json(text: str | bytes, file_name: str = "The plan") -> Any:
    """Read JSON, as bytes in UTF-8, in which no object has a key twice.

    >>> read_json('{"k": 5}')
    {'k': 5}
    """
    _check_size(len(text), file_name)
    try:
        text = text if isinstance(text, str) else text.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError(f"{file_name} is not UTF-8 text.") from None
    if sum(map(text.count, "[{,")) > _MOST_VALUES:  # an empty list has two bytes, and takes 64
        raise PlanError(f"{file_name} exceeds the limit of {write_count(_MOST_VALUES)} values.")

    def check_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content: dict[str, Any] = {}
        for key, value in pairs:
            if key in content:
                raise PlanError(
                    f"{file_name} names {quote(key)} twice in one place. Name each key, and so "
                    "each column's role, once."
                )
            content[key] = value
        return content

    try:
        content = json.loads(text, object_pairs_hook=check_unique_keys)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
        raise PlanError(f"{file_name} is not valid JSON: see {where}.") from None
    except (ValueError, RecursionError):
        raise PlanError(f"{file_name} is not valid JSON.") from None
    if _HALF.search(text) and _has_half(content):
        raise PlanError(f"{file_name} is not valid text: it contains half a character.")
    return content


def write_json(content: Any) -> str:
    """The text of a JSON file, indented by 2, that ends with a line break."""
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def validate(kind: type[M], content: Any, file_name: str) -> M:
    """Read an object as a part of such a file; ``file_name`` names the file in a word."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise describe_problem(first, path, file_name, PlanError) from None


def _check_size(size: int, file_name: str) -> None:
    if size > get_byte_limit("plan_megabytes"):
        what = f"{file_name} has {write_count(size / MEGABYTE)} MB"
        raise PlanError(describe_exceeded_limit("plan_megabytes", what))


_MOST_VALUES = 5_000_000
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _has_half(content: Any) -> bool:
    """Whether some text in it cannot be written in UTF-8, so that it could not be saved again."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def describe_problem(first: ErrorDetails, path: str, file_name: str, error: type[E]) -> E:
    """Describe what pydantic found wrong, in one sentence."""
    kind, value = first["type"], first.get("input")
    place = f"{file_name.capitalize()} key {path}" if path else f"The {file_name}"
    if kind == "value_error":
        return error(f"{place}: {str(first['msg']).removeprefix('Value error, ')}.")
    if kind == "missing":
        return error(f"The {file_name} lacks the key {path}.")
    requirement = _describe_requirement(kind, first.get("ctx", {}))
    names = {dict: "an object", list: "a list", type(None): "null"}
    if kind == "too_short":
        return error(f"{place} is empty; it has to be {requirement}.")
    if kind == "too_long":
        length = write_count(first["ctx"]["actual_length"])
        return error(f"{place} has {length} entries; it has to be {requirement}.")
    if type(value) in names:
        return error(f"{place} is {names[type(value)]}; it has to be {requirement}.")
    in_quotes = isinstance(value, str) and value.strip() in re.split(r", | or ", requirement)
    if isinstance(value, str) and (kind in _NOT_TEXT or in_quotes):  # "2", where 1 or 2 is allowed
        bare = ", without quotes" if _NUMBER.fullmatch(value) else ""
        return error(f"{place}: {{cells}} is text; it has to be {requirement}{bare}.", [value])
    if isinstance(value, int | float) and kind == "string_type":
        requirement += ", in quotes"
    text = str(value).lower() if isinstance(value, bool) else value
    return error(f"{place}: {{cells}} is not allowed; it has to be {requirement}.", [text])


_NUMBER = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")

_NOT_TEXT = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "finite_number": "a finite number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "an object",
    "model_type": "an object",
}


def _describe_requirement(kind: str, limits: Mapping[str, Any]) -> str:
    match kind:
        case "greater_than":
            return f"above {_write_limit(limits['gt'])}"
        case "greater_than_equal":
            return f"at least {_write_limit(limits['ge'])}"
        case "less_than":
            return f"below {_write_limit(limits['lt'])}"
        case "less_than_equal":
            return f"at most {_write_limit(limits['le'])}"
        case "literal_error" | "enum":
            return str(limits["expected"])
        case "string_type":
            return "text"
        case "string_too_short" | "string_too_long":
            end = "least" if kind == "string_too_short" else "most"
            number = limits["min_length" if end == "least" else "max_length"]
            return f"text of at {end} {count_noun(number, 'character')}"
        case "too_short":
            return "a list of at least one entry"
        case "too_long":
            return f"a list of at most {count_noun(limits['max_length'], 'entry', 'entries')}"
    return _NOT_TEXT.get(kind, "something else")


def _write_limit(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"
