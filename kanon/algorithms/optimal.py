"""The bounded search: the full-domain release with the least loss, from few nodes.

Of a lattice that is too large to bound every node, random walks look for a good one.
"""

import math
from dataclasses import replace

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card, read_parameter
from kanon.algorithms.annealing import find_good_nodes
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import MOST_NODES, Node, can_search_lattice
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    CellLoss,
    NodeTags,
    begin_search,
    build_unsatisfiable,
    check_models,
    finish_search,
)
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError
from kanon.recoding import Recoding

EFFORT = read_parameter(__file__, "effort")
_LOSS = replace(LOSS, choices={name: LOSS.choices[name] for name in ("metric", "precision")})

CARD = read_algorithm_card(__file__, parameters=(_LOSS, EFFORT), family_text=FULL_DOMAIN)

WALKS = {"fast": 2, "thorough": 10}


def check(task: Task) -> None:
    """Refuse models beside suppression, and classes in an engine above 10 million nodes."""
    check_models(task, CARD.title, task.suppression or 0)
    if task.classes.in_engine and not is_proved(task):
        raise PlanError(
            f"The lattice of these hierarchies has more than {write_count(MOST_NODES)} nodes. "
            f"{CARD.title} searches it only if all classes fit in memory, but "
            f"{write_count(task.classes.n_classes)} are more than the limit 'classes' allows "
            "(docs/operate/limits.md). Use 'datafly', 'improved-greedy' or 'gaa', or choose fewer "
            "quasi-identifiers."
        )


def is_proved(task: Task) -> bool:
    """Whether the lattice is small enough to prove that no other levels lose less."""
    return can_search_lattice(task.classes.hierarchies)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release with the least loss.

    A greedy descent from the top gives a first good node. Then the nodes whose loss with nothing
    suppressed is at most that of the best so far are looked at, the highest such bound first. One
    that fails tags all below it as failing, and those have lower bounds; one that meets the
    requirements lowers the best loss. Meeting the models is monotone (predictive tagging).

    In a lattice of more than 10 million nodes, the best node of some random walks is released (see
    :mod:`kanon.algorithms.annealing`), and ``trace.gap`` is infinite, as nothing is proved, unless
    nothing is lost at all.
    """
    lattice = begin_search(task, progress, check)
    loss = CellLoss(lattice)
    if not is_proved(task):
        nodes = find_good_nodes(lattice, loss, WALKS[task.option(EFFORT)])
        release = finish_search(lattice, nodes[-1], nodes)
        lost = loss.of(nodes[-1], lattice.evaluate(nodes[-1]))
        return release.with_trace(replace(release.trace, gap=math.inf if lost else 0.0))
    tags = NodeTags(lattice)
    bounds = loss.bounds()
    walk = _descend(lattice, tags, bounds)
    if not walk:
        raise build_unsatisfiable(task)
    best = min((loss.of(node, lattice.evaluate(node)), node) for node in walk)
    flat, failing = bounds.reshape(-1), tags.failing.reshape(-1)
    places = np.flatnonzero((flat <= best[0]) & ~failing)
    walked_nodes = set(walk)
    for place in lattice.walk_places(places[np.argsort(-flat[places], kind="stable")]):
        if failing[place] or flat[place] > best[0]:
            continue
        node = lattice.decode_node(place)
        if node in walked_nodes or (flat[place] == best[0] and node > best[1]):
            continue
        if tags.check(node):
            best = min(best, (loss.of(node, lattice.evaluate(node)), node))
    return finish_search(lattice, best[1], walk)


def _descend(lattice: Lattice, tags: NodeTags, bounds: np.ndarray) -> list[Node]:
    """Down from the top, each time to the good node with the lowest bound."""
    if not tags.check(lattice.tops):
        return []
    walk = [lattice.tops]
    while True:
        for node in sorted(
            lattice.list_nodes_below(walk[-1]), key=lambda lower: (bounds[lower], lower)
        ):
            if tags.get_tag(node) is None and tags.check(node):
                walk.append(node)
                break
        else:
            return walk
