"""Many runs of one table side by side: over k, metrics, strategies and tie seeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import kanon.algorithms
from kanon.algorithms.catalogue import (
    algorithm_named,
    check_task,
    needs_hierarchies,
    serves_every_k,
    uses,
)
from kanon.algorithms.solution import finish_for_models, run_for_every_k
from kanon.algorithms.task import Task
from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress, ignore_progress
from kanon.cards import parts_of
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
    ks: tuple[int, ...] | None = None  # its own k; None for those of the sweep
    # whether a k without a release is noted in the results; else it is an error
    may_fail: bool = False


@dataclass(frozen=True, eq=False)
class SweepResult:
    prepared: PreparedRun
    ks: tuple[int, ...]
    numbers: Mapping[Configuration, Curves | Points]  # in the order of the sweep
    metrics: tuple[Metric, ...]  # what every release was measured in

    def build_table(self, with_algorithm: bool) -> pd.DataFrame:
        """One row per configuration and k, with the columns of ``CURVES.csv``."""
        rows = []
        for config, numbers in self.numbers.items():
            name = {"algorithm": config.algorithm} if with_algorithm else {}
            about = {**name, "metric": config.metric, "strategy": config.strategy}
            rows.append(build_numbers_table({**about, **numbers.at(self.ks)}))
        return pd.concat(rows, ignore_index=True)


def sweep(
    plan: Plan,
    table: Table | pd.DataFrame,
    ks: Sequence[int],
    metrics: Sequence[str] = PUBLISHED,
    strategies: Sequence[str] = ("s1",),
    folder: Path = Path(),
    progress: Progress = ignore_progress,
    workers: int | None = None,
    algorithms: Sequence[str] | None = None,
) -> pd.DataFrame:
    """What every k costs under several metrics, strategies and algorithms.

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
    algorithms
        The same for algorithms; by default that of the plan alone. Settings of the plan that an
        algorithm takes apply to it too; own parameters of the plan's algorithm do not.

    Returns
    -------
    pandas.DataFrame
        One row per algorithm, metric, strategy and k, in that order, with the columns of
        ``CURVES.csv``: ``metric, strategy, k, min_k, classes, alteration_<metric>…,
        mean_alteration, generalised_percent, root_percent, deleted_among_modified_percent``; with
        ``algorithms``, a column ``algorithm`` before them. Every release is measured in the seven
        published metrics and in those that guide; the mean is over the seven.

    Raises
    ------
    PlanError
        A k is not a whole number, below 2 or given twice; a metric, strategy or algorithm is given
        twice or not at all, or is unknown; an algorithm cannot do what is asked for.
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
    >>> sweep(plan, table, [2], ["ncp"], algorithms=["gaa", "flash"])["algorithm"].tolist()
    ['gaa', 'flash']
    """
    result = measure_sweep(
        plan, table, ks, metrics, strategies, folder, progress, workers, algorithms
    )
    return result.build_table(algorithms is not None)


def measure_sweep(
    plan: Plan,
    table: Table | pd.DataFrame,
    ks: Sequence[int],
    metrics: Sequence[str] = PUBLISHED,
    strategies: Sequence[str] = ("s1",),
    folder: Path = Path(),
    progress: Progress = ignore_progress,
    workers: int | None = None,
    algorithms: Sequence[str] | None = None,
) -> SweepResult:
    """Run what :func:`sweep` makes a table of; the arguments are the same."""
    check_k(ks)
    if algorithms is not None:
        _check_named_once("algorithm", algorithms)
    plans = [plan] if algorithms is None else [replace_algorithm(plan, name) for name in algorithms]
    combined = [
        combine_configurations(own, metrics, strategies, [plan.algorithm.tie_seed]) for own in plans
    ]
    # Where some algorithms need hierarchies, the table is prepared for those.
    needing = next((own for own in plans if needs_hierarchies(own.algorithm.name)), plans[0])
    prepared = prepare(needing, table, folder)
    keys: dict[Configuration, tuple[str, ...]] = {}
    runs: dict[tuple[str, ...], PlannedRun] = {}
    for own, combinations in zip(plans, combined, strict=True):
        name, scope = own.algorithm.name, plan.algorithm.scope
        configs = [replace(config, scope=scope, algorithm=name) for config in combinations]
        tasks = create_tasks(replace(prepared, plan=own), configs)
        for config, task in zip(configs, tasks, strict=True):
            task.for_k(max(ks)).check()
            check_task(name, task)
            # What an algorithm does not go by makes no other run: it stands in several rows.
            guide = config.metric if uses(name, "metric") else ""
            keys[config] = (name, guide, config.strategy if uses(name, "strategy") else "")
            runs[keys[config]] = PlannedRun(name, task)
    all_metrics = tuple(measured_metrics(plan, metrics))
    solutions = run_sweep(progress, list(runs.values()), ks, all_metrics, workers)
    numbers_by_key = dict(zip(runs, solutions, strict=True))
    numbers = {config: numbers_by_key[key] for config, key in keys.items()}
    return SweepResult(prepared, tuple(ks), numbers, all_metrics)


def replace_algorithm(plan: Plan, name: str) -> Plan:
    """The same plan for another algorithm, without own parameters of the plan's.

    Raises
    ------
    PlanError
        There is no such algorithm, or it is for one k alone.
    """
    led, names = plan.algorithm, parts_of(kanon.algorithms)
    if name not in names:
        raise PlanError(f"The algorithm {quote(name)} is unknown; choose from {', '.join(names)}.")
    if uses(name, "node"):
        raise PlanError(
            f"The algorithm {quote(name)} releases levels that were chosen for one k, but a "
            "comparison of algorithms covers several; leave it out."
        )
    if name == led.name:
        return plan
    common = {key: getattr(led, key) for key in type(led).model_fields if key != "node"}
    limit = plan.suppression_limit if uses(name, "suppression") else None
    own = type(led).model_validate({**common, "name": name})
    return plan.model_copy(update={"algorithm": own, "suppression_limit": limit})


def _check_named_once(kind: str, names: Sequence[object]) -> None:
    if not names:
        raise PlanError(f"Name at least one {kind} to compare.")
    repeated = [name for place, name in enumerate(names) if name in names[:place]]
    if repeated:
        raise PlanError(f"The {kind} {quote(repeated[0])} is named twice; name each one once.")


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
        _check_named_once(kind, names)
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
    keep: Callable[[tuple[int, Curves | Points]], object] | None = None,
) -> list[Curves | Points]:
    """Make several runs at once, one thread per core by default; they share the classes.

    A task with models beyond k-anonymity runs once per k. ``also_at``: the k at which runs that
    serve every k are also measured by :mod:`kanon.measures.extended_measures`. ``keep`` gets the
    place and the numbers of each run as soon as it is finished.
    """

    def measure_run(place: int, run: PlannedRun, run_progress: Progress) -> Curves | Points:
        numbers = _measure_run(run_progress, run, ks, metrics, also_at)
        if keep is not None:
            keep((place, numbers))
        return numbers

    tasks = [partial(measure_run, place, run) for place, run in enumerate(runs)]
    return run_side_by_side(tasks, progress, "run", workers)


def _measure_run(
    progress: Progress,
    run: PlannedRun,
    ks: Sequence[int],
    metrics: Sequence[Metric],
    also_at: Sequence[int] | None,
) -> Curves | Points:
    module, task, ks = algorithm_named(run.algorithm), run.task, run.ks or ks
    refused: dict[int, str] | None = {} if run.may_fail else None
    if run.may_fail:
        try:
            check_task(run.algorithm, task)
        except PlanError as error:
            return measure_points({}, metrics, dict.fromkeys(ks, error.sentence))

    def convert(recoding: Recoding) -> Recoding:
        if run.measuring_hierarchies is None:
            return recoding
        return convert_recoding(recoding, run.measuring_hierarchies)

    if serves_every_k(run.algorithm, task.outliers or task.level_bounds):
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

    finished = run_for_every_k(progress, run.algorithm, task, ks, refused)
    measured = {k: convert(recoding) for k, recoding in finished.items()}
    return measure_points(measured, metrics, refused)
