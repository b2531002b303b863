"""The first import of a notebook: results as pandas tables and Plotly figures.

    from kanon.notebook import Plan, cost_matrix, every_k, read_table, run, sweep

docs/examples/first-steps.ipynb uses all of these. For other questions, ``build_lattice_graph`` and
``Hierarchy`` (``to_graph``, ``from_graph``) give and take networkx graphs.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from kanon.algorithms.catalogue import serves_every_k
from kanon.algorithms.solution import Solution, run_algorithm
from kanon.base.progress import ignore_progress
from kanon.charts.curves import build_curves_table, draw_alteration_curve
from kanon.errors import PlanError, Unsatisfiable, list_names, quote
from kanon.experiments.exploration import build_lattice_graph
from kanon.experiments.sweep import sweep
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.cost_matrices import cut, matrix_of, matrix_table
from kanon.hierarchy.files import read_hierarchy
from kanon.metrics import metric_named, potentials
from kanon.plan import Plan
from kanon.privacy.k_anonymity import check_k, too_few_records
from kanon.run import PreparedRun, Run, measured_metrics, prepare, release_at, run
from kanon.sources.reading import read_table
from kanon.sources.tables import Table

__all__ = [
    "EveryK",
    "Hierarchy",
    "Plan",
    "build_lattice_graph",
    "cost_matrix",
    "every_k",
    "read_hierarchy",
    "read_table",
    "run",
    "sweep",
]


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


def every_k(plan: Plan, table: Table | pd.DataFrame, folder: Path = Path()) -> EveryK:
    """Run a plan once for every k.

    Parameters
    ----------
    plan, table, folder
        See :func:`kanon.run.preparation.prepare`.

    Raises
    ------
    PlanError
        The plan's algorithm runs for one k at a time: :func:`kanon.experiments.sweep.sweep` runs it
        for several.
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
    task = prepared.check()
    if not serves_every_k(name, task.outliers):
        outliers = " with outliers" if task.outliers else ""
        raise PlanError(
            f"{quote(name)}{outliers} runs for one k at a time; sweep runs it for several."
        )
    metrics = measured_metrics(plan, [plan.metric.name])
    return EveryK(prepared, run_algorithm(ignore_progress, name, task, metrics))


def cost_matrix(prepared: PreparedRun, column: str, metric: str = "") -> pd.DataFrame:
    """The cost of raising each value of a column to the node that it shares with each other value.

    Parameters
    ----------
    prepared
        The plan and the table, such as ``run(plan, table).prepared``.
    metric
        Its name; that of the plan if none is given.

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
    classes, plan = prepared.classes, prepared.plan
    if column not in classes.attributes:
        raise PlanError(
            f"{quote(column)} is not a quasi-identifier; choose one of "
            f"{list_names(classes.attributes)}."
        )
    place = classes.attributes.index(column)
    chosen = metric_named(metric, plan.composed_metrics) if metric else plan.metric
    records = classes.records_below if chosen.counts_records else None
    tree = classes.hierarchies[place]
    depth = potentials(chosen, classes.hierarchies, records)[place]
    return matrix_table(matrix_of(tree, depth, cut(tree, tree.root)))
