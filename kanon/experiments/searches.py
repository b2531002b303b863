"""Three searches of one lattice side by side, over k and over columns.

The experiments of Babu, Reddy, Kumar, Elliot, Jena 2013.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kanon.algorithms import datafly, improved_greedy, samarati
from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import check_size, largest_level, n_nodes, nodes_per_height
from kanon.algorithms.task import Task
from kanon.base.formatting import counted, thin
from kanon.base.progress import Progress, no_progress
from kanon.errors import PlanError
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.exploration import WALKERS
from kanon.hierarchy import Hierarchy
from kanon.measures import alteration, iloss, iloss_mean, level_of_generalisation
from kanon.measures.linkage import projected
from kanon.metrics import Metric
from kanon.recoding import Recoding

SEARCHES = tuple(WALKERS)  # the names of the three searches

FEWEST_COLUMNS, MOST_COLUMNS = 3, 8  # from how many quasi-identifiers to how many, as published

K_OVER_COLUMNS = 10  # the k of the experiment over quasi-identifiers, as published

_REPEATS = ((0.02, 9), (0.2, 3))
"""A run of fewer seconds is made so often, and the median counts: what else the machine does would
show in a single one."""

_SHARES = {datafly.CARD.name: 1.0, samarati.CARD.name: 10.0, improved_greedy.CARD.name: 3.0}
"""About how long each takes beside the others, for the bar that shows how far all are."""


@dataclass(frozen=True, eq=False)
class Searches:
    # a row per k and search, all quasi-identifiers together: ``k, algorithm, seconds,
    # nodes_evaluated, iloss, iloss_mean, level_of_generalisation, alteration, suppressed, min_k``
    over_k: pd.DataFrame
    over_columns: pd.DataFrame
    attributes: tuple[str, ...]  # the quasi-identifiers, in the plan's order
    metric: Metric  # what counts the alteration, and what Samarati's choice within a height goes by
    limit: int  # the records that each search may suppress at most
    n_records: int  # n
    tops: tuple[int, ...]  # the level of the root of each hierarchy
    lacking: str  # why the experiment over quasi-identifiers could not be made, in a sentence

    @property
    def ks(self) -> tuple[int, ...]:
        """The k that were run, rising."""
        return tuple(sorted({int(k) for k in self.over_k["k"]}))

    def along(self, measure: str, algorithm: str) -> np.ndarray:
        """A column of ``over_k`` for one search, by rising k. Shape (len(ks),)."""
        own = self.over_k[self.over_k["algorithm"] == algorithm].sort_values("k")
        return own[measure].to_numpy()


class Tally(NamedTuple):
    """At how many k one search has less of something than another, as much, and more."""

    less: int
    equal: int
    more: int


def check_searches(hierarchies: Sequence[Hierarchy], n_records: int) -> None:
    check_size(hierarchies, samarati.CARD.title)
    if n_records < PAPER_K[0]:
        raise PlanError(
            f"The searches are run for k = {PAPER_K[0]} and more, and the table has "
            f"{counted(n_records, 'record')}."
        )


def measure_searches(
    progress: Progress, task: Task, metric: Metric, ks: Sequence[int] = PAPER_K
) -> Searches:
    """Run the three searches over k and over quasi-identifiers: what a worker process is given.

    k-anonymity alone is asked for, and all may suppress as many records, so that losses compare.
    """
    task = replace(task, models=(), node=None, suppression=task.suppression or 0)
    classes = task.classes
    check_searches(classes.hierarchies, classes.n_records)
    some = [k for k in ks if k <= classes.n_records]
    numbers = numbers_of_columns(len(classes.attributes), classes.n_records)
    clock = _Clock(progress, (len(some) + len(numbers)) * sum(_SHARES.values()))
    for name in SEARCHES:  # what is compiled or loaded at the first run is not timed
        _search(name, narrowed(task, 1).for_k(1), no_progress)
    over_k = []
    for k in some:
        for name in SEARCHES:
            seconds, found = clock.timed(name, task.for_k(k), f"k = {thin(k)}")
            over_k.append({"k": k, "algorithm": name, **_taken(seconds, found)})
            over_k[-1] |= {
                iloss.CARD.name: iloss.value(found),
                iloss_mean.CARD.name: iloss_mean.value(found),
                level_of_generalisation.CARD.name: level_of_generalisation.value(found),
                alteration.CARD.name: alteration.value(found, metric),
                "suppressed": found.suppressed_records,
                "min_k": found.min_k,
            }
    over_columns = []
    for number in numbers:
        some_columns = narrowed(task, number).for_k(K_OVER_COLUMNS)
        trees = some_columns.classes.hierarchies
        for name in SEARCHES:
            about = counted(number, "quasi-identifier")
            seconds, found = clock.timed(name, some_columns, about)
            over_columns.append(
                {
                    "columns": number,
                    "adds": classes.attributes[number - 1],
                    "algorithm": name,
                    "k": K_OVER_COLUMNS,
                    **_taken(seconds, found),
                    "most_evaluated": most_evaluated(name, trees),
                    **lattice_sizes(trees),
                }
            )
    progress(1.0, "done")
    return Searches(
        over_k=pd.DataFrame(over_k).astype({"min_k": "Int64"}),
        over_columns=pd.DataFrame(over_columns),
        attributes=classes.attributes,
        metric=metric,
        limit=task.suppression or 0,
        n_records=classes.n_records,
        tops=tuple(tree.height - 1 for tree in classes.hierarchies),
        lacking=_lacking(len(classes.attributes), classes.n_records),
    )


def numbers_of_columns(n_columns: int, n_records: int) -> range:
    """The numbers of quasi-identifiers that the searches are run on at k = 10."""
    most = 0 if n_records < K_OVER_COLUMNS else min(n_columns, MOST_COLUMNS)
    return range(FEWEST_COLUMNS, most + 1)


def _lacking(n_columns: int, n_records: int) -> str:
    if n_columns < FEWEST_COLUMNS:
        return f"It starts with {FEWEST_COLUMNS} quasi-identifiers, and the table has {n_columns}."
    if n_records < K_OVER_COLUMNS:
        records = counted(n_records, "record")
        return f"It is made for k = {K_OVER_COLUMNS}, and the table has {records}."
    return ""


def narrowed(task: Task, number: int) -> Task:
    """The task with the first quasi-identifiers alone, at the same costs; all records stay."""
    classes = projected(task.classes, range(number))
    return replace(task, classes=classes, potentials=task.potentials.first(number))


def lattice_sizes(hierarchies: Sequence[Hierarchy]) -> dict[str, Any]:
    """The nodes of a lattice, and those of its largest height, counted and by the formula."""
    return {
        "lattice_nodes": n_nodes(hierarchies),
        "largest_height": max(nodes_per_height(hierarchies)),
        "largest_height_by_formula": largest_level(hierarchies),
    }


def most_evaluated(algorithm: str, hierarchies: Sequence[Hierarchy]) -> int:
    """The nodes that a search evaluates at most, whatever the table."""
    top = sum(tree.height - 1 for tree in hierarchies)
    return {
        datafly.CARD.name: top + 1,
        samarati.CARD.name: _most_of_binary_search(nodes_per_height(hierarchies)),
        improved_greedy.CARD.name: 1 + len(hierarchies) * top,
    }[algorithm]


def _most_of_binary_search(per_height: Sequence[int]) -> int:
    most = 0
    for lowest in range(len(per_height)):
        low, high, tried = 0, len(per_height) - 1, {lowest}
        while low < high:
            middle = (low + high) // 2
            tried.add(middle)
            low, high = (low, middle) if middle >= lowest else (middle + 1, high)
        most = max(most, sum(per_height[height] for height in tried))
    return most


def tally(found: Searches, measure: str, one: str, other: str | Iterable[str]) -> Tally:
    others = [other] if isinstance(other, str) else list(other)
    ours = found.along(measure, one).astype(float)
    theirs = np.min([found.along(measure, name).astype(float) for name in others], axis=0)
    equal = np.isclose(ours, theirs, rtol=1e-9, atol=0)
    less = int((~equal & (ours < theirs)).sum())
    return Tally(less, int(equal.sum()), len(ours) - less - int(equal.sum()))


def times_as_long(found: Searches, one: str, other: str) -> float:
    """The median over k of how many times as long one search takes as another."""
    return float(np.median(found.along("seconds", one) / found.along("seconds", other)))


class _Clock:
    """Times runs, and tells how far all of them are."""

    def __init__(self, progress: Progress, whole: float) -> None:
        self._progress, self._whole, self._done = progress, whole, 0.0

    def timed(self, name: str, task: Task, about: str) -> tuple[float, Recoding]:
        share = _SHARES[name]
        doing = f"{short_title(name)}, {about}"

        def tell(part: float, text: str) -> None:
            more = f": {text}" if text and part < 1 else ""
            self._progress((self._done + share * part) / self._whole, f"{doing}{more}")

        tell(0.0, "")
        taken: list[float] = []
        while len(taken) < (_repeats(taken[0]) if taken else 1):
            started = time.perf_counter()
            found = _search(name, task, no_progress if taken else tell)
            taken.append(time.perf_counter() - started)
        self._done += share
        return median(taken), found


def _repeats(seconds: float) -> int:
    """How often a run is made that took so long at first."""
    return next((often for below, often in _REPEATS if seconds < below), 1)


def _search(name: str, task: Task, progress: Progress) -> Recoding:
    module: ModuleType = WALKERS[name]
    options = task.options if module.CARD.parameters else {}
    found: Recoding = module.anonymise(replace(task, options=options), progress)
    return found


def _taken(seconds: float, found: Recoding) -> dict[str, Any]:
    return {"seconds": seconds, "nodes_evaluated": found.trace.evaluated}
