"""The lattice sweep told: the groups that it releases, and what the rest of the table joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms import lattice_sweep
from kanon.algorithms.lattice_size import (
    Node,
    losses_of_nodes,
    lost_per_level,
    places_by_loss,
    raised_to,
)
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lattice_sweep_joining import joined_one_by_one, merging_on
from kanon.algorithms.lattice_sweep_order import in_group_order
from kanon.algorithms.lattice_sweep_walk import SweepState, walked
from kanon.base.formatting import counted
from kanon.recoding import Recoding
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.lesson import Candidate, Choice, ClassState, Rule, Step, written
from kanon.teaching.merging import merges_for_models
from kanon.teaching.nodes import FIRST_LEVELS


@dataclass(frozen=True)
class Sweep:
    """What a step of the lattice sweep shows beside its choices."""

    node: Node | None  # the levels at which the remaining records are grouped
    loss: float | None  # what raising the whole table to them would cost, in the metric's own unit
    # what is released: the groups of the node, or the class that one was joined to
    groups: tuple[ClassState, ...]
    remaining: int  # how many records are left after the step
    # where one joins a class: that class, as it was, and what joins it
    met: tuple[ClassState, ClassState] | None = None


def sweeping(board: Blackboard) -> Iterator[Step]:
    """The walk along the nodes, and what is left; with more effort, what was made better."""
    board.check_lattice()
    task = lattice_sweep.by_least_k(board.task)
    board = replace(board, task=task)
    swept = walked(task)
    yield from _walk(board, swept)
    yield from _joining(board, swept)
    if task.option(lattice_sweep.EFFORT) == "fast":
        return
    walk = lattice_sweep.finished(task, swept)
    order = lattice_sweep.finished(task, in_group_order(task))
    losses = [total_loss(task, each) for each in (walk, order)]
    best = min(range(2), key=losses.__getitem__)
    names = "in the order of the nodes", "in the order of the groups’ cost per record"
    choice = Choice(
        "Which sweep is kept?",
        (Rule("least loss"), Rule("the first")),
        tuple(
            Candidate(
                name, (loss, place), place == best, board.cost(loss), figures=(board.cost(loss),)
            )
            for place, (name, loss) in enumerate(zip(names, losses, strict=True))
        ),
    )
    yield board.step(
        "A second sweep",
        "The groups are released one by one, the cheapest per record first. The sweep "
        f"{names[best]} is kept: {choice.reason}.",
        (walk, order)[best],
        (choice,),
    )
    final = lattice_sweep.anonymise(task)
    won = losses[best] - total_loss(task, final)
    yield board.step(
        "Made better",
        "Classes are dissolved into others, or merged with near ones and split anew, wherever that "
        f"costs less: {written(board.cost(won))} less in all."
        if won
        else "Dissolving a class, or merging and splitting near ones, would cost less nowhere.",
        final,
    )


def _walk(board: Blackboard, swept: SweepState) -> Iterator[Step]:
    """A step per node at which a group was released, the cheapest first."""
    task, classes = board.task, board.task.classes
    raised = [raised_to(tree) for tree in classes.hierarchies]
    losses = losses_of_nodes(lost_per_level(classes, task.potentials, raised))
    order = [
        tuple(map(int, np.unravel_index(place, losses.shape)))
        for place in places_by_loss(classes, task.potentials, raised).tolist()
    ]
    at = [
        tuple(map(int, np.unravel_index(place, losses.shape))) if place >= 0 else None
        for place in swept.at.tolist()
    ]
    releasing = sorted(set(filter(None, at)), key=order.index)
    left, released, passed = set(range(classes.n_classes)), list[ClassState](), 0
    for node in releasing:
        here = order.index(node)
        candidates = tuple(
            Candidate(
                _levels(board, each),
                (int(losses[each]), each),
                each == node,
                board.cost(int(losses[each])),
                figures=(board.cost(int(losses[each])),),
                refused=""
                if _groups(board, raised, each, left)
                else f"no group of k = {task.k} records is left there",
            )
            # With the last one again: nothing is left there that could have been released.
            for each in order[max(passed - 1, 0) : here + 1]
        )
        passed = here + 1
        groups: dict[tuple[int, ...], list[int]] = {}
        for each in [each for each in sorted(left) if at[each] == node]:
            groups.setdefault(tuple(swept.targets[each].tolist()), []).append(each)
        held = tuple(board.held(members, nodes) for nodes, members in groups.items())
        released += held
        left -= {each for group in held for each in group.classes}
        remaining = int(classes.counts[sorted(left)].sum())
        rules = Rule("least loss of the whole table"), FIRST_LEVELS
        choice = Choice("Which levels are next?", rules, candidates)
        yield board.step(
            f"Levels {_levels(board, node)}: {counted(len(held), 'group')}",
            f"These levels, by which {written(choice.chosen.cost)} of the whole table would be "
            f"lost, are next: {choice.reason}. Of the records that remain, "
            f"those that look the same here and are at least k = {task.k} are released so: "
            f"{', '.join(f'“{group.label}” ({group.records})' for group in held)}.",
            board.recoded(released),
            (choice,),
            Sweep(node, board.cost(int(losses[node])), held, remaining),
        )


def _groups(board: Blackboard, raised: Sequence[np.ndarray], node: Node, left: set[int]) -> bool:
    """Whether a group of the remaining classes can be released at a node."""
    task = board.task
    found: dict[tuple[int, ...], list[int]] = {}
    for each in sorted(left):
        nodes = task.classes.nodes[each].tolist()
        key = tuple(int(raised[j][level][nodes[j]]) for j, level in enumerate(node))
        found.setdefault(key, []).append(each)
    return any(
        sum(int(task.classes.counts[each]) for each in members) >= task.k
        and not (task.others and board.breaks(members))
        for members in found.values()
    )


def _levels(board: Blackboard, node: Node) -> str:
    names = board.task.classes.attributes
    return ", ".join(f"{name} {level}" for name, level in zip(names, node, strict=True))


def _joining(board: Blackboard, swept: SweepState) -> Iterator[Step]:
    """What is left joins the classes that it costs least; what none can take is merged on."""
    task = replace(board.task, weighted=True)
    board = replace(board, task=task)
    if not swept.remain.any():
        return
    told = joined_one_by_one(task, swept.targets, swept.remain)
    before, left = told.before, np.flatnonzero(swept.remain).tolist()
    now = {
        each: board.held(np.flatnonzero(before.assigned == each), before.nodes[each].tolist())
        for each in range(before.n_classes)
    }
    into = dict(told.made)
    for each in left:
        if each not in into:
            continue
        left_over, place = board.originals[each], into[each]
        candidates = tuple(_joinable(board, now, left_over, other, other == place) for other in now)
        choice = Choice(
            f"Which class does “{left_over.label}” join?",
            (Rule("least cost"), FIRST),
            candidates,
        )
        met, held = (now[place], left_over), _widened(board, now, left_over, place)
        now = {
            number: other
            for number, other in now.items()
            if number != place and other.nodes != held.nodes
        } | {place: held}
        rest = [one for one in left if one > each or one not in into]
        remaining = int(task.classes.counts[rest].sum())
        yield board.step(
            f"“{left_over.label}” joins",
            f"{counted(left_over.records, 'record')} of “{left_over.label}” "
            f"{'is' if left_over.records == 1 else 'are'} left over, for the class that it costs "
            f"least to widen, “{met[0].label}”: {choice.reason}. It becomes “{held.label}”.",
            board.recoded(now.values()),
            (choice,),
            Sweep(None, None, (held,), remaining, met),
        )
    aside = [each for each in left if each not in into]
    if aside:
        targets = told.nodes[told.into]
        targets[aside] = task.classes.nodes[aside]
        merging = replace(board, task=merging_on(task))
        yield from merges_for_models(merging, Recoding.from_targets(task.classes, targets))


def _widened(
    board: Blackboard, now: Mapping[int, ClassState], one: ClassState, place: int
) -> ClassState:
    """A released class after another joined it, with all that look the same then."""
    met = board.meet(now[place].nodes, one.nodes)
    same = [other for number, other in now.items() if number == place or other.nodes == met]
    members = [each for other in same for each in other.classes]
    return board.held([*members, *one.classes], met)


def _joinable(
    board: Blackboard, now: Mapping[int, ClassState], one: ClassState, place: int, chosen: bool
) -> Candidate:
    """A released class as one that a left-over class may join."""
    held = _widened(board, now, one, place)
    refused = bool(board.task.others) and board.breaks(held.classes)
    terms = board.merging(one, now[place])
    cost = sum(term.exact for term in terms)
    return Candidate(
        now[place].name,
        (cost, now[place].nodes),
        chosen,
        float(cost),
        terms,
        classes=now[place].classes,
        figures=(float(cost),),
        refused="another model would break" if refused else "",
    )
