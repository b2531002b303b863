"""Datafly: raise the column with the most values until only a few records have to be suppressed."""

from kanon.algorithms.algorithm_card import AlgorithmCard
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import FULL_DOMAIN, begin_search, check_models, walk_upwards
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.recoding import Recoding

CARD = AlgorithmCard(
    name="datafly",
    title="Datafly",
    summary="Repeatedly raises the column with the most distinct values by one level, until only a "
    "few records are in classes that are too small. Those records are suppressed.",
    source="Sweeney 1997, Guaranteeing Anonymity when Sharing Medical Data, the Datafly System",
    family="levels",
    how=f"{FULL_DOMAIN} While more records than the limit (k, unless another limit is set) are in "
    "classes that are too small, the quasi-identifier with the most distinct values is raised by "
    "one level. The records left in such classes are then suppressed.",
    guarantees="Every released class holds at least k records. Losses are not minimised, and "
    "columns with many values lose most.",
    slow="Hardly ever: it looks at one node for each level that it raises.",
    uses=("suppression",),
)


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
