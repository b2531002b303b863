"""GAA, the greedy anonymisation algorithm: merge a smallest class with its best partner."""

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.outliers import anonymise_without_outliers
from kanon.algorithms.partitioned_merging import merge_apart, merge_in_engine
from kanon.algorithms.repair_models import repair_for_models
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.cards import Parameter
from kanon.errors import PlanError
from kanon.recoding import MergePath, Recoding
from kanon.settings import get_settings
from kanon.strategies import LOOKS_AT

MOST_WHOLE = 2_000_000  # above so many classes a run is in parts, unless the plan says otherwise

_MOST_IN_PART = 500_000  # the most classes of a part, about, unless the plan says otherwise

PARTS = Parameter(
    name="parts",
    title="Parts",
    choices={
        "auto": f"One; several above {write_count(MOST_WHOLE)} classes",
        **{str(number): f"{number} parts" if number > 1 else "One" for number in (1, 2, 4, 8, 16)},
    },
    default="auto",
    help="The classes are cut into this many parts along the hierarchies, so that several parts "
    "are merged at the same time. One part is the algorithm as published.",
)

CARD = read_algorithm_card(__file__, (PARTS,))


def check(task: Task) -> None:
    """Refuse parts with a strategy that looks at the whole table, of which a part knows nothing."""
    if task.option(PARTS) not in ("auto", "1") and not _is_separable(task):
        raise PlanError(
            f"GAA in {task.option(PARTS)} parts cannot follow strategy {task.strategy!r} at the "
            "scope 'table', because no part sees the others; choose strategy 's1', the scope "
            "'class', or parts '1'."
        )


def _is_separable(task: Task) -> bool:
    return not LOOKS_AT[task.strategy] or task.scope == "class"


def number_of_parts(task: Task) -> int:
    """Into how many parts the classes of a task are cut; 1 if they are not.

    Where the plan leaves it open, tables of up to :data:`MOST_WHOLE` classes are one part, as are
    those with a strategy that looks at the whole table. Larger ones are in parts of about half a
    million classes, in a power of two of them, on a machine with any number of cores.
    """
    parts = task.option(PARTS)
    if parts != PARTS.default:
        return int(parts)
    size = task.classes.n_classes
    if task.classes.in_engine:  # none of its parts is whole
        return _choose_power_of_two(size, min(_MOST_IN_PART, get_settings().classes))
    if size <= MOST_WHOLE or not _is_separable(task):
        return 1
    return _choose_power_of_two(size, _MOST_IN_PART)


def _choose_power_of_two(size: int, largest_part: int) -> int:
    return int(2 ** (-(-size // largest_part) - 1).bit_length())


def merge_path(task: Task, progress: Progress = ignore_progress) -> MergePath:
    """Run GAA up to ``task.k`` and keep the recoding at every smaller k too.

    While a class holds fewer than k records: take a class of minimal size, merge it with the
    partner that the strategy picks (see :mod:`kanon.strategies`), raise every quasi-identifier of
    both to their lowest common ancestor. Records with identical tuples always share a class. Ties
    are broken by the canonical order of the classes, lowest first, or by the hash of seed and
    tuple. Models beyond k-anonymity are not looked at: see :func:`anonymise`.

    In several parts (see :func:`number_of_parts`) each is merged by itself at first: see
    :func:`kanon.algorithms.partitioned_merging.merge_apart`.

    The worked table of the paper: four women and four men, two of each race.

    >>> import numpy as np
    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy import Hierarchy
    >>> from kanon.metrics import exact_potentials, metric_named
    >>> from kanon.hierarchy.scaled_potentials import scale_potentials
    >>> gender = Hierarchy.from_entries([("*", None, None), ("F", "*", 5), ("M", "*", 5)])
    >>> race = Hierarchy.from_entries([
    ...     ("Mammal", None, None), ("Felid", "Mammal", 3), ("Cat", "Felid", 1),
    ...     ("Lion", "Felid", 1), ("Dog", "Mammal", 4)])
    >>> trees = (gender, race)
    >>> classes = EquivalenceClasses(("gender", "race"), trees,
    ...     np.array([[0, 1], [0, 2], [1, 0], [1, 1]], dtype=np.int32), np.array([2, 2, 2, 2]))
    >>> depths = scale_potentials(exact_potentials(metric_named("custom"), trees), 8)
    >>> release = merge_path(Task(classes, depths, k=4)).at(4)
    >>> [[tree.labels[v] for tree, v in zip(trees, row)] for row in release.nodes]
    [['F', 'Mammal'], ['M', 'Felid']]
    """
    check(task)
    number = number_of_parts(task)
    if number == 1:
        return merge_greedily(task, progress=progress)
    return merge_apart(task, number, progress)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The recoding of GAA for ``task.k`` and all the models of the task."""
    if not task.classes.in_engine:
        return anonymise_without_outliers(_merge_all, task, progress)
    check(task)
    return merge_in_engine(task, number_of_parts(task), progress)


@keep_level_bounds
def _merge_all(task: Task, progress: Progress) -> Recoding:
    return repair_for_models(merge_path(task, progress).at(task.k), task, progress)
