"""The nodes of a lattice counted the slow way: raise all, group, add up small classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

import numpy as np

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import LOSS, compute_class_size, replace_by_precision
from kanon.base.formatting import count_noun
from kanon.base.progress import ignore_progress
from kanon.privacy.conjunction import find_broken
from kanon.recoding import Recoding
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Candidate, Choice, CostTerm, Rule, Step

FIRST_LEVELS = Rule("the first in the order of the levels")  # decides ties between nodes


@dataclass(frozen=True)
class NodeView:
    node: Node  # the level of each quasi-identifier
    # the largest k that the node reaches after suppressing at most the allowed records
    reached: int
    too_small: int  # the records in classes that have fewer than k records or break another model
    limit: int  # how many records may be suppressed
    satisfies: bool  # whether no more than that would have to be
    # the nodes that are known from now on to satisfy too (or, if this one fails, to fail)
    implied_nodes: tuple[Node, ...] = ()
    walk: tuple[Node, ...] = ()  # the nodes that the search moved through so far
    # where the search was looking: between a low and a high node (OLA), or on a path (Flash)
    between: tuple[Node, ...] = ()
    heights: tuple[int, int] | None = None
    also: tuple[NodeView, ...] = ()  # the other nodes that were counted to choose this one
    released: bool = False  # whether this is the node that is released


@dataclass(eq=False)
class LatticeNodes:
    board: Blackboard  # the task
    limit: int  # how many records may be suppressed
    # the nodes that are known so far to satisfy, or to fail
    satisfying: set[Node] = field(default_factory=set)
    failing: set[Node] = field(default_factory=set)
    counted: set[Node] = field(default_factory=set)
    good: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Only for its shape and its raised values; it counts nothing.
        self.shape = Lattice(self.board.task, self.limit, ignore_progress)

    def at(self, node: Node) -> Recoding:
        return Recoding.from_targets(self.board.task.classes, self.shape.targets(node))

    def bad(self, whole: Recoding) -> np.ndarray:
        task = self.board.task
        return (whole.counts < task.k) | find_broken(task.others, whole.released)

    def release(self, node: Node) -> Recoding:
        whole = self.at(node)
        gone = self.bad(whole)[whole.assigned]
        return Recoding.from_targets(self.board.task.classes, self.shape.targets(node), gone)

    def count_node(self, node: Node, walk: Iterable[Node] = ()) -> NodeView:
        self.counted.add(node)
        whole = self.at(node)
        gone = int(whole.counts[self.bad(whole)].sum())
        if gone <= self.limit:
            self.good.append(node)
        return NodeView(
            node, self.reached(whole), gone, self.limit, gone <= self.limit, walk=tuple(walk)
        )

    def reached(self, whole: Recoding) -> int:
        """The largest k for which at most the allowed records are in smaller classes."""
        n = whole.classes.n_records
        return max(k for k in range(1, n + 1) if whole.counts[whole.counts < k].sum() <= self.limit)

    def add_conclusions(self, look: NodeView, within: Iterable[int] | None = None) -> NodeView:
        free = range(len(look.node)) if within is None else tuple(within)
        known = self.satisfying if look.satisfies else self.failing
        tops = self.shape.tops

        def is_implied(level: int, j: int) -> bool:
            if not look.satisfies:
                return level <= look.node[j]
            return level >= look.node[j] if j in free else level == tops[j]

        implied_nodes = tuple(
            node
            for node in self.shape.nodes()
            if node not in known and node != look.node and all(map(is_implied, node, count()))
        )
        known.update(implied_nodes, [look.node])
        return replace(look, implied_nodes=implied_nodes)

    # --- words ----------------------------------------------------------------------------------
    def name(self, node: Node) -> str:
        return self.board.levels(node)

    def verdict(self, look: NodeView) -> str:
        task = self.board.task
        wrong = f"classes of fewer than k = {task.k}"
        if task.others:
            models = " or ".join(model.sentence for model in task.others)
            wrong += f", or in classes that do not meet {models}"
        if not look.too_small:
            return f"The node meets the requirements: no record is in {wrong}."
        records_in_words = f"{count_noun(look.too_small, 'record is', 'records are')} in {wrong}"
        verb, end = "does not meet", f"would have to be suppressed; {self.limit or 'none'} may be."
        if look.satisfies:
            verb, end = "meets", f"would be suppressed; {self.limit or 'none'} may be."
        return f"The node {verb} the requirements: {records_in_words} and {end}"

    def describe_conclusion(self, look: NodeView) -> str:
        if not look.implied_nodes:
            return ""
        where, verbs, why = "below it", ("fails", "fail"), "lowering values only splits classes"
        if look.satisfies:
            verbs = "meets the requirements", "meet the requirements"
            where, why = "above it", "raising values only joins classes"
        size = len(look.implied_nodes)
        nodes = (
            f"the node {where} {verbs[0]}" if size == 1 else f"the {size} nodes {where} {verbs[1]}"
        )
        return f" So {nodes} too, without being counted: {why}."

    def step(
        self, look: NodeView, why: str, choices: Iterable[Choice] = (), then: str = ""
    ) -> Step:
        return self.board.step(
            f"Look at {self.name(look.node)}",
            f"{why} {self.verdict(look)}{self.describe_conclusion(look)}{then}",
            self.at(look.node),
            tuple(choices),
            look,
        )

    def last(self, node: Node, reason: Choice | str, walk: Iterable[Node] = ()) -> Step:
        look = replace(self.count_node(node, walk), released=True)
        gone = " Nothing is suppressed."
        if look.too_small:
            gone = f" {count_noun(look.too_small, 'record is', 'records are')} suppressed."
        choices = [reason] if isinstance(reason, Choice) else []
        why = reason
        if choices:
            why = f"Of the counted nodes that meet the requirements: {choices[0].reason}."
        sizes = f" {len(self.counted)} of {self.shape.size} nodes were counted."
        return self.board.step(
            f"Release {self.name(node)}", f"{why}{gone}{sizes}", self.release(node), choices, look
        )


def collect_known_nodes(looks: Iterable[NodeView]) -> dict[Node, tuple[bool, bool]]:
    """Whether nodes satisfy, and whether they were counted, as known after these steps.

    >>> first = NodeView((0, 1), 1, 4, 0, False, ((0, 0),))
    >>> second = NodeView((0, 0), 1, 4, 0, False)
    >>> collect_known_nodes([first]), collect_known_nodes([first, second])[0, 0]
    ({(0, 0): (False, False), (0, 1): (False, True)}, (False, True))
    """
    known: dict[Node, tuple[bool, bool]] = {}
    for look in looks:
        known |= {node: (look.satisfies, False) for node in look.implied_nodes if node not in known}
        known |= {view.node: (view.satisfies, True) for view in (look, *look.also)}
    return known


def choose_least_loss(lattice: LatticeNodes, nodes: Iterable[Node], chosen: Node) -> Choice:
    board = lattice.board
    kind = board.task.option(LOSS)
    candidates = []
    for node in sorted(set(nodes)):
        loss = compute_loss(lattice, node)
        cost = convert_loss(board, loss)
        terms = list_node_costs(lattice, lattice.release(node)) if kind == "metric" else ()
        name, key = lattice.name(node), (loss, node)
        candidates.append(Candidate(name, key, node == chosen, cost, terms, figures=(cost,)))
    return Choice(
        "Which of the nodes that meet the requirements is released?",
        (Rule(f"least {LOSS.choices[kind]}"), FIRST_LEVELS),
        tuple(candidates),
    )


def compute_loss(lattice: LatticeNodes, node: Node) -> int | Fraction:
    task = lattice.board.task
    release = lattice.release(node)
    n, gone = task.classes.n_records, release.suppressed_records
    kind = task.option(LOSS)
    if kind == "discernibility":
        return sum(size * size for size in release.counts.tolist()) + gone * n
    if kind == "class-size":
        return compute_class_size(n, release.n_classes, gone)
    depths = replace_by_precision(task).potentials if kind == "precision" else task.potentials
    return sum_costs(release, depths)


def compute_unsuppressed_loss(
    lattice: LatticeNodes, node: Node, depths: Iterable[np.ndarray]
) -> int:
    return sum_costs(lattice.at(node), depths)


def sum_costs(release: Recoding, depths: Iterable[np.ndarray]) -> int:
    nodes, counts = release.classes.nodes.T, release.classes.counts
    return sum(
        int((depth[low] - depth[high]) @ counts)
        for depth, low, high in zip(depths, nodes, release.targets.T, strict=True)
    )


def list_node_costs(lattice: LatticeNodes, release: Recoding) -> tuple[CostTerm, ...]:
    """The costs of all records at a node; suppressed records pay up to the roots."""
    board, targets = lattice.board, release.targets.tolist()
    return tuple(
        term
        for state, nodes in zip(board.originals, targets, strict=True)
        for term in board.list_rise_costs(state, nodes, state.records)
        if term.low != term.high
    )


def convert_loss(board: Blackboard, loss: int | Fraction) -> float:
    """The loss that a search minimises, in the metric's own unit where the metric counts it."""
    return board.cost(int(loss)) if board.task.option(LOSS) == "metric" else float(loss)
