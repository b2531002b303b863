"""Lessons of the lattice: the nodes that a search looked at, and what it concluded from each.

A trace tells which nodes were counted, in their order. Here each is counted again the slow way: all
values raised, records grouped, classes that are too small added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import ModuleType

import numpy as np

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
from kanon.algorithms.lattice import Lattice, Node
from kanon.algorithms.search import LOSS, Known, begin, with_precision
from kanon.algorithms.task import no_progress
from kanon.lessons.blackboard import Blackboard
from kanon.lessons.lesson import Candidate, Choice, Step, Term, written
from kanon.privacy.conjunction import broken
from kanon.recoding import Recoding
from kanon.words import counted, percent

__all__ = ["REPLAYS", "Look"]


@dataclass(frozen=True)
class Look:
    """A node of the lattice: what a step of a search shows beside its choices.

    Attributes
    ----------
    node
        The level of each quasi-identifier.
    reached
        The largest k that the node reaches after suppressing at most the allowed records.
    too_small
        The records in classes that have fewer than k records or break another model.
    limit
        How many records may be suppressed.
    satisfies
        Whether no more than that would have to be.
    concluded
        The nodes of which it is known from this one, and was not before, that they satisfy too
        (or, if this one does not, that they do not); the node itself is not among them.
    walk
        The nodes that the search moved through so far; for searches that walk.
    between
        Between which nodes the search was looking: of OLA a low and a high one, of Flash what is
        left of its path; empty for others.
    released
        Whether this is the node that is released.
    """

    node: Node
    reached: int
    too_small: int
    limit: int
    satisfies: bool
    concluded: tuple[Node, ...] = ()
    walk: tuple[Node, ...] = ()
    between: tuple[Node, ...] = ()
    released: bool = False


@dataclass(eq=False)
class _Lattice:
    """The lattice of a task, counted the slow way.

    Attributes
    ----------
    board
        The task.
    limit
        How many records may be suppressed.
    satisfying, failing
        The nodes that are known to satisfy, or not to, at this moment.
    """

    board: Blackboard
    limit: int
    satisfying: set[Node] = field(default_factory=set)
    failing: set[Node] = field(default_factory=set)

    def __post_init__(self) -> None:
        # For its shape and its raised values alone: nothing is counted by it.
        self.shape = Lattice(self.board.task, self.limit, no_progress)

    def at(self, node: Node) -> Recoding:
        """The table at a node, with nothing suppressed."""
        return Recoding.from_targets(self.board.task.classes, self.shape.targets(node))

    def bad(self, whole: Recoding) -> np.ndarray:
        """Which classes break k or a model."""
        task = self.board.task
        return (whole.counts < task.k) | broken(task.others, whole.released)

    def release(self, node: Node) -> Recoding:
        """The release at a node: classes that break k or a model leave."""
        whole = self.at(node)
        gone = self.bad(whole)[whole.assigned]
        return Recoding.from_targets(self.board.task.classes, self.shape.targets(node), gone)

    def look(self, node: Node, walk: Iterable[Node] = ()) -> Look:
        """What a node amounts to."""
        whole = self.at(node)
        gone = int(whole.counts[self.bad(whole)].sum())
        return Look(
            node, self.reached(whole), gone, self.limit, gone <= self.limit, walk=tuple(walk)
        )

    def reached(self, whole: Recoding) -> int:
        """The largest k for which at most the allowed records are in smaller classes."""
        n = whole.classes.n_records
        return max(k for k in range(1, n + 1) if whole.counts[whole.counts < k].sum() <= self.limit)

    def conclude(self, look: Look, within: Iterable[int] | None = None) -> Look:
        """Note what follows from a node for those above it, or below it.

        Parameters
        ----------
        look
            The node.
        within
            The quasi-identifiers that a node that satisfies tells of, with all others at their
            roots; all if not given.
        """
        free = range(len(look.node)) if within is None else tuple(within)
        known = self.satisfying if look.satisfies else self.failing
        tops = self.shape.tops
        follow = tuple(
            node
            for node in self.shape.nodes()
            if node not in known
            and node != look.node
            and all(
                node[j] <= level
                if not look.satisfies
                else node[j] >= level
                if j in free
                else node[j] == tops[j]
                for j, level in enumerate(look.node)
            )
        )
        known.update(follow, [look.node])
        return replace(look, concluded=follow)

    # --- words ----------------------------------------------------------------------------------
    def name(self, node: Node) -> str:
        """A node in words: a level per quasi-identifier."""
        names = self.board.task.classes.attributes
        return ", ".join(f"{name} {level}" for name, level in zip(names, node, strict=True))

    def verdict(self, look: Look) -> str:
        """Whether a node satisfies, in a sentence."""
        task = self.board.task
        wrong = f"classes of fewer than k = {task.k}"
        if task.others:
            wrong += f" or that break {' or '.join(model.sentence for model in task.others)}"
        if not look.too_small:
            return f"It satisfies: no record is in {wrong}."
        said = f"{counted(look.too_small, 'record is', 'records are')} in {wrong}"
        allowed = f"{self.limit} may be suppressed" if self.limit else "none may be suppressed"
        return f"It {'satisfies' if look.satisfies else 'does not satisfy'}: {said}, and {allowed}."

    def conclusion(self, look: Look) -> str:
        """What follows for others, in a sentence; nothing where nothing new does."""
        if not look.concluded:
            return ""
        which = "above it satisfies" if look.satisfies else "below it fails"
        many = "above it satisfy" if look.satisfies else "below it fail"
        size = len(look.concluded)
        nodes = f"the node {which}" if size == 1 else f"the {size} nodes {many}"
        why = (
            "raising further only joins classes"
            if look.satisfies
            else "lowering only parts classes"
        )
        return f" So {nodes} too, unseen: {why}."

    def step(self, look: Look, why: str, choices: Iterable[Choice] = (), then: str = "") -> Step:
        """A step that looks at a node; what is said of it beside the verdict."""
        return self.board.step(
            f"Look at {self.name(look.node)}",
            f"{why} {self.verdict(look)}{self.conclusion(look)}{then}",
            self.at(look.node),
            tuple(choices),
            look,
        )

    def last(self, node: Node, choices: Iterable[Choice], walk: Iterable[Node] = ()) -> Step:
        """The step that releases a node."""
        look = replace(self.look(node, walk), released=True)
        gone = (
            f" {counted(look.too_small, 'record is', 'records are')} suppressed."
            if look.too_small
            else " Nothing is suppressed."
        )
        choices = tuple(choices)
        why = "The search ends here."
        if choices:
            size, found = len(choices[0].candidates), choices[0].chosen
            best = choices[0].best.split(";")[0]
            equal = sum(each.key[0] == found.key[0] for each in choices[0].candidates)
            tie = f"; {equal} tie{choices[0].best[len(best) :]}" if equal > 1 else ""
            why = (
                f"Of {size} candidates, which all satisfy, it has the {best} "
                f"({found.note or written(found.cost)}){tie}."
                if size > 1
                else "It is the only candidate that satisfies."
            )
        return self.board.step(
            f"Release {self.name(node)}", f"{why}{gone}", self.release(node), choices, look
        )


# --- walks ------------------------------------------------------------------------------------
def _datafly(board: Blackboard) -> Iterator[Step]:
    trace = datafly.anonymise(board.task).trace
    limit = board.task.suppression
    lattice = _Lattice(board, board.task.k if limit is None else limit)
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
    lattice = _Lattice(board, board.task.suppression or 0)
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
    lattice: _Lattice,
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


def _distinct(lattice: _Lattice, node: Node) -> list[int]:
    """How many different values each column has at a node."""
    return [len(set(column.tolist())) for column in lattice.shape.targets(node).T]


# --- searches of the whole lattice ------------------------------------------------------------
def _searchable(board: Blackboard) -> _Lattice:
    """The lattice, if it is small enough to be told node by node."""
    board.check_lattice()
    return _Lattice(board, board.task.suppression or 0)


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
    yield lattice.last(chosen, [_least_loss(lattice, lowest, chosen)])


def _ola(board: Blackboard) -> Iterator[Step]:
    def why(lattice: _Lattice, node: Node, between: Sequence[Node]) -> str:
        low, high = between
        if node == low:
            return f"It is next below {lattice.name(high)}, which satisfies."
        return (
            f"It lies half-way between {lattice.name(low)} and {lattice.name(high)}, which "
            "satisfies, and nothing is known of it yet."
        )

    yield from _halving(board, ola, why)


def _flash(board: Blackboard) -> Iterator[Step]:
    def why(lattice: _Lattice, node: Node, between: Sequence[Node]) -> str:
        if len(between) == 1:
            return "It is the last that is left of a path upwards of which nothing is known."
        return (
            f"It lies in the middle of a path upwards of which nothing is known, from "
            f"{lattice.name(between[0])} to {lattice.name(between[-1])}, "
            f"{counted(len(between), 'node')}."
        )

    yield from _halving(board, flash, why)


def _halving(
    board: Blackboard, module: ModuleType, why: Callable[[_Lattice, Node, Sequence[Node]], str]
) -> Iterator[Step]:
    """A search that halves what is left, concludes from each node, and takes the least loss.

    Parameters
    ----------
    board
        The task.
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
    module.search(seen, Known(seen), told)
    good = []
    for node in (tuple(each) for each in trace.visited.tolist()):
        reason = why(lattice, node, between[node]) if node in between else _AGAIN
        look = replace(lattice.look(node), between=between.get(node, ()))
        if look.satisfies:
            good.append(node)
        yield lattice.step(lattice.conclude(look), reason)
    yield lattice.last(trace.node, [_least_loss(lattice, good, trace.node)])


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
    bounds = {node: _lost(lattice, node, depths) for node in lattice.shape.nodes()}
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
            best = min((_loss(lattice, each), each) for each in good)
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
                f"With nothing suppressed it would lose {_said(board, bounds[node])}, no more than "
                f"the best so far, {_said(board, best[0])}; of such nodes that are not known to "
                "fail it loses most, so if it fails, those below it fall with it."
            )
        look = lattice.look(node)
        seen.add(node)
        if look.satisfies:
            good.append(node)
        yield lattice.step(lattice.conclude(look), why, choices)
    yield lattice.last(trace.node, [_least_loss(lattice, good, trace.node)])


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
    yield lattice.last(trace.node, [_least_loss(lattice, good, trace.node)])


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
    most = max(_lost(lattice, lattice.shape.tops, levels_lost), 1)
    choice = Choice(
        "Which of the minimal satisfying nodes is released?",
        "highest precision; of equal ones, the one that was named, then the least loss",
        tuple(
            Candidate(
                lattice.name(node),
                (
                    _lost(lattice, node, levels_lost),
                    node != task.node,
                    _lost(lattice, node, task.potentials),
                    node,
                ),
                node == chosen,
                board.cost(_lost(lattice, node, task.potentials)),
                _terms(lattice, lattice.at(node)),
                note=f"{percent(100 * _lost(lattice, node, levels_lost) / most)} of it lost",
            )
            for node in sorted(good)
        ),
    )
    yield lattice.last(chosen, [choice])


def _levels(board: Blackboard) -> Iterator[Step]:
    node = levels.anonymise(board.task).trace.node
    assert node is not None
    lattice = _Lattice(board, board.task.suppression or 0)
    yield lattice.step(lattice.look(node), "These levels were chosen by hand.")
    yield lattice.last(node, ())


# --- the least loss ---------------------------------------------------------------------------
def _least_loss(lattice: _Lattice, nodes: Iterable[Node], chosen: Node) -> Choice:
    """The choice among the nodes that were counted and satisfy."""
    board = lattice.board
    kind = board.task.option(LOSS)
    return Choice(
        "Which of the nodes that satisfy is released?",
        f"least {LOSS.choices[kind]}; of equal ones, the first in the order of the levels",
        tuple(
            Candidate(
                lattice.name(node),
                (loss := _loss(lattice, node), node),
                node == chosen,
                board.cost(int(loss)) if kind == "metric" else float(loss),
                _terms(lattice, lattice.release(node)) if kind == "metric" else (),
            )
            for node in sorted(set(nodes))
        ),
    )


def _loss(lattice: _Lattice, node: Node, suppressing: bool = True) -> int | Fraction:
    """What a search minimises at a node, from its release: every record, one after the other."""
    task = lattice.board.task
    release = lattice.release(node) if suppressing else lattice.at(node)
    n, gone = task.classes.n_records, release.suppressed_records
    kind = task.option(LOSS)
    if kind == "discernibility":
        return sum(size * size for size in release.counts.tolist()) + gone * n
    if kind == "class-size":
        return Fraction(n - gone, release.n_classes) if release.n_classes else Fraction(n + 1)
    depths = with_precision(task).potentials if kind == "precision" else task.potentials
    return _sum(release, depths)


def _lost(lattice: _Lattice, node: Node, depths: Iterable[np.ndarray]) -> int:
    """What raising all records to a node costs, as some potentials count."""
    return _sum(lattice.at(node), depths)


def _sum(release: Recoding, depths: Iterable[np.ndarray]) -> int:
    rows = zip(
        release.classes.counts.tolist(),
        release.classes.nodes.tolist(),
        release.targets.tolist(),
        strict=True,
    )
    depths = [depth.tolist() for depth in depths]
    return sum(
        records * (depth[a] - depth[b])
        for records, low, high in rows
        for depth, a, b in zip(depths, low, high, strict=True)
    )


def _terms(lattice: _Lattice, release: Recoding) -> tuple[Term, ...]:
    """What all records pay at a node: those of every class, and the suppressed to the roots."""
    board, targets = lattice.board, release.targets.tolist()
    return tuple(
        term
        for held, nodes in zip(board.originals, targets, strict=True)
        for term in board.rising(held, nodes, held.records)
        if term.low != term.high
    )


def _said(board: Blackboard, loss: int | Fraction) -> str:
    """A loss in a sentence."""
    plain = board.task.option(LOSS) == "metric"
    return written(board.cost(int(loss)) if plain else float(loss))


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
