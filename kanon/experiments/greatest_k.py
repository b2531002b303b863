"""The greatest k that releases reach which meet another model.

Three searches by greedy merging (:data:`WAYS`) lead to such releases. Merging never lowers the
level of the worst class, so a model stays met. The curve is the greatest k that any of them reaches
with at most so much alteration: a lower bound (docs/explanation/reverse.md).

Source: Mauger, Le Mahec, Dequen 2023, Section 4.4; merging on after the model is met is ours.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from kanon.algorithms import gaa
from kanon.algorithms.merge_until_models_hold import run_continued_merging
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.solution import FINISHED_K, finish_for_models
from kanon.algorithms.task import Task
from kanon.base.formatting import CountedUnit
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.cards import Card, read_cards
from kanon.errors import PlanError, quote
from kanon.measures.along import (
    Curves,
    Points,
    convert_to_total_variation,
    measure_curves,
    measure_points,
)
from kanon.metrics import Metric
from kanon.plan import Plan
from kanon.privacy.persons import KInPersons
from kanon.recoding import MergePath
from kanon.run import PreparedRun, prepare
from kanon.sources.tables import Table

GREATEST_K_SEARCHES: Mapping[str, Card] = read_cards(__file__)
"""The ways to releases that meet the models, by the names in the column ``way``."""


@dataclass(frozen=True, eq=False)
class GreatestK:
    ways: pd.DataFrame
    of: CountedUnit = "records"  # what k counts

    @cached_property
    def curve(self) -> pd.DataFrame:
        return self.ways[self.ways["greatest"] == 1].sort_values("k", ignore_index=True)

    def find_k(self, alteration: float) -> int | None:
        within = self.curve["k"][self.curve["alteration"] <= alteration]
        return int(within.iloc[-1]) if len(within) else None


def find_greatest_k(
    plan: Plan,
    table: Table | pd.DataFrame,
    folder: Path = Path(),
    progress: Progress = ignore_progress,
) -> GreatestK:
    prepared_run = prepare(plan, table, folder)
    return run_greatest_k(progress, prepare_greatest_k(prepared_run), plan.metric)


def prepare_greatest_k(prepared_run: PreparedRun) -> Task:
    name = prepared_run.plan.algorithm.name
    if name != gaa.CARD.name:
        raise PlanError(
            "The search for the greatest k merges greedily, but the plan names the algorithm "
            f"{quote(name)}; set algorithm.name to 'gaa'."
        )
    task = prepared_run.task().for_k(1)
    if all(isinstance(model, KInPersons) for model in task.models):
        raise PlanError(
            "The search for the greatest k needs another model, but the plan requires only "
            "k-anonymity; add one, such as entropy-l-diversity."
        )
    task.check()
    return task


def merge_models_first(task: Task, progress: Progress = ignore_progress) -> MergePath:
    """Merge until the models are met, then on, the smallest class first, until one is left.

    The merges for the models come first, with size 0: they are made for every k.
    """
    merges = merge_greedily(task)
    continuation = run_continued_merging(merges.after(len(merges.parts)).released, task, progress)
    none = np.zeros(len(continuation.parts), dtype=np.int64)
    model_merges = merges.followed_by(
        MergePath(
            continuation.before,
            continuation.parts,
            none,
            continuation.nodes,
            continuation.counts,
            task.k,
        )
    )
    model_merges = replace(model_merges, smallest=np.zeros_like(model_merges.smallest))
    satisfying = model_merges.after(len(model_merges.parts)).released
    rest = replace(task, classes=satisfying, k=satisfying.n_records, models=())
    return model_merges.followed_by(merge_greedily(rest))


def run_greatest_k(progress: Progress, task: Task, metric: Metric) -> GreatestK:
    curves_by_search: dict[str, Curves | Points] = {}
    for place, strategy in enumerate(("k", "s1")):
        search_task = replace(task, strategy=strategy, scope="table")
        part_progress = scale_progress(progress, 0.3 * place, 0.3 * (place + 1))
        path = merge_models_first(search_task, part_progress)
        curves_by_search[strategy] = measure_curves(
            path, [metric], least=_count_persons_along(path)
        )
    search_task = replace(task, strategy="s1", k=task.classes.n_records)
    part_progress = scale_progress(progress, 0.6, 1)
    path = gaa.merge_path(search_task, scale_progress(part_progress, 0, 0.5))
    finished = finish_for_models(path, search_task, FINISHED_K, part_progress)
    if finished:
        curves_by_search["k-first"] = measure_points(finished, [metric])
    else:
        curves_by_search["k-first"] = measure_curves(
            path, [metric], least=_count_persons_along(path)
        )
    parts = [_build_search_rows(name, curves, metric) for name, curves in curves_by_search.items()]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(greatest=rows.index.isin(_keep_rising_k(rows).index).astype(int))
    return GreatestK(rows, task.classes.of)


def _count_persons_along(path: MergePath) -> np.ndarray | None:
    """The fewest persons of a class after 0, 1, … merges, 0 before the models are met."""
    persons = path.classes.persons
    if persons is None:
        return None
    members = [{*merged} for merged in np.split(persons.value.tolist(), persons.start[1:-1])]
    classes_of = Counter(map(len, members))  # per number of persons: how many classes are left
    fewest, least = [], min(classes_of)
    for size, parts in zip(path.smallest.tolist(), path.parts.tolist(), strict=True):
        fewest.append(least if size else 0)
        merged = sorted((part for part in parts if part >= 0), key=lambda part: len(members[part]))
        classes_of.subtract(len(members[part]) for part in merged)
        union = members[merged[-1]]  # the others go into the largest, so that few are moved
        for part in merged[:-1]:
            union |= members[part]
            members[part] = set()
        members.append(union)
        classes_of[len(union)] += 1
        while not classes_of[least]:
            least += 1
    return np.array([*fewest, least])


def _build_search_rows(search: str, curves: Curves | Points, metric: Metric) -> pd.DataFrame:
    numbers = convert_to_total_variation(
        curves.columns() if isinstance(curves, Curves) else curves.numbers
    )
    frame = pd.DataFrame(
        {
            "way": search,
            "alteration": numbers[f"alteration_{metric.name}"],
            "k": numbers["min_k"],
            "classes": numbers["classes"],
            **{
                name: values
                for name, values in numbers.items()
                if name.startswith(_PRIVACY_COLUMNS)
            },
        }
    )
    return _keep_rising_k(frame[frame["k"] > 0])  # 0 stands for what the models needed


_PRIVACY_COLUMNS = ("entropy_l", "t_variational")


def _keep_rising_k(rows: pd.DataFrame) -> pd.DataFrame:
    by_alteration = rows.sort_values(["alteration", "k"], ascending=[True, False], kind="stable")
    rises = by_alteration["k"] > by_alteration["k"].cummax().shift(fill_value=0)
    return by_alteration[rises]
