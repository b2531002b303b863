"""The same ways once more: with ties broken otherwise, and on records that are drawn again.

The tables are drawn with replacement (the bootstrap: Efron, Annals of Statistics 7, 1979).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kanon.algorithms.task import Task
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.experiments.advisor.ways import MEASURED, best_l, looked_at
from kanon.experiments.advisor.weights import averaged, least_losses, scores
from kanon.experiments.comparison import TIE_SEEDS, Comparison, Line
from kanon.experiments.sweep import Configuration, PlannedRun, solve_sweep
from kanon.measures.along import Curves, Points
from kanon.measures.comparing import as_shown, standing
from kanon.sensitive import Sensitive

RESAMPLES = 10  # so many tables are drawn


@dataclass(frozen=True, eq=False)
class RepeatedLoss:
    ties: np.ndarray  # in each order of ties, its own first
    drawn: np.ndarray  # on each table that was drawn


def drawn_again(classes: EquivalenceClasses, seed: int) -> EquivalenceClasses:
    """The classes of a table that is drawn from this one with replacement.

    As many records are drawn, or where they are known persons: who is drawn twice counts as two.
    Each sensitive column is drawn as it is within its class, whatever the others.
    """
    random, n = np.random.default_rng(seed), classes.n_records
    who = classes.persons
    if who is None:
        records = codes = random.integers(0, n, n)
    else:
        whose = np.repeat(who.value, who.count)
        people, have = np.unique(whose, return_counts=True)
        drawn = random.integers(0, len(people), len(people))
        of_person = np.split(np.argsort(whose, kind="stable"), np.cumsum(have)[:-1])
        records = np.concatenate([of_person[one] for one in drawn])
        codes = np.repeat(people, have[drawn])  # the first who is drawn is the first person
    of_record = np.repeat(np.arange(classes.n_classes), classes.counts)[records]
    kept, group, counts = np.unique(of_record, return_inverse=True, return_counts=True)
    histograms = (
        Sensitive.from_records(
            each.name,
            each.values,
            each.numeric,
            group,
            codes if each is who else np.repeat(each.value, each.count)[records],
            len(kept),
        )
        for each in classes.histograms
    )
    return classes.regrouped(classes.nodes[kept], counts, histograms)


def run_again(
    progress: Progress,
    runs: Sequence[PlannedRun],
    ks: Sequence[int],
    limits: Mapping[str, float],
    workers: int | None = None,
    tie_seeds: Sequence[int] = TIE_SEEDS,
    resamples: int = RESAMPLES,
) -> list[RepeatedLoss]:
    """Run some ways of one table again: what a worker process is given."""
    whole = runs[0].task.classes
    tables = [drawn_again(whole, seed) for seed in range(1, resamples + 1)]
    tasks: list[Task] = []
    for run in runs:
        own = run.task
        seeds = dict.fromkeys([own.tie_seed, *tie_seeds])
        tasks += [replace(own, tie_seed=seed) for seed in seeds]
        tasks += [replace(own, classes=table) for table in tables]
    possible = [task for task in tasks if _can(task, max(ks))]

    def told(fraction: float, text: str) -> None:
        progress(fraction, f"the proposals again, {text}" if text else text)

    planned = [PlannedRun(runs[0].algorithm, task) for task in possible]
    made = solve_sweep(told, planned, looked_at(ks, whole.highest_k), MEASURED, workers)
    found = {
        id(task): _lost(task, one, ks, limits) for task, one in zip(possible, made, strict=True)
    }
    shape = next(iter(found.values())).shape
    lost = np.array([found.get(id(task), np.full(shape, np.nan)) for task in tasks])
    each = np.split(lost, len(runs))
    return [RepeatedLoss(one[: len(one) - resamples], one[len(one) - resamples :]) for one in each]


def _can(task: Task, k: int) -> bool:
    try:
        task.for_k(k).check()
    except Unsatisfiable:
        return False
    return True


def _lost(
    task: Task, made: Curves | Points, ks: Sequence[int], limits: Mapping[str, float]
) -> np.ndarray:
    line = Line(
        Configuration(MEASURED[0].name), MEASURED[0], {None: made}, best_l=best_l(task.classes)
    )
    alone = Comparison((line,), MEASURED, task.classes.highest_k, tuple(ks), task.sensitive or "")
    return least_losses(alone, ks, limits)[1][0]


@dataclass(frozen=True)
class ProposalStability:
    undecided: bool  # whether its scores over the orders of ties overlap those of another one
    # on how many of the tables that were drawn it still has the least score of them, alone or
    # with others
    held: int
    drawn: int  # how many tables were drawn
    # how many of them cannot meet the plan's models, so that nothing is known of them
    impossible: int
    # per proposal the least and the largest score over all orders of ties
    low: tuple[float, ...]
    high: tuple[float, ...]


def steadiness(proposed: Sequence[RepeatedLoss], shares: np.ndarray) -> ProposalStability:
    """Whether the first of some proposals stays the first when all of them are run again."""
    over_ties = np.array([scores(averaged(each.ties), shares) for each in proposed])
    low, high = over_ties.min(axis=1), over_ties.max(axis=1)
    own, least, most = (pd.DataFrame([row]) for row in (over_ties[:, 0], low, high))
    found = standing(own, least, most, digits=1)
    assert found.undecided is not None
    on_drawn = np.array([as_shown(scores(averaged(each.drawn), shares), 1) for each in proposed])
    impossible = np.isnan(on_drawn).any(axis=0)
    return ProposalStability(
        bool(found.undecided.iloc[0, 0]),
        int((on_drawn[0] <= on_drawn.min(axis=0)).sum()),
        on_drawn.shape[1],
        int(impossible.sum()),
        tuple(low.tolist()),
        tuple(high.tolist()),
    )
