"""MinGen: of all minimal nodes that meet the requirements, the one with the least distortion."""

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import (
    FULL_DOMAIN,
    CellLoss,
    NodeTags,
    begin_search,
    build_unsatisfiable,
    check_full_domain,
    choose_best_node,
    find_minimal_nodes,
    finish_search,
    replace_by_precision,
)
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, family_text=FULL_DOMAIN)


def check(task: Task) -> None:
    """Check the task as all full-domain searches do, and that nothing may be suppressed."""
    if task.suppression:
        raise PlanError(
            f"{CARD.title} suppresses nothing, as in the paper; set the suppression limit to 0, or "
            "use 'optimal', which suppresses up to the limit."
        )
    check_full_domain(task, CARD.title)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release of MinGen.

    All nodes are looked at by height, except those above one that meets the requirements, so those
    found to meet them are the minimal ones. The one with the least distortion, which is the highest
    Prec, is released. If several tie, the preference decides: the node that the task names, if it
    is one of them; else the least loss by the metric with its attribute weights; else the canonical
    order.

    Source: Sweeney 2002, Definition 8; de Spoelberch, Algorithm 1.
    """
    lattice = begin_search(replace_by_precision(task), progress, check)
    minimal = find_minimal_nodes(lattice, NodeTags(lattice))
    if not minimal:
        raise build_unsatisfiable(task)
    least_distorted_nodes = least_distorted(lattice, minimal)
    wanted = None if task.node is None else lattice.find_node(task.node)
    if wanted in least_distorted_nodes:
        best = wanted
    else:
        best = choose_best_node(lattice, CellLoss(lattice, task.potentials), least_distorted_nodes)
    return finish_search(lattice, best, [best])


def least_distorted(lattice: Lattice, nodes: list[Node]) -> list[Node]:
    """Of some satisfying nodes those of highest Prec, by a lattice that counts its loss."""
    least = min(lattice.losses[node] for node in nodes)
    return [node for node in nodes if lattice.losses[node] == least]
