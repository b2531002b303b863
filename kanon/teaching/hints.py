"""Hints to exercises: where to look next, but never the answer."""

from typing import assert_never

import numpy as np

from kanon.base.formatting import count_noun, join_words
from kanon.errors import ExerciseError
from kanon.metrics import metric_named
from kanon.recoding import Recoding
from kanon.teaching.least_questions import LevelsQuestion, RecodeQuestion
from kanon.teaching.question import get_labels
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion, NumberQuestion
from kanon.teaching.small_tables import SmallTable, format_tuple, raise_to_levels
from kanon.teaching.worked import (
    find_meeting_nodes,
    list_earlier_merges,
    write_loss,
    write_most_cost,
)

_MOST = 5  # the most classes or candidates that are named


def get_hint(question: AnyQuestion, table: SmallTable, answer: object) -> str:
    match question:
        case RecodeQuestion() | LevelsQuestion():
            return _explain_least(question, table, answer)
        case NumberQuestion():
            return _explain_number(question, table)
        case ChoiceQuestion():
            return _explain_choice(question, table)
        case _:
            assert_never(question)


def _explain_least(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable, answer: object
) -> str:
    try:
        release = question.read(table, answer)
    except ExerciseError:
        release = raise_to_levels(table.classes, {})
    small = np.flatnonzero(release.counts < question.k)
    if not len(small):
        metric = metric_named(question.metric)
        return (
            f"Every class has at least {question.k} records. The alteration is "
            f"{write_loss(release, metric)}. It falls if a value can go down a step while "
            f"every class keeps at least {question.k} records."
        )
    named = [
        f"{format_tuple(get_labels(release, release.nodes[place]))} has {release.counts[place]}"
        for place in small[:_MOST]
    ]
    others = count_noun(len(small) - _MOST, "other class is", "other classes are")
    more = [f"{others} too small"] if len(small) > _MOST else []
    return (
        f"Every class needs at least {count_noun(question.k, 'record')}: "
        f"{join_words([*named, *more])}. "
        f"{_describe_meetings(release, int(small[0]))}"
    )


def _describe_meetings(release: Recoding, small: int) -> str:
    parts = []
    for j, (name, tree) in enumerate(
        zip(release.classes.attributes, release.hierarchies, strict=True)
    ):
        own = int(release.nodes[small, j])
        others = {int(node) for node in np.delete(release.nodes[:, j], small)}
        if own in others:
            parts.append(f"in {name}, other classes also have {tree.labels[own]}")
        elif others:
            meetings = {node: tree.lca(own, node) for node in others}
            lowest = min(meetings.values(), key=lambda node: (tree.level[node], node))
            nearest = join_words(
                tree.labels[node] for node in sorted(meetings) if meetings[node] == lowest
            )
            parts.append(
                f"in {name}, {tree.labels[own]} first meets {nearest}, at {tree.labels[lowest]}"
            )
    return f"For {format_tuple(get_labels(release, release.nodes[small]))}: {'; '.join(parts)}."


def _explain_number(question: NumberQuestion, table: SmallTable) -> str:
    release = raise_to_levels(table.classes, question.levels)
    of_rows = table.source.get_released_positions(release)
    first = int(of_rows[0])
    first_text = format_tuple(get_labels(release, release.nodes[first]))
    match question.number:
        case "alteration":
            metric = metric_named(question.metric)
            own = get_labels(release, release.original.nodes[table.source.row_class[0]])
            return (
                "Add up what all records lose, and divide it by what they would lose with "
                f"everything at the root ({write_most_cost(release, metric)} here). Record 1, "
                f"{format_tuple(own)}, becomes {first_text}: count the steps in each column."
            )
        case "k" | "classes" | "unique":
            together = np.flatnonzero(of_rows == first) + 1
            members = f"records {join_words(together)}" if len(together) > 1 else "no other record"
            return (
                f"Records with the same values of {join_words(release.classes.attributes)} are one "
                f"class. Record 1 is {first_text}, and that class has {members}."
            )
        case _:
            sensitive = release.released.sensitive_named(question.column(table))
            mix = join_words(
                f"{value} in {count} of {int(release.counts[first])}"
                for value, count in zip(sensitive.values, sensitive.dense()[first], strict=True)
                if count
            )
            return f"Look at each class by itself. The class of record 1, {first_text}, has {mix}."


def _explain_choice(question: ChoiceQuestion, table: SmallTable) -> str:
    step, earlier = question.step(table), list_earlier_merges(question, table)[:1]
    if question.choose == "smallest":
        rule = (
            "GAA takes the class with the fewest records; if several tie, the one that comes first "
            "in tree order."
        )
        return " ".join([rule, *(f"Do the earlier merges first. {merge}" for merge in earlier)])
    unraised, taken = raise_to_levels(table.classes, {}), step.options.index(step.smallest)
    others = [place for place in range(len(step.options)) if place != taken]
    meetings = [
        f"{format_tuple(step.options[place])} at "
        + format_tuple(
            get_labels(
                unraised, find_meeting_nodes(table.classes, step.nodes[taken], step.nodes[place])
            )
        )
        for place in others[:_MOST]
    ]
    more = [f"{len(others) - _MOST} more"] if len(others) > _MOST else []
    return (
        "All records of both classes rise to where their values meet, and each record pays for "
        f"every step. {format_tuple(step.smallest)} meets {', '.join([*meetings, *more])}."
    )
