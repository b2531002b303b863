"""Local suppression: blank single cells, as few and as unimportant ones as a greedy walk finds."""

from dataclasses import replace

import numpy as np

from kanon.algorithms import lattice_sweep
from kanon.algorithms.algorithm_card import AlgorithmCard
from kanon.algorithms.lattice_size import MOST_NODES
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.recoding import Recoding

CARD = AlgorithmCard(
    name="local-suppression",
    title="Local suppression",
    summary="Keeps every value or blanks it, cell by cell, until all classes are large enough. "
    "Cells of columns with a small weight are blanked first.",
    source="kanon 2026; suppression of single cells by importance: sdcMicro (Templ, Kowarik, "
    "Meindl 2015)",
    family="regions",
    how="A blanked cell is raised to the root of its hierarchy; no value is generalised in any "
    "other way. Records that are in no class of at least k are repaired by blanking a set of "
    "columns. The sets are tried in the order of their importance, which is the sum of the weights "
    "of their columns, so those come first that repair most records per weighted cell. At each "
    "set, the remaining records that look the same in all other columns are released with these "
    "cells blanked, if there are at least k of them and they meet every other required model. "
    "Records left at the end join the released class for which the fewest weighted cells are "
    "blanked. A blank is a value of its own: it only hides records among others that are blank in "
    "the same columns. Other software, such as sdcMicro, lets a blank match every value, and so "
    "blanks fewer cells. There, two equal records can be blanked in different cells; here records "
    "that share all quasi-identifiers always stay together.",
    guarantees="Every class holds at least k records and meets all models. Every cell has its "
    "original value or is blank, and no record is suppressed.",
    slow="With more than about 18 quasi-identifiers, as the number of sets doubles with each.",
    uses=("attribute_weights",),
)

MOST_COLUMNS = MOST_NODES.bit_length() - 1  # so that there are no more sets than nodes elsewhere


def check(task: Task) -> None:
    """Check that the task can be run.

    Raises
    ------
    Unsatisfiable
        The table has fewer than k records, or no release can meet a model.
    PlanError
        There are more than :data:`MOST_COLUMNS` quasi-identifiers.
    """
    task.check()
    n_columns = len(task.classes.attributes)
    if n_columns > MOST_COLUMNS:
        raise PlanError(
            f"Local suppression tries all sets of columns, so it takes at most {MOST_COLUMNS} "
            f"quasi-identifiers, but there are {write_count(n_columns)}. Use 'gaa' or 'mondrian', "
            "or choose fewer quasi-identifiers."
        )


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Blank cells until every class holds k records and meets all models.

    This is the lattice sweep over trees of which only the values and the roots are left, where
    blanking a cell costs the weight of its column. At the set S of columns, a group of r records
    has ``r * |S|`` cells blanked, and r records are repaired for ``r * (sum of the weights of S)``:
    the sets by rising sum, ties in canonical order, are the groups by falling number of records
    repaired per weighted cell. What is left joins a released class, see
    :mod:`kanon.algorithms.lattice_sweep`.

    Raises
    ------
    Unsatisfiable, PlanError
        See :func:`check`.

    Examples
    --------
    Two records ax, two ay and one bx, with k = 2. To hide bx, one of the classes has to be blanked
    with it: with ax that costs 3 cells, all in the first column, with ay 6.

    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy.build import suppression
    >>> trees = suppression(["a", "b"]), suppression(["x", "y"])
    >>> classes = EquivalenceClasses(
    ...     ("one", "two"), trees, np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32),
    ...     np.array([2, 2, 1]))
    >>> release = anonymise(Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 2))
    >>> [[tree.labels[v] for tree, v in zip(trees, row)] for row in release.nodes]
    [['a', 'y'], ['*', 'x']]
    """
    check(task)
    trees = tuple(map(flatten, task.classes.hierarchies))
    flat = replace(task.classes, hierarchies=trees)
    weights = task.attribute_weights or None
    potentials = scale_metric_potentials(flat, metric_named("total"), weights)
    sweep = replace(task, classes=flat, potentials=potentials, options={})
    return replace(lattice_sweep.anonymise(sweep, progress), classes=task.classes)


def flatten(tree: Hierarchy) -> Hierarchy:
    """The tree with every node directly under its root; all nodes keep their numbers.

    >>> tree = Hierarchy.from_entries([("*", None, None), ("A", "*", None), ("a", "A", None)])
    >>> flatten(tree).labels, flatten(tree).parent.tolist()
    (('a', 'A', '*'), [2, 2, -1])
    """
    numbers = np.arange(tree.n_nodes, dtype=np.int32)
    is_root = numbers == tree.root
    return Hierarchy(
        tree.labels,
        parent=np.where(is_root, -1, tree.root).astype(np.int32),
        first=np.where(is_root, 0, numbers).astype(np.int32),
        last=np.where(is_root, max(tree.root, 1), numbers + 1).astype(np.int32),
        level=(is_root & (tree.root > 0)).astype(np.int32),
        weight=None,
    )
