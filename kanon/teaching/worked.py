"""Solutions of exercises written out, every product and sum, to be followed on paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import assert_never

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, percent, thin
from kanon.classes import EquivalenceClasses
from kanon.measures import alteration
from kanon.metrics import Metric, metric_named, potentials
from kanon.privacy import distinct_l_diversity, entropy_l_diversity, t_closeness
from kanon.recoding import Recoding
from kanon.teaching.least_questions import LevelsQuestion, RecodeQuestion
from kanon.teaching.question import labels_of
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion, NumberQuestion, shown
from kanon.teaching.small_tables import SmallTable, raised, tuple_text

_LARGEST_DENOMINATOR = 100  # costs that need a larger one are shown as decimals

_MOST_DECIMALS = 4

Costs = Sequence[Sequence[Fraction]]
"""Per quasi-identifier and node what it costs to raise it to the root."""


def costs_shown(depths: Sequence[np.ndarray]) -> tuple[Costs, Callable[[Fraction], str]]:
    """The costs of all trees as they are shown, so that sums of what is read are right.

    >>> (found,), said = costs_shown([np.array([1, 2 / 3, 0])])
    >>> [said(found[0] - found[1]), said(found[1]), said(found[0])]
    ['1/3', '2/3', '1']
    >>> (found,), said = costs_shown([np.array([2.25, 0.5, 0])])
    >>> [said(found[0] - found[1]), said(found[1]), said(found[0])]
    ['1.75', '0.5', '2.25']
    >>> (found,), said = costs_shown([np.log2([7, 4, 1])])
    >>> [said(found[0] - found[1]), said(found[1]), said(found[0])]
    ['0.807', '2', '2.807']
    """
    every = np.concatenate([np.ravel(each) for each in depths])
    parts = [[Fraction(float(depth)).limit_denominator(_LARGEST_DENOMINATOR) for depth in each]
             for each in depths]  # fmt: skip
    places = 2
    flat = [part for each in parts for part in each]
    if not np.allclose([float(part) for part in flat], every, rtol=1e-12, atol=1e-12):
        gaps = np.concatenate([np.diff(np.unique(np.round(each, 9))) for each in depths])
        # Three digits of the smallest step, yet no more decimals than one adds up by hand.
        places = min(max(2 - floor(log10(gaps.min(initial=every.max()))), 0), _MOST_DECIMALS)
        parts = [[round(Fraction(float(depth)), places) for depth in each] for each in depths]
    elif any(100 % part.denominator for part in flat):
        return parts, str

    def said(cost: Fraction) -> str:
        if cost.denominator == 1:
            return thin(float(cost))
        return f"{float(cost):.{places}f}".rstrip("0")

    return parts, said


Writer = Callable[[Fraction], str]  # what writes a cost


@dataclass(frozen=True, eq=False)
class Worked:
    arithmetic: pd.DataFrame  # a row per class or candidate, as texts
    sentences: tuple[str, ...]  # how the answer follows from it


def worked(question: AnyQuestion, table: SmallTable) -> Worked:
    """How the best answer to a question is worked out.

    >>> from kanon.teaching.exercises import BUILT_IN, read_exercises
    >>> exercises = read_exercises(BUILT_IN)
    >>> price = exercises.questions[2]
    >>> worked(price, exercises.table_of(price)).sentences[-1]
    'Together 3 is lost. With everything at the root it would be 12: 3 of 12 = 25.0 %.'
    """
    match question:
        case RecodeQuestion() | LevelsQuestion():
            return _least(question, table)
        case NumberQuestion():
            return _number(question, table)
        case ChoiceQuestion():
            choose = _partner if question.choose == "partner" else _smallest
            return choose(question, table)
        case _:
            assert_never(question)


def loss_text(release: Recoding, metric: Metric) -> str:
    """The alteration of a release as a fraction."""
    altered = percent(alteration.value(release, metric))
    return f"{lost_text(release, metric)} of {most_text(release, metric)} = {altered}"


def lost_text(release: Recoding, metric: Metric) -> str:
    _, said = _costs(release.original, metric)
    counts = release.original.counts.tolist()
    paid = zip(_per_record(release, metric), counts, strict=True)
    return said(sum((records * sum(costs) for costs, records in paid), Fraction()))


def most_text(release: Recoding, metric: Metric) -> str:
    """What they would lose with everything at the root."""
    classes = release.original
    depths, said = _costs(classes, metric)
    paid = zip(classes.nodes.tolist(), classes.counts.tolist(), strict=True)
    return said(sum((n * depths[j][v] for own, n in paid for j, v in enumerate(own)), Fraction()))


def meeting(
    classes: EquivalenceClasses, one: Sequence[int], other: Sequence[int]
) -> tuple[int, ...]:
    """The lowest nodes that hold the values of both of two tuples."""
    pairs = zip(classes.hierarchies, one, other, strict=True)
    return tuple(tree.lca(*both) for tree, *both in pairs)


def _per_record(release: Recoding, metric: Metric) -> list[list[Fraction]]:
    depths, _ = _costs(release.original, metric)
    own, to = release.original.nodes.tolist(), release.targets.tolist()
    return [
        [depth[low] - depth[high] for depth, low, high in zip(depths, *pair, strict=True)]
        for pair in zip(own, to, strict=True)
    ]


def _costs(classes: EquivalenceClasses, metric: Metric) -> tuple[Costs, Writer]:
    records = classes.records_below if metric.counts_records else None
    return costs_shown(potentials(metric, classes.hierarchies, records))


def _sum(costs: Sequence[Fraction], said: Writer) -> str:
    """Terms with their sum; one term is its own.

    >>> _sum([Fraction(1), Fraction(1, 2)], str), _sum([Fraction(2)], str)
    ('1 + 1/2 = 3/2', '2')
    """
    added = said(sum(costs, Fraction()))
    return f"{' + '.join(map(said, costs))} = {added}" if len(costs) > 1 else added


# --- kind by kind ---------------------------------------------------------------------------
def _altered(release: Recoding, metric: Metric) -> pd.DataFrame:
    classes = release.original
    _, said = _costs(classes, metric)
    rows = []
    counts, paid = classes.counts.tolist(), _per_record(release, metric)
    for own, to, records, costs in zip(classes.nodes, release.targets, counts, paid, strict=True):
        one = sum(costs, Fraction())
        rows.append(
            {
                "class": tuple_text(labels_of(release, own)),
                "becomes": tuple_text(labels_of(release, to)),
                f"one record loses ({' + '.join(classes.attributes)})": _sum(costs, said),
                "its records lose": f"{records} × {said(one)} = {said(records * one)}",
            }
        )
    return pd.DataFrame(rows)


def _together(release: Recoding, metric: Metric) -> str:
    return (
        f"Together {lost_text(release, metric)} is lost. With everything at the root it would be "
        f"{most_text(release, metric)}: {loss_text(release, metric)}."
    )


def _least(question: RecodeQuestion | LevelsQuestion, table: SmallTable) -> Worked:
    best, metric = question.best(table), metric_named(question.metric)
    release = best.recoding
    said = (
        question.solved(table),
        f"Its smallest class has {counted(int(release.counts.min()), 'record')}; "
        f"{question.k} are asked for.",
        _together(release, metric),
    )
    return Worked(_altered(release, metric), said)


def _number(question: NumberQuestion, table: SmallTable) -> Worked:
    release = raised(table.classes, question.levels)
    found = question.solution(table)
    if question.number == "alteration":
        metric = metric_named(question.metric)
        return Worked(_altered(release, metric), (_together(release, metric),))
    classes = [tuple_text(labels_of(release, nodes)) for nodes in release.nodes]
    if question.number in question.SENSITIVE:
        return _sensitive(question, table, release, classes)
    rows = pd.DataFrame({"class": classes, "records": [str(n) for n in release.counts]})
    said = {
        "k": f"The smallest class has {counted(int(found), 'record')}: k is {found}.",
        "classes": f"There are {counted(int(found), 'class', 'classes')}.",
        "unique": f"{counted(int(found), 'class has', 'classes have')} one record only, so "
        f"{counted(int(found), 'record is', 'records are')} unique.",
    }
    return Worked(rows, (said[question.number],))


def _sensitive(
    question: NumberQuestion, table: SmallTable, release: Recoding, classes: Sequence[str]
) -> Worked:
    sensitive = release.released.sensitive_named(question.column(table))
    sensitive = sensitive if question.number == "t" else sensitive.folded
    write: Callable[[np.ndarray, np.ndarray], str]
    match question.number:
        case "entropy-l":
            levels, write = entropy_l_diversity.each(sensitive), _entropy_of
        case "distinct-l":
            levels, write = distinct_l_diversity.each(sensitive), lambda *_: ""
        case _:
            levels, write = t_closeness.each(sensitive, "variational"), _variation_of
    rows = []
    for said, counts, level in zip(classes, sensitive.dense(), levels, strict=True):
        held = [f"{value} {n}" for value, n in zip(sensitive.values, counts, strict=True) if n]
        rows.append(
            {
                "class": said,
                "has": ", ".join(held),
                "arithmetic": f"{write(counts, sensitive.total)}{shown(float(level))}",
            }
        )
    which, find = ("highest", np.argmax) if question.number == "t" else ("lowest", np.argmin)
    place = int(find(levels))
    worst = f"The {which} is that of {classes[place]}: {shown(float(levels[place]))}."
    return Worked(pd.DataFrame(rows), (worst,))


def _shares(counts: np.ndarray) -> list[str]:
    return [f"{n}/{counts.sum()}" for n in counts]


def _entropy_of(counts: np.ndarray, _total: np.ndarray) -> str:
    return f"exp(−({' + '.join(f'{p} · ln {p}' for p in _shares(counts[counts > 0]))})) = "


def _variation_of(counts: np.ndarray, total: np.ndarray) -> str:
    pairs = zip(_shares(counts), _shares(total), strict=True)
    return f"½ · ({' + '.join(f'|{here} − {table}|' for here, table in pairs)}) = "


def before(question: ChoiceQuestion, table: SmallTable) -> list[str]:
    said = []
    for merges in range(question.merges):
        step = question.model_copy(update={"merges": merges}).step(table)
        pair = f"{tuple_text(step.smallest)} + {tuple_text(step.partner)}"
        said.append(f"Merge {merges + 1}: {pair}.")
    return said


def _smallest(question: ChoiceQuestion, table: SmallTable) -> Worked:
    step = question.step(table)
    order = sorted(range(len(step.sizes)), key=lambda place: step.sizes[place])
    rows = [
        {"class": tuple_text(step.options[place]), "records": str(step.sizes[place])}
        for place in order
    ]
    equal = len(step.smallest_ones)
    tie = f"; of {equal} that have as few, it stands first in tree order" if equal > 1 else ""
    said = f"GAA takes {tuple_text(step.smallest)}, which has the fewest records{tie}."
    return Worked(pd.DataFrame(rows), (*before(question, table), said))


def _partner(question: ChoiceQuestion, table: SmallTable) -> Worked:
    step, metric, classes = question.step(table), metric_named(question.metric), table.classes
    (depths, written), unraised = _costs(classes, metric), raised(classes, {})
    taken = step.options.index(step.smallest)
    others = {place: cost for place, cost in enumerate(step.costs) if cost is not None}
    rows = []
    for place in sorted(others, key=lambda place: others[place]):
        met = meeting(classes, step.nodes[taken], step.nodes[place])
        paid = [
            (step.sizes[side], sum((
                depth[node] - depth[above]
                for depth, node, above in zip(depths, step.nodes[side], met, strict=True)
            ), Fraction()))
            for side in (taken, place)
        ]  # fmt: skip
        products = " + ".join(f"{records} × {written(one)}" for records, one in paid)
        total = written(sum((records * one for records, one in paid), Fraction()))
        rows.append(
            {
                "class": tuple_text(step.options[place]),
                "both become": tuple_text(labels_of(unraised, met)),
                "records × cost, of both": f"{products} = {total}",
            }
        )
    equal = sum(cost == min(others.values()) for cost in others.values())
    tie = f"; of {equal} that cost as much, it stands first in tree order" if equal > 1 else ""
    pair = f"{tuple_text(step.smallest)} with {tuple_text(step.partner)}"
    said = f"GAA merges {pair}, which costs the least{tie}."
    return Worked(pd.DataFrame(rows), (*before(question, table), said))
