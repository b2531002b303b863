"""Hints to exercises, and their solutions with every product and sum, to follow on paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import assert_never

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, join_words, write_count, write_percent
from kanon.classes import EquivalenceClasses
from kanon.errors import ExerciseError
from kanon.measures import alteration
from kanon.metrics import Metric, metric_named, potentials
from kanon.privacy import distinct_l_diversity, entropy_l_diversity, t_closeness
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive
from kanon.teaching.lesson import write_number
from kanon.teaching.question import (
    LevelsQuestion,
    RecodeQuestion,
    describe_small_classes,
    find_small_classes,
    get_labels,
)
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion, NumberQuestion, write_decimal
from kanon.teaching.small_tables import SmallTable, format_tuple, raise_to_levels

_LARGEST_DENOMINATOR = 100  # costs with a larger one are shown as decimals

_MOST_DECIMALS = 4

_MOST_NAMED = 5  # the most candidates that a hint names

Costs = Sequence[Sequence[Fraction]]
"""Per quasi-identifier and node, the cost of raising it to the root."""


def round_costs(depths: Sequence[np.ndarray]) -> tuple[Costs, Callable[[Fraction], str]]:
    """The costs of all trees as displayed numbers, so that their displayed sums are right.

    >>> (costs,), write = round_costs([np.array([1, 2 / 3, 0])])
    >>> [write(costs[0] - costs[1]), write(costs[1]), write(costs[0])]
    ['1/3', '2/3', '1']
    >>> (costs,), write = round_costs([np.array([2.25, 0.5, 0])])
    >>> [write(costs[0] - costs[1]), write(costs[1]), write(costs[0])]
    ['1.75', '0.5', '2.25']
    >>> (costs,), write = round_costs([np.log2([7, 4, 1])])
    >>> [write(costs[0] - costs[1]), write(costs[1]), write(costs[0])]
    ['0.807', '2', '2.807']
    """
    all_costs = np.concatenate([np.ravel(tree) for tree in depths])
    parts = [[Fraction(float(depth)).limit_denominator(_LARGEST_DENOMINATOR) for depth in tree]
             for tree in depths]  # fmt: skip
    places = 2
    flat = [part for tree in parts for part in tree]
    if not np.allclose([float(part) for part in flat], all_costs, rtol=1e-12, atol=1e-12):
        gaps = np.concatenate([np.diff(np.unique(np.round(tree, 9))) for tree in depths])
        # Three digits of the smallest step, but no more decimals than people add by hand.
        places = min(max(2 - floor(log10(gaps.min(initial=all_costs.max()))), 0), _MOST_DECIMALS)
        parts = [[round(Fraction(float(depth)), places) for depth in tree] for tree in depths]
    elif any(100 % part.denominator for part in flat):
        return parts, str

    def write(cost: Fraction) -> str:
        if cost.denominator == 1:
            return write_count(float(cost))
        return f"{float(cost):.{places}f}".rstrip("0")

    return parts, write


Writer = Callable[[Fraction], str]  # writes a cost


@dataclass(frozen=True, eq=False)
class WorkedSolution:
    arithmetic: pd.DataFrame  # a row per class or candidate, as texts
    sentences: tuple[str, ...]  # the way from it to the answer


def explain_solution(question: AnyQuestion, table: SmallTable) -> WorkedSolution:
    """The way to the best answer to a question.

    >>> from kanon.teaching.exercises import BUILT_IN, read_exercises
    >>> exercises = read_exercises(BUILT_IN)
    >>> price = exercises.questions[2]
    >>> print(explain_solution(price, exercises.get_table(price)).sentences[-1])
    The records' losses add up to 3. With everything at the root they would be 12: 3 of 12 = 25.0 %.
    """
    match question:
        case RecodeQuestion() | LevelsQuestion():
            return _explain_least_alteration(question, table)
        case NumberQuestion():
            return _explain_number_solution(question, table)
        case ChoiceQuestion():
            choose = (
                _explain_cheapest_partner
                if question.choose == "partner"
                else _explain_smallest_class
            )
            return choose(question, table)
        case _:
            assert_never(question)


def write_loss(release: Recoding, metric: Metric, by_hand: bool = True) -> str:
    """What was lost of what could be lost: "=" is before exact numbers, "≈" before rounded ones.

    ``by_hand`` adds up the costs as a solution displays them; a lesson rounds only the sums.
    """
    altered = write_percent(alteration.value(release, metric))
    depths, write = _get_costs(release.original, metric)
    is_exact = all(
        np.allclose(np.array(shown, float), tree, rtol=1e-12, atol=1e-12)
        for shown, tree in zip(depths, _compute_depths(release.original, metric), strict=True)
    )
    if not is_exact and not by_hand:
        depths = [
            [Fraction(float(depth)) for depth in tree]
            for tree in _compute_depths(release.original, metric)
        ]
        write = _write_rounded
    lost, most = _sum_costs(release, depths), _sum_costs(_raise_to_roots(release), depths)
    texts = []
    for cost in (lost, most):
        text, decimal = write(cost), _write_rounded(cost)
        sign = "=" if Fraction(decimal) == cost else "≈"
        texts.append(f"{text} ({sign} {decimal})" if "/" in text else text)
    is_exact &= (
        bool(most) and altered[0] not in "<>" and Fraction(altered[:-2]) == 100 * lost / most
    )
    sign = "" if altered[0] in "<>" else "= " if is_exact or not lost else "≈ "
    return f"{' of '.join(texts)} {sign}{altered}"


def _write_rounded(cost: Fraction) -> str:
    return write_number(float(cost))


def write_lost_cost(release: Recoding, metric: Metric) -> str:
    depths, write = _get_costs(release.original, metric)
    return write(_sum_costs(release, depths))


def write_most_cost(release: Recoding, metric: Metric) -> str:
    return write_lost_cost(_raise_to_roots(release), metric)


def _raise_to_roots(release: Recoding) -> Recoding:
    targets = np.empty_like(release.targets)
    targets[:] = [tree.root for tree in release.hierarchies]
    return Recoding.from_targets(release.original, targets)


def _sum_costs(release: Recoding, depths: Costs) -> Fraction:
    classes = release.original
    cells = zip(depths, classes.nodes.T.tolist(), release.targets.T.tolist(), strict=True)
    counts = classes.counts.tolist()
    return sum(
        (
            records * (depth[low] - depth[high])
            for depth, own, to in cells
            for records, low, high in zip(counts, own, to, strict=True)
        ),
        Fraction(),
    )


def _find_meeting_nodes(
    classes: EquivalenceClasses, first: Sequence[int], second: Sequence[int]
) -> tuple[int, ...]:
    pairs = zip(classes.hierarchies, first, second, strict=True)
    return tuple(tree.lca(*both) for tree, *both in pairs)


def _compute_costs_per_record(release: Recoding, metric: Metric) -> list[list[Fraction]]:
    depths, _ = _get_costs(release.original, metric)
    own, to = release.original.nodes.tolist(), release.targets.tolist()
    return [
        [depth[low] - depth[high] for depth, low, high in zip(depths, *pair, strict=True)]
        for pair in zip(own, to, strict=True)
    ]


def _get_costs(classes: EquivalenceClasses, metric: Metric) -> tuple[Costs, Writer]:
    return round_costs(_compute_depths(classes, metric))


def _compute_depths(classes: EquivalenceClasses, metric: Metric) -> Sequence[np.ndarray]:
    records = classes.records_below if metric.counts_records else None
    return potentials(metric, classes.hierarchies, records)


def _write_sum(costs: Sequence[Fraction], write: Writer) -> str:
    """Terms with their sum; a single term stands alone.

    >>> _write_sum([Fraction(1), Fraction(1, 2)], str), _write_sum([Fraction(2)], str)
    ('1 + 1/2 = 3/2', '2')
    """
    total = write(sum(costs, Fraction()))
    return f"{' + '.join(map(write, costs))} = {total}" if len(costs) > 1 else total


# --- kind by kind ---------------------------------------------------------------------------
def _build_alteration_table(release: Recoding, metric: Metric) -> pd.DataFrame:
    classes = release.original
    _, write = _get_costs(classes, metric)
    rows = []
    counts, paid = classes.counts.tolist(), _compute_costs_per_record(release, metric)
    for own, to, records, costs in zip(classes.nodes, release.targets, counts, paid, strict=True):
        cost = sum(costs, Fraction())
        rows.append(
            {
                "class": format_tuple(get_labels(release, own)),
                "becomes": format_tuple(get_labels(release, to)),
                f"one record loses ({' + '.join(classes.attributes)})": _write_sum(costs, write),
                "its records lose": f"{records} × {write(cost)} = {write(records * cost)}",
            }
        )
    return pd.DataFrame(rows)


def _describe_alteration(release: Recoding, metric: Metric) -> str:
    return (
        f"The records' losses add up to {write_lost_cost(release, metric)}. With everything at the "
        f"root they would be {write_most_cost(release, metric)}: {write_loss(release, metric)}."
    )


def _explain_least_alteration(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable
) -> WorkedSolution:
    best, metric = question.best(table), metric_named(question.metric)
    release = best.recoding
    sentences = (
        question.describe_solution(table),
        f"Its smallest class has {count_noun(int(release.counts.min()), 'record')}; "
        f"{question.k} are needed.",
        _describe_alteration(release, metric),
    )
    return WorkedSolution(_build_alteration_table(release, metric), sentences)


def _explain_number_solution(question: NumberQuestion, table: SmallTable) -> WorkedSolution:
    release = raise_to_levels(table.classes, question.levels)
    solution = question.solution(table)
    if question.number == "alteration":
        metric = metric_named(question.metric)
        return WorkedSolution(
            _build_alteration_table(release, metric), (_describe_alteration(release, metric),)
        )
    classes = [format_tuple(get_labels(release, nodes)) for nodes in release.nodes]
    if question.number in question.SENSITIVE:
        return _explain_sensitive(question, table, release, classes)
    rows = pd.DataFrame({"class": classes, "records": [str(n) for n in release.counts]})
    sentences = {
        "k": f"The smallest class has {count_noun(int(solution), 'record')}: k is {solution}.",
        "classes": f"There are {count_noun(int(solution), 'class', 'classes')}.",
        "unique": f"{count_noun(int(solution), 'class has', 'classes have')} only one record, so "
        f"{count_noun(int(solution), 'record is', 'records are')} unique.",
    }
    return WorkedSolution(rows, (sentences[question.number],))


def _explain_sensitive(
    question: NumberQuestion, table: SmallTable, release: Recoding, classes: Sequence[str]
) -> WorkedSolution:
    sensitive, levels = measure_each_class(question, table, release)
    writers: dict[str, Callable[[np.ndarray, np.ndarray], str]] = {
        "entropy-l": _write_entropy, "t": _write_variation, "distinct-l": lambda *_: "",
    }  # fmt: skip
    write, rows = writers[question.number], []
    for label, counts, level in zip(classes, sensitive.dense(), levels, strict=True):
        mix = [f"{value} {n}" for value, n in zip(sensitive.values, counts, strict=True) if n]
        rows.append(
            {
                "class": label,
                "has": ", ".join(mix),
                "arithmetic": f"{write(counts, sensitive.total)}{write_decimal(float(level))}",
            }
        )
    which, find = ("highest", np.argmax) if question.number == "t" else ("lowest", np.argmin)
    place = int(find(levels))
    worst = f"The {which} is that of {classes[place]}: {write_decimal(float(levels[place]))}."
    return WorkedSolution(pd.DataFrame(rows), (worst,))


def measure_each_class(
    question: NumberQuestion, table: SmallTable, release: Recoding
) -> tuple[Sensitive, np.ndarray]:
    """The sensitive values, and l or t of each class, whichever the question asks for."""
    sensitive = release.released.sensitive_named(question.column(table))
    if question.number == "t":
        return sensitive, t_closeness.each(sensitive, "variational")
    model = entropy_l_diversity if question.number == "entropy-l" else distinct_l_diversity
    return sensitive.folded, model.each(sensitive.folded)


def _list_shares(counts: np.ndarray) -> list[str]:
    return [f"{n}/{counts.sum()}" for n in counts]


def _write_entropy(counts: np.ndarray, _total: np.ndarray) -> str:
    return f"exp(−({' + '.join(f'{p} · ln {p}' for p in _list_shares(counts[counts > 0]))})) = "


def _write_variation(counts: np.ndarray, total: np.ndarray) -> str:
    pairs = zip(_list_shares(counts), _list_shares(total), strict=True)
    return f"½ · ({' + '.join(f'|{here} − {table}|' for here, table in pairs)}) = "


def _list_earlier_merges(question: ChoiceQuestion, table: SmallTable) -> list[str]:
    lines = []
    for number, step in enumerate(question.list_merges(table)[: question.merges], start=1):
        pair = f"{table.write_class(step.picked.nodes)} + {table.write_class(step.partner.nodes)}"
        lines.append(f"Merge {number}: {pair}.")
    return lines


def _explain_smallest_class(question: ChoiceQuestion, table: SmallTable) -> WorkedSolution:
    step = question.step(table)
    rows = [
        {"class": table.write_class(group.nodes), "records": str(group.records)}
        for group in sorted(step.before, key=lambda group: (group.records, group.nodes))
    ]
    equal = sum(group.records == step.picked.records for group in step.before)
    tie = f"; of the {equal} that have as few, it comes first in tree order" if equal > 1 else ""
    taken = table.write_class(step.picked.nodes)
    sentence = f"GAA takes {taken}, which has the fewest records{tie}."
    return WorkedSolution(pd.DataFrame(rows), (*_list_earlier_merges(question, table), sentence))


def _explain_cheapest_partner(question: ChoiceQuestion, table: SmallTable) -> WorkedSolution:
    step, classes = question.step(table), table.classes
    depths, write = _get_costs(classes, metric_named(question.metric))
    partners = sorted(step.partners, key=lambda partner: (partner.cost, partner.group.nodes))
    rows = []
    for partner in partners:
        met = _find_meeting_nodes(classes, step.picked.nodes, partner.group.nodes)
        paid = [
            (group.records, sum((
                depth[node] - depth[above]
                for depth, node, above in zip(depths, group.nodes, met, strict=True)
            ), Fraction()))
            for group in (step.picked, partner.group)
        ]  # fmt: skip
        products = " + ".join(f"{records} × {write(cost)}" for records, cost in paid)
        total = write(sum((records * cost for records, cost in paid), Fraction()))
        rows.append(
            {
                "class": table.write_class(partner.group.nodes),
                "both become": table.write_class(met),
                "records × cost, of both": f"{products} = {total}",
            }
        )
    equal = sum(partner.cost == partners[0].cost for partner in partners)
    tie = f"; of the {equal} pairs at this cost, it comes first in tree order" if equal > 1 else ""
    pair = f"{table.write_class(step.picked.nodes)} with {table.write_class(step.partner.nodes)}"
    sentence = f"GAA merges {pair}, the cheapest pair{tie}."
    return WorkedSolution(pd.DataFrame(rows), (*_list_earlier_merges(question, table), sentence))


# --- hints ----------------------------------------------------------------------------------
def get_hint(question: AnyQuestion, table: SmallTable, answer: object) -> str:
    """Where to look next, but never the answer."""
    match question:
        case RecodeQuestion() | LevelsQuestion():
            return _hint_at_least(question, table, answer)
        case NumberQuestion():
            return _hint_at_number(question, table)
        case ChoiceQuestion():
            return _hint_at_choice(question, table)
        case _:
            assert_never(question)


def _hint_at_least(
    question: RecodeQuestion | LevelsQuestion, table: SmallTable, answer: object
) -> str:
    try:
        release = question.read(table, answer)
    except ExerciseError:
        release = raise_to_levels(table.classes, {})
    small = find_small_classes(release, question.k)
    if len(small):
        meetings = _describe_meetings(release, int(small[0]))
        return f"{describe_small_classes(release, question.k)} {meetings}"
    return (
        f"Every class has at least {question.k} records. The alteration is "
        f"{write_loss(release, metric_named(question.metric))}. It falls if a value can go down a "
        f"step while every class keeps at least {question.k} records."
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


def _hint_at_number(question: NumberQuestion, table: SmallTable) -> str:
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


def _hint_at_choice(question: ChoiceQuestion, table: SmallTable) -> str:
    step, earlier = question.step(table), _list_earlier_merges(question, table)[:1]
    if question.choose == "smallest":
        rule = (
            "GAA takes the class with the fewest records; if several tie, the one that comes first "
            "in tree order."
        )
        return " ".join([rule, *(f"Do the earlier merges first. {merge}" for merge in earlier)])
    others = sorted(partner.group.nodes for partner in step.partners)
    meetings = [
        f"{table.write_class(nodes)} at "
        + table.write_class(_find_meeting_nodes(table.classes, step.picked.nodes, nodes))
        for nodes in others[:_MOST_NAMED]
    ]
    more = [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
    return (
        "All records of both classes rise to where their values meet, and each record pays for "
        f"every step. {table.write_class(step.picked.nodes)} meets "
        f"{', '.join([*meetings, *more])}."
    )
