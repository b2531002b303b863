"""A small table recoded by hand: each step makes a new answer, in the format of answer files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from kanon.errors import ExerciseError
from kanon.metrics import metric_named
from kanon.teaching.question import LevelsQuestion, RecodeQuestion, build_answer
from kanon.teaching.small_tables import SmallTable, raise_to_levels
from kanon.teaching.worked import write_loss

Answer = list[dict[str, str]]


@dataclass(frozen=True)
class Row:
    records: tuple[int, ...]  # their positions in the table
    values: Mapping[str, str]  # per quasi-identifier its current value
    choices: Mapping[str, tuple[str, ...]]  # per quasi-identifier the original value and above
    letter: str  # of the class that they are in now
    size: int  # records of that class


@dataclass(frozen=True)
class HandRecoding:
    rows: tuple[Row, ...]
    classes: int
    k: int
    small_classes: int  # how many classes have fewer records than the question asks for
    loss: str  # what is lost, of what could be, in percent


def build_unchanged_answer(table: SmallTable) -> Answer:
    return build_answer(table, raise_to_levels(table.classes, {}))


def measure_hand_recoding(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable, answer: object
) -> HandRecoding:
    classes, source = table.classes, table.source
    try:
        release = question.read(table, answer)
    except ExerciseError:
        release = raise_to_levels(classes, {})
    class_of_rows = source.get_released_positions(release)
    letter_order = list(dict.fromkeys(class_of_rows.tolist()))  # letters in the order of the table
    values, rows = build_answer(table, release), []
    for place in dict.fromkeys(source.row_class.tolist()):
        records = np.flatnonzero(source.row_class == place).tolist()
        class_now = int(class_of_rows[records[0]])
        own = zip(
            classes.attributes, classes.hierarchies, classes.nodes[place].tolist(), strict=True
        )
        choices = {
            name: tuple(tree.labels[above] for above in tree.path(node)) for name, tree, node in own
        }
        letter, size = (
            _get_class_letter(letter_order.index(class_now)),
            int(release.counts[class_now]),
        )
        rows.append(Row(tuple(records), values[records[0]], choices, letter, size))
    return HandRecoding(
        tuple(rows),
        len(release.counts),
        release.min_k or 0,
        int((release.counts < question.k).sum()),
        write_loss(release, metric_named(question.metric)),
    )


def set_value(
    table: SmallTable, answer: object, records: Sequence[int], column: str, value: str
) -> Answer:
    return [
        {**record, column: value} if number in records else record
        for number, record in enumerate(_start_answer(table, answer))
    ]


def step_column(table: SmallTable, answer: object, column: str, up: bool) -> Answer:
    j = table.classes.attributes.index(column)
    tree = table.classes.hierarchies[j]
    new_answer = []
    for record, place in zip(
        _start_answer(table, answer), table.source.row_class.tolist(), strict=True
    ):
        path = [tree.labels[node] for node in tree.path(int(table.classes.nodes[place, j]))]
        step = path.index(record[column]) + (1 if up else -1)
        new_answer.append({**record, column: path[min(max(step, 0), len(path) - 1)]})
    return new_answer


def _start_answer(table: SmallTable, answer: Any) -> Answer:
    """The answer to continue from: that of the table where this one is not allowed."""
    try:
        RecodeQuestion(id="any", table="any", kind="recode", k=2).read(table, answer)
    except ExerciseError:
        return build_unchanged_answer(table)
    return [dict(record) for record in answer]


def _get_class_letter(number: int) -> str:
    """The name of a class.

    >>> _get_class_letter(0), _get_class_letter(26)
    ('A', 'AA')
    """
    return ascii_uppercase[number % 26] * (number // 26 + 1)
