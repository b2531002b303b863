"""Plans side by side, each line with its own k: what *Compare* shows, in one call."""

from collections.abc import Mapping, Sequence

import pandas as pd

from kanon.algorithms.catalogue import check_task
from kanon.base.progress import ignore_progress
from kanon.experiments.advisor.ways import compute_best_l
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import PlannedRun, check_k, run_sweep
from kanon.experiments.titles import get_configuration, is_guided
from kanon.measures.along import Curves, Points
from kanon.plan import Plan
from kanon.run import measured_metrics, prepare
from kanon.sources.tables import Table


def compare(
    plans: Mapping[str, Plan],
    table: Table | pd.DataFrame,
    ks: Mapping[str, Sequence[int]],
    tie_seeds: Sequence[int] = (),
    sensitive: str = "",
    measured_by: Plan | None = None,
    requirement: str = "",
    also_at: Sequence[int] | None = None,
) -> Comparison:
    """Compare plans: every criterion at every k, ranks and areas.

    Parameters
    ----------
    plans, ks
        The plan and the k of each line by its name; k above the number of records are left out.
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
    prepared = {name: prepare(plan, table) for name, plan in plans.items()}
    measuring = None if measured_by is None else prepare(measured_by, table).classes
    runs: dict[tuple[str, int | None], PlannedRun] = {}
    for name, ready in prepared.items():
        check_k(ks[name])
        led, attributes = ready.plan.algorithm, ready.classes.attributes
        own_ks = tuple(sorted(k for k in ks[name] if k <= ready.classes.highest_k))
        trees = None
        if measuring is not None:
            places = map(measuring.attributes.index, attributes)
            trees = tuple(measuring.hierarchies[place] for place in places)
        for seed in dict.fromkeys([led.tie_seed, *tie_seeds]):
            other = {} if seed == led.tie_seed else {"seed": seed}  # what draws draws anew
            task = ready.guided_by(tie_seed=seed, **other).task()
            task.for_k(max(own_ks)).check()
            check_task(led.name, task)
            runs[name, seed] = PlannedRun(led.name, task, trees, own_ks)
    configs = {name: get_configuration(plan) for name, plan in plans.items()}
    guides = dict.fromkeys(config.metric for config in configs.values() if is_guided(config))
    composed = {key: part for plan in plans.values() for key, part in plan.metrics.items()}
    first = next(iter(prepared.values()))
    metrics = measured_metrics(first.plan.model_copy(update={"metrics": composed}), guides)
    results = run_sweep(ignore_progress, list(runs.values()), (), metrics, also_at=also_at)
    numbers: dict[str, dict[int | None, Curves | Points]] = {name: {} for name in plans}
    for (name, seed), result in zip(runs, results, strict=True):
        numbers[name][seed] = result
    lines = tuple(
        Line(configs[name], ready.plan.metric, numbers[name], name, name,
             best_l=compute_best_l(ready.classes))
        for name, ready in prepared.items()
    )  # fmt: skip
    highest = min(ready.classes.highest_k for ready in prepared.values())
    all_ks = tuple(sorted({k for run in runs.values() for k in run.ks or ()}))
    of = first.classes.of
    return Comparison(lines, tuple(metrics), highest, all_ks, sensitive, of, requirement)
