"""Local suppression: blank single cells, as few and as unimportant ones as a greedy walk finds."""

from dataclasses import replace

from kanon.algorithms import lattice_sweep
from kanon.algorithms.algorithm_card import read_algorithm_card
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

CARD = read_algorithm_card(__file__)

MOST_COLUMNS = MOST_NODES.bit_length() - 1  # so that there are no more sets than nodes elsewhere


def check(task: Task) -> None:
    """Check that some release can meet k and the models, and that the columns are not too many."""
    task.check()
    n_columns = len(task.classes.attributes)
    if n_columns > MOST_COLUMNS:
        raise PlanError(
            f"Local suppression tries all sets of at most {MOST_COLUMNS} quasi-identifiers, but "
            f"there are {write_count(n_columns)}. Choose fewer of them, or use 'gaa'."
        )


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Blank cells until every class holds k records and meets all models.

    This is the lattice sweep over trees of which only values and roots are left, where a blank
    costs the weight of its column. Blanking the columns S of r records repairs r records for
    ``r * (sum of the weights of S)``, so the sets by rising sum are the groups by falling number of
    records repaired per weighted cell; ties go to the canonical order.

    Two records ax, two ay and one bx, with k = 2. To hide bx, one of the classes has to be blanked
    with it: with ax that costs 3 cells, all in the first column, with ay 6.

    >>> import numpy as np
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
    *labels, root = tree.labels
    return Hierarchy.from_entries([(root, None, None), *((label, root, None) for label in labels)])
