"""The first import of a notebook: results as pandas tables and Plotly figures.

    from kanon.notebook import Plan, cost_matrix, every_k, read_table, run, sweep

docs/examples/first-steps.ipynb uses all of these. For other questions, ``build_lattice_graph`` and
``Hierarchy`` (``to_graph``, ``from_graph``) give and take networkx graphs. The scripts that pages
of the dashboard offer (:mod:`kanon.report.page_code`) use nothing of kanon but what is here.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from kanon.algorithms.catalogue import check_task, serves_every_k
from kanon.algorithms.solution import Solution, run_algorithm, run_for_every_k
from kanon.base.progress import ignore_progress
from kanon.charts.advice import draw_advice
from kanon.charts.associations import build_association_table, draw_associations
from kanon.charts.board import draw_board
from kanon.charts.curves import build_curves_table, draw_alteration_curve
from kanon.charts.decision import draw_decision, draw_greatest_k
from kanon.charts.distributions import build_distributions_table, draw_distribution_panels
from kanon.charts.lattice import (
    build_heights_table,
    build_lattice_table,
    draw_heights,
    draw_lattice,
)
from kanon.charts.layout import Layout, Panel
from kanon.charts.matrix import (
    Texts,
    draw_matrices,
    format_cost_hovers,
    format_difference_hovers,
)
from kanon.charts.privacy import draw_worst_levels
from kanon.charts.query_errors import build_query_table, draw_query_errors
from kanon.errors import PlanError, Unsatisfiable, list_names, quote
from kanon.experiments.advisor.advice import advise
from kanon.experiments.advisor.ways import compute_best_l
from kanon.experiments.comparison import PAPER_K, Comparison, Line
from kanon.experiments.exploration import Exploration, build_lattice_graph, measure_lattice
from kanon.experiments.greatest_k import find_greatest_k
from kanon.experiments.simulated.ranks import build_results_table
from kanon.experiments.simulated.study import (
    RunResult,
    create_study,
    list_missing_runs,
    run_study,
)
from kanon.experiments.sweep import Configuration, PlannedRun, run_sweep, sweep
from kanon.experiments.sweep import check_k as check_each_k
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.bundle import write_bundle
from kanon.hierarchy.cost_matrices import CostMatrix, cut, matrix_of, matrix_table
from kanon.hierarchy.files import read_hierarchy
from kanon.hierarchy.tables import build_edge_table, build_level_table
from kanon.measures.along import get_worst_levels, measure_points
from kanon.measures.worst_classes import find_worst_classes
from kanon.metrics import Metric, edge_weights, metric_named, potentials
from kanon.plan import ColumnPlan, Plan
from kanon.privacy.k_anonymity import check_k, too_few_records
from kanon.privacy.reidentification import THRESHOLD, prosecutor
from kanon.release.context import Context
from kanon.release.decision import (
    Decision,
    build_decision_table,
    compare_with_thresholds,
    measure_reached_levels,
)
from kanon.report.loss import (
    build_loss_table,
    list_loss_measures,
    measure_changes,
    measure_loss_ends,
)
from kanon.run import PreparedRun, Run, measured_metrics, prepare, release_at, run
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable, convert_to_table
from kanon.sources.opening import open_address
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.tables import Table
from kanon.sources.text_form import PLAIN
from kanon.strategies import LOOKS_AT

__all__ = [
    "Context", "EveryK", "Hierarchy", "Layout", "Panel", "Plan", "advise",
    "build_association_table", "build_decision_table", "build_distributions_table",
    "build_edge_table", "build_heights_table", "build_lattice_graph", "build_lattice_table",
    "build_level_table", "build_query_table", "compare", "cost_matrix", "decide", "draw_advice",
    "draw_associations", "draw_board", "draw_costs", "draw_decision", "draw_distribution_panels",
    "draw_greatest_k", "draw_heights", "draw_lattice", "draw_query_errors", "every_k",
    "explore_lattice", "find_greatest_k", "list_worst_classes", "measure_changes", "measure_loss",
    "measure_risk", "prepare", "read_hierarchy", "read_plan_table", "read_table", "run", "simulate",
    "sweep", "write_bundle", "write_release",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class EveryK:
    """The releases of a plan at every k, from one run.

    Attributes
    ----------
    prepared
        The plan and the table.
    solution
        What the algorithm found.
    """

    prepared: PreparedRun
    solution: Solution

    def table(self) -> pd.DataFrame:
        """The cost of each release: a row per release, which serves every k up to its own."""
        assert self.solution.curves is not None
        return build_curves_table(self.solution.curves)

    def chart(self, k: int) -> go.Figure:
        """The alteration at every k by the plan's metric, with a mark at one k."""
        assert self.solution.curves is not None
        prepared = self.prepared
        return draw_alteration_curve(
            self.solution.curves, prepared.plan.metric, k, of=prepared.classes.of
        )

    def level_charts(self, k: int, column: str) -> tuple[go.Figure, go.Figure]:
        """l and t of the worst class at every k, in two figures, with a mark at one k."""
        assert self.solution.curves is not None
        released = self.release(k).recoding.released
        columns = [sensitive.name for sensitive in released.sensitive]
        levels = get_worst_levels(self.solution.curves, column, columns)
        return draw_worst_levels(self.solution.curves, levels, released, column, k)

    def release(self, k: int) -> Run:
        """The release for k, checked against the plan; it is looked up, not computed again.

        Raises
        ------
        PlanError
            k is not a whole number of at least 2, or was not computed, because models besides
            k-anonymity are required.
        Unsatisfiable
            The table has fewer than k records.
        """
        check_k(k)
        n, computed_k = self.prepared.classes.n_records, self.solution.known
        if k > n:
            raise Unsatisfiable(too_few_records(k, n))
        if computed_k is not None and k not in computed_k:
            raise PlanError(
                f"k = {k} was not computed; choose one of {', '.join(map(str, computed_k))}."
            )
        return release_at(self.prepared, self.solution, k)


def every_k(
    plan: Plan,
    table: Table | pd.DataFrame,
    folder: Path = Path(),
    ks: Sequence[int] | None = None,
) -> EveryK:
    """Run a plan once for every k, or for some k.

    Parameters
    ----------
    plan, table, folder
        See :func:`kanon.run.preparation.prepare`.
    ks
        The k to compute; needed for an algorithm that runs for one k at a time, which runs once
        per k. By default every k.

    Raises
    ------
    PlanError
        The plan's algorithm runs for one k at a time, and no k is given.
    KanonError
        See :func:`kanon.run.execution.run`.

    Examples
    --------
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> found = every_k(plan, pd.DataFrame({"sex": ["F", "F", "M"]}))
    >>> found.table()["k_up_to"].tolist(), found.release(2).released()["sex"].tolist()
    ([1, 3], ['*', '*', '*'])
    """
    name, prepared = plan.algorithm.name, prepare(plan, table, folder)
    if ks is None and not serves_every_k(name, prepared.task().outliers):
        outliers = " with outliers" if prepared.task().outliers else ""
        raise PlanError(
            f"{quote(name)}{outliers} runs for one k at a time; name them with ks=, or use sweep "
            "for figures."
        )
    metrics = measured_metrics(plan, [plan.metric.name])
    if ks is not None:
        check_each_k(ks)
        task, start = replace(prepared, plan=plan.with_k(max(ks))).check(), time.perf_counter()
        recodings = run_for_every_k(ignore_progress, name, task, ks)
        seconds = time.perf_counter() - start
        curves = measure_points(recodings, metrics)
        return EveryK(prepared, Solution(None, None, curves, seconds, recodings))
    return EveryK(prepared, run_algorithm(ignore_progress, name, prepared.check(), metrics))


def cost_matrix(
    prepared: PreparedRun, column: str, metric: str = "", focus: str = ""
) -> pd.DataFrame:
    """The cost of raising each value of a column to the node that it shares with each other value.

    Parameters
    ----------
    prepared
        The plan and the table, such as ``run(plan, table).prepared``.
    metric
        Its name; that of the plan if none is given.
    focus
        A group of a large hierarchy, to zoom in on.

    Returns
    -------
    pandas.DataFrame
        The rows are raised. In the metric's own unit; of a large hierarchy, means over groups.

    Raises
    ------
    PlanError
        The column is not a quasi-identifier.
    MetricError
        The metric is unknown, or needs weights that a hierarchy lacks.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2023, Definition 6.

    Examples
    --------
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> found = run(plan, pd.DataFrame({"sex": ["F", "F", "M"]}))
    >>> cost_matrix(found.prepared, "sex", "total").loc["F"].to_dict()
    {'F': 0.0, 'M': 1.0, '*': 1.0}
    """
    return matrix_table(_build_costs(prepared, column, metric, focus)[0])


def _build_costs(
    prepared: PreparedRun, column: str, name: str, focus: str = ""
) -> tuple[CostMatrix, Metric, Texts]:
    """The matrix of a metric, the metric itself, and what each cell says under the mouse."""
    classes, plan = prepared.classes, prepared.plan
    if column not in classes.attributes:
        raise PlanError(
            f"{quote(column)} is not a quasi-identifier; choose one of "
            f"{list_names(classes.attributes)}."
        )
    place = classes.attributes.index(column)
    chosen = metric_named(name, plan.composed_metrics) if name else plan.metric
    records = classes.records_below if chosen.counts_records else None
    tree = classes.hierarchies[place]
    nodes = cut(tree, tree.node_of.get(focus, tree.root))
    matrix = matrix_of(tree, potentials(chosen, classes.hierarchies, records)[place], nodes)
    weights = edge_weights(chosen, classes.hierarchies, records)[place]
    return matrix, chosen, format_cost_hovers(tree, weights, matrix, 1)


def draw_costs(
    prepared: PreparedRun,
    column: str,
    metrics: Sequence[str],
    difference: bool = False,
    share: bool = False,
    focus: str = "",
) -> go.Figure:
    """The cost matrix of one metric, of two side by side, or the first minus the second.

    Parameters
    ----------
    share
        Whether costs are shares of the largest one of their metric.
    focus
        A group of a large hierarchy, to zoom in on.
    """
    built = [_build_costs(prepared, column, name, focus) for name in metrics]
    matrices, hovers = [matrix for matrix, _, _ in built], [texts for *_, texts in built]
    if difference:
        tree = prepared.classes.hierarchies[prepared.classes.attributes.index(column)]
        first, second = matrices
        hovers = [format_difference_hovers(tree, first, second, share)]
    titles = [metric.card.title for _, metric, _ in built]
    return draw_matrices(matrices, titles, hovers, difference, share=share)


# --- what pages of the dashboard show -----------------------------------------------------------
def read_plan_table(plan: Plan, place: str | Path) -> Table:
    """Read a table as its plan says: separator, encoding, missing markers, sheet, footer.

    Parameters
    ----------
    place
        A file, a folder of Parquet files, or a table of a database, as on the command line.
    """
    read = plan.read.model_dump(exclude={"missing", "kinds"})
    if read["missing_markers"] is not None:
        read["missing_markers"] = tuple(read["missing_markers"])
    return open_address(Address.parse(str(place)), settings=ReadSettings(**read))


def compare(
    plans: Mapping[str, Plan],
    table: Table | pd.DataFrame,
    ks: Sequence[int] = PAPER_K,
    tie_seeds: Iterable[int] = (),
    sensitive: str = "",
    measured_by: Plan | None = None,
    folder: Path = Path(),
) -> Comparison:
    """Plans side by side: every criterion at some k, ranks and areas.

    Parameters
    ----------
    plans
        The plan of each line by its name; their own k give way to ``ks``.
    ks
        The k at which all are compared; those above the number of records are left out.
    tie_seeds
        Further orders in which ties are broken, for bands.
    sensitive
        The sensitive column whose l and t are compared.
    measured_by
        The plan whose hierarchies measure all lines; by default each line is measured by its own.

    Examples
    --------
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> found = compare({"mine": plan}, pd.DataFrame({"sex": ["F", "F", "M"]}), [2, 3, 9])
    >>> found.table()[["configuration", "k", "mean_alteration"]].to_numpy().tolist()
    [['mine', 2, 100.0], ['mine', 3, 100.0]]
    """
    check_each_k(ks)
    prepared = {name: prepare(plan, table, folder) for name, plan in plans.items()}
    first = next(iter(prepared.values()))
    trees: dict[str, Hierarchy] = {}
    if measured_by is not None:
        measuring = prepare(measured_by, table, folder).classes
        trees = dict(zip(measuring.attributes, measuring.hierarchies, strict=True))
    guides = dict.fromkeys(plan.metric.name for plan in plans.values())
    composed = {key: part for plan in plans.values() for key, part in plan.metrics.items()}
    metrics = measured_metrics(first.plan.model_copy(update={"metrics": composed}), guides)
    highest = min(ready.classes.highest_k for ready in prepared.values())
    shared_k = sorted(k for k in ks if k <= highest)
    seeds, runs = {}, []
    for name, ready in prepared.items():
        led = ready.plan.algorithm
        measure = tuple(trees[column] for column in ready.classes.attributes) if trees else None
        seeds[name] = list(dict.fromkeys([led.tie_seed, *tie_seeds]))
        for place, seed in enumerate(seeds[name]):
            other = {"seed": seed} if place else {}  # what draws at random draws anew
            task = ready.guided_by(tie_seed=seed, **other).task()
            task.for_k(max(shared_k)).check()
            check_task(led.name, task)
            runs.append(PlannedRun(led.name, task, measure))
    results = iter(run_sweep(ignore_progress, runs, shared_k, metrics))
    lines = []
    for name, ready in prepared.items():
        led = ready.plan.algorithm
        scope = led.scope if LOOKS_AT[led.strategy] else "table"
        config = Configuration(led.metric, led.strategy, led.tie_seed, scope, led.name)
        numbers = {seed: next(results) for seed in seeds[name]}
        best_l = compute_best_l(ready.classes)
        lines.append(Line(config, ready.plan.metric, numbers, name, name, best_l=best_l))
    return Comparison(
        tuple(lines), tuple(metrics), highest, tuple(shared_k), sensitive, first.classes.of
    )


def write_release(release: Run, place: str | Path, like: Table | None = None) -> None:
    """Write a release as a file, in the separator and encoding of a CSV that it is to be like."""
    form = release.fitting(like.form) if isinstance(like, MemoryTable) else PLAIN
    release.write(Address.parse(str(place)), form=form)


def simulate(plan: Plan, table: Table | pd.DataFrame, folder: Path = Path()) -> pd.DataFrame:
    """Rank the strategies on simulated sensitive columns, as ``kanon simulate`` does."""
    study, results = create_study(prepare(plan, table, folder)), list[RunResult]()
    run_study(ignore_progress, study, list_missing_runs(results), results.append)
    return build_results_table(study, results)


def measure_risk(release: Run, threshold: float = THRESHOLD) -> pd.Series:
    """The risk that a person of the release is found by someone who knows all quasi-identifiers."""
    risk = prosecutor(release.recoding.released, threshold)
    return pd.Series({} if risk is None else asdict(risk), dtype=float)


def list_worst_classes(release: Run, column: str, by: str = "entropy_l") -> pd.DataFrame:
    """The classes that reveal most about a sensitive column, worst first."""
    return find_worst_classes(release.recoding.released, column, by, ())[1]


def measure_loss(release: Run) -> pd.DataFrame:
    """All measures of what a release lost, beside the table's own and those at the root."""
    measures = list_loss_measures(release, measure_loss_ends(release.prepared))
    columns = [sensitive.name for sensitive in release.prepared.classes.sensitive]
    return build_loss_table(measures, columns)


def decide(release: Run, context: Context) -> Decision:
    """Whether a release meets the thresholds of a context, counted from its rows."""
    return compare_with_thresholds(context, measure_reached_levels(release, context.known))


def explore_lattice(
    plan: Plan,
    table: Table | pd.DataFrame,
    columns: Sequence[str] | None = None,
    folder: Path = Path(),
) -> Exploration:
    """The lattice of a plan: its nodes, those that meet the requirements, and walks of searches.

    Parameters
    ----------
    columns
        The quasi-identifiers in the lattice, by default all; others count as insensitive.
    """
    records, quasi_identifiers = convert_to_table(table), plan.roles.quasi_identifiers
    if plan.read.missing == "drop-records":
        records = records.complete(quasi_identifiers)
    outside = set(quasi_identifiers).difference(columns or quasi_identifiers)
    roles = {
        name: ColumnPlan(role=Role.INSENSITIVE) if name in outside else part
        for name, part in plan.columns.items()
    }
    led = plan.algorithm.model_copy(update={"name": "optimal", "node": None, "strategy": "s1"})
    narrow = plan.model_copy(update={"columns": roles, "algorithm": led})
    return measure_lattice(ignore_progress, prepare(narrow, records, folder).task())
