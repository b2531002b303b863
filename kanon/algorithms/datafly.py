"""Datafly: raise the column with the most values until only a few records have to be suppressed."""

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
    limit = task.k if task.suppression is None else task.suppression
    check_models(task, CARD.title, limit, tags=False)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release of Datafly.

    While more records than the limit are in classes that do not meet a model, the quasi-identifier
    with the most distinct values at that point is raised by one level; if several tie, the first in
    the plan's order. Then the records left in such classes are suppressed. The limit is k records,
    as published, unless the task sets another.

    Source: Sweeney 1997; de Spoelberch, Algorithm 2.
    """
    lattice = begin_search(task, progress, check, default_limit=task.k)
    return walk_upwards(lattice, _raise_most_distinct)


def _raise_most_distinct(lattice: Lattice, node: Node) -> Node:
    distinct = lattice.distinct(node)
    raisable = [j for j, top in enumerate(lattice.tops) if node[j] < top]
    column = max(raisable, key=lambda j: (distinct[j], -j))
    return (*node[:column], node[column] + 1, *node[column + 1 :])
