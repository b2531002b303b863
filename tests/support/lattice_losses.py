"""Losses of lattice searches from potentials."""

from kanon.algorithms.task import Task
from support.random_tables import Problem


def by_potential(problem: Problem, task: Task):
    """The cost of a cell by the integers that kanon uses."""
    found = [
        dict(zip(tree.order, map(int, depth), strict=True))
        for tree, depth in zip(problem.trees, task.potentials, strict=True)
    ]
    return lambda j, low, high: found[j][low] - found[j][high]
