"""Lessons of greedy merging: the choice of a class and of its partner, with every cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms import gaa, gaa_small
from kanon.base.formatting import count_noun
from kanon.errors import PlanError
from kanon.recoding import Recoding
from kanon.reference import merging as reference
from kanon.reference.merging import Partner
from kanon.reference.table import Group
from kanon.strategies import LOOKS_AT
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Choice, ClassState, Rule, Step, write_number

PickExplainer = Callable[[reference.PlainMerge], tuple[str, tuple[Choice, ...]]]
"""Explains the pick of a class in a sentence and a choice; no choice where it was drawn."""


@dataclass(frozen=True)
class Merge:
    picked: ClassState
    partner: ClassState
    third: ClassState | None  # the class that already had the joined values
    joined: ClassState  # the class that results

    @property
    def met(self) -> tuple[ClassState, ClassState]:
        return self.picked, self.partner


def write_merges(
    board: Blackboard, merges: Iterable[reference.PlainMerge], picking: PickExplainer
) -> Iterator[Step]:
    for plain in merges:
        reason, picks = picking(plain)
        choice = _build_partner_choice(board, plain)
        third = None if plain.third is None else board.state(plain.third)
        picked, partner, joined = map(board.state, (plain.picked, plain.partner, plain.joined))
        merge = Merge(picked, partner, third, joined)
        yield board.step(
            f"Merge {board.name_class(picked)} with {board.name_class(partner)}",
            f"{reason} {_explain_partner(board, merge, choice)}",
            board.build_recoding(map(board.state, plain.after)),
            (*picks, choice),
            merge,
        )


def explain_model_merges(board: Blackboard, before: Recoding) -> Iterator[Step]:
    task, table = board.task, board.table
    groups = [
        table.group(np.flatnonzero(before.assigned == number).tolist(), tuple(nodes))
        for number, nodes in enumerate(before.nodes.tolist())
    ]
    models = " and ".join(model.sentence for model in task.models)

    def pick_class(merge: reference.PlainMerge) -> tuple[str, tuple[Choice, ...]]:
        choice = _build_smallest_choice(
            board, merge.breaking_classes, merge.picked, "Which failing class is picked?"
        )
        return (
            f"Of the classes that do not meet {models}, {_quote_group(merge.picked, board)} is "
            f"picked: {choice.reason}.",
            (choice,),
        )

    merges = reference.merge(
        table,
        groups,
        lambda group: bool(task.models) and board.is_breaking(group.members, task.models),
        reference.pick_smallest(table),
        task.strategy,
        task.scope,
    )
    yield from write_merges(board, merges, pick_class)


# --- which class ------------------------------------------------------------------------------
def _build_smallest_choice(
    board: Blackboard, open_to: Sequence[Group], picked: Group, question: str
) -> Choice:
    return Choice(
        question,
        (Rule("fewest records"), board.first),
        tuple(
            board.build_candidate(
                group, (group.records, board.order(group.nodes)), picked, group.records
            )
            for group in open_to
        ),
    )


def _explain_smallest(
    board: Blackboard, merge: reference.PlainMerge
) -> tuple[str, tuple[Choice, ...]]:
    choice = _build_smallest_choice(board, merge.before, merge.picked, "Which class is picked?")
    name = _quote_group(merge.picked, board)
    return f"{name}, below k = {board.task.k}, is picked: {choice.reason}.", (choice,)


def _explain_first(
    board: Blackboard, merge: reference.PlainMerge
) -> tuple[str, tuple[Choice, ...]]:
    classes_below_k, picked = merge.breaking_classes, merge.picked
    candidates = (
        board.build_candidate(group, (board.order(group.nodes),), picked)
        for group in classes_below_k
    )
    choice = Choice("Which class below k is picked?", (board.first,), tuple(candidates))
    start = (
        f"Of the {count_noun(len(classes_below_k), 'class', 'classes')} below k = {board.task.k}"
    )
    return f"{start}, {_quote_group(picked, board)} is picked: {choice.reason}.", (choice,)


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
"""The figures that each strategy compares, in this order."""

_RULES: Mapping[str, Rule] = {
    "cost": Rule("least cost"),
    "l": Rule("highest l"),
    "t": Rule("lowest t"),
    "k": Rule("highest k"),
    "cost / l": Rule("least cost / l", "Cost / l ↓"),
    "cost × t": Rule("least cost × t", "Cost × t ↓"),
}
"""The rule for each figure."""


def _build_partner_choice(board: Blackboard, merge: reference.PlainMerge) -> Choice:
    compared = _COMPARED[board.task.strategy]
    candidates = []
    for partner in merge.partners:
        cost, left = float(partner.cost), _compute_level_left(board, partner)
        figures = (_compute_figure(quantity, cost, left) for quantity in compared)
        candidate = board.build_candidate(partner.group, partner.key, merge.partner, *figures)
        terms = board.list_merge_costs(board.state(merge.picked), board.state(partner.group))
        candidates.append(replace(candidate, cost=cost, terms=terms, level_left=left))
    return Choice(
        f"With which class is {_quote_group(merge.picked, board)} merged?",
        (*(_RULES[quantity] for quantity in compared), board.first),
        tuple(candidates),
    )


def _compute_level_left(board: Blackboard, partner: Partner) -> float | None:
    looks_at, left = LOOKS_AT[board.task.strategy], float(partner.left)
    return {"l": 1 / left if left else None, "t": left / 2, "k": -left}.get(looks_at)


def _compute_figure(compared: str, cost: float, left: float | None) -> float:
    """The figure of a candidate: its cost, the l, t or k that it leaves, or both combined."""
    if compared == "cost" or left is None:
        return cost
    return {"cost / l": cost / left if left else cost, "cost × t": cost * left}.get(compared, left)


def _explain_partner(board: Blackboard, merge: Merge, choice: Choice) -> str:
    strategy, chosen = board.task.strategy, choice.chosen
    looks_at = LOOKS_AT[strategy]
    paid = (
        f" at cost {write_number(chosen.cost)}" if looks_at or len(choice.candidates) == 1 else ""
    )
    if looks_at:
        where = "the merged class" if board.task.scope == "class" else "the table"
        paid += f", which leaves {where} with {looks_at} = {write_number(chosen.level_left)}"
    sentence = f"It is merged with “{merge.partner.label}”{paid}: {choice.reason}"
    sentence += f". All rise to “{merge.joined.label}”"
    if merge.third is not None:
        sentence += (
            f", which {count_noun(merge.third.records, 'record')} had already; "
            "records that look the same are one class"
        )
    return f"{sentence}."


def _quote_group(group: Group, board: Blackboard) -> str:
    return f"“{board.label(group.nodes)}”"


# --- the algorithms ---------------------------------------------------------------------------
def _explain_gaa(board: Blackboard) -> Iterator[Step]:
    task = board.task
    if gaa.number_of_parts(task) > 1:
        raise PlanError("A lesson shows GAA as published, in one part; choose parts '1'.")
    merges = list(reference.gaa(board.table, task.strategy, task.scope))
    yield from write_merges(board, merges, lambda merge: _explain_smallest(board, merge))
    yield from explain_model_merges(board, board.apply_merges(merges))


def _explain_gaa_small(board: Blackboard) -> Iterator[Step]:
    gaa_small.check(board.task)
    merges = list(reference.gaa_small(board.table))
    yield from write_merges(board, merges, lambda merge: _explain_first(board, merge))
    yield from explain_model_merges(board, board.apply_merges(merges))


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "gaa": _explain_gaa,
    "gaa-small": _explain_gaa_small,
}
