"""An exercise set while it is made: nothing in it has to be right until it is taken as a set.

A draft holds what was typed, as it was typed. :func:`set_of` makes the set that it means, or says
in a sentence what is not right yet, and where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import pandas as pd
from pydantic import ValidationError

from kanon.base.checked_json import problem
from kanon.base.formatting import thin
from kanon.base.progress import Progress, no_progress
from kanon.errors import ExerciseError, KanonError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.hierarchy.edit import remove_leaves
from kanon.hierarchy.files import parse_nodes, to_nodes
from kanon.hierarchy.outline import parse_outline, to_outline
from kanon.schema import Role
from kanon.settings import MEGABYTE
from kanon.teaching.exercises import MEGABYTES, ExerciseSet
from kanon.teaching.handout import MOST_LEAVES
from kanon.teaching.question import heading
from kanon.teaching.questions import KINDS, AnyQuestion
from kanon.teaching.small_tables import MOST_COLUMNS, MOST_RECORDS, ExerciseTable, SmallTable

MODELS: Mapping[str, type[Any]] = dict(zip(KINDS, get_args(get_args(AnyQuestion)[0]), strict=True))
"""The class of each kind of question."""

_LONGEST_CELL = 100


@dataclass(frozen=True)
class ColumnDraft:
    """A column."""

    name: str = ""
    role: Role = Role.QUASI_IDENTIFIER
    # of a quasi-identifier its tree as an outline (see :mod:`kanon.hierarchy.outline`)
    tree: str = ""


@dataclass(frozen=True)
class TableDraft:
    """A table."""

    name: str = ""  # what questions call it
    columns: tuple[ColumnDraft, ...] = (ColumnDraft(),)
    records: tuple[tuple[str, ...], ...] = ()  # per record a cell for each of them
    own: bool = False  # whether its records are some of a table of one's own, and not invented


@dataclass(frozen=True)
class SetDraft:
    """A set."""

    # as in :class:`~kanon.teaching.exercises.ExerciseSet`
    title: str = ""
    author: str = ""
    exam: bool = False
    tables: tuple[TableDraft, ...] = ()
    questions: tuple[Mapping[str, Any], ...] = ()  # per question the keys of a file

    @property
    def own(self) -> bool:
        """Whether records of a table of one's own are in it."""
        return any(table.own for table in self.tables)


# --- from what there is ---------------------------------------------------------------------
def draft_of(exercises: ExerciseSet, own: bool = False) -> SetDraft:
    """A set to go on with.

    >>> from kanon.teaching.exercises import BUILT_IN, read_exercises
    >>> found = read_exercises(BUILT_IN)
    >>> set_of(draft_of(found)).fingerprint == found.fingerprint
    True
    """
    return SetDraft(
        exercises.title,
        exercises.author,
        exercises.exam,
        tuple(table_draft(name, table, own) for name, table in exercises.tables.items()),
        tuple(one.model_dump(mode="json", exclude_none=True) for one in exercises.questions),
    )


def table_draft(name: str, table: ExerciseTable, own: bool = False) -> TableDraft:
    """A table of a set to go on with."""
    columns = tuple(
        ColumnDraft(
            title,
            column.role,
            "" if column.nodes is None else to_outline(parse_nodes(column.nodes)),
        )
        for title, column in table.columns.items()
    )
    return TableDraft(name, columns, tuple(map(tuple, table.records)), own)


def table_from(name: str, table: SmallTable, own: bool = False) -> TableDraft:
    """A small table that was not made for a set, with its roles and trees."""
    classes = table.classes
    trees = {}
    for j, (column, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        there = {tree.labels[node] for node in classes.nodes[:, j].tolist()}
        spare = [leaf for leaf in tree.labels[: tree.n_leaves] if leaf not in there]
        few = tree.n_leaves <= MOST_LEAVES or not spare
        trees[column] = tree if few else remove_leaves(tree, spare)
    return table_draft(name, ExerciseTable.of(table.frame, table.schema, trees), own)


# --- changes --------------------------------------------------------------------------------
def free_name(start: str, taken: Sequence[object]) -> str:
    """A name that is not taken: the wished one, or that with a number.

    >>> free_name("q1", ["q1", "q2"]), free_name("animals", ["animals"])
    ('q3', 'animals2')
    """
    stem = start.rstrip("0123456789")
    name, number = start, 1
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    return name


def moved(items: tuple[Any, ...], place: int, step: int) -> tuple[Any, ...]:
    """The same things, one of them so many places later; none beyond the ends.

    >>> moved(("a", "b", "c"), 0, 1), moved(("a", "b"), 1, 1)
    (('b', 'a', 'c'), ('a', 'b'))
    """
    rest = [*items[:place], *items[place + 1 :]]
    rest.insert(min(max(place + step, 0), len(rest)), items[place])
    return tuple(rest)


def put_at(items: tuple[Any, ...], place: int, *new: Any) -> tuple[Any, ...]:
    """The same things with others, or none, in the place of one.

    >>> put_at(("a", "b"), 1, "c"), put_at(("a", "b"), 0)
    (('a', 'c'), ('b',))
    """
    return (*items[:place], *new, *items[place + 1 :])


def with_column(table: TableDraft, column: ColumnDraft) -> TableDraft:
    """The table with one more column, whose cells are empty."""
    records = tuple((*record, "") for record in table.records)
    return replace(table, columns=(*table.columns, column), records=records)


def without_column(table: TableDraft, place: int) -> TableDraft:
    """The table without a column and its cells."""
    return replace(
        table,
        columns=put_at(table.columns, place),
        records=tuple(put_at(record, place) for record in table.records),
    )


def with_records(table: TableDraft, cells: pd.DataFrame) -> TableDraft:
    """The table with other cells; a row of blanks is no record."""
    rows = [
        tuple("" if pd.isna(cell) else str(cell).strip() for cell in row)
        for row in cells.to_numpy(dtype=object).tolist()
    ]
    return replace(table, records=tuple(row for row in rows if any(row)))


def with_question(draft: SetDraft) -> SetDraft:
    """The set with one more question: the kind and the table of the one before."""
    taken = [question["id"] for question in draft.questions]
    before = draft.questions[-1] if draft.questions else {}
    new = {
        "id": free_name(f"q{len(taken) + 1}", taken),
        "table": before.get("table", draft.tables[0].name if draft.tables else ""),
        "kind": before.get("kind", "recode"),
        "k": 2,
        "number": "k",
        "choose": "smallest",
    }
    return replace(draft, questions=(*draft.questions, new))


def with_table(draft: SetDraft, place: int, table: TableDraft) -> SetDraft:
    """The set with a table changed; questions about it follow its name, which stays its own."""
    old = draft.tables[place].name
    taken = [each.name for each in put_at(draft.tables, place)]
    table = replace(table, name=free_name(table.name, taken))
    questions = tuple(
        {**question, "table": table.name} if question["table"] == old else question
        for question in draft.questions
    )
    return replace(draft, tables=put_at(draft.tables, place, table), questions=questions)


# --- what it means --------------------------------------------------------------------------
def tree_of(table: TableDraft, place: int) -> Hierarchy:
    """The tree of a column."""
    column = table.columns[place]
    if column.tree.strip():
        return parse_outline(column.tree)
    return suppression(list(dict.fromkeys(record[place] for record in table.records)))


def called(number: int, question: Mapping[str, Any]) -> str:
    """What a question of a draft is called.

    >>> called(1, {"id": "q", "table": "", "kind": "recode", "k": 2})
    '1 Recode the table'
    """
    try:
        return heading(number, _question(number, question))
    except ExerciseError:  # it is not one yet
        return f"{number} {question.get('title') or question['kind']}"


def set_of(draft: SetDraft, only: int | None = None) -> ExerciseSet:
    """The set that a draft means; :func:`checked_set` tells whether it can be answered too."""
    title = draft.title.strip()
    if not title and only is None:
        raise ExerciseError("The set has no title; type one.")
    names = [table.name.strip() for table in draft.tables]
    _all_named(names, "table")
    if not draft.tables:
        raise ExerciseError("The set has no table; add one.")
    if not draft.questions:
        raise ExerciseError("The set has no question; add one.")
    questions = []
    for number, question in enumerate(draft.questions, start=1):
        if only not in (None, number - 1):
            continue
        if question["table"].strip() not in names:
            raise ExerciseError(
                f"Question {number}: there is no table {quoted(question['table'])}; known are "
                f"{listing(names, most=len(names))}."
            )
        table = draft.tables[names.index(question["table"].strip())]
        questions.append(_question(number, _of_table(question, table)))
    tables = {
        name: _table(table)
        for name, table in zip(names, draft.tables, strict=True)
        if only is None or name == questions[0].table
    }
    try:
        found = ExerciseSet(
            title=title or "-",
            author=draft.author.strip(),
            exam=draft.exam,
            tables=tables,
            questions=questions,
        )
    except ValidationError as error:
        raise _said(error, "exercise set") from None
    assert found.made, "its tables are counted, or what they lack is said"
    return found


def checked_set(draft: SetDraft, progress: Progress = no_progress) -> ExerciseSet:
    """The set that a draft means, each of whose questions has an answer."""
    found = set_of(draft)
    size = len(found.to_json().encode())
    if size > MEGABYTES * MEGABYTE:
        raise ExerciseError(f"The set has {thin(size)} bytes; the most allowed is {MEGABYTES} MB.")
    found.check(progress, lambda number, question: f"Question {heading(number, question)}")
    return found


def _table(draft: TableDraft) -> ExerciseTable:
    """A table of a file."""
    place = f"Table {quoted(draft.name)}"
    names = [column.name.strip() for column in draft.columns]
    try:
        _all_named(names, "column")
        if not 1 <= len(draft.records) <= MOST_RECORDS:
            raise ExerciseError(
                f"there are {len(draft.records)} records; it takes 1 to {MOST_RECORDS}."
            )
        if not 1 <= len(names) <= MOST_COLUMNS:
            raise ExerciseError(f"there are {len(names)} columns; it takes 1 to {MOST_COLUMNS}.")
        for number, record in enumerate(draft.records, start=1):
            for name, cell in zip(names, record, strict=True):
                if not 1 <= len(cell) <= _LONGEST_CELL:
                    raise ExerciseError(
                        f"the cell of {quoted(name)} in record {number} has {len(cell)} "
                        f"characters; it takes 1 to {_LONGEST_CELL}."
                    )
        columns = {
            name: {"role": column.role, "nodes": _nodes(draft, at)}
            for at, (name, column) in enumerate(zip(names, draft.columns, strict=True))
        }
    except KanonError as error:
        raise error.within(place) from None
    try:
        return ExerciseTable.model_validate({"columns": columns, "records": draft.records})
    except ValidationError as error:
        raise _said(error, "table").within(place) from None


def _nodes(table: TableDraft, place: int) -> list[dict[str, Any]] | None:
    """The tree of a column as files have it; None if its role has none."""
    column = table.columns[place]
    if column.role is not Role.QUASI_IDENTIFIER:
        return None
    try:
        return to_nodes(tree_of(table, place))
    except KanonError as error:
        raise error.within(f"Tree of {quoted(column.name)}") from None


def _question(number: int, given: Mapping[str, Any]) -> AnyQuestion:
    model = MODELS[given["kind"]]
    content = {key: value for key, value in given.items() if key in model.model_fields}
    try:
        found: AnyQuestion = model.model_validate({**content, "table": given["table"].strip()})
    except ValidationError as error:
        raise _said(error, f"question {number}") from None
    return found


def _of_table(question: Mapping[str, Any], table: TableDraft) -> Mapping[str, Any]:
    """A question without levels of columns that its table lacks, or that are raised no more."""
    if "levels" not in question:
        return question
    raised = {each.name for each in table.columns if each.role is Role.QUASI_IDENTIFIER}
    levels = {name: level for name, level in question["levels"].items() if name in raised}
    return {**question, "levels": levels}


def _all_named(names: Sequence[str], what: str) -> None:
    """Raise if a name is missing, stands twice or is too long."""
    if "" in names:
        raise ExerciseError(f"The {what} {names.index('') + 1} has no name; type one.")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ExerciseError(
            f"Two {what}s are called {quoted(twice[0])}; each needs a name of its own."
        )


def _said(error: ValidationError, what: str) -> ExerciseError:
    first = error.errors(include_url=False)[0]
    return problem(first, ".".join(map(str, first["loc"])), what, ExerciseError)
