"""An exercise set while it is edited: it is checked only when it is used."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field

from kanon.base.checked_json import Strict
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import ExerciseError, KanonError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.hierarchy.edit import remove_leaves
from kanon.hierarchy.files import parse_nodes, to_nodes
from kanon.hierarchy.outline import parse_outline, write_outline
from kanon.schema import Role
from kanon.settings import MEGABYTE
from kanon.teaching.exercises import MEGABYTES, ExerciseSet, Name, validate_content
from kanon.teaching.handout import MOST_LEAVES
from kanon.teaching.question import format_question_heading
from kanon.teaching.questions import KINDS, AnyQuestion
from kanon.teaching.small_tables import MOST_RECORDS, Cell, ExerciseTable, SmallTable

FormField = Mapping[str, Any]  # a property of a JSON schema, without references and alternatives


@cache
def list_form_fields(model: type[BaseModel]) -> Mapping[str, FormField]:
    """The fields with a title, each as a property of a JSON schema: those of a form.

    Their types and limits are those that the file is checked by; ``json_schema_extra`` says what a
    type cannot: ``titles`` of values, whose ``choices`` it takes, what stands there while it is
    ``empty``, with which values of other fields ``only`` it counts.
    """
    schema = model.model_json_schema()
    fields = {}
    for name, field in model.model_fields.items():
        if field.title:
            prop = schema["properties"][name]
            kinds = [kind for kind in prop.get("anyOf", []) if kind["type"] != "null"]
            definition = schema.get("$defs", {}).get(prop.get("$ref", "").rpartition("/")[2], {})
            fields[name] = {
                **definition,
                **(kinds[0] if kinds else {}),
                **prop,
                "optional": bool(kinds),
            }
    return fields


def get_first_value(field: FormField) -> Any:
    if field["type"] == "object":
        return {}
    allowed = field.get("enum", [field.get("const", field.get("minimum"))])
    return field.get("default", allowed[0])


def is_field_used(field: FormField, values: Mapping[str, Any]) -> bool:
    return all(values.get(name) in allowed for name, allowed in field.get("only", {}).items())


Draft = Mapping[str, Any]
"""A set, a table, a column or a question, as typed.

A set and a question have the keys of a file; ``tables`` are a list. A table has a ``name``,
``columns``, and whether its records are of a table of one's ``own``; a column a ``name``, a
``role``, a ``tree`` as an outline (see :mod:`kanon.hierarchy.outline`), and its ``cells``.
"""

EMPTY: Draft = {
    "title": "", "author": "", "exam": False, "code": "", "tables": [], "questions": []
}  # fmt: skip

EMPTY_COLUMN: Draft = {"name": "", "role": "quasi-identifier", "tree": "", "cells": []}

EMPTY_TABLE: Draft = {
    "name": "table",
    "columns": [EMPTY_COLUMN, {**EMPTY_COLUMN, "role": "sensitive"}],
    "own": False,
}

_LONGEST_CELL = 100


class TableFields(Strict):
    name: Name = Field(title="Name of the table")


class ColumnFields(Strict):
    name: Cell = Field(title="Name of the column")
    role: Role = Field(title="Role")
    tree: str = Field(
        default="",
        title="Tree",
        description="One node per line: the root first, lower nodes indented. Write the weight "
        "of a step, for the metric Custom, after an equals sign: Felid = 3. If you leave this "
        "empty, all values are directly below *.",
        json_schema_extra={"lines": 9, "only": {"role": ["quasi-identifier"]}},
    )


# --- from sets and tables -------------------------------------------------------------------
def draft_set(exercises: ExerciseSet, own: bool = False) -> Draft:
    content = exercises.model_dump(mode="json", exclude_none=True, include={*EMPTY})
    tables = [build_table_draft(name, table, own) for name, table in exercises.tables.items()]
    return {**content, "tables": tables}


def build_table_draft(name: str, table: ExerciseTable, own: bool = False) -> Draft:
    columns = [
        {
            "name": title,
            "role": column.role.value,
            "tree": "" if column.nodes is None else write_outline(parse_nodes(column.nodes)),
            "cells": list(cells),
        }
        for (title, column), cells in zip(
            table.columns.items(), zip(*table.records, strict=True), strict=True
        )
    ]
    return {"name": name, "columns": columns, "own": own}


def draft_small_table(name: str, table: SmallTable, own: bool = False) -> Draft:
    classes = table.classes
    trees = {}
    for j, (column, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        occurring = {tree.labels[node] for node in classes.nodes[:, j].tolist()}
        spare = [leaf for leaf in tree.labels[: tree.n_leaves] if leaf not in occurring]
        few = tree.n_leaves <= MOST_LEAVES or not spare
        trees[column] = tree if few else remove_leaves(tree, spare)
    return build_table_draft(name, ExerciseTable.from_frame(table.frame, table.schema, trees), own)


# --- changes --------------------------------------------------------------------------------
def put_in(draft: Any, value: object, *path: str | int) -> Any:
    if not path:
        return value
    copy: Any = dict(draft) if isinstance(draft, Mapping) else list(draft)
    copy[path[0]] = put_in(copy[path[0]], value, *path[1:]) if path[1:] else value
    return copy


def find_free_name(start: str, taken: Iterable[object]) -> str:
    used, stem = {*taken}, start.rstrip("0123456789")
    name, number = start, 1
    while name in used:
        number += 1
        name = f"{stem}{number}"
    return name


def replace_records(table: Draft, cells: pd.DataFrame) -> Draft:
    rows = [
        ["" if pd.isna(cell) else str(cell).strip() for cell in row]
        for row in cells.to_numpy(dtype=object).tolist()
    ]
    columns = [
        {**column, "cells": [row[place] for row in rows if any(row)]}
        for place, column in enumerate(table["columns"])
    ]
    return {**table, "columns": columns}


def build_new_question(draft: Draft) -> Draft:
    taken = [question["id"] for question in draft["questions"]]
    first = {"table": draft["tables"][0]["name"], "kind": next(iter(KINDS))}
    before = draft["questions"][-1] if taken else first
    name = find_free_name(f"q{len(taken) + 1}", taken)
    return {"id": name, "table": before["table"], "kind": before["kind"]}


def rename_table(draft: Draft, place: int, name: str) -> Draft:
    names = [table["name"] for table in draft["tables"]]
    old = names.pop(place)
    new = find_free_name(name, names)
    questions = [
        {**question, "table": new} if question["table"] == old else question
        for question in draft["questions"]
    ]
    return {**put_in(draft, new, "tables", place, "name"), "questions": questions}


# --- to a set -------------------------------------------------------------------------------
def list_records(table: Draft) -> list[tuple[str, ...]]:
    return list(zip(*(column["cells"] for column in table["columns"]), strict=True))


def build_column_tree(column: Draft) -> Hierarchy:
    if column["tree"].strip():
        return parse_outline(column["tree"])
    return suppression(list(dict.fromkeys(column["cells"])))


def get_draft_heading(number: int, question: Draft) -> str:
    """The heading of a question of a draft.

    >>> get_draft_heading(1, {"id": "q", "table": "", "kind": "recode", "k": 2})
    '1 Recode the table'
    """
    model = KINDS[question["kind"]]
    return format_question_heading(number, model.model_construct(**_fill_in_fields(question)))


def build_exercise_set(draft: Draft, only: int | None = None) -> ExerciseSet:
    """The set that a draft describes; :func:`check_draft` also checks that it can be answered."""
    title = draft["title"].strip()
    if not title and only is None:
        raise ExerciseError("The set has no title; type one.")
    for key in ("tables", "questions"):
        if not draft[key]:
            raise ExerciseError(f"The set has no {key[:-1]}; add one.")
    tables = dict(zip(_check_names(draft, "tables"), draft["tables"], strict=True))
    questions = []
    for number, question in enumerate(draft["questions"], start=1):
        if only in (None, number - 1):
            name = question["table"].strip()
            if name not in tables:
                raise ExerciseError(
                    f"Question {number}: there is no table {quote(question['table'])}; choose from "
                    f"{list_names(tables, most=len(tables))}."
                )
            questions.append(_build_question(number, {**question, "table": name}, tables[name]))
    if only is not None:
        tables = {question.table: tables[question.table] for question in questions}
    content = {
        "title": title or "-",
        "author": draft["author"].strip(),
        "exam": draft["exam"],
        "code": draft["code"] if draft["exam"] else "",
        "tables": {name: _build_table(table) for name, table in tables.items()},
        "questions": questions,
    }
    exercises = validate_content(ExerciseSet, content, "exercise set")
    assert exercises.made, "the tables are built, or an error says what they lack"
    return exercises


def check_draft(draft: Draft, progress: Progress = ignore_progress) -> ExerciseSet:
    exercises = build_exercise_set(draft)
    size = len(exercises.to_json().encode())
    if size > (most := MEGABYTES * MEGABYTE):
        raise ExerciseError(
            f"The set is {write_count(size)} bytes; the limit is {write_count(most)}."
        )
    exercises.check(
        progress, lambda number, question: f"Question {format_question_heading(number, question)}"
    )
    return exercises


def _build_table(draft: Draft) -> ExerciseTable:
    try:
        names, records = _check_names(draft, "columns"), list_records(draft)
        if not 1 <= len(records) <= MOST_RECORDS:
            raise ExerciseError(f"{len(records)} records; a table has 1 to {MOST_RECORDS}.")
        for name, column in zip(names, draft["columns"], strict=True):
            for number, cell in enumerate(column["cells"], start=1):
                if not 1 <= len(cell) <= _LONGEST_CELL:
                    raise ExerciseError(
                        f"the cell of {quote(name)} in record {number} has {len(cell)} "
                        f"characters; a cell has 1 to {_LONGEST_CELL}."
                    )
        columns = {
            name: {"role": column["role"], "nodes": _build_nodes(column)}
            for name, column in zip(names, draft["columns"], strict=True)
        }
        return validate_content(ExerciseTable, {"columns": columns, "records": records}, "table")
    except KanonError as error:
        raise error.add_place(f"Table {quote(draft['name'])}") from None


def _build_nodes(column: Draft) -> list[dict[str, Any]] | None:
    if column["role"] != Role.QUASI_IDENTIFIER.value:
        return None
    try:
        return to_nodes(build_column_tree(column))
    except KanonError as error:
        raise error.add_place(f"Tree of {quote(column['name'])}") from None


def _fill_in_fields(draft: Draft) -> dict[str, Any]:
    model = KINDS[draft["kind"]]
    first = {name: get_first_value(field) for name, field in list_form_fields(model).items()}
    return first | {key: value for key, value in draft.items() if key in model.model_fields}


def _build_question(number: int, draft: Draft, table: Draft) -> AnyQuestion:
    content = _fill_in_fields(draft)
    if "levels" in content:
        columns = [c["name"] for c in table["columns"] if c["role"] == "quasi-identifier"]
        levels = content["levels"].items()
        content["levels"] = {name: level for name, level in levels if name in columns}
    question: Any = validate_content(KINDS[draft["kind"]], content, f"question {number}")
    return question


def _check_names(draft: Draft, key: str) -> Sequence[str]:
    names, kind = [part["name"].strip() for part in draft[key]], key[:-1]
    if "" in names:
        raise ExerciseError(f"The {kind} {names.index('') + 1} has no name; type one.")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ExerciseError(f"Two {kind}s are called {quote(twice[0])}; give each its own name.")
    return names
