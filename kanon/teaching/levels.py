"""Lessons of the lattice: the nodes that a search looked at, and what it concluded from each.

A trace tells which nodes were counted, in their order. Here each is counted again the slow way: all
values raised, records grouped, classes that are too small added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from kanon.algorithms import (
    datafly,
    flash,
    improved_greedy,
    incognito,
    levels,
    mingen,
    ola,
    optimal,
    samarati,
)
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import LOSS, NodeTags, begin, with_precision
from kanon.base.formatting import counted, percent
from kanon.base.progress import no_progress
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Candidate, Choice, Step
from kanon.teaching.nodes import Nodes, least_loss, loss_at, lost_at, said, terms_at


# --- walks ------------------------------------------------------------------------------------
def _datafly(board: Blackboard) -> Iterator[Step]:
    trace = datafly.anonymise(board.task).trace
    limit = board.task.suppression
    lattice = Nodes(board, board.task.k if limit is None else limit)
    yield from _walked(
        lattice,
        trace.walk,
        "Which column is raised?",
        "most distinct values; of equal ones, the first column",
        lambda node, j: (-_distinct(lattice, node)[j], j),
        lambda key: f"it has the most distinct values, {-key[0]}",
    )


def _improved_greedy(board: Blackboard) -> Iterator[Step]:
    trace = improved_greedy.anonymise(board.task).trace
    lattice = Nodes(board, board.task.suppression or 0)
    yield from _walked(
        lattice,
        trace.walk,
        "Which column is raised?",
        "largest k reached; of equal ones, most distinct values, then the first column",
        lambda node, j: (
            -lattice.reached(lattice.at(_above(node, j))), -_distinct(lattice, node)[j], j
        ),
        lambda key: f"so the largest k is reached, {-key[0]}",
    )  # fmt: skip


def _walked(
    lattice: Nodes,
    walk: tuple[Node, ...],
    question: str,
    best: str,
    key: Callable[[Node, int], tuple[int, ...]],
    why: Callable[[tuple[int, ...]], str],
) -> Iterator[Step]:
    """The steps of a search that climbs one level at a time.

    Parameters
    ----------
    lattice, walk
        The lattice, and the nodes of the walk.
    question, best
        What is chosen at each, and what is best.
    key
        What is compared of raising a column at a node.
    why
        From the key of what was chosen: why that.
    """
    board = lattice.board
    names, tops = board.task.classes.attributes, lattice.shape.tops
    yield lattice.step(lattice.look(walk[0], walk[:1]), "The search begins with nothing raised.")
    for place in range(1, len(walk)):
        low, high = walk[place - 1 : place + 1]
        distinct = _distinct(lattice, low)
        candidates = tuple(
            Candidate(
                names[j], key(low, j), high == _above(low, j),
                note=f"{counted(distinct[j], 'value')}, k = "
                f"{lattice.reached(lattice.at(_above(low, j)))} if raised",
            )
            for j in range(len(tops))
            if low[j] < tops[j]
        )  # fmt: skip
        choice = Choice(question, best, candidates)
        found = choice.chosen
        equal = sum(each.key[:-1] == found.key[:-1] for each in candidates)
        tie = f"; of {equal} columns that tie, it is the first" if equal > 1 else ""
        yield lattice.step(
            lattice.look(high, walk[: place + 1]),
            f"{found.name} is raised by one level: {why(found.key)}{tie}.",
            [choice],
        )
    yield lattice.last(walk[-1], (), walk)


def _above(node: Node, j: int) -> Node:
    return (*node[:j], node[j] + 1, *node[j + 1 :])


def _distinct(lattice: Nodes, node: Node) -> list[int]:
    """How many different values each column has at a node."""
    return [len(set(column.tolist())) for column in lattice.shape.targets(node).T]


# --- searches of the whole lattice ------------------------------------------------------------
def _searchable(board: Blackboard) -> Nodes:
    """The lattice, if it is small enough to be told node by node."""
    board.check_lattice()
    return Nodes(board, board.task.suppression or 0)


def _samarati(board: Blackboard) -> Iterator[Step]:
    """By heights: half of what is left is left out each time."""
    trace = samarati.anonymise(board.task).trace
    lattice = _searchable(board)
    visited = [tuple(node) for node in trace.visited.tolist()]
    low, high, good = 0, sum(lattice.shape.tops), []
    for place, node in enumerate(visited):
        look, here = lattice.look(node), sum(node)
        if look.satisfies:
            good.append(node)
        if low == high:
            yield lattice.step(
                look, f"{here} is the lowest height: all of its nodes are looked at."
            )
            continue
        heights = Choice(
            "Which height?",
            f"nearest to the middle of {low} and {high}, rounded down",
            tuple(
                Candidate(f"height {each}", (abs(each - (low + high) // 2),), each == here)
                for each in range(low, high + 1)
            ),
        )
        why = f"Height {here}, the sum of the levels, is half-way between {low} and {high}."
        then, more = "", place + 1 < len(visited) and sum(visited[place + 1]) == here
        if look.satisfies:
            high = here
            then = " One such node is enough: the lowest height is not above."
        elif not more:
            low = here + 1
            then = " No node of this height satisfies: the lowest height is above."
        yield lattice.step(look, why, [heights], then)
    chosen = trace.node
    assert chosen is not None
    lowest = [node for node in good if sum(node) == sum(chosen)]
    yield lattice.last(chosen, [least_loss(lattice, lowest, chosen)])


def _ola(board: Blackboard) -> Iterator[Step]:
    def why(lattice: Nodes, node: Node, between: Sequence[Node]) -> str:
        low, high = between
        if node == low:
            return f"It is next below {lattice.name(high)}, which satisfies."
        return (
            f"It lies half-way between {lattice.name(low)} and {lattice.name(high)}, which "
            "satisfies, and nothing is known of it yet."
        )

    yield from _halving(board, ola, why)


def _flash(board: Blackboard) -> Iterator[Step]:
    def why(lattice: Nodes, node: Node, between: Sequence[Node]) -> str:
        if len(between) == 1:
            return "It is the last that is left of a path upwards of which nothing is known."
        return (
            f"It lies in the middle of a path upwards of which nothing is known, from "
            f"{lattice.name(between[0])} to {lattice.name(between[-1])}, "
            f"{counted(len(between), 'node')}."
        )

    yield from _halving(board, flash, why)


def _halving(
    board: Blackboard, module: ModuleType, why: Callable[[Nodes, Node, Sequence[Node]], str]
) -> Iterator[Step]:
    """A search that halves what is left, concludes from each node, and takes the least loss.

    Parameters
    ----------
    module
        The algorithm; its ``search`` tells between which nodes it looks.
    why
        Why a node is looked at, from those.
    """
    lattice = _searchable(board)
    trace = module.anonymise(board.task).trace
    between: dict[Node, tuple[Node, ...]] = {}

    def told(node: Node, ends: Sequence[Node]) -> None:
        between[node] = tuple(ends)

    seen = begin(board.task, no_progress)
    module.search(seen, NodeTags(seen), told)
    good = []
    for node in (tuple(each) for each in trace.visited.tolist()):
        reason = why(lattice, node, between[node]) if node in between else _AGAIN
        look = replace(lattice.look(node), between=between.get(node, ()))
        if look.satisfies:
            good.append(node)
        yield lattice.step(lattice.conclude(look), reason)
    yield lattice.last(trace.node, [least_loss(lattice, good, trace.node)])


_AGAIN = "It is known to satisfy; it is counted because it might lose least."
"""Why a node is counted of which a search concluded already that it satisfies."""


def _optimal(board: Blackboard) -> Iterator[Step]:
    """Down from the top at first; then whatever could lose less, the highest such bound first."""
    trace = optimal.anonymise(board.task).trace
    assert trace.node is not None
    lattice = _searchable(board)
    task = board.task
    depths = (
        with_precision(task).potentials if task.option(LOSS) == "precision" else task.potentials
    )
    bounds = {node: lost_at(lattice, node, depths) for node in lattice.shape.nodes()}
    last, good, seen = trace.walk[-1], list[Node](), set[Node]()
    for node in (tuple(each) for each in trace.visited.tolist()):
        choices = []
        if not seen:
            why = "The search begins at the top, where everything is lost."
        elif node in trace.walk or node in lattice.shape.below(last) or last not in seen:
            why = (
                "On the way down: the nodes one step below the last that satisfies are tried, the "
                "one that loses least with nothing suppressed first."
            )
        else:
            best = min((loss_at(lattice, each), each) for each in good)
            open_to = [
                each
                for each in bounds
                if each not in lattice.failing and each not in seen and (bounds[each], each) < best
            ]
            choices = [
                Choice(
                    "Which node is next?",
                    "highest loss with nothing suppressed, of those that could be better than the "
                    "best so far and are not known to fail",
                    tuple(
                        Candidate(lattice.name(each), (-bounds[each], each), each == node)
                        for each in open_to
                    ),
                )
            ]
            why = (
                f"With nothing suppressed it would lose {said(board, bounds[node])}, no more than "
                f"the best so far, {said(board, best[0])}; of such nodes that are not known to "
                "fail it loses most, so if it fails, those below it fall with it."
            )
        look = lattice.look(node)
        seen.add(node)
        if look.satisfies:
            good.append(node)
        yield lattice.step(lattice.conclude(look), why, choices)
    yield lattice.last(trace.node, [least_loss(lattice, good, trace.node)])


def _incognito(board: Blackboard) -> Iterator[Step]:
    trace = incognito.anonymise(board.task).trace
    assert trace.node is not None
    lattice = _searchable(board)
    names, tops = board.task.classes.attributes, lattice.shape.tops
    every = range(len(tops))
    good = []
    for node in (tuple(each) for each in trace.visited.tolist()):
        # A node is counted for the first, smallest set of columns that has these levels.
        within = [j for j in every if node[j] < tops[j]] or [0]
        look = lattice.look(node)
        if look.satisfies:
            good.append(node)
        columns = " and ".join(names[j] for j in within)
        why = f"{columns} alone, all other columns at their roots, as if they were not there."
        if len(within) == len(tops):
            why = "All columns together; at these levels, any fewer of them satisfy."
        if len(tops) == 1:
            why = "There is one column: its levels are tried from below."
        if node in lattice.satisfying:
            why = _AGAIN
        yield lattice.step(lattice.conclude(look, within), why)
    yield lattice.last(trace.node, [least_loss(lattice, good, trace.node)])


def _mingen(board: Blackboard) -> Iterator[Step]:
    """By height; the minimal satisfying node of highest precision."""
    trace = mingen.anonymise(board.task).trace
    chosen = trace.node
    assert chosen is not None
    lattice = _searchable(board)
    good = []
    for node in (tuple(each) for each in trace.visited.tolist()):
        unknown = [each for each in lattice.shape.nodes() if each not in lattice.satisfying]
        lowest = [
            each for each in unknown if sum(each) == sum(node) and each not in lattice.failing
        ]
        choice = Choice(
            "Which node is next?",
            "lowest height; of equal ones, the first in the order of the levels",
            tuple(Candidate(lattice.name(each), (each,), each == node) for each in lowest),
        )
        look = lattice.look(node)
        if look.satisfies:
            good.append(node)
        why = f"By height, and of height {sum(node)} the first that no satisfying node lies below."
        yield lattice.step(lattice.conclude(look), why, [choice])
    task = board.task
    levels_lost = with_precision(task).potentials
    most = max(lost_at(lattice, lattice.shape.tops, levels_lost), 1)
    choice = Choice(
        "Which of the minimal satisfying nodes is released?",
        "highest precision; of equal ones, the one that was named, then the least loss",
        tuple(
            Candidate(
                lattice.name(node),
                (
                    lost_at(lattice, node, levels_lost),
                    node != task.node,
                    lost_at(lattice, node, task.potentials),
                    node,
                ),
                node == chosen,
                board.cost(lost_at(lattice, node, task.potentials)),
                terms_at(lattice, lattice.at(node)),
                note=f"{percent(100 * lost_at(lattice, node, levels_lost) / most)} of it lost",
            )
            for node in sorted(good)
        ),
    )
    yield lattice.last(chosen, [choice])


def _levels(board: Blackboard) -> Iterator[Step]:
    node = levels.anonymise(board.task).trace.node
    assert node is not None
    lattice = Nodes(board, board.task.suppression or 0)
    yield lattice.step(lattice.look(node), "These levels were chosen by hand.")
    yield lattice.last(node, ())


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "datafly": _datafly,
    "improved-greedy": _improved_greedy,
    "samarati": _samarati,
    "mingen": _mingen,
    "incognito": _incognito,
    "ola": _ola,
    "flash": _flash,
    "optimal": _optimal,
    "levels": _levels,
}
"""The algorithms of the family that have a lesson."""
