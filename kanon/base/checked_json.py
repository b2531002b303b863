"""Files of choices in JSON: read strictly, and what is wrong in them said in one sentence."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from kanon.base.formatting import counted, thin
from kanon.errors import KanonError, PlanError, quoted
from kanon.settings import MEGABYTE, bytes_of, exceeded, read_up_to

E = TypeVar("E", bound=KanonError)
M = TypeVar("M", bound=BaseModel)

Number = Annotated[float, Field(strict=True)]
"""A number written as one: neither text nor true or false."""


class Strict(BaseModel):
    """A part of such a file: unknown keys are errors that list the known ones."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, given: Any) -> Any:
        if isinstance(given, dict):
            unknown = [key for key in given if key not in cls.model_fields]
            if unknown:
                known = ", ".join(cls.model_fields)
                raise ValueError(f"the key {quoted(unknown[0])} is unknown; known are {known}")
        return given


def load_json(path: Path, what: str) -> Any:
    """Read a file of choices."""
    try:
        content, size = read_up_to(bytes_of("plan_megabytes"), path)
        _check_size(size, what)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError):  # a name may hold what no file system takes
        named = path.name or str(path)  # a folder such as "." has no name
        raise PlanError(f"{what} {quoted(named)} cannot be read.") from None
    return read_json(text, what)


def read_json(text: str, what: str = "The plan") -> Any:
    """Read JSON in which no key stands twice in one place.

    >>> read_json('{"k": 5}')
    {'k': 5}
    """
    _check_size(len(text), what)
    if sum(map(text.count, "[{,")) > _MOST_VALUES:  # an empty list has two bytes, and takes 64
        raise PlanError(f"{what} has more than {thin(_MOST_VALUES)} values, the most allowed.")

    def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise PlanError(
                    f"{what} names {quoted(key)} twice in one place; each key, and so each "
                    "column's role, stands once."
                )
            found[key] = value
        return found

    try:
        found = json.loads(text, object_pairs_hook=each_key_once)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
        raise PlanError(f"{what} is not valid JSON: see {where}.") from None
    except (ValueError, RecursionError):
        raise PlanError(f"{what} is not valid JSON.") from None
    if _HALF.search(text) and _has_half(found):
        raise PlanError(f"{what} is not valid text: half of a character stands alone in it.")
    return found


def write_json(content: Any) -> str:
    """An object as a file of choices has it."""
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def validate(kind: type[M], content: Any, what: str) -> M:
    """An object as a part of a file of choices; ``what`` the file is, in a word."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise problem(first, ".".join(map(str, first["loc"])), what, PlanError) from None


def _check_size(size: int, what: str) -> None:
    if size > bytes_of("plan_megabytes"):
        raise PlanError(exceeded("plan_megabytes", f"{what} has {thin(size / MEGABYTE)} MB"))


_MOST_VALUES = 5_000_000
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _has_half(found: Any) -> bool:
    """Whether a text in it cannot be written in UTF-8, so that it could never be saved again."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def problem(first: ErrorDetails, path: str, what: str, error: type[E]) -> E:
    """What pydantic found wrong, in one sentence."""
    kind, given = first["type"], first.get("input")
    place = f"{what.capitalize()} key {path}" if path else f"The {what}"
    if kind == "value_error":
        return error(f"{place}: {str(first['msg']).removeprefix('Value error, ')}.")
    if kind == "missing":
        return error(f"The {what} lacks the key {path}.")
    allowed = _allowed(kind, first.get("ctx", {}))
    names = {dict: "an object", list: "a list", type(None): "null"}
    if kind == "too_short":
        return error(f"{place} is empty; it has to be {allowed}.")
    if kind == "too_long":
        found = thin(first["ctx"]["actual_length"])
        return error(f"{place} has {found} entries; it has to be {allowed}.")
    if type(given) in names:
        return error(f"{place} is {names[type(given)]}; it has to be {allowed}.")
    in_quotes = isinstance(given, str) and given.strip() in re.split(r", | or ", allowed)
    if isinstance(given, str) and (kind in _NOT_TEXT or in_quotes):  # "2", where 1 or 2 is allowed
        bare = ", without quotes" if _NUMBER.fullmatch(given) else ""
        return error(f"{place}: {{cells}} is text; it has to be {allowed}{bare}.", [given])
    if isinstance(given, int | float) and kind == "string_type":
        allowed += ", in quotes"
    shown = str(given).lower() if isinstance(given, bool) else given
    return error(f"{place}: {{cells}} is not allowed; it has to be {allowed}.", [shown])


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
"""What something has to be, by the kind of problem."""


def _allowed(kind: str, limits: Mapping[str, Any]) -> str:
    match kind:
        case "greater_than":
            return f"above {_plainly(limits['gt'])}"
        case "greater_than_equal":
            return f"at least {_plainly(limits['ge'])}"
        case "less_than":
            return f"below {_plainly(limits['lt'])}"
        case "less_than_equal":
            return f"at most {_plainly(limits['le'])}"
        case "literal_error" | "enum":
            return str(limits["expected"])
        case "string_type":
            return "text"
        case "string_too_short" | "string_too_long":
            end = "least" if kind == "string_too_short" else "most"
            number = limits["min_length" if end == "least" else "max_length"]
            return f"text of at {end} {counted(number, 'character')}"
        case "too_short":
            return "a list of at least one entry"
        case "too_long":
            return f"a list of at most {counted(limits['max_length'], 'entry', 'entries')}"
    return _NOT_TEXT.get(kind, "something else")


def _plainly(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"
