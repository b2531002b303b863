"""The search of lattices that are too large to look at all nodes: random walks that cool down."""

import math

import numpy as np

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import Loss, build_unsatisfiable, is_better

_STEPS = 15_000  # of a walk

# A step to a node that loses more by this share is taken with probability 1/e. The walks begin hot
# and warm in turn: where hardly any record may be suppressed, a warm one does not get out of a
# corner; where many may be, a hot one counts twice as many nodes for the same result.
_FIRST_HEATS, _LAST_HEAT = (0.3, 0.03), 0.0002

_MOVES = (1, 1, 1, 1, 2, 2, 2, 2, 2, 3)  # how many levels change in a step, each as likely


def find_good_nodes(lattice: Lattice, loss: Loss, walks: int) -> list[Node]:
    """Find nodes that lose ever less: the top, and of each walk that found a better one the best.

    Each walk starts at the top. A step changes one level to three, drawn at random, by one each. A
    node that suppresses too many records is never taken, one that loses less always, and one that
    loses more the more rarely the more it loses and the longer the walk lasts. In the end the walk
    goes on to the best node beside it, until none is better. Nothing is proved of the result.

    Source: Kirkpatrick, Gelatt, Vecchi 1983, Optimization by Simulated Annealing, Science 220.
    """
    if not lattice.satisfies(lattice.tops):
        raise build_unsatisfiable(lattice.task)
    best_nodes = [lattice.tops]
    for seed in range(walks):
        node = _descend(lattice, loss, _walk(lattice, loss, seed, walks))
        if _loses_less(lattice, loss, node, best_nodes[-1]):
            best_nodes.append(node)
    return best_nodes


def _walk(lattice: Lattice, loss: Loss, seed: int, walks: int) -> Node:
    """The best node of one of several walks."""
    random, first_heat = np.random.default_rng(seed), _FIRST_HEATS[seed % len(_FIRST_HEATS)]
    node = best = lattice.tops
    lost = loss.of(node, lattice.evaluate(node))
    for step in range(_STEPS):
        if lost <= 0:  # nothing can be better
            break
        lattice.done = (seed + step / _STEPS) / walks
        lattice.show_progress()
        other = _draw_node(lattice, node, random)
        if other == node or not lattice.satisfies(other):
            continue
        other_lost = loss.of(other, lattice.evaluate(other))
        heat = first_heat * (_LAST_HEAT / first_heat) ** (step / _STEPS)
        rise = float(other_lost - lost) / float(lost)
        if rise <= 0 or random.random() < math.exp(-rise / heat):
            node, lost = other, other_lost
            best = node if _loses_less(lattice, loss, node, best) else best
    return best


def _draw_node(lattice: Lattice, node: Node, random: np.random.Generator) -> Node:
    levels = list(node)
    for _ in range(_MOVES[random.integers(len(_MOVES))]):
        j = int(random.integers(len(levels)))
        step = 1 if random.integers(2) else -1
        levels[j] = min(max(levels[j] + step, 0), lattice.tops[j])
    return tuple(levels)


def _descend(lattice: Lattice, loss: Loss, node: Node) -> Node:
    while True:
        best = node
        for other in (*lattice.list_nodes_below(node), *lattice.above(node)):
            if lattice.satisfies(other) and _loses_less(lattice, loss, other, best):
                best = other
        if best == node:
            return node
        node = best


def _loses_less(lattice: Lattice, loss: Loss, node: Node, other: Node) -> bool:
    if node == other:
        return False
    lost, other_lost = (
        loss.of(node, lattice.evaluate(node)),
        loss.of(other, lattice.evaluate(other)),
    )
    return is_better(loss, (lost, node), (other_lost, other))
