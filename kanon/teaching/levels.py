"""Lessons of the lattice: the nodes that a search counted, and its conclusions from each.

A trace lists the counted nodes in their order. Here each is counted again the slow way: all values
raised, records grouped, classes that are too small added up.
"""

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
from kanon.algorithms.search import LOSS, NodeTags, begin_search, replace_by_precision
from kanon.base.formatting import count_noun, join_words
from kanon.base.progress import ignore_progress
from kanon.measures import precision
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Candidate, Choice, Rule, Step, write_number
from kanon.teaching.nodes import (
    FIRST_LEVELS,
    LatticeNodes,
    choose_least_loss,
    compute_loss,
    compute_unsuppressed_loss,
    convert_loss,
    list_node_costs,
)


# --- walks ------------------------------------------------------------------------------------
def _explain_datafly(board: Blackboard) -> Iterator[Step]:
    trace = datafly.anonymise(board.task).trace
    limit = board.task.suppression
    lattice = LatticeNodes(board, board.task.k if limit is None else limit)
    yield from _explain_walk(
        lattice, trace.walk, (_DISTINCT,), lambda node, j: (_count_distinct(lattice, node)[j],)
    )


def _explain_improved_greedy(board: Blackboard) -> Iterator[Step]:
    trace = improved_greedy.anonymise(board.task).trace
    lattice = LatticeNodes(board, board.task.suppression or 0)
    yield from _explain_walk(
        lattice,
        trace.walk,
        (Rule("largest k reached", "k reached ↑"), _DISTINCT),
        lambda node, j: (
            lattice.count_node(_raise_column(node, j)).reached,
            _count_distinct(lattice, node)[j],
        ),
    )


_DISTINCT = Rule("most distinct values", "Distinct values ↑")


def _explain_walk(
    lattice: LatticeNodes,
    walk: tuple[Node, ...],
    rules: tuple[Rule, ...],
    figures: Callable[[Node, int], tuple[int, ...]],
) -> Iterator[Step]:
    board = lattice.board
    names, tops = board.task.classes.attributes, lattice.shape.tops
    yield lattice.step(
        lattice.count_node(walk[0], walk[:1]), "The search begins with nothing raised."
    )
    for place in range(1, len(walk)):
        low, high = walk[place - 1 : place + 1]
        before, candidates = set(lattice.counted), []
        for j in (j for j, top in enumerate(tops) if low[j] < top):
            values = figures(low, j)
            key = (*(-figure for figure in values), j)
            candidates.append(
                Candidate(names[j], key, high == _raise_column(low, j), figures=values)
            )
        choice = Choice(
            "Which column is raised?", (*rules, Rule("the first column")), tuple(candidates)
        )
        also = sorted(lattice.counted - before - {high})
        look = replace(
            lattice.count_node(high, walk[: place + 1]), also=tuple(map(lattice.count_node, also))
        )
        others = count_noun(len(also), "other node was", "other nodes were")
        then = f" {others} counted for this choice."
        why = f"{choice.chosen.name} is raised by one level: {choice.reason}."
        yield lattice.step(look, why, [choice], then if also else "")
    yield lattice.last(
        walk[-1], "This is the first node on the way that meets the requirements.", walk
    )


def _raise_column(node: Node, j: int) -> Node:
    return (*node[:j], node[j] + 1, *node[j + 1 :])


def _count_distinct(lattice: LatticeNodes, node: Node) -> list[int]:
    return [len(set(column.tolist())) for column in lattice.shape.targets(node).T]


# --- searches of the whole lattice ------------------------------------------------------------
def _check_search(board: Blackboard) -> LatticeNodes:
    board.check_lattice()
    return LatticeNodes(board, board.task.suppression or 0)


def _explain_samarati(board: Blackboard) -> Iterator[Step]:
    trace = samarati.anonymise(board.task).trace
    lattice = _check_search(board)
    visited = [tuple(node) for node in trace.visited.tolist()]
    low, high = 0, sum(lattice.shape.tops)
    for place, node in enumerate(visited):
        height = sum(node)
        look = replace(lattice.count_node(node), heights=(low, high))
        level, before = list(lattice.shape.list_nodes_at_height(height)), visited[:place]
        choices = [_build_next_choice(lattice, [n for n in level if n not in before], node)]
        position = (
            f"Of its nodes that are not counted yet, this is {choices[0].reason} "
            f"(node {level.index(node) + 1} of {len(level)})."
        )
        if low == high:
            why = f"Only height {height} is left, so all nodes there are counted. {position}"
            yield lattice.step(look, why, choices)
            continue
        why = (
            f"The lowest height with a node that meets the requirements lies between {low} and "
            f"{high}. Height {height} is the middle, rounded down. {position}"
        )
        if not before or sum(before[-1]) != height:
            choices = [_build_height_choice(low, high), *choices]
        then, more = "", place + 1 < len(visited) and sum(visited[place + 1]) == height
        if look.satisfies:
            high = height
            left = _describe_remaining_heights(low, high)
            then = f" So the lowest height is at most {high}: {left}."
        elif not more:
            low = height + 1
            left = _describe_remaining_heights(low, high)
            then = f" No node of height {height} meets the requirements: {left}."
        yield lattice.step(look, why, choices, then)
    chosen = trace.node
    assert chosen is not None
    lowest = [node for node in lattice.good if sum(node) == sum(chosen)]
    yield lattice.last(chosen, choose_least_loss(lattice, lowest, chosen))


def _build_height_choice(low: int, high: int) -> Choice:
    middle = (low + high) // 2
    heights = range(low, high + 1)
    candidates = (Candidate(f"height {h}", (h != middle,), h == middle) for h in heights)
    return Choice("Which height is tried next?", (_MIDDLE,), tuple(candidates))


def _build_next_choice(lattice: LatticeNodes, nodes: Sequence[Node], chosen: Node) -> Choice:
    candidates = (Candidate(lattice.name(node), (node,), node == chosen) for node in nodes)
    return Choice("Which node is counted next?", (FIRST_LEVELS,), tuple(candidates))


_MIDDLE = Rule("the middle, rounded down")


def _describe_remaining_heights(low: int, high: int) -> str:
    return f"heights {low} to {high} are left" if low < high else f"only height {low} is left"


def _explain_ola(board: Blackboard) -> Iterator[Step]:
    def explain_node(
        lattice: LatticeNodes, node: Node, between: Sequence[Node]
    ) -> tuple[str, list[Choice]]:
        low, high = between
        if node == low:
            return f"It is directly below {lattice.name(high)}, which meets the requirements.", []
        known, half = lattice.satisfying | lattice.failing, (sum(high) - sum(low)) // 2
        nodes = lattice.shape.list_nodes_between(low, high, half)
        choice = _build_next_choice(lattice, [n for n in nodes if n not in known], node)
        return (
            f"Of the nodes half-way between {lattice.name(low)} and {lattice.name(high)} about "
            f"which nothing is known, this is {choice.reason}. {lattice.name(high)} meets the "
            "requirements."
        ), [choice]

    yield from _explain_halving(board, ola, explain_node)


def _explain_flash(board: Blackboard) -> Iterator[Step]:
    def explain_node(
        lattice: LatticeNodes, node: Node, between: Sequence[Node]
    ) -> tuple[str, list[Choice]]:
        if len(between) == 1:
            return "This is the only node left on an upward path about which nothing is known.", []
        choice = Choice(
            "Which node of the upward path is counted next?",
            (_MIDDLE,),
            tuple(Candidate(lattice.name(n), (n != node,), n == node) for n in between),
        )
        return (
            f"Nothing is known about an upward path of {len(between)} nodes, from "
            f"{lattice.name(between[0])} to {lattice.name(between[-1])}. This node is "
            f"{choice.reason}."
        ), [choice]

    yield from _explain_halving(board, flash, explain_node)


def _explain_halving(
    board: Blackboard,
    module: ModuleType,
    why: Callable[[LatticeNodes, Node, Sequence[Node]], tuple[str, list[Choice]]],
) -> Iterator[Step]:
    lattice = _check_search(board)
    trace = module.anonymise(board.task).trace
    between: dict[Node, tuple[Node, ...]] = {}

    def keep_ends(node: Node, ends: Sequence[Node]) -> None:
        between[node] = tuple(ends)

    search = begin_search(board.task, ignore_progress)
    module.search(search, NodeTags(search), keep_ends)
    for node in map(tuple, trace.visited.tolist()):
        known = node in between
        reason, choices = why(lattice, node, between[node]) if known else (_AGAIN, [])
        look = replace(lattice.count_node(node), between=between.get(node, ()))
        yield lattice.step(lattice.add_conclusions(look), reason, choices)
    yield lattice.last(trace.node, choose_least_loss(lattice, lattice.good, trace.node))


_AGAIN = (
    "This node is known to meet the requirements; it is counted because it might lose the least."
)
"""Why a node is counted although the search already concluded that it satisfies."""


def _explain_optimal(board: Blackboard) -> Iterator[Step]:
    """First down from the top; then all nodes that could lose less, the highest bound first."""
    trace = optimal.anonymise(board.task).trace
    assert trace.node is not None
    lattice = _check_search(board)
    task = board.task
    depths = (
        replace_by_precision(task).potentials
        if task.option(LOSS) == "precision"
        else task.potentials
    )
    bounds = {
        node: compute_unsuppressed_loss(lattice, node, depths) for node in lattice.shape.nodes()
    }
    last, good, counted_nodes = trace.walk[-1], lattice.good, lattice.counted
    for node in map(tuple, trace.visited.tolist()):
        choices = []
        if not counted_nodes:
            why = "The search begins at the highest node, where everything is lost."
        elif (
            node in trace.walk
            or node in lattice.shape.list_nodes_below(last)
            or last not in counted_nodes
        ):
            open_to = [
                below
                for below in lattice.shape.list_nodes_below(good[-1])
                if below not in lattice.failing and below not in counted_nodes
            ]
            choices = [_build_node_choice(lattice, "least", bounds, open_to, node)]
            why = (
                f"On the way down, of the nodes one step below {lattice.name(good[-1])}: "
                f"{choices[0].reason}."
            )
        else:
            best = min((compute_loss(lattice, satisfying), satisfying) for satisfying in good)
            open_to = [
                other
                for other, bound in bounds.items()
                if other not in lattice.failing
                and other not in counted_nodes
                and (bound, other) < best
            ]
            choices = [_build_node_choice(lattice, "highest", bounds, open_to, node)]
            why = (
                "Of the nodes that are not known to fail and could lose less than the best so far, "
                f"{write_number(convert_loss(board, best[0]))} (or as much, at levels that "
                f"come first): {choices[0].reason}. If it fails, all nodes below it fail."
            )
        yield lattice.step(lattice.add_conclusions(lattice.count_node(node)), why, choices)
    yield lattice.last(trace.node, choose_least_loss(lattice, good, trace.node))


def _build_node_choice(
    lattice: LatticeNodes,
    which: str,
    bounds: Mapping[Node, int],
    open_to: Sequence[Node],
    chosen: Node,
) -> Choice:
    rule = Rule(f"{which} loss with nothing suppressed", "Loss, nothing suppressed")
    sign = 1 if which == "least" else -1
    candidates = [
        Candidate(
            lattice.name(node), (sign * bounds[node], node), node == chosen,
            figures=(convert_loss(lattice.board, bounds[node]),),
        )
        for node in open_to
    ]  # fmt: skip
    return Choice("Which node is next?", (rule, FIRST_LEVELS), tuple(candidates))


def _explain_incognito(board: Blackboard) -> Iterator[Step]:
    trace = incognito.anonymise(board.task).trace
    assert trace.node is not None
    lattice = _check_search(board)
    names, tops = board.task.classes.attributes, lattice.shape.tops
    for node in map(tuple, trace.visited.tolist()):
        within = _find_columns(node, tops)
        why, choices = _AGAIN, list[Choice]()
        if node not in lattice.satisfying:
            choice = _build_columns_choice(lattice, within, node)
            columns = join_words([f"{names[j]} {node[j]}" for j in within])
            left = "" if len(within) == len(tops) else " and all others at their roots"
            why = f"Sets of {count_noun(len(within), 'column')}, {columns}{left}: {choice.reason}."
            choices = [choice]
        yield lattice.step(lattice.add_conclusions(lattice.count_node(node), within), why, choices)
    yield lattice.last(trace.node, choose_least_loss(lattice, lattice.good, trace.node))


def _find_columns(node: Node, tops: Node) -> tuple[int, ...]:
    """The first, smallest set of columns that has these levels while all others are at their roots.

    >>> _find_columns((0, 2, 1), (1, 2, 2)), _find_columns((1, 0, 1), (1, 0, 1))
    ((0, 2), (1,))
    """
    own = tuple(j for j, (level, top) in enumerate(zip(node, tops, strict=True)) if level < top)
    return own or (min(range(len(tops)), key=tops.__getitem__),)


def _build_columns_choice(lattice: LatticeNodes, within: tuple[int, ...], chosen: Node) -> Choice:
    tops, known, candidates = lattice.shape.tops, lattice.counted | lattice.satisfying, []
    for node in lattice.shape.nodes():
        own = _find_columns(node, tops)
        smaller = [(*node[:j], tops[j], *node[j + 1 :]) for j in own] if len(own) > 1 else []
        if len(own) == len(within) and node not in known and lattice.satisfying.issuperset(smaller):
            height = sum(node[j] for j in own)
            key = height, own, node
            candidates.append(Candidate(lattice.name(node), key, node == chosen, figures=(height,)))
    rules = Rule("least sum of their levels"), Rule("the first columns"), FIRST_LEVELS
    return Choice("Which columns at which levels are next?", rules, tuple(candidates))


def _explain_mingen(board: Blackboard) -> Iterator[Step]:
    trace = mingen.anonymise(board.task).trace
    chosen = trace.node
    assert chosen is not None
    lattice = _check_search(board)
    for node in map(tuple, trace.visited.tolist()):
        known = lattice.satisfying | lattice.failing
        lowest = [low for low in lattice.shape.list_nodes_at_height(sum(node)) if low not in known]
        choice = Choice(
            "Which node is next?",
            (FIRST_LEVELS,),
            tuple(Candidate(lattice.name(low), (low,), low == node) for low in lowest),
        )
        why = (
            f"Lowest heights first: of the nodes of height {sum(node)} that have not been "
            f"counted yet and lie above no node that meets the requirements, {choice.reason}."
        )
        yield lattice.step(lattice.add_conclusions(lattice.count_node(node)), why, [choice])
    task = board.task
    levels_lost = replace_by_precision(task).potentials
    lost = {
        node: compute_unsuppressed_loss(lattice, node, task.potentials) for node in lattice.good
    }
    choice = Choice(
        "Which of the minimal nodes that meet the requirements is released?",
        (
            Rule("highest precision", "Precision ↑", " %"),
            Rule("the node named in the settings"),
            Rule("least loss"),
            FIRST_LEVELS,
        ),
        tuple(
            Candidate(
                lattice.name(node),
                (
                    compute_unsuppressed_loss(lattice, node, levels_lost),
                    node != task.node,
                    lost[node],
                    node,
                ),
                node == chosen,
                board.cost(lost[node]),
                list_node_costs(lattice, lattice.at(node)),
                figures=(100 * precision.value(lattice.at(node)), None, board.cost(lost[node])),
            )
            for node in sorted(lost)
        ),
    )
    yield lattice.last(chosen, choice)


def _explain_levels(board: Blackboard) -> Iterator[Step]:
    node = levels.anonymise(board.task).trace.node
    assert node is not None
    lattice = LatticeNodes(board, board.task.suppression or 0)
    yield lattice.step(lattice.count_node(node), "These levels were chosen by hand.")
    yield lattice.last(node, "These are the chosen levels.")


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "datafly": _explain_datafly,
    "improved-greedy": _explain_improved_greedy,
    "samarati": _explain_samarati,
    "mingen": _explain_mingen,
    "incognito": _explain_incognito,
    "ola": _explain_ola,
    "flash": _explain_flash,
    "optimal": _explain_optimal,
    "levels": _explain_levels,
}
