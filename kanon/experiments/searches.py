"""Three searches of one lattice, over k and over columns, after Babu, Reddy et al. 2013."""

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
from kanon.algorithms.lattice_size import (
    check_size,
    count_lattice_nodes,
    count_nodes_per_height,
    estimate_largest_height,
)
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.exploration import WALKING_SEARCHES
from kanon.hierarchy import Hierarchy
from kanon.measures import alteration, iloss, iloss_mean, level_of_generalisation
from kanon.measures.linkage import project_classes
from kanon.metrics import Metric
from kanon.recoding import Recoding

SEARCHES = tuple(WALKING_SEARCHES)  # the names of the three searches

FEWEST_COLUMNS, MOST_COLUMNS = 3, 8  # from how many quasi-identifiers to how many, as published

K_OVER_COLUMNS = 10  # the k of the experiment over quasi-identifiers, as published

_REPEATS = ((0.02, 9), (0.2, 3))
"""A run of fewer seconds is repeated so often, and the median counts."""

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
        return tuple(sorted({int(k) for k in self.over_k["k"]}))

    def get_values(self, measure: str, algorithm: str) -> np.ndarray:
        rows = self.over_k[self.over_k["algorithm"] == algorithm].sort_values("k")
        return rows[measure].to_numpy()


class Tally(NamedTuple):
    """At how many k one search has less of something than another, as much, and more."""

    less: int
    equal: int
    more: int


def check_searches(hierarchies: Sequence[Hierarchy], n_records: int) -> None:
    check_size(hierarchies, samarati.CARD.title)
    if n_records < PAPER_K[0]:
        raise PlanError(
            f"The searches run for k = {PAPER_K[0]} and above, but the table has only "
            f"{count_noun(n_records, 'record')}."
        )


def measure_searches(
    progress: Progress, task: Task, metric: Metric, ks: Sequence[int] = PAPER_K
) -> Searches:
    task = replace(task, models=(), node=None, level_bounds=(), suppression=task.suppression or 0)
    classes = task.classes
    check_searches(classes.hierarchies, classes.n_records)
    usable_ks = [k for k in ks if k <= classes.n_records]
    numbers = choose_column_numbers(len(classes.attributes), classes.n_records)
    clock = _Clock(progress, (len(usable_ks) + len(numbers)) * sum(_SHARES.values()))
    for name in SEARCHES:  # what is compiled or loaded at the first run is not timed
        _run_search(name, select_first_columns(task, 1).for_k(1), ignore_progress)
    over_k = []
    for k in usable_ks:
        for name in SEARCHES:
            seconds, recoding = clock.measure_search(name, task.for_k(k), f"k = {write_count(k)}")
            over_k.append({"k": k, "algorithm": name, **_record_effort(seconds, recoding)})
            over_k[-1] |= {
                iloss.CARD.name: iloss.value(recoding),
                iloss_mean.CARD.name: iloss_mean.value(recoding),
                level_of_generalisation.CARD.name: level_of_generalisation.value(recoding),
                alteration.CARD.name: alteration.value(recoding, metric),
                "suppressed": recoding.suppressed_records,
                "min_k": recoding.min_k,
            }
    over_columns = []
    for number in numbers:
        narrow_task = select_first_columns(task, number).for_k(K_OVER_COLUMNS)
        trees = narrow_task.classes.hierarchies
        for name in SEARCHES:
            about = count_noun(number, "quasi-identifier")
            seconds, recoding = clock.measure_search(name, narrow_task, about)
            over_columns.append(
                {
                    "columns": number,
                    "adds": classes.attributes[number - 1],
                    "algorithm": name,
                    "k": K_OVER_COLUMNS,
                    **_record_effort(seconds, recoding),
                    "most_evaluated": count_most_evaluated(name, trees),
                    **count_lattice_sizes(trees),
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
        lacking=_explain_lacking(len(classes.attributes), classes.n_records),
    )


def choose_column_numbers(n_columns: int, n_records: int) -> range:
    most = 0 if n_records < K_OVER_COLUMNS else min(n_columns, MOST_COLUMNS)
    return range(FEWEST_COLUMNS, most + 1)


def _explain_lacking(n_columns: int, n_records: int) -> str:
    if n_columns < FEWEST_COLUMNS:
        return f"It needs at least {FEWEST_COLUMNS} quasi-identifiers; the table has {n_columns}."
    if n_records < K_OVER_COLUMNS:
        records = count_noun(n_records, "record")
        return f"It runs at k = {K_OVER_COLUMNS}, but the table has only {records}."
    return ""


def select_first_columns(task: Task, number: int) -> Task:
    """The task with the first quasi-identifiers alone, at the same costs; all records stay."""
    classes = project_classes(task.classes, range(number))
    return replace(task, classes=classes, potentials=task.potentials.first(number))


def count_lattice_sizes(hierarchies: Sequence[Hierarchy]) -> dict[str, Any]:
    return {
        "lattice_nodes": count_lattice_nodes(hierarchies),
        "largest_height": max(count_nodes_per_height(hierarchies)),
        "largest_height_by_formula": estimate_largest_height(hierarchies),
    }


def count_most_evaluated(algorithm: str, hierarchies: Sequence[Hierarchy]) -> int:
    top = sum(tree.height - 1 for tree in hierarchies)
    return {
        datafly.CARD.name: top + 1,
        samarati.CARD.name: _count_binary_search(count_nodes_per_height(hierarchies)),
        improved_greedy.CARD.name: 1 + len(hierarchies) * top,
    }[algorithm]


def _count_binary_search(per_height: Sequence[int]) -> int:
    most = 0
    for lowest_height in range(len(per_height)):
        low, high, heights = 0, len(per_height) - 1, {lowest_height}
        while low < high:
            middle = (low + high) // 2
            heights.add(middle)
            low, high = (low, middle) if middle >= lowest_height else (middle + 1, high)
        most = max(most, sum(per_height[height] for height in heights))
    return most


def count_comparisons(
    study: Searches, measure: str, first: str, second: str | Iterable[str]
) -> Tally:
    others = [second] if isinstance(second, str) else list(second)
    ours = study.get_values(measure, first).astype(float)
    theirs = np.min([study.get_values(measure, name).astype(float) for name in others], axis=0)
    equal = np.isclose(ours, theirs, rtol=1e-9, atol=0)
    less = int((~equal & (ours < theirs)).sum())
    return Tally(less, int(equal.sum()), len(ours) - less - int(equal.sum()))


def compute_time_ratio(study: Searches, first: str, second: str) -> float:
    return float(
        np.median(study.get_values("seconds", first) / study.get_values("seconds", second))
    )


class _Clock:
    def __init__(self, progress: Progress, whole: float) -> None:
        self._progress, self._whole, self._elapsed = progress, whole, 0.0

    def measure_search(self, name: str, task: Task, about: str) -> tuple[float, Recoding]:
        share = _SHARES[name]
        label = f"{short_title(name)}, {about}"

        def show_progress(part: float, text: str) -> None:
            more = f": {text}" if text and part < 1 else ""
            self._progress((self._elapsed + share * part) / self._whole, f"{label}{more}")

        show_progress(0.0, "")
        durations: list[float] = []
        while len(durations) < (_choose_repeats(durations[0]) if durations else 1):
            start = time.perf_counter()
            recoding = _run_search(name, task, ignore_progress if durations else show_progress)
            durations.append(time.perf_counter() - start)
        self._elapsed += share
        return median(durations), recoding


def _choose_repeats(seconds: float) -> int:
    return next((often for below, often in _REPEATS if seconds < below), 1)


def _run_search(name: str, task: Task, progress: Progress) -> Recoding:
    module: ModuleType = WALKING_SEARCHES[name]
    options = task.options if module.CARD.parameters else {}
    recoding: Recoding = module.anonymise(replace(task, options=options), progress)
    return recoding


def _record_effort(seconds: float, recoding: Recoding) -> dict[str, Any]:
    return {"seconds": seconds, "nodes_evaluated": recoding.trace.evaluated}
