"""Many runs of one table side by side: over k, metrics, strategies and tie seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import algorithm_named, check_task, serves_every_k, uses
from kanon.algorithms.solution import finish_for_models, run_for_every_k
from kanon.algorithms.task import Task
from kanon.base.old_names import keep_old_name
from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.measures.along import Curves, Points, build_numbers_table, measure_curves, measure_points
from kanon.measures.yardstick import convert_path, convert_recoding
from kanon.metrics import PUBLISHED, Metric, metric_named
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import PreparedRun, measured_metrics, prepare
from kanon.sources.tables import Table
from kanon.strategies import LOOKS_AT, STRATEGIES, Scope


@dataclass(frozen=True)
class Configuration:
    """What one line of a comparison is made with."""

    metric: str  # guides the merging
    strategy: str = "s1"
    tie_seed: int | None = None  # None for the canonical order
    scope: Scope = "table"  # whose l and t the strategy looks at
    algorithm: str = "gaa"


@dataclass(frozen=True, eq=False)
class PlannedRun:
    algorithm: str
    task: Task  # its own k is not used
    # the hierarchies that releases are measured in, per quasi-identifier; None for their own
    measuring_hierarchies: tuple[Hierarchy, ...] | None = None


def sweep(
    plan: Plan,
    table: Table | pd.DataFrame,
    ks: Sequence[int],
    metrics: Sequence[str] = PUBLISHED,
    strategies: Sequence[str] = ("s1",),
    folder: Path = Path(),
    progress: Progress = ignore_progress,
    workers: int | None = None,
) -> pd.DataFrame:
    """What every k costs under several metrics and strategies.

    An algorithm that serves every k runs once per metric and strategy, any other one once more
    per k.

    Parameters
    ----------
    plan
        What to do; its k, metric and strategy give way to those of the sweep.
    table, folder
        See :func:`kanon.run.preparation.prepare`.
    ks
        Whole numbers of at least 2, each once, at most the number of records.
    metrics
        The metrics that guide the algorithm, one after the other.
    strategies
        The same for strategies.
    workers
        How many runs may go at once; by default one per core.

    Returns
    -------
    pandas.DataFrame
        One row per metric, strategy and k, in that order, with the columns of ``CURVES.csv``:
        ``metric, strategy, k, min_k, classes, alteration_<metric>…, mean_alteration,
        generalised_percent, root_percent, deleted_among_modified_percent``. Every release is
        measured in the seven published metrics and in those that guide; the mean is over the
        seven.

    Raises
    ------
    PlanError
        A k is not a whole number, below 2 or given twice; a metric or strategy is given twice or
        not at all; a strategy is unknown.
    MetricError
        A metric is unknown, or cannot be used with these hierarchies.
    Unsatisfiable
        The table has fewer records than a k.
    KanonError
        See :func:`kanon.run.preparation.prepare`.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> sweep(plan, table, [2, 3], ["ncp"])[["metric", "k", "min_k", "alteration_ncp"]]
      metric  k  min_k  alteration_ncp
    0    ncp  2      3           100.0
    1    ncp  3      3           100.0
    """
    configs = [
        replace(config, scope=plan.algorithm.scope)
        for config in combine_configurations(plan, metrics, strategies, [plan.algorithm.tie_seed])
    ]
    check_k(ks)
    tasks = create_tasks(prepare(plan, table, folder), configs)
    tasks[0].for_k(max(ks)).check()
    for task in tasks:
        check_task(plan.algorithm.name, task)
    all_metrics = measured_metrics(plan, metrics)
    # What an algorithm does not go by makes no other run: it stands in several rows.
    name = plan.algorithm.name
    keys = [
        (
            config.metric if uses(name, "metric") else "",
            config.strategy if uses(name, "strategy") else "",
        )
        for config in configs
    ]
    different = {key: PlannedRun(name, task) for key, task in zip(keys, tasks, strict=True)}
    solutions = run_sweep(progress, list(different.values()), ks, all_metrics, workers)
    solution_by_key = dict(zip(different, solutions, strict=True))
    rows = [
        build_numbers_table(
            {"metric": config.metric, "strategy": config.strategy, **solution_by_key[key].at(ks)}
        )
        for config, key in zip(configs, keys, strict=True)
    ]
    return pd.concat(rows, ignore_index=True)


def combine_configurations(
    plan: Plan, metrics: Sequence[str], strategies: Sequence[str], tie_seeds: Sequence[int | None]
) -> list[Configuration]:
    """Every metric with every strategy and every tie seed, in that order."""
    names_by_kind: dict[str, Sequence[object]] = {
        "metric": metrics,
        "strategy": strategies,
        "tie seed": tie_seeds,
    }
    for kind, names in names_by_kind.items():
        if not names:
            raise PlanError(f"Name at least one {kind} to compare.")
        repeated = [name for place, name in enumerate(names) if name in names[:place]]
        if repeated:
            raise PlanError(f"The {kind} {quote(repeated[0])} is named twice; name each one once.")
    for name in metrics:
        metric_named(name, plan.composed_metrics)
    for name in strategies:
        if name not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise PlanError(f"The strategy {quote(name)} is unknown; choose from {known}.")
        if LOOKS_AT[name] and not uses(plan.algorithm.name, "strategy"):
            raise PlanError(
                f"The algorithm {quote(plan.algorithm.name)} picks no partners; the strategy "
                f"{quote(name)} needs 'gaa'."
            )
    return [Configuration(*names) for names in product(metrics, strategies, tie_seeds)]


def check_k(ks: Sequence[object]) -> None:
    """Check the k of a sweep, before there is a table.

    Raises
    ------
    PlanError
        There is none, or one is not a whole number, below 2 or given twice.

    >>> check_k([2, 5, 2])
    Traceback (most recent call last):
    kanon.errors.PlanError: k = 2 is given twice; give each k once.
    """
    if not len(ks):
        raise PlanError("Give at least one k, such as 5.")
    for place, k in enumerate(ks):
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise PlanError(f"k = {quote(k)} is not a whole number; give whole numbers, such as 5.")
        if k < 2:
            raise PlanError(f"k = {k} is not allowed; k is at least 2.")
        if k in ks[:place]:
            raise PlanError(f"k = {k} is given twice; give each k once.")


def create_tasks(prepared_run: PreparedRun, configs: Sequence[Configuration]) -> list[Task]:
    """One task per configuration, in the same order, for the algorithm of the plan."""
    return [
        prepared_run.guided_by(
            metric=config.metric,
            strategy=config.strategy,
            tie_seed=config.tie_seed,
            scope=config.scope,
        ).task()
        for config in configs
    ]


_RUNNING_SHARE = 0.9  # the share of a run's time that passes before its curves are measured, about


def run_sweep(
    progress: Progress,
    runs: Sequence[PlannedRun],
    ks: Sequence[int],
    metrics: Sequence[Metric],
    workers: int | None = None,
    also_at: Sequence[int] | None = None,
) -> list[Curves | Points]:
    """Make several runs at once, one thread per core by default; they share the classes.

    A task with models beyond k-anonymity runs once per k. ``also_at``: the k at which runs that
    serve every k are also measured by :mod:`kanon.measures.extended_measures`.
    """

    def measure_run(run: PlannedRun, run_progress: Progress) -> Curves | Points:
        return _measure_run(run_progress, run, ks, metrics, also_at)

    return run_side_by_side([partial(measure_run, run) for run in runs], progress, "run", workers)


def _measure_run(
    progress: Progress,
    run: PlannedRun,
    ks: Sequence[int],
    metrics: Sequence[Metric],
    also_at: Sequence[int] | None,
) -> Curves | Points:
    module, task = algorithm_named(run.algorithm), run.task

    def convert(recoding: Recoding) -> Recoding:
        if run.measuring_hierarchies is None:
            return recoding
        return convert_recoding(recoding, run.measuring_hierarchies)

    if serves_every_k(run.algorithm, task.outliers):
        path = module.merge_path(
            task.for_k(max(ks)), lambda part, text: progress(_RUNNING_SHARE * part, text)
        )
        finished = finish_for_models(path, task, ks, progress)
        if finished:
            return measure_points(
                {k: convert(recoding) for k, recoding in finished.items()}, metrics
            )
        measured_path = (
            path
            if run.measuring_hierarchies is None
            else convert_path(path, run.measuring_hierarchies)
        )
        measured_ks = None if also_at is None else [k for k in also_at if k <= path.k_max]
        return measure_curves(measured_path, metrics, measured_ks, lambda k: convert(path.at(k)))

    finished = run_for_every_k(progress, run.algorithm, task, ks)
    return measure_points({k: convert(recoding) for k, recoding in finished.items()}, metrics)


configurations = keep_old_name(combine_configurations, "configurations")
solve_sweep = keep_old_name(run_sweep, "solve_sweep")
