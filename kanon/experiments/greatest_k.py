"""The greatest k for a given l or t: another model is given, and k is looked for.

Three ways of greedy merging lead to releases that meet the model (see :data:`WAYS`). Once it is met
it stays met, as merging never lowers the level of the worst class. The curve is the greatest k that
any of them reaches with at most so much alteration: a lower bound of what is possible.

Source: Mauger, Le Mahec, Dequen 2023, Section 4.4. The ways beside each other, and going on after
the model is met, are ours (docs/explanation/reverse.md).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from kanon.algorithms import gaa
from kanon.algorithms.merge_until_models_hold import continued
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.solution import FINISHED_K, finished_at
from kanon.algorithms.task import Task
from kanon.base.formatting import Counted
from kanon.base.progress import Progress, no_progress, stretch
from kanon.cards import Card
from kanon.errors import PlanError, quoted
from kanon.measures.along import Curves, Points, by_total_variation, curves_along, points_of
from kanon.metrics import Metric
from kanon.plan import Plan
from kanon.privacy.persons import KInPersons
from kanon.recoding import MergePath
from kanon.run import PreparedRun, prepare
from kanon.sources.tables import Table

_SOURCE = "Mauger, Le Mahec, Dequen 2023, Section 4.4"

_WAYS = (
    Card(
        "k", "Models first, K",
        "Classes that break a model are merged first, then the smallest ones, each with the "
        "partner that leaves the largest smallest class.",
        _SOURCE,
    ),
    Card(
        "s1", "Models first, S1",
        "Classes that break a model are merged first, then the smallest ones, each with the "
        "partner of least cost.",
        _SOURCE,
    ),
    Card(
        "k-first", "k first, S1",
        "The smallest classes are merged first, for some k, then those that break a model, each "
        "with the partner of least cost: what a plan that asks for both does.",
        "Mauger, Le Mahec, Dequen 2023, Algorithm 1",
    ),
)  # fmt: skip

WAYS: Mapping[str, Card] = {card.name: card for card in _WAYS}
"""The ways to releases that meet the models, by the names in the column ``way``."""


@dataclass(frozen=True, eq=False)
class GreatestK:
    ways: pd.DataFrame
    of: Counted = "records"  # what k counts

    @cached_property
    def curve(self) -> pd.DataFrame:
        return self.ways[self.ways["greatest"] == 1].sort_values("k", ignore_index=True)

    def greatest_k(self, alteration: float) -> int | None:
        """The greatest k with at most so much alteration; None if it does not meet the models."""
        within = self.curve["k"][self.curve["alteration"] <= alteration]
        return int(within.iloc[-1]) if len(within) else None


def reverse(
    plan: Plan, table: Table | pd.DataFrame, folder: Path = Path(), progress: Progress = no_progress
) -> GreatestK:
    """The greatest k that releases reach which meet the other models of a plan."""
    prepared = prepare(plan, table, folder)
    return solve_reverse(progress, reverse_task(prepared), plan.metric)


def reverse_task(prepared: PreparedRun) -> Task:
    name = prepared.plan.algorithm.name
    if name != gaa.CARD.name:
        raise PlanError(
            f"The reverse merges greedily, and the plan names the algorithm {quoted(name)}; set "
            "algorithm.name to 'gaa'."
        )
    task = prepared.task().for_k(1)
    if all(isinstance(model, KInPersons) for model in task.models):
        raise PlanError(
            "The reverse looks for the greatest k that goes with another model, and the plan asks "
            "for none beside k-anonymity; add one, such as entropy-l-diversity."
        )
    task.check()
    return task


def models_first(task: Task, progress: Progress = no_progress) -> MergePath:
    """Merge until the models are met, and then on, the smallest class first, until one is left.

    The merges that the models needed stand first, with the size 0, as they are made for every k.
    """
    path = merge_greedily(task)
    held = continued(path.after(len(path.parts)).released, task, progress)
    none = np.zeros(len(held.parts), dtype=np.int64)
    needed = path.followed_by(
        MergePath(held.before, held.parts, none, held.nodes, held.counts, task.k)
    )
    needed = replace(needed, smallest=np.zeros_like(needed.smallest))
    met = needed.after(len(needed.parts)).released
    further = replace(task, classes=met, k=met.n_records, models=())
    return needed.followed_by(merge_greedily(further))


def solve_reverse(progress: Progress, task: Task, metric: Metric) -> GreatestK:
    found: dict[str, Curves | Points] = {}
    for place, strategy in enumerate(("k", "s1")):
        led = replace(task, strategy=strategy, scope="table")
        told = stretch(progress, 0.3 * place, 0.3 * (place + 1))
        path = models_first(led, told)
        found[strategy] = curves_along(path, [metric], least=_persons_along(path))
    led = replace(task, strategy="s1", k=task.classes.n_records)
    told = stretch(progress, 0.6, 1)
    path = gaa.merge_path(led, stretch(told, 0, 0.5))
    done = finished_at(path, led, FINISHED_K, told)
    if done:
        found["k-first"] = points_of(done, [metric])
    else:
        found["k-first"] = curves_along(path, [metric], least=_persons_along(path))
    parts = [_rows(way, curves, metric) for way, curves in found.items()]
    ways = pd.concat(parts, ignore_index=True)
    ways = ways.assign(greatest=ways.index.isin(_rising(ways).index).astype(int))
    return GreatestK(ways, task.classes.of)


def _persons_along(path: MergePath) -> np.ndarray | None:
    """The fewest persons of a class after 0, 1, … merges, 0 before the models are met."""
    known = path.classes.persons
    if known is None:
        return None
    whose = [{*own} for own in np.split(known.value.tolist(), known.start[1:-1])]
    classes_of = Counter(map(len, whose))  # per number of persons: how many classes are left
    found, least = [], min(classes_of)
    for size, parts in zip(path.smallest.tolist(), path.parts.tolist(), strict=True):
        found.append(least if size else 0)
        own = sorted((part for part in parts if part >= 0), key=lambda part: len(whose[part]))
        classes_of.subtract(len(whose[part]) for part in own)
        made = whose[own[-1]]  # the others go into the largest, so that few are moved
        for part in own[:-1]:
            made |= whose[part]
            whose[part] = set()
        whose.append(made)
        classes_of[len(made)] += 1
        while not classes_of[least]:
            least += 1
    return np.array([*found, least])


def _rows(way: str, curves: Curves | Points, metric: Metric) -> pd.DataFrame:
    numbers = by_total_variation(curves.columns() if isinstance(curves, Curves) else curves.numbers)
    frame = pd.DataFrame(
        {
            "way": way,
            "alteration": numbers[f"alteration_{metric.name}"],
            "k": numbers["min_k"],
            "classes": numbers["classes"],
            **{name: each for name, each in numbers.items() if name.startswith(_MEASURED)},
        }
    )
    return _rising(frame[frame["k"] > 0])  # 0 stands for what the models needed


_MEASURED = ("entropy_l", "t_variational")


def _rising(rows: pd.DataFrame) -> pd.DataFrame:
    ordered = rows.sort_values(["alteration", "k"], ascending=[True, False], kind="stable")
    grown = ordered["k"] > ordered["k"].cummax().shift(fill_value=0)
    return ordered[grown]
