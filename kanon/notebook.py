"""The first import of a notebook: results as pandas tables and Plotly figures.

    from kanon.notebook import Plan, cost_matrix, every_k, read_table, run, sweep

docs/examples/first-steps.ipynb uses all of these. For other questions, ``build_lattice_graph`` and
``Hierarchy`` (``to_graph``, ``from_graph``) give and take networkx graphs. The scripts that pages
of the dashboard offer (:mod:`kanon.report.page_code`) begin with this module too.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from kanon.algorithms.catalogue import serves_every_k
from kanon.algorithms.solution import Solution, run_algorithm, run_for_every_k
from kanon.base.progress import ignore_progress
from kanon.charts.curves import build_curves_table, draw_alteration_curve
from kanon.charts.matrix import Texts, draw_matrices, format_cost_hovers, format_difference_hovers
from kanon.errors import PlanError, Unsatisfiable, list_names, quote
from kanon.experiments.compare import compare
from kanon.experiments.exploration import build_lattice_graph
from kanon.experiments.sweep import check_k as check_each_k
from kanon.experiments.sweep import sweep
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.cost_matrices import CostMatrix, cut, matrix_of, matrix_table
from kanon.hierarchy.files import read_hierarchy
from kanon.measures.along import measure_points
from kanon.metrics import Metric, edge_weights, metric_named, potentials
from kanon.plan import Plan
from kanon.privacy.k_anonymity import check_k, too_few_records
from kanon.run import PreparedRun, Run, measured_metrics, prepare, release_at, run
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_address
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.tables import Table
from kanon.sources.text_form import PLAIN

__all__ = [
    "EveryK", "Hierarchy", "Plan", "build_lattice_graph", "compare", "cost_matrix", "draw_costs",
    "every_k", "prepare", "read_hierarchy", "read_plan_table", "read_table", "run", "sweep",
    "write_release",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class EveryK:
    """The releases of a plan at every k, from one run."""

    prepared: PreparedRun  #: the plan and the table
    solution: Solution  #: what the algorithm found

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

    ``ks`` are needed for an algorithm that runs for one k at a time, which runs once per k; by
    default it is every k.

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
    bounds, outliers = prepared.level_bounds, prepared.task().outliers
    if ks is None and not serves_every_k(name, outliers or bounds):
        why = " with level bounds" if bounds else " with outliers" if outliers else ""
        raise PlanError(
            f"{quote(name)}{why} runs for one k at a time; name them with ks=, or use sweep "
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

    Source: Mauger, Le Mahec, Dequen 2023, Definition 6.

    The rows are raised. In the metric's own unit, by default that of the plan; of a large
    hierarchy, means over groups, unless ``focus`` names one to zoom in on. ``prepared`` is the plan
    and the table, such as ``run(plan, table).prepared``.

    Raises
    ------
    PlanError
        The column is not a quasi-identifier.
    MetricError
        The metric is unknown, or needs weights that a hierarchy lacks.

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

    ``share``: costs as shares of the largest one of their metric. ``focus``: a group to zoom in on.
    """
    built = [_build_costs(prepared, column, name, focus) for name in metrics]
    matrices, hovers = [matrix for matrix, _, _ in built], [texts for *_, texts in built]
    if difference:
        tree = prepared.classes.hierarchies[prepared.classes.attributes.index(column)]
        first, second = matrices
        hovers = [format_difference_hovers(tree, first, second, share)]
    titles = [metric.card.title for _, metric, _ in built]
    return draw_matrices(matrices, titles, hovers, difference, share=share)


def read_plan_table(plan: Plan, place: str | Path) -> Table:
    """Read a file, folder or table of a database with the plan's separator, sheet and so on."""
    read = plan.read.model_dump(exclude={"missing", "kinds"})
    if read["missing_markers"] is not None:
        read["missing_markers"] = tuple(read["missing_markers"])
    return open_address(Address.parse(str(place)), settings=ReadSettings(**read))


def write_release(release: Run, place: str | Path, like: Table | None = None) -> None:
    """Write a release as a file, in the separator and encoding of a CSV that it is to be like."""
    form = release.fitting(like.form) if isinstance(like, MemoryTable) else PLAIN
    release.write(Address.parse(str(place)), form=form)
