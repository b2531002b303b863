"""Lessons of greedy merging: which class is picked, and which partner, with every cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms import gaa, gaa_small
from kanon.base.formatting import counted
from kanon.errors import PlanError
from kanon.recoding import Recoding
from kanon.reference import merging as reference
from kanon.reference.merging import Partner
from kanon.reference.table import Group
from kanon.strategies import LOOKS_AT
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Choice, ClassState, Rule, Step, written

Picking = Callable[[reference.PlainMerge], tuple[str, tuple[Choice, ...]]]
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
        return self.picked, self.partner


def write_merges(
    board: Blackboard, merges: Iterable[reference.PlainMerge], picking: Picking
) -> Iterator[Step]:
    for number, made in enumerate(merges, start=1):
        reason, picks = picking(made)
        choice = _partner(board, made)
        third = None if made.third is None else board.state(made.third)
        picked, partner, joined = map(board.state, (made.picked, made.partner, made.joined))
        merge = Merge(picked, partner, third, joined)
        yield board.step(
            f"Merge {number}: {board.called(picked)} + {board.called(partner)}",
            f"{reason} {_why_partner(board, merge, choice)}",
            board.recoded(map(board.state, made.after)),
            (*picks, choice),
            merge,
        )


def merges_for_models(board: Blackboard, before: Recoding) -> Iterator[Step]:
    """The merges that follow where a class breaks another model; none if all hold."""
    task, table = board.task, board.table
    groups = [
        table.group(np.flatnonzero(before.assigned == each).tolist(), tuple(nodes))
        for each, nodes in enumerate(before.nodes.tolist())
    ]
    models = " and ".join(model.sentence for model in task.models)

    def picking(made: reference.PlainMerge) -> tuple[str, tuple[Choice, ...]]:
        choice = _smallest(board, made.wrong, made.picked, "Which class that breaks a model?")
        return (
            f"{_quoted(made.picked, board)} is picked of the classes that do not meet {models}: "
            f"{choice.reason}.",
            (choice,),
        )

    merges = reference.merge(
        table,
        groups,
        lambda group: bool(task.models) and board.breaks(group.members, task.models),
        reference.pick_smallest(table),
        task.strategy,
        task.scope,
    )
    yield from write_merges(board, merges, picking)


# --- which class ------------------------------------------------------------------------------
def _smallest(board: Blackboard, open_to: Sequence[Group], picked: Group, question: str) -> Choice:
    return Choice(
        question,
        (Rule("fewest records"), board.first),
        tuple(
            board.candidate(each, (each.records, board.order(each.nodes)), picked, each.records)
            for each in open_to
        ),
    )


def _picked_smallest(
    board: Blackboard, made: reference.PlainMerge
) -> tuple[str, tuple[Choice, ...]]:
    choice = _smallest(board, made.before, made.picked, "Which class is picked?")
    said = f"{_quoted(made.picked, board)}, below k = {board.task.k}, is picked: {choice.reason}."
    return said, (choice,)


def _picked_first(board: Blackboard, made: reference.PlainMerge) -> tuple[str, tuple[Choice, ...]]:
    some, picked = made.wrong, made.picked
    candidates = (board.candidate(each, (board.order(each.nodes),), picked) for each in some)
    choice = Choice("Which class below k is picked?", (board.first,), tuple(candidates))
    said = f"Of the {counted(len(some), 'class', 'classes')} below k = {board.task.k}"
    return f"{said}, {_quoted(picked, board)} is picked: {choice.reason}.", (choice,)


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


def _partner(board: Blackboard, made: reference.PlainMerge) -> Choice:
    compared = _COMPARED[board.task.strategy]
    candidates = []
    for each in made.partners:
        cost, left = float(each.cost), _left(board, each)
        figures = (_figure(one, cost, left) for one in compared)
        candidate = board.candidate(each.group, each.key, made.partner, *figures)
        terms = board.merging(board.state(made.picked), board.state(each.group))
        candidates.append(replace(candidate, cost=cost, terms=terms, second=left))
    return Choice(
        f"With which class is {_quoted(made.picked, board)} merged?",
        (*(_RULES[one] for one in compared), board.first),
        tuple(candidates),
    )


def _left(board: Blackboard, partner: Partner) -> float | None:
    looks_at, left = LOOKS_AT[board.task.strategy], float(partner.left)
    return {"l": 1 / left if left else None, "t": left / 2, "k": -left}.get(looks_at)


def _figure(compared: str, cost: float, left: float | None) -> float:
    """What is compared of a candidate: its cost, the l, t or k that it leaves, or both in one."""
    if compared == "cost" or left is None:
        return cost
    return {"cost / l": cost / left if left else cost, "cost × t": cost * left}.get(compared, left)


def _why_partner(board: Blackboard, merge: Merge, choice: Choice) -> str:
    strategy, found = board.task.strategy, choice.chosen
    looks_at = LOOKS_AT[strategy]
    paid = f" at cost {written(found.cost)}" if looks_at or len(choice.candidates) == 1 else ""
    if looks_at:
        where = "the merged class" if board.task.scope == "class" else "the table"
        paid += f", which leaves {where} with {looks_at} = {written(found.second)}"
    said = f"It is merged with “{merge.partner.label}”{paid}: {choice.reason}"
    said += f". All rise to “{merge.joined.label}”"
    if merge.third is not None:
        said += (
            f", which {counted(merge.third.records, 'record')} had already: "
            "who looks the same is one class"
        )
    return f"{said}."


def _quoted(group: Group, board: Blackboard) -> str:
    return f"“{board.label(group.nodes)}”"


# --- the algorithms ---------------------------------------------------------------------------
def _gaa(board: Blackboard) -> Iterator[Step]:
    task = board.task
    if gaa.number_of_parts(task) > 1:
        raise PlanError("A lesson shows GAA as published, in one part; choose parts '1'.")
    merges = list(reference.gaa(board.table, task.strategy, task.scope))
    yield from write_merges(board, merges, lambda made: _picked_smallest(board, made))
    yield from merges_for_models(board, board.recoded_by(merges))


def _gaa_small(board: Blackboard) -> Iterator[Step]:
    gaa_small.check(board.task)
    merges = list(reference.gaa_small(board.table))
    yield from write_merges(board, merges, lambda made: _picked_first(board, made))
    yield from merges_for_models(board, board.recoded_by(merges))


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "gaa": _gaa,
    "gaa-small": _gaa_small,
}
