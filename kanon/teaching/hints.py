"""Hints to exercises: where to look next, by the definition and the table; never the answer."""

from typing import assert_never

import numpy as np

from kanon.base.formatting import counted, joined
from kanon.errors import ExerciseError
from kanon.metrics import metric_named
from kanon.recoding import Recoding
from kanon.teaching.least_questions import LevelsQuestion, RecodeQuestion
from kanon.teaching.question import labels_of
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion, NumberQuestion
from kanon.teaching.small_tables import SmallTable, raised, tuple_text
from kanon.teaching.worked import before, loss_text, meeting, most_text

_MOST = 5  # of classes and candidates so many are named


def hint(question: AnyQuestion, table: SmallTable, answer: object) -> str:
    """What helps to go on from an answer; None is none yet."""
    match question:
        case RecodeQuestion() | LevelsQuestion():
            return _least(question, table, answer)
        case NumberQuestion():
            return _number(question, table)
        case ChoiceQuestion():
            return _choice(question, table)
        case _:
            assert_never(question)


def _least(question: RecodeQuestion | LevelsQuestion, table: SmallTable, answer: object) -> str:
    """Which classes are too small, and where a value of the first one meets another one."""
    try:
        release = question.read(table, answer)
    except ExerciseError:
        release = raised(table.classes, {})
    small = np.flatnonzero(release.counts < question.k)
    if not len(small):
        metric = metric_named(question.metric)
        return (
            f"Every class has {question.k} records. The alteration is "
            f"{loss_text(release, metric)}; it is less if a value can go a step down while every "
            f"class keeps {question.k} records."
        )
    named = [
        f"{tuple_text(labels_of(release, release.nodes[each]))} has {release.counts[each]}"
        for each in small[:_MOST]
    ]
    others = counted(len(small) - _MOST, "other class is", "other classes are")
    more = [f"{others} too small"] if len(small) > _MOST else []
    return (
        f"Every class has to have {counted(question.k, 'record')}: {joined([*named, *more])}. "
        f"{_meetings(release, int(small[0]))}"
    )


def _meetings(release: Recoding, small: int) -> str:
    said = []
    for j, (name, tree) in enumerate(
        zip(release.classes.attributes, release.hierarchies, strict=True)
    ):
        own = int(release.nodes[small, j])
        others = {int(node) for node in np.delete(release.nodes[:, j], small)}
        if own in others:
            said.append(f"in {name}, other classes have {tree.labels[own]} too")
        elif others:
            met = {node: tree.lca(own, node) for node in others}
            lowest = min(met.values(), key=lambda node: (tree.level[node], node))
            nearest = joined(tree.labels[node] for node in sorted(met) if met[node] == lowest)
            said.append(
                f"in {name}, {tree.labels[own]} meets {nearest} lowest, at {tree.labels[lowest]}"
            )
    return f"Of {tuple_text(labels_of(release, release.nodes[small]))}: {'; '.join(said)}."


def _number(question: NumberQuestion, table: SmallTable) -> str:
    release = raised(table.classes, question.levels)
    of_rows = table.source.class_of_rows(release)
    first = int(of_rows[0])
    said = tuple_text(labels_of(release, release.nodes[first]))
    match question.number:
        case "alteration":
            metric = metric_named(question.metric)
            own = labels_of(release, release.original.nodes[table.source.row_class[0]])
            return (
                "It is what all records lose, as a share of what they would lose with everything "
                f"at the root, which is {most_text(release, metric)} here. Record 1, "
                f"{tuple_text(own)}, becomes {said}: add up the steps of each column."
            )
        case "k" | "classes" | "unique":
            together = np.flatnonzero(of_rows == first) + 1
            found = f"the records {joined(together)}" if len(together) > 1 else "no other record"
            return (
                f"Records with the same values of {joined(release.classes.attributes)} are one "
                f"class. Record 1 is {said}, and that class has {found}."
            )
        case _:
            sensitive = release.released.sensitive_named(question.column(table))
            held = joined(
                f"{value} {count} of {int(release.counts[first])}"
                for value, count in zip(sensitive.values, sensitive.dense()[first], strict=True)
                if count
            )
            return f"Take each class by itself. That of record 1, {said}, has {held}."


def _choice(question: ChoiceQuestion, table: SmallTable) -> str:
    step, begun = question.step(table), before(question, table)[:1]
    if question.choose == "smallest":
        rule = (
            "GAA takes a class of the fewest records; of several, the one that stands first in the "
            "order of the trees."
        )
        return " ".join([rule, *(f"Do the merges before first. {each}" for each in begun)])
    unraised, taken = raised(table.classes, {}), step.options.index(step.smallest)
    others = [place for place in range(len(step.options)) if place != taken]
    met = [
        f"{tuple_text(step.options[place])} at "
        + tuple_text(
            labels_of(unraised, meeting(table.classes, step.nodes[taken], step.nodes[place]))
        )
        for place in others[:_MOST]
    ]
    more = [f"{len(others) - _MOST} more"] if len(others) > _MOST else []
    return (
        "All records of both classes climb to where their values meet, and each pays for every "
        f"step. {tuple_text(step.smallest)} meets {', '.join([*met, *more])}."
    )
