"""Seven strategies on 21 simulated sensitive columns; S1 reads none, so one run serves all."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from kanon.algorithms import gaa
from kanon.algorithms.catalogue import check_task, uses
from kanon.algorithms.solution import finish_for_models
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress, ignore_progress
from kanon.cards import Card
from kanon.errors import PlanError, Unsatisfiable, quote
from kanon.experiments.comparison import K_PRESETS, Line, get_percent_factor
from kanon.experiments.criteria import L_CARD, T_AREA_CARD
from kanon.experiments.simulated.columns import COLUMNS, Column, draw_sensitive_column
from kanon.experiments.sweep import Configuration
from kanon.measures.along import measure_curves, measure_points
from kanon.measures.alteration import CARD as ALTERATION_CARD
from kanon.measures.comparing import nauc
from kanon.metrics import Metric
from kanon.privacy import entropy_l_diversity
from kanon.privacy.persons import KInPersons
from kanon.run import PreparedRun
from kanon.strategies import LOOKS_AT

STRATEGIES = ("s1", "s2", "s3", "s4", "s5", "s6", "s7")
"""The strategies that are ranked: those of [M23] that count a cost."""

CRITERIA: Mapping[str, Card] = {card.name: card for card in (ALTERATION_CARD, L_CARD, T_AREA_CARD)}
"""The area under each of these over k ranks them; the guiding metric counts the alteration."""

LEAST_RECORDS = 4  # with fewer records there is no interval of k that begins at 3

_LOW, _HIGH = 3, 5000
_DIGITS = 9  # more are noise of the machine


class StudyRun(NamedTuple):
    column: Column
    strategy: str


RUNS = tuple(StudyRun(column, strategy) for column in COLUMNS for strategy in STRATEGIES)
"""All of a study, column by column."""


class RunResult(NamedTuple):
    run: StudyRun  # which strategy, on which column
    areas: tuple[float, ...]  # the normalised area under each of :data:`CRITERIA`, in percent


@dataclass(frozen=True, eq=False)
class Study:
    task: Task  # the classes of the table without sensitive columns, and what guides the merging
    # the metric that guides, and what the costs of each quasi-identifier count
    metric: Metric
    attribute_weights: tuple[float, ...]

    @property
    def interval(self) -> tuple[int, int]:
        """The k from and to which areas are taken: [3, 5000], or [3, n] with fewer records."""
        return _LOW, min(_HIGH, self.task.classes.highest_k)

    @property
    def ks(self) -> tuple[int, ...]:
        low, high = self.interval
        return (*(k for k in K_PRESETS["eleven"] if low <= k < high), high)


def create_study(prepared_run: PreparedRun) -> Study:
    name = prepared_run.plan.algorithm.name
    if not uses(name, "strategy"):
        raise PlanError(
            "The simulated study ranks the strategies of greedy merging, but the algorithm "
            f"{quote(name)} has none; choose 'gaa'."
        )
    base_task = prepared_run.guided_by(strategy="s1").task()
    in_persons = tuple(model for model in base_task.models if isinstance(model, KInPersons))
    classes = replace(base_task.classes, sensitive=())
    task = replace(base_task, models=in_persons, sensitive=None, classes=classes)
    highest, of = classes.highest_k, classes.of
    if highest < LEAST_RECORDS:
        raise Unsatisfiable(
            f"The simulated study takes the area under each curve from k = {_LOW} on, so it needs "
            f"at least {LEAST_RECORDS} {of}, but the table has {count_noun(highest, of[:-1])}."
        )
    most = task.for_k(min(_HIGH, highest))
    study = Study(most, prepared_run.plan.metric, prepared_run.attribute_weights)
    for strategy in STRATEGIES:
        check_task(name, replace(study.task, strategy=strategy))
    return study


def list_missing_runs(run_results: Iterable[RunResult]) -> list[StudyRun]:
    """The runs that nothing came of yet, column by column.

    >>> len(list_missing_runs([])), len(list_missing_runs([RunResult(RUNS[0], (1.0, 2.0, 3.0))]))
    (147, 146)
    """
    finished_runs = {result.run for result in run_results}
    return [run for run in RUNS if run not in finished_runs]


def run_study(
    progress: Progress,
    study: Study,
    runs: Sequence[StudyRun],
    keep: Callable[[RunResult], None],
    workers: int | None = None,
) -> None:
    lock = threading.Lock()

    def run_columns(columns: Sequence[Column], strategy: str, run_progress: Progress) -> None:
        for result in _run_columns(study, columns, strategy, run_progress):
            with lock:
                keep(result)

    s1_columns = [run.column for run in runs if not LOOKS_AT[run.strategy]]
    works = [partial(run_columns, s1_columns, "s1")] if s1_columns else []
    works += [
        partial(run_columns, [run.column], run.strategy) for run in runs if LOOKS_AT[run.strategy]
    ]
    run_side_by_side(works, progress, "run", workers)


def _run_columns(
    study: Study, columns: Sequence[Column], strategy: str, progress: Progress
) -> list[RunResult]:
    sensitive = [
        draw_sensitive_column(study.task.classes, column, study.task.seed) for column in columns
    ]
    classes = replace(study.task.classes, sensitive=tuple(sensitive))
    looked_at = sensitive[0].name if LOOKS_AT[strategy] else None
    task = replace(study.task, classes=classes, strategy=strategy, sensitive=looked_at)
    path = gaa.merge_path(task, progress)
    finished = finish_for_models(path, task, study.ks, ignore_progress)
    line = Line(
        Configuration(study.metric.name, strategy, task.tie_seed, task.scope),
        study.metric,
        {
            task.tie_seed: measure_points(finished, [study.metric])
            if finished
            else measure_curves(path, [study.metric])
        },
        best_l={attribute.name: entropy_l_diversity.of_whole(attribute) for attribute in sensitive},
    )
    return [
        RunResult(StudyRun(column, strategy), _compute_areas(study, line, column.name))
        for column in columns
    ]


def _compute_areas(study: Study, line: Line, column: str) -> tuple[float, ...]:
    low, high = study.interval
    n = study.task.classes.highest_k

    def compute_area(criterion: str) -> float:
        alteration_name = f"alteration_{study.metric.name}"
        name = alteration_name if criterion == ALTERATION_CARD.name else criterion
        (values,) = get_percent_factor(name) * line.at(name, study.ks, column)
        return round(nauc(study.ks, values, low, high, n), _DIGITS)

    return tuple(compute_area(criterion) for criterion in CRITERIA)
