"""The improved greedy heuristic: one step up at a time, to the largest k."""

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import FULL_DOMAIN, begin_search, check_models, walk_upwards
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, family_text=FULL_DOMAIN)


def check(task: Task) -> None:
    """Refuse models that compare classes with the whole table if records may be suppressed."""
    check_models(task, CARD.title, task.suppression or 0, tags=False)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release of the improved greedy heuristic.

    The walk begins at the bottom of the lattice. All nodes that raise one quasi-identifier by one
    level are evaluated, and the walk moves to the one that reaches the largest k (after suppressing
    at most the allowed records). If several tie, it raises the quasi-identifier with the most
    distinct values, then the first in the plan's order. It stops at the first node that meets the
    requirements. At most 1 + m * (sum of all top levels) nodes are evaluated.

    Source: Babu, Reddy, Kumar, Elliot, Jena, Algorithm 1.
    """
    return walk_upwards(begin_search(task, progress, check), _choose_next_node)


def _choose_next_node(lattice: Lattice, node: Node) -> Node:
    """The node above that reaches the largest k."""
    distinct = lattice.distinct(node)

    def rank_node(candidate: Node) -> tuple[int, int, int]:
        column = next(j for j, level in enumerate(node) if candidate[j] > level)
        return lattice.anonymity(candidate), distinct[column], -column

    return max(lattice.above(node), key=rank_node)
