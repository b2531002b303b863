"""The same configurations again: with other orders of ties, and on resampled records.

Samples are drawn with replacement (the bootstrap: Efron, Annals of Statistics 7, 1979).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kanon.algorithms.task import Task
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.experiments.advisor.ways import ADVISOR_METRICS, choose_solved_k, compute_best_l
from kanon.experiments.advisor.weights import compute_mean_over_k, compute_scores, find_least_losses
from kanon.experiments.comparison import TIE_SEEDS, Comparison, Line
from kanon.experiments.sweep import Configuration, PlannedRun, run_sweep
from kanon.measures.along import Curves, Points
from kanon.measures.comparing import rank_configurations, round_to_digits

RESAMPLES = 10  # so many tables are drawn


@dataclass(frozen=True, eq=False)
class RepeatedLoss:
    ties: np.ndarray  # in each order of ties, its own first
    over_samples: np.ndarray  # on each table that was drawn


def sample_classes(classes: EquivalenceClasses, seed: int) -> EquivalenceClasses:
    """The classes of a sample with replacement, of as many records (persons where known).

    A person drawn twice counts as two. Sensitive columns are drawn independently of each other.
    """
    random, n = np.random.default_rng(seed), classes.n_records
    persons = classes.persons
    if persons is None:
        records = codes = random.integers(0, n, n)
    else:
        person_codes = np.repeat(persons.value, persons.count)
        people, record_counts = np.unique(person_codes, return_counts=True)
        choices = random.integers(0, len(people), len(people))
        of_person = np.split(np.argsort(person_codes, kind="stable"), np.cumsum(record_counts)[:-1])
        records = np.concatenate([of_person[person] for person in choices])
        codes = np.repeat(people, record_counts[choices])  # numbered in the order of the draw
    of_record = np.repeat(np.arange(classes.n_classes), classes.counts)[records]
    drawn_classes, group, counts = np.unique(of_record, return_inverse=True, return_counts=True)
    histograms = (
        replace(
            histogram,
            start=np.arange(len(records) + 1),
            value=codes
            if histogram is persons
            else np.repeat(histogram.value, histogram.count)[records],
            count=np.ones(len(records), dtype=np.int64),
        ).grouped(group, len(drawn_classes))
        for histogram in classes.histograms
    )
    return classes.regrouped(classes.nodes[drawn_classes], counts, histograms)


def run_again(
    progress: Progress,
    runs: Sequence[PlannedRun],
    ks: Sequence[int],
    limits: Mapping[str, float],
    workers: int | None = None,
    tie_seeds: Sequence[int] = TIE_SEEDS,
    resamples: int = RESAMPLES,
) -> list[RepeatedLoss]:
    classes = runs[0].task.classes
    tables = [sample_classes(classes, seed) for seed in range(1, resamples + 1)]
    tasks: list[Task] = []
    for run in runs:
        task = run.task
        seeds = dict.fromkeys([task.tie_seed, *tie_seeds])
        tasks += [replace(task, tie_seed=seed) for seed in seeds]
        tasks += [replace(task, classes=table) for table in tables]
    possible = [task for task in tasks if _can_solve(task, max(ks))]

    def show_progress(fraction: float, text: str) -> None:
        progress(fraction, f"the proposals again, {text}" if text else text)

    planned_runs = [PlannedRun(runs[0].algorithm, task) for task in possible]
    measured = run_sweep(
        show_progress,
        planned_runs,
        choose_solved_k(ks, classes.highest_k),
        ADVISOR_METRICS,
        workers,
    )
    loss_by_task = {
        id(task): _compute_least_losses(task, part, ks, limits)
        for task, part in zip(possible, measured, strict=True)
    }
    shape = next(iter(loss_by_task.values())).shape
    losses = np.array([loss_by_task.get(id(task), np.full(shape, np.nan)) for task in tasks])
    parts = np.split(losses, len(runs))
    return [
        RepeatedLoss(part[: len(part) - resamples], part[len(part) - resamples :]) for part in parts
    ]


def _can_solve(task: Task, k: int) -> bool:
    try:
        task.for_k(k).check()
    except Unsatisfiable:
        return False
    return True


def _compute_least_losses(
    task: Task, measured: Curves | Points, ks: Sequence[int], limits: Mapping[str, float]
) -> np.ndarray:
    line = Line(
        Configuration(ADVISOR_METRICS[0].name),
        ADVISOR_METRICS[0],
        {None: measured},
        best_l=compute_best_l(task.classes),
    )
    comparison = Comparison(
        (line,), ADVISOR_METRICS, task.classes.highest_k, tuple(ks), task.sensitive or ""
    )
    return find_least_losses(comparison, ks, limits)[1][0]


@dataclass(frozen=True)
class ProposalStability:
    undecided: bool  # whether its scores over the orders of ties overlap those of another one
    # on how many of the tables that were drawn it still has the least score of them, alone or
    # with others
    held: int
    n_samples: int  # how many tables were drawn
    # how many of them cannot meet the plan's models, so that nothing is known of them
    n_impossible: int
    # per proposal the least and the largest score over all orders of ties
    low: tuple[float, ...]
    high: tuple[float, ...]


def measure_stability(repeated: Sequence[RepeatedLoss], shares: np.ndarray) -> ProposalStability:
    over_ties = np.array(
        [compute_scores(compute_mean_over_k(losses.ties), shares) for losses in repeated]
    )
    low, high = over_ties.min(axis=1), over_ties.max(axis=1)
    own, least, most = (pd.DataFrame([row]) for row in (over_ties[:, 0], low, high))
    order = rank_configurations(own, least, most, digits=1)
    assert order.undecided is not None
    on_drawn = np.array(
        [
            round_to_digits(compute_scores(compute_mean_over_k(losses.over_samples), shares), 1)
            for losses in repeated
        ]
    )
    impossible = np.isnan(on_drawn).any(axis=0)
    return ProposalStability(
        bool(order.undecided.iloc[0, 0]),
        int((on_drawn[0] <= on_drawn.min(axis=0)).sum()),
        on_drawn.shape[1],
        int(impossible.sum()),
        tuple(low.tolist()),
        tuple(high.tolist()),
    )
