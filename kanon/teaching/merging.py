"""Lessons of greedy merging: which class is picked, and which partner, with every cost.

A merge path says what was merged; here every choice on it is laid open again, the slow way: all
costs on the trees, and where a strategy looks at l or t, the table after every possible merge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kanon.algorithms import gaa, gaa_small
from kanon.algorithms.merge_until_models_hold import continued
from kanon.algorithms.task import Task
from kanon.base.formatting import counted
from kanon.errors import PlanError
from kanon.kernels.merging_state import TOLERANCE
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.conjunction import broken
from kanon.recoding import Recoding
from kanon.strategies import LOOKS_AT
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Candidate, Choice, ClassState, Rule, Step, written

Live = Mapping[int, ClassState]  # the classes at some moment, by their number

Picking = Callable[[int, Live], tuple[str, tuple[Choice, ...]]]
"""Why a class is picked, in a sentence, and the choice of it; none where it was drawn."""


@dataclass(frozen=True)
class Merge:
    """A merge: what a step of merging shows beside its choices."""

    # the two classes
    picked: ClassState
    partner: ClassState
    third: ClassState | None  # the class that already had the tuple on which they meet
    joined: ClassState  # what they are now

    @property
    def met(self) -> tuple[ClassState, ClassState]:
        """The two classes, as every step has them in which two meet."""
        return self.picked, self.partner


@dataclass(frozen=True, eq=False)
class Merges:
    """Merges as an algorithm tells them."""

    begun: Sequence[ClassState]  # the classes before the first
    # per merge the numbers of the picked class, its partner and a third (-1 if none)
    parts: np.ndarray
    nodes: np.ndarray  # the tuple of every class


def replayed(
    board: Blackboard,
    merges: Merges,
    picking: Picking,
    partners: Callable[[int, Live], Collection[int]] | None = None,
) -> Iterator[Step]:
    """A step per merge."""
    live = dict(enumerate(merges.begun))
    for made, (first, second, also) in enumerate(merges.parts.tolist(), start=len(live)):
        reason, picks = picking(first, live)
        open_to = [
            each for each in (live if partners is None else partners(first, live)) if each != first
        ]
        choice = _partner(board, live, first, second, open_to)
        parts = [live[each] for each in (first, second, also) if each >= 0]
        joined = board.held(
            (each for part in parts for each in part.classes), merges.nodes[made].tolist()
        )
        number = made - len(merges.begun) + 1
        merge = Merge(parts[0], parts[1], parts[2] if also >= 0 else None, joined)
        for each in (first, second, also):
            live.pop(each, None)
        live[made] = joined
        yield board.step(
            f"Merge {number}: {board.called(merge.picked)} + {board.called(merge.partner)}",
            f"{reason} {_why_partner(board, merge, choice)}",
            board.recoded(live.values()),
            (*picks, choice),
            merge,
        )


def merges_for_models(board: Blackboard, before: Recoding) -> Iterator[Step]:
    """The merges that follow where a class breaks another model; none if all hold."""
    told = continued(before.released, board.task)
    begun = [
        board.held(np.flatnonzero(before.assigned == each), before.nodes[each].tolist())
        for each in range(before.n_classes)
    ]
    models = " and ".join(model.sentence for model in board.task.models)

    def breaks(live: Live) -> dict[int, bool]:
        now = board.recoded(live.values())
        found = broken(board.task.models, now.released)
        return {number: bool(found[now.assigned[held.classes[0]]]) for number, held in live.items()}

    def picking(chosen: int, live: Live) -> tuple[str, tuple[Choice, ...]]:
        wrong = breaks(live)
        open_to = [number for number in live if wrong[number]]
        choice = _smallest(board, live, open_to, chosen, "Which class that breaks a model?")
        return (
            f"{_quoted(live[chosen])} is picked of the classes that do not meet {models}: "
            f"{choice.reason}.",
            (choice,),
        )

    yield from replayed(board, Merges(begun, told.parts, told.nodes), picking)


# --- which class ------------------------------------------------------------------------------
def _smallest(
    board: Blackboard, live: Live, open_to: Collection[int], chosen: int, question: str
) -> Choice:
    return Choice(
        question,
        (Rule("fewest records"), board.first),
        tuple(
            Candidate(
                live[each].name, (live[each].records, board.order(live[each].nodes)),
                each == chosen, classes=live[each].classes, figures=(live[each].records,),
            )
            for each in open_to
        ),
    )  # fmt: skip


def _picked_smallest(board: Blackboard, chosen: int, live: Live) -> tuple[str, tuple[Choice, ...]]:
    choice = _smallest(board, live, live, chosen, "Which class is picked?")
    return (
        f"{_quoted(live[chosen])}, below k = {board.task.k}, is picked: {choice.reason}.",
        (choice,),
    )


def _picked_first(board: Blackboard, chosen: int, live: Live) -> tuple[str, tuple[Choice, ...]]:
    small = [each for each in live if live[each].records < board.task.k]
    choice = Choice(
        "Which class below k is picked?",
        (board.first,),
        tuple(
            Candidate(
                live[each].name, (board.order(live[each].nodes),), each == chosen,
                classes=live[each].classes,
            )
            for each in small
        ),
    )  # fmt: skip
    return (
        f"Of the {counted(len(small), 'class', 'classes')} below k = {board.task.k}, "
        f"{_quoted(live[chosen])} is picked: {choice.reason}.",
        (choice,),
    )


# --- which partner ----------------------------------------------------------------------------
_COMPARED: Mapping[str, tuple[str, ...]] = {
    "s1": ("cost",),
    "s2": ("cost", "l"),
    "s3": ("l", "cost"),
    "s4": ("cost / l",),
    "s5": ("cost", "t"),
    "s6": ("t", "cost"),
    "s7": ("cost × t",),
    "l": ("l",),
    "t": ("t",),
    "k": ("k", "cost"),
}
"""What each strategy compares, in this order."""

_RULES: Mapping[str, Rule] = {
    "cost": Rule("least cost"),
    "l": Rule("highest l"),
    "t": Rule("lowest t"),
    "k": Rule("highest k"),
    "cost / l": Rule("least cost / l", "Cost / l ↓"),
    "cost × t": Rule("least cost × t", "Cost × t ↓"),
}
"""What is best of what is compared."""


def _partner(
    board: Blackboard, live: Live, first: int, second: int, open_to: Sequence[int]
) -> Choice:
    """The choice of a partner: every candidate with its cost, and l, t or k where they count."""
    task = board.task
    looks_at, compared = LOOKS_AT[task.strategy], _COMPARED[task.strategy]
    terms = [board.merging(live[first], live[each]) for each in open_to]
    costs = [sum((term.exact for term in each), Fraction(0)) for each in terms]
    if task.potentials.slack and not task.potentials.digits:  # irrational, so equal within it
        most = min(costs) + task.potentials.slack / task.potentials.scale
        costs = [min(costs) if cost <= most else cost for cost in costs]
    seconds = [_left(board, live, first, each) for each in open_to] if looks_at else None
    keys = _keys(task.strategy, costs, seconds)
    candidates = []
    for place, each in enumerate(open_to):
        cost, left = float(costs[place]), None if seconds is None else seconds[place]
        candidates.append(
            Candidate(
                live[each].name,
                (*keys[place], board.order(live[each].nodes)),
                each == second,
                cost,
                terms[place],
                left,
                live[each].classes,
                tuple(_figure(one, cost, left) for one in compared),
            )
        )
    return Choice(
        f"With which class is {_quoted(live[first])} merged?",
        (*(_RULES[one] for one in compared), board.first),
        tuple(candidates),
    )


def _figure(compared: str, cost: float, left: float | None) -> float:
    """What is compared of a candidate: its cost, the l, t or k that it leaves, or both in one."""
    if compared == "cost" or left is None:
        return cost
    return {"cost / l": cost / left if left else cost, "cost × t": cost * left}.get(compared, left)


def _left(board: Blackboard, live: Live, one: int, other: int) -> float:
    """The l, t or k after a merge: of the worst class of the table, or of the merged class."""
    task = board.task
    met = board.meet(live[one].nodes, live[other].nodes)
    moved = {one, other, *(each for each in live if live[each].nodes == met)}
    group = np.zeros(task.classes.n_classes, dtype=np.int64)
    stay = [live[each] for each in live if each not in moved]
    for number, held in enumerate(stay, start=1):
        group[list(held.classes)] = number
    looks_at = LOOKS_AT[task.strategy]
    if looks_at == "k":
        found = np.bincount(group, task.classes.counts, len(stay) + 1)
    else:
        assert task.sensitive is not None, "the strategy looks at it"
        seen = task.classes.sensitive_named(task.sensitive).grouped(group, len(stay) + 1)
        found = (
            entropy_l_diversity.each(seen)
            if looks_at == "l"
            else t_closeness.each(seen, "variational")
        )
    if task.scope == "class":
        return float(found[0])
    return float(found.max() if looks_at == "t" else found.min())


def _keys(
    strategy: str, costs: Sequence[Fraction], seconds: Sequence[float] | None
) -> list[tuple[float | Fraction, ...]]:
    """What a strategy compares. Logarithms are not exact, so values by them tie within 1e-12.

    >>> _keys("s1", [4, 2], None), _keys("s3", [4, 2, 9], [2.0, 1.0, 2.0 + 1e-12])
    ([(4,), (2,)], [(-2.000000000001, 4), (-1.0, 2), (-2.000000000001, 9)])
    """
    if seconds is None:
        return [(cost,) for cost in costs]
    by_l = LOOKS_AT[strategy] == "l"
    bad = [each if LOOKS_AT[strategy] == "t" else -each for each in seconds]
    slack = TOLERANCE if by_l else 0.0
    if strategy in ("s4", "s7"):
        pairs = zip(costs, seconds, strict=True)
        products = [cost / each if by_l else cost * each for cost, each in pairs]
        return [(each,) for each in _level(products, TOLERANCE)]
    if strategy in ("s2", "s5"):
        least = [each for each, cost in zip(bad, costs, strict=True) if cost == min(costs)]
        return list(zip(costs, _level(bad, slack, min(least)), strict=True))
    level = _level(bad, slack)
    return list(zip(level, costs, strict=True)) if strategy in ("s3", "s6", "k") else [
        (each,) for each in level
    ]  # fmt: skip


def _level(values: Sequence[float], slack: float, best: float | None = None) -> list[float]:
    """Some values, in which those that tie with the best are the best."""
    least = min(values) if best is None else best
    return [least if abs(each - least) <= abs(least) * slack else each for each in values]


def _why_partner(board: Blackboard, merge: Merge, choice: Choice) -> str:
    """Why this partner, in a sentence, and what comes of it."""
    strategy, found = board.task.strategy, choice.chosen
    looks_at = LOOKS_AT[strategy]
    paid = f" at cost {written(found.cost)}" if looks_at or len(choice.candidates) == 1 else ""
    if looks_at:
        where = "the merged class" if board.task.scope == "class" else "the table"
        paid += f", which leaves {where} with {looks_at} = {written(found.second)}"
    said = f"It is merged with {_quoted(merge.partner)}{paid}: {choice.reason}"
    said += f". All rise to {_quoted(merge.joined)}"
    if merge.third is not None:
        said += (
            f", which {counted(merge.third.records, 'record')} had already: "
            "who looks the same is one class"
        )
    return f"{said}."


def _quoted(held: ClassState) -> str:
    return f"“{held.label}”"


# --- the algorithms ---------------------------------------------------------------------------
def _gaa(board: Blackboard) -> Iterator[Step]:
    if gaa.number_of_parts(board.task) > 1:
        raise PlanError("A lesson shows GAA as published, in one part; choose parts '1'.")
    path = gaa.merge_path(board.task)
    told = path.parts[: path.merges_for(board.task.k)]
    yield from replayed(
        board,
        Merges(board.originals, told, path.nodes),
        lambda chosen, live: _picked_smallest(board, chosen, live),
    )
    yield from merges_for_models(board, path.at(board.task.k))


def _gaa_small(board: Blackboard) -> Iterator[Step]:
    path = gaa_small.merged(board.task)
    yield from replayed(
        board,
        Merges(board.originals, path.parts, path.nodes),
        lambda chosen, live: _picked_first(board, chosen, live),
        lambda chosen, live: below_k(board.task, chosen, live),
    )
    yield from merges_for_models(board, path.after(len(path.parts)))


def below_k(task: Task, chosen: int, live: Live) -> list[int]:
    """The other classes below k; all others where there is none."""
    others = [each for each in live if each != chosen]
    return [each for each in others if live[each].records < task.k] or others


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "gaa": _gaa,
    "gaa-small": _gaa_small,
}
"""The algorithms of the family that have a lesson."""
