"""The variant of GAA that merges only classes below k with each other."""

from __future__ import annotations

from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.repair import repaired
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.cards import Card
from kanon.errors import PlanError, quoted
from kanon.recoding import Recoding
from kanon.strategies import LOOKS_AT

__all__ = ["CARD", "anonymise"]

CARD = Card(
    name="gaa-small",
    title="GAA among small classes",
    summary="Merges the first class below k with the cheapest other class below k. Each k needs "
    "a run of its own.",
    source="Mauger, Le Mahec, Dequen 2020 (PPAI), Algorithm 1",
)


def anonymise(task: Task, progress: Progress = no_progress) -> Recoding:
    """Run the variant for ``task.k``.

    While a class holds fewer than k records: take the first such class in canonical order and
    merge it with the cheapest of the other classes below k. When it is the only one left, it is
    merged with the cheapest class of the whole table (our rule; the paper is silent). Classes
    that break another model of the task are merged after that, as GAA does.

    Raises
    ------
    PlanError
        The strategy looks at a sensitive attribute, which the variant does not.
    Unsatisfiable
        The table has fewer than k records.
    """
    if LOOKS_AT[task.strategy]:
        raise PlanError(
            f"The algorithm 'gaa-small' merges by cost alone; the strategy {quoted(task.strategy)} "
            "needs 'gaa'."
        )
    path = merge_greedily(task, first_below_k=True, progress=progress)
    return repaired(path.after(len(path.parts)), task, progress)
