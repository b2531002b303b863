"""Samarati: the lowest height of the lattice with a node that meets the requirements."""

from functools import partial

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    begin_search,
    build_unsatisfiable,
    check_full_domain,
    choose_best_node,
    choose_loss,
    finish_search,
)
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, (LOSS,), family_text=FULL_DOMAIN)

check = partial(check_full_domain, title=CARD.title)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release of Samarati: at the lowest height, the node with the least loss.

    Binary search on the height, the sum of levels. At the height in the middle of what is left,
    nodes are evaluated in canonical order until one meets the requirements. If one does, the lowest
    height is not above this one; otherwise it is. Raising values never undoes what held, so all
    greater heights have such a node too. At the lowest height all nodes are evaluated, and the one
    with the least loss is released; if several tie, the first in canonical order.

    The walk of the trace holds the last node looked at of each height tried, then the one released.

    Source: Samarati 2001; Babu, Reddy, Kumar, Elliot, Jena for the choice within the height.
    """
    lattice = begin_search(task, progress, check)
    low, high, walk = 0, sum(lattice.tops), []
    while low < high:
        middle = (low + high) // 2
        for node in lattice.list_nodes_at_height(middle):
            if lattice.satisfies(node):
                high = middle
                break
        else:
            low = middle + 1
        walk.append(node)
    satisfying = [node for node in lattice.list_nodes_at_height(low) if lattice.satisfies(node)]
    if not satisfying:
        raise build_unsatisfiable(task)
    best = choose_best_node(lattice, choose_loss(lattice, task), satisfying)
    return finish_search(lattice, best, [*walk, best])
