"""The variant of GAA that merges only classes below k with each other."""

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.outliers import anonymise_without_outliers
from kanon.algorithms.repair_models import repair_for_models
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError, quote
from kanon.recoding import MergePath, Recoding
from kanon.strategies import LOOKS_AT

CARD = read_algorithm_card(__file__)


def check(task: Task) -> None:
    """Refuse a strategy that looks at a sensitive attribute, which the variant does not."""
    if LOOKS_AT[task.strategy]:
        raise PlanError(
            "The algorithm 'gaa-small' looks only at the cost of a merge; the strategy "
            f"{quote(task.strategy)} needs 'gaa'."
        )


def merged(task: Task, progress: Progress = ignore_progress) -> MergePath:
    """All merges for ``task.k``, in their order; only for this k."""
    check(task)
    return merge_greedily(task, first_below_k=True, progress=progress)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Run the variant for ``task.k``.

    While a class holds fewer than k records: take the first such class in canonical order and
    merge it with the cheapest of the other classes below k. When it is the only one left, it is
    merged with the cheapest class of the whole table (our rule; the paper is silent). Classes
    that break another model of the task are merged after that, as GAA does.
    """
    return anonymise_without_outliers(_merge_all, task, progress)


@keep_level_bounds
def _merge_all(task: Task, progress: Progress) -> Recoding:
    path = merged(task, progress)
    return repair_for_models(path.after(len(path.parts)), task, progress)
