"""Plans side by side, each line with its own k: what *Compare* shows, in one call."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from kanon.algorithms.catalogue import check_task
from kanon.base.progress import ignore_progress
from kanon.experiments.advisor.ways import compute_best_l
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import Configuration, PlannedRun, check_k, run_sweep
from kanon.experiments.titles import is_guided
from kanon.hierarchy import Hierarchy
from kanon.plan import Plan
from kanon.run import measured_metrics, prepare
from kanon.sources.tables import Table
from kanon.strategies import LOOKS_AT


def compare(
    plans: Mapping[str, Plan],
    table: Table | pd.DataFrame,
    ks: Mapping[str, Sequence[int]],
    tie_seeds: Iterable[int] = (),
    sensitive: str = "",
    measured_by: Plan | None = None,
    requirement: str = "",
    also_at: Sequence[int] | None = None,
    folder: Path = Path(),
) -> Comparison:
    """Compare plans: every criterion at every k, ranks and areas.

    Parameters
    ----------
    plans
        The plan of each line by its name; k gives way to ``ks``, all else is met by every release.
    ks
        The k of each line by its name; those above the number of records are left out.
    tie_seeds
        Further orders in which ties are broken, for bands.
    sensitive
        The sensitive column whose l and t are compared.
    measured_by
        The plan whose hierarchies measure all lines; by default each line is measured by its own.
    requirement
        What the lines meet beside k, in a sentence for tables.
    also_at
        The k at which lines that serve every k are measured by what takes longer.

    Examples
    --------
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> comparison = compare({"mine": plan}, table, {"mine": [2, 3, 9]})
    >>> comparison.table()[["configuration", "k", "mean_alteration"]].to_numpy().tolist()
    [['mine', 2, 100.0], ['mine', 3, 100.0]]
    """
    prepared = {name: prepare(plan, table, folder) for name, plan in plans.items()}
    first = next(iter(prepared.values()))
    trees: dict[str, Hierarchy] = {}
    if measured_by is not None:
        measuring = prepare(measured_by, table, folder).classes
        trees = dict(zip(measuring.attributes, measuring.hierarchies, strict=True))
    configs, seeds, runs = {}, {}, []
    for name, ready in prepared.items():
        led = ready.plan.algorithm
        scope = led.scope if LOOKS_AT[led.strategy] else "table"
        configs[name] = Configuration(led.metric, led.strategy, led.tie_seed, scope, led.name)
        check_k(ks[name])
        own_ks = tuple(sorted(k for k in ks[name] if k <= ready.classes.highest_k))
        measure = tuple(trees[column] for column in ready.classes.attributes) if trees else None
        seeds[name] = list(dict.fromkeys([led.tie_seed, *tie_seeds]))
        for place, seed in enumerate(seeds[name]):
            other = {"seed": seed} if place else {}  # what draws at random draws anew
            task = ready.guided_by(tie_seed=seed, **other).task()
            task.for_k(max(own_ks)).check()
            check_task(led.name, task)
            runs.append(PlannedRun(led.name, task, measure, own_ks))
    guides = dict.fromkeys(config.metric for config in configs.values() if is_guided(config))
    composed = {key: part for plan in plans.values() for key, part in plan.metrics.items()}
    metrics = measured_metrics(first.plan.model_copy(update={"metrics": composed}), guides)
    results = iter(run_sweep(ignore_progress, runs, (), metrics, also_at=also_at))
    lines = tuple(
        Line(
            configs[name],
            ready.plan.metric,
            {seed: next(results) for seed in seeds[name]},
            name,
            name,
            best_l=compute_best_l(ready.classes),
        )
        for name, ready in prepared.items()
    )
    highest = min(ready.classes.highest_k for ready in prepared.values())
    all_ks = tuple(sorted({k for run in runs for k in run.ks or ()}))
    return Comparison(
        lines, tuple(metrics), highest, all_ks, sensitive, first.classes.of, requirement
    )
