"""What is wrong with an answer, in words that do not give the right one away."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import floor, log, log2
from typing import Any, assert_never

from kanon.base.formatting import count_noun, write_percent
from kanon.errors import ExerciseError
from kanon.measures import alteration
from kanon.metrics import PUBLISHED, metric_named
from kanon.recoding import Recoding
from kanon.teaching.question import (
    TOLERANCE,
    LevelsQuestion,
    RecodeQuestion,
    describe_small_classes,
    get_labels,
)
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion, NumberQuestion, is_number
from kanon.teaching.small_tables import SmallTable, format_tuple, raise_to_levels
from kanon.teaching.worked import measure_each_class

_COUNTS = {
    "k": "the size of the smallest class",
    "classes": "the number of classes",
    "unique": "the number of records without another like them",
}

Slip = tuple[float, float, str]
"""A wrong value, how far off an answer may be, and the mistake that leads to it."""


def find_mistake(question: AnyQuestion, table: SmallTable, answer: object) -> str:
    """The likely mistake of an answer that does not get all points.

    >>> from kanon.teaching.exercises import BUILT_IN, read_exercises
    >>> exercises = read_exercises(BUILT_IN)
    >>> price = exercises.questions[2]
    >>> print(find_mistake(price, exercises.get_table(price), 0.25))
    This is a share from 0 to 1; the question asks for percent.
    """
    match question:
        case RecodeQuestion() | LevelsQuestion():
            return _diagnose_release(question, table, answer)
        case NumberQuestion():
            return _diagnose_number(question, table, answer)
        case ChoiceQuestion():
            return _diagnose_choice(question, table, answer)
        case _:
            assert_never(question)


# --- releases -------------------------------------------------------------------------------
def _diagnose_release(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable, answer: Any
) -> str:
    try:
        release = question.read(table, answer)
    except ExerciseError as error:
        return error.sentence
    altered = alteration.value(release, metric_named(question.metric))
    small = describe_small_classes(release, question.k)
    other_k = _describe_other_k(question, table, release, altered)
    if small:
        return f"{small} {other_k}".strip()
    start = (
        f"The table is {release.min_k}-anonymous with an alteration of {write_percent(altered)}, "
        "but less is possible."
    )
    if isinstance(question, RecodeQuestion):
        return f"{start} {other_k or _find_high_value(release, question.k)}"
    return f"{start} {other_k or _find_high_level(release, answer, question.k)}"


def _describe_other_k(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable, release: Recoding, altered: float
) -> str:
    k = release.min_k or 0
    if k < 2 or k == question.k:  # a question asks for 2 or more
        return ""
    best = question.model_copy(update={"k": k}).best(table)
    if not best.proven or altered > best.alteration * (1 + TOLERANCE):
        return ""
    return f"It is the least alteration for k = {k}, but the question asks for k = {question.k}."


def _find_high_value(release: Recoding, k: int) -> str:
    parts = [release.original.nodes[release.assigned == c] for c in range(release.n_classes)]
    for nodes, members in zip(release.nodes.tolist(), parts, strict=True):
        columns = zip(release.classes.attributes, release.hierarchies, strict=True)
        for (name, tree), node, own in zip(columns, nodes, members.T.tolist(), strict=True):
            if reduce(tree.lca, own) != node:
                return (
                    f"In {name}, {tree.labels[node]} of {_write_class(release, nodes)} is above "
                    "the values of its records, but higher than where they first meet."
                )
    for c, nodes in enumerate(release.nodes.tolist()):
        sums = {0}  # records of some of its original classes
        for count in release.original.counts[release.assigned == c].tolist():
            sums |= {have + count for have in sums}
        if any(k <= part <= release.counts[c] - k for part in sums):
            records = f"{release.counts[c]} records"
            return f"{_write_class(release, nodes)} has {records}, enough for two classes."
    return "Every class is raised only to where its records meet; group them in another way."


def _write_class(release: Recoding, nodes: Sequence[int]) -> str:
    return format_tuple(get_labels(release, nodes))


def _find_high_level(release: Recoding, levels: Mapping[str, int], k: int) -> str:
    for name, level in levels.items():
        lower = raise_to_levels(release.original, {**levels, name: level - 1}) if level else None
        if lower is not None and (lower.min_k or 0) >= k:
            return (
                f"One column can go down a level, and every class still has at least {k} records."
            )
    return "No single column can go down a level; combine the levels in another way."


# --- numbers --------------------------------------------------------------------------------
def _diagnose_number(question: NumberQuestion, table: SmallTable, answer: object) -> str:
    if not is_number(answer):
        return question.mark(table, answer).sentence
    for value, allowed, sentence in _list_slips(question, table):
        if abs(answer - value) <= allowed * (1 + TOLERANCE) + TOLERANCE:
            return sentence
    return "It is none of the usual slips. Work it out again, class by class."


def _list_slips(question: NumberQuestion, table: SmallTable) -> Iterator[Slip]:
    right, allowed = question.solution(table), question.allowed_error
    if not question.whole:
        for places in range(question.number == "t", 3):
            for rounded in (round(right, places), floor(right * 10**places) / 10**places):
                yield rounded, 0.0, "Only the rounding is wrong: give more decimals."
        yield right, 3 * allowed, "It is close: round only at the end."
    for value, sentence in _list_unit_slips(question, right):
        yield value, 0.02 * abs(value), sentence
    for level_value, sentence in _list_level_slips(question, table):
        yield level_value, allowed, sentence
    if question.number == "alteration":
        asked = metric_named(question.metric).card.title
        for name in PUBLISHED:
            title = metric_named(name).card.title
            value = question.model_copy(update={"metric": name}).solution(table)
            yield value, allowed, f"This is what {title} counts; the question asks for {asked}."
        return
    release = raise_to_levels(table.classes, question.levels)
    classes = [_write_class(release, nodes) for nodes in release.nodes.tolist()]
    if question.number in question.SENSITIVE:
        which = "highest" if question.number == "t" else "lowest"
        levels = measure_each_class(question, table, release)[1]
        for label, level in zip(classes, levels, strict=True):
            yield float(level), allowed, f"This is of {label}; find the class where it is {which}."
        return
    for number, meaning in _COUNTS.items():
        value = question.model_copy(update={"number": number}).solution(table)
        yield value, allowed, f"This is {meaning}, which the question does not ask for."
    for label, count in zip(classes, release.counts.tolist(), strict=True):
        yield count, allowed, f"This is the size of {label}, which the question does not ask for."


def _list_unit_slips(question: NumberQuestion, right: float) -> Iterator[tuple[float, str]]:
    match question.number:
        case "alteration":
            yield right / 100, "This is a share from 0 to 1; the question asks for percent."
            yield 100 - right, "This is what is kept; alteration is what is lost."
        case "t":
            yield 100 * right, "This is in percent; t goes from 0 to 1."
            yield 2 * right, "This is the whole sum of differences; t is half of it."
        case "entropy-l":
            yield log(right), "This is the entropy; l is exp of it."
            yield log2(right), "This is the entropy in bits; take ln, and then exp of it."


def _list_level_slips(question: NumberQuestion, table: SmallTable) -> Iterator[tuple[float, str]]:
    def solve(levels: Mapping[str, int]) -> float:
        return question.model_copy(update={"levels": levels}).solution(table)

    if question.levels:
        yield solve({}), "This is the value of the table as it is; raise its columns first."
    for name, tree in zip(table.classes.attributes, table.classes.hierarchies, strict=True):
        level = question.levels.get(name, 0)
        for other in {level - 1, level + 1} & {*range(tree.height)}:
            value = solve({**question.levels, name: other})
            yield value, f"This is the value with {name} at level {other}."


# --- choices --------------------------------------------------------------------------------
def _diagnose_choice(question: ChoiceQuestion, table: SmallTable, answer: object) -> str:
    chosen = question.read_choice(table, answer)
    if not chosen:
        return question.mark(table, answer).sentence
    step, label = question.step(table), format_tuple(chosen)
    if question.choose == "smallest":
        records = {table.get_labels(group.nodes): group.records for group in step.before}
        start = f"{label} has {count_noun(records[chosen], 'record')}, and another class has fewer."
        places = [
            place
            for place, merge in enumerate(question.list_merges(table))
            if table.get_labels(merge.picked.nodes) == chosen
        ]
        after = count_noun(places[0], "merge") if places else ""
        return f"{start} GAA takes it after {after}." if places else start
    costs = {table.get_labels(partner.group.nodes): partner.cost for partner in step.partners}
    cheaper = sum(cost < costs[chosen] for cost in costs.values())
    start = (
        f"{label} is not the cheapest: {count_noun(cheaper, 'class costs', 'classes cost')} less."
    )
    for name in PUBLISHED:
        other = question.model_copy(update={"metric": name})
        if other.step(table).before == step.before and tuple(other.solution(table)) == chosen:
            return f"{start} It would be the cheapest if {metric_named(name).card.title} counted."
    return start
