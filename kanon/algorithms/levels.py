"""Levels of the user’s choice: the release at one node of the lattice."""

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.search import FULL_DOMAIN, begin_search, check_models, finish_search
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError, Unsatisfiable
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, family_text=FULL_DOMAIN)


def check(task: Task) -> None:
    if task.node is None:
        raise PlanError(
            f"{CARD.title}: choose a node on the Lattice page and press 'Use this one'; in a plan, "
            "set algorithm.node to a level for each quasi-identifier."
        )
    check_models(task, CARD.title, task.suppression or 0, tags=False)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    lattice = begin_search(task, progress, check)
    assert task.node is not None
    node = lattice.find_node(task.node)
    evaluation = lattice.evaluate(node)
    if task.of_release and evaluation.suppressed == task.classes.n_records:
        titles = " or ".join(model.title for model in task.of_release)
        raise Unsatisfiable(f"At these levels {titles} does not hold; choose higher levels.")
    if evaluation.suppressed > lattice.limit:
        raise Unsatisfiable(
            f"At these levels {count_noun(evaluation.suppressed, 'record')} would have to be "
            f"suppressed, but the limit is {write_count(lattice.limit)}; choose higher levels, or "
            "raise the limit."
        )
    return finish_search(lattice, node, [node])
