"""A small table that is recoded by hand: each step makes another answer, as files hold it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from kanon.errors import ExerciseError
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.teaching.least_questions import LevelsQuestion, RecodeQuestion, answer_of
from kanon.teaching.small_tables import SmallTable, raised
from kanon.teaching.worked import lost_text, most_text

Answer = list[dict[str, str]]


@dataclass(frozen=True)
class Row:
    """Records that look alike in the table, and so stay together."""

    records: tuple[int, ...]  # their positions in the table
    values: Mapping[str, str]  # per quasi-identifier what they are now
    # per quasi-identifier what they may become: the value of the table and its ancestors
    choices: Mapping[str, tuple[str, ...]]
    # which class of the release they are in now, and how many records that has
    letter: str
    size: int


@dataclass(frozen=True)
class HandRecoding:
    # its records, those that look alike in one row, in the order of the table
    rows: tuple[Row, ...]
    # how many classes there are now, and how many records the smallest has
    classes: int
    k: int
    small: int  # how many classes have fewer records than the question asks for
    # how much of all that could be lost is, in percent, as the metric of the question counts
    alteration: float
    # the same as two costs: what is lost, and what could be
    lost: str
    most: str


def unchanged(table: SmallTable) -> Answer:
    """The answer that raises nothing."""
    return answer_of(table, raised(table.classes, {}))


def by_hand(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable, answer: object
) -> HandRecoding:
    classes, source = table.classes, table.source
    try:
        release = question.read(table, answer)
    except ExerciseError:
        release = raised(classes, {})
    metric = metric_named(question.metric)
    of_rows = source.class_of_rows(release)
    first = list(dict.fromkeys(of_rows.tolist()))  # letters in the order of the table
    values, rows = answer_of(table, release), []
    for place in dict.fromkeys(source.row_class.tolist()):
        records = np.flatnonzero(source.row_class == place).tolist()
        inside = int(of_rows[records[0]])
        own = zip(
            classes.attributes, classes.hierarchies, classes.nodes[place].tolist(), strict=True
        )
        choices = {
            name: tuple(tree.labels[above] for above in tree.path(node)) for name, tree, node in own
        }
        letter, size = _letter(first.index(inside)), int(release.counts[inside])
        rows.append(Row(tuple(records), values[records[0]], choices, letter, size))
    return HandRecoding(
        tuple(rows),
        len(release.counts),
        release.min_k or 0,
        int((release.counts < question.k).sum()),
        alteration.value(release, metric),
        lost_text(release, metric),
        most_text(release, metric),
    )


def value_set(
    table: SmallTable, answer: object, records: Sequence[int], column: str, value: str
) -> Answer:
    """The answer with another value of one column for some records."""
    return [
        {**each, column: value} if number in records else each
        for number, each in enumerate(_begun(table, answer))
    ]


def column_stepped(table: SmallTable, answer: object, column: str, up: bool) -> Answer:
    """The answer with every value of a column one step up in its tree, or one step back down."""
    j = table.classes.attributes.index(column)
    tree = table.classes.hierarchies[j]
    found = []
    for each, place in zip(_begun(table, answer), table.source.row_class.tolist(), strict=True):
        path = [tree.labels[node] for node in tree.path(int(table.classes.nodes[place, j]))]
        step = path.index(each[column]) + (1 if up else -1)
        found.append({**each, column: path[min(max(step, 0), len(path) - 1)]})
    return found


def _begun(table: SmallTable, answer: Any) -> Answer:
    """An answer to go on from: one that is none, or not allowed, begins anew."""
    try:
        RecodeQuestion(id="any", table="any", kind="recode", k=2).read(table, answer)
    except ExerciseError:
        return unchanged(table)
    return [dict(each) for each in answer]


def _letter(number: int) -> str:
    """The name of a class.

    >>> _letter(0), _letter(26)
    ('A', 'AA')
    """
    return ascii_uppercase[number % 26] * (number // 26 + 1)
