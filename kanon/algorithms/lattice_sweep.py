"""The lattice sweep: visit the nodes of the lattice, release what reaches k, go on with the rest."""

from __future__ import annotations

from kanon.algorithms.lattice_sweep_joining import with_the_rest
from kanon.algorithms.lattice_sweep_walk import n_nodes, walked
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.cards import Card, Parameter
from kanon.errors import PlanError
from kanon.recoding import Recoding, Trace
from kanon.words import thin

__all__ = [
    "CARD",
    "EFFORT",
    "GUARANTEES",
    "HOW",
    "MOST_NODES",
    "PARAMETERS",
    "SLOW",
    "USES",
    "anonymise",
    "check",
]

CARD = Card(
    name="lattice-sweep",
    title="Lattice sweep",
    summary="Generalises as little of the table as it can at each step: it goes through all "
    "combinations of levels from the least to the greatest loss, and releases every group of the "
    "remaining records that is large enough. Different records are generalised differently, and "
    "none is suppressed.",
    source="kanon, 2026; the lattice of levels is that of Samarati 2001",
)

HOW = "TODO"
GUARANTEES = "TODO"
SLOW = "TODO"

EFFORT = Parameter(
    name="effort",
    title="Effort",
    choices={"fast": "Fast: one walk", "thorough": "Thorough: improve what was found"},
    default="fast",
    help="TODO",
)
PARAMETERS = (EFFORT,)
USES = ("metric", "attribute_weights", "seed")

MOST_NODES = 10**7
"""The largest lattice that is walked through."""


def check(task: Task) -> None:
    task.check()
    size = n_nodes(task.classes.hierarchies)
    if size > MOST_NODES:
        raise PlanError("TODO" + thin(size))


def anonymise(task: Task, progress: Progress = no_progress) -> Recoding:
    check(task)
    swept = walked(task, progress)
    trace = Trace(evaluated=swept.visited, steps=swept.released)
    return with_the_rest(task, swept.targets, swept.remain, trace, progress)
