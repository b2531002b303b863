"""The cost matrices of one column, and how the cost of a cell adds up."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import join_words
from kanon.charts.matrix import draw_matrices, format_cost_hovers, format_difference_hovers
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.cost_matrices import (
    CostMatrix,
    as_share,
    cell_text,
    cut,
    difference,
    matrix_of,
    matrix_table,
)
from kanon.metrics import Metric, edge_weights, potentials
from kanon.studio.session.parts import StateSection
from kanon.studio.session.work import (
    SessionState,
    count_records_at_nodes,
    get_metric,
    list_usable_metrics,
)
from kanon.studio.widgets.tree_edits import build_drawing


@dataclass(frozen=True)
class MatrixView(StateSection):
    mode: Literal["one", "two", "difference"] = "one"
    first: str = ""  # empty for the metric that guides
    second: str = "total"
    share: bool = False  # whether costs are shares of the cost of losing a value completely
    focus: str = ""  # the group whose values are shown; else the root
    cell: tuple[str, str] = ("", "")  # the values of the chosen cell: from, to


@dataclass(frozen=True, eq=False)
class Costs:
    tree: Hierarchy
    metrics: tuple[Metric, ...]
    weights: tuple[np.ndarray, ...]  # per metric those on the edges of the tree
    matrices: tuple[CostMatrix, ...]  # in the metrics' own units
    view: MatrixView  # how they are shown

    @property
    def labels(self) -> tuple[str, ...]:
        return self.matrices[0].labels

    @property
    def cell(self) -> tuple[int, int]:
        """The row and column of the chosen cell; the first pair if there is none."""
        labels = self.labels
        last = len(labels) - 1
        rows = [labels.index(name) if name in labels else None for name in self.view.cell]
        row = 0 if rows[0] is None else rows[0]
        return row, min(1, last) if rows[1] is None else rows[1]

    @property
    def path(self) -> list[int]:
        """The nodes from the row's value up to its lowest group with the column's value."""
        row, column = (self.matrices[0].nodes[place] for place in self.cell)
        nodes = self.tree.path(row)
        return nodes[: nodes.index(self.tree.lca(row, column)) + 1]

    @property
    def climbed(self) -> list[int]:
        """The nodes whose edge upwards counts in the cost of the cell."""
        return self.path[:-1]

    @property
    def titles(self) -> list[str]:
        return [metric.card.title for metric in self.metrics]

    @property
    def shown(self) -> list[CostMatrix]:
        return [as_share(matrix) if self.view.share else matrix for matrix in self.matrices]

    def sentences(self) -> list[str]:
        cell, percent = self.cell, self.view.share
        costs = [float(matrix.values[cell]) for matrix in self.shown]
        unit = " %" if percent else ""
        sentences = []
        for place, (title, matrix) in enumerate(zip(self.titles, self.matrices, strict=True)):
            line = f"{title}: {cell_text(self.tree, self.weights[place], matrix, cell)}"
            if percent:
                share = self.shown[place].written(costs[place], percent)
                largest = matrix.written(matrix.largest)
                line = f"{line}; {share} % of {largest}"
            sentences.append(line)
        if self.view.mode == "difference":
            apart = difference(*self.shown)
            first, second = (apart.written(cost, percent) + unit for cost in costs)
            both = apart.written(float(apart.values[cell]), percent)
            if percent:
                both = f"{both} percentage points"
            sentences.append(f"{' − '.join(self.titles)}: {first} − {second} = {both}")
        return sentences

    def explain_picture(self) -> list[str]:
        sentences = []
        if self.view.mode == "difference":
            first, second = self.titles
            sentences.append(
                f"Each cell is the cost by {first} minus the cost by {second}. 0: both cost "
                f"the same. Above 0, purple: {first} costs more. Below 0, orange: {second} "
                "costs more."
            )
            if not self.view.share:
                sentences.append("If their units differ, switch on “As shares” for a common one.")
        if self.view.share:
            largest = join_words(
                f"{title} {matrix.written(matrix.largest)}"
                for title, matrix in zip(self.titles, self.matrices, strict=True)
            )
            sentences.append(
                "A share is in percent of the largest cost of the same metric in this hierarchy, "
                f"that of losing a value completely: {largest}."
            )
        return sentences

    def figure(self) -> go.Figure:
        apart = self.view.mode == "difference"
        if apart:
            first, second = self.matrices
            hovers = [format_difference_hovers(self.tree, first, second, share=self.view.share)]
        else:
            hovers = [
                format_cost_hovers(self.tree, weights, matrix, len(self.matrices))
                for weights, matrix in zip(self.weights, self.matrices, strict=True)
            ]
        titles = [metric.card.title for metric in self.metrics]
        if len(titles) == 1:
            titles = [f"{titles[0]}: the cost of raising a value"]
        return draw_matrices(
            self.matrices, titles, hovers, apart, marked_cell=self.cell, share=self.view.share
        )

    def table(self) -> pd.DataFrame:
        if self.view.mode == "difference":
            return matrix_table(difference(*self.shown)).reset_index()
        tables = [matrix_table(matrix).reset_index() for matrix in self.shown]
        if len(tables) == 1:
            return tables[0]
        by_metric = zip(self.metrics, tables, strict=True)
        return pd.concat([table.assign(metric=metric.name) for metric, table in by_metric])

    def build_drawing(self, work: SessionState, column: str) -> dict[str, Any]:
        data = build_drawing(work, column, work.table.choices[column], editable=False, shown="")
        return {
            **data,
            "about": f"{data['about']}|costs",
            "lit": self.path,
            "climbed": self.climbed,
            "weights": [self.matrices[0].written(cost) for cost in self.weights[0].tolist()],
            "height": 520,
            "bare": True,
            "records": None,
        }


def get_matrix_view(work: SessionState) -> MatrixView:
    view, usable = work.view(MatrixView), list_usable_metrics(work)
    start = work.settings.metric if work.settings.metric in usable else "nllm"
    return replace(
        view,
        first=view.first if view.first in usable else start,
        second=view.second if view.second in usable else "total",
        share=view.share and view.mode != "one",
    )


def build_costs(work: SessionState, column: str, view: MatrixView) -> Costs:
    names = [view.first]
    if view.mode != "one":
        names.append(view.second)
    trees = work.table.trees
    tree, place = trees[column], list(trees).index(column)
    focus = tree.node_of.get(view.focus, tree.root)
    nodes = cut(tree, focus)
    metrics = tuple(get_metric(work, name) for name in names)
    arguments = [
        (metric, list(trees.values()), count_records_at_nodes(work, metric, trees))
        for metric in metrics
    ]
    return Costs(
        tree,
        metrics,
        tuple(edge_weights(*item)[place] for item in arguments),
        tuple(matrix_of(tree, potentials(*item)[place], nodes) for item in arguments),
        view,
    )


def list_groups(tree: Hierarchy, most: int = 500) -> list[str]:
    """The groups that a large matrix can be narrowed to, the root first."""
    large = sorted(
        range(tree.root, tree.n_leaves - 1, -1), key=lambda node: -int(tree.leaves_covered[node])
    )
    return [tree.labels[node] for node in large[:most]]
