"""What does blurring cost? Cost matrices, composed metrics, and the weights of columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kanon.base.formatting import count_noun, join_words
from kanon.charts.matrix import draw_matrices, format_cost_hovers, format_difference_hovers
from kanon.errors import quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.cost_matrices import (
    LARGEST_MATRIX,
    CostMatrix,
    as_share,
    cell_text,
    cut,
    difference,
    matrix_of,
    matrix_table,
)
from kanon.metrics import Metric, edge_weights, potentials
from kanon.studio.metrics.composed_metrics import (
    show_attribute_weights,
    show_composer,
)
from kanon.studio.session import state
from kanon.studio.session.parts import SharedView, StateSection
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import (
    SessionState,
    count_records_at_nodes,
    get_metric,
    list_usable_metrics,
)
from kanon.studio.shell.frame import draw_page_head, get_metric_titles, show_unready
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.how import explain_metric
from kanon.studio.widgets.picture import (
    PictureSettings,
    draw_chart,
    draw_data_button,
    draw_picture_links,
)
from kanon.studio.widgets.tree import draw_tree_editor
from kanon.studio.widgets.tree_edits import build_drawing, can_draw

_FOLDER = Path(__file__).parent

_HINT = "Click a cell to see how its cost adds up; drag to zoom in."

_cells = st.components.v2.component(
    "kanon_cells",
    html=f'<p class="cells">{_HINT}</p>',
    css=(_FOLDER / "matrix.css").read_text("utf-8"),
    js=(_FOLDER / "matrix.js").read_text("utf-8"),
)

_STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-costs-beside) { flex: 1 1 18rem; min-width: 18rem; }
</style>"""

MODES = {"one": "One metric", "two": "Two", "difference": "Difference"}


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
        titles = self.titles
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


def draw_cost_matrix(figure: go.Figure, key: str, on_pick: Callable[[int, int], None]) -> None:
    """Draw a cost matrix; ``on_pick`` gets the row and column of a clicked cell."""
    listener, zoom = f"{key}-cells", f"{key}-zoom"
    size, revision = len(figure.data[0].z), figure.layout.uirevision

    def pick_cell() -> None:
        cell = (state.get_widget_value(listener) or {}).get("cell")
        if not isinstance(cell, dict):  # a browser may send anything
            return
        places = [cell.get("row"), cell.get("column")]
        row, column = (place if type(place) is int else -1 for place in places)
        if 0 <= row < size and 0 <= column < size:
            state.set_widget_value(zoom, cell.get("view"))
            on_pick(row, column)

    def clear_zoom() -> None:
        state.set_widget_value(zoom, None)

    ranges = _get_zoom_ranges(state.get_widget_value(zoom), revision, size)
    if ranges:
        figure = go.Figure(figure)
        figure.update_xaxes(range=ranges[0], autorange=False)
        figure.update_yaxes(range=ranges[1], autorange=False)
    _cells(
        key=listener,
        data={"chart": key, "of": revision, "zoomed": bool(ranges)},
        on_cell_change=pick_cell,
        on_out_change=clear_zoom,
    )
    draw_chart(figure, key)


def _get_zoom_ranges(view: Any, revision: str, size: int) -> list[list[float]]:
    """The ranges that the user zoomed to in the same picture; else nothing.

    >>> _get_zoom_ranges({"of": "a", "x": [0.5, 2], "y": [3, 1]}, "a", 5)
    [[0.5, 2], [3, 1]]
    >>> _get_zoom_ranges({"of": "b", "x": [0.5, 2], "y": [3, 1]}, "a", 5)
    []
    """
    if not isinstance(view, dict) or view.get("of") != revision:
        return []
    ranges = [ends for ends in (view.get("x"), view.get("y")) if _is_range(ends, size)]
    return ranges if len(ranges) == 2 else []


def _is_range(ends: Any, size: int) -> TypeGuard[list[float]]:
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    return all(type(place) in (int, float) and -1 <= place <= size for place in ends)


def show_metric_choices(work: SessionState, column: str, view: MatrixView) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        key = f"costs-column-{work.version}"
        st.selectbox(
            "Quasi-identifier",
            list(work.table.trees),
            **attach_widget(key, column, "column", into=SharedView),
            format_func=trim_title,
            label_visibility="collapsed",
            width=190,
        )
        options = {"label_visibility": "collapsed", "width": "content"}
        draw_segments("Show", MODES, "costs-mode", view.mode, "mode", MatrixView, **options)
        titles, usable = get_metric_titles(work), list_usable_metrics(work)
        metric_fields = [("first", "Metric" if view.mode == "one" else "First metric", view.first)]
        if view.mode != "one":
            metric_fields.append(("second", "Second metric", view.second))
        for field, label, chosen_metric in metric_fields:
            key = f"costs-{field}"
            st.selectbox(
                label,
                usable,
                **attach_widget(key, chosen_metric, field, into=MatrixView),
                format_func=lambda name: titles[name],
                label_visibility="collapsed",
                width=150,
            )
        if view.mode != "one":
            st.toggle(
                "As shares",
                **attach_widget("costs-share", view.share, "share", into=MatrixView, read=bool),
                help="Divides each cost by the cost of losing a value completely, so that metrics "
                "with different units can be compared.",
            )


def choose_focus(work: SessionState, column: str, tree: Hierarchy, view: MatrixView) -> None:
    if tree.n_nodes <= LARGEST_MATRIX:
        return
    groups, key = list_groups(tree), f"costs-focus-{work.version}-{column}"
    focus = view.focus if view.focus in groups else groups[0]
    st.selectbox(
        f"{count_noun(tree.n_nodes, 'node')}, more than {LARGEST_MATRIX}: groups stand for their "
        "values. Zoom in on",
        groups,
        **attach_widget(key, focus, "focus", into=MatrixView),
        format_func=lambda name: trim_title(name, 60),
        width=420,
    )


def choose_cell(work: SessionState, costs: Costs) -> None:
    row, column = costs.cell
    labels = costs.labels
    places = range(len(labels))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for end, label, place in ((0, "From", row), (1, "to", column)):
            st.selectbox(
                label,
                places,
                **attach_widget(f"costs-cell-{end}-{work.version}", place, take_end, end, costs),
                format_func=lambda place: trim_title(labels[place], 60),
            )
    for sentence in costs.sentences():
        st.markdown(escape_markdown(sentence))


def take_end(end: int, costs: Costs, place: int) -> None:
    cell = [*costs.cell]
    cell[end] = place
    pick(cell[0], cell[1], costs.labels)


def pick(row: int, column: int, labels: Sequence[str]) -> None:
    view = state.get_session().view(MatrixView)
    state.update_sections(replace(view, cell=(labels[row], labels[column])))


def show_matrices(work: SessionState, column: str, view: MatrixView) -> None:
    trees = work.table.trees
    tree = trees[column]
    choose_focus(work, column, tree, view)
    composed, missing = work.settings.composed, work.table.missing
    sources = (tuple(composed.items()), tuple(trees.items()), work.version, missing)
    key = (view, work.settings.metric, column, *sources)
    costs = state.get_or_compute("costs", key, lambda: build_costs(work, column, view))
    figure = state.get_or_compute("costs-figure", key, costs.figure)
    if explanations := costs.explain_picture():
        st.caption(escape_markdown(" ".join(explanations)))
    # As wide as its labels need; what has no room beside it goes below.
    st.html(_STYLE)
    with st.container(horizontal=view.mode != "two"):
        with st.container(width=int(figure.layout.width)):
            draw_cost_matrix(figure, "costs", lambda row, to: pick(row, to, costs.labels))
            versions = [(name, work.table.get_history(name).version) for name in trees]
            about = f"{view}|{column}|{versions}|{missing}|{composed}"
            settings = PictureSettings.from_table(work, f"hierarchy of {quote(column)}")
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_data_button("Data", costs.table, "cost-matrix", about, kind="tertiary")
                draw_picture_links("costs", settings)
        with st.container(key="costs-beside"):
            choose_cell(work, costs)
            if can_draw(tree):
                draw_tree_editor(
                    costs.build_drawing(work, column), key="costs-tree", edited=lambda _: None
                )
    with st.expander("How it is computed"):
        for metric in costs.metrics:
            st.markdown(explain_metric(metric, trees, column))
        constants = {
            "COLUMN": column,
            "METRICS": [metric.name for metric in costs.metrics],
            "DIFFERENCE": view.mode == "difference",
            "SHARE": view.share,
            "FOCUS": view.focus if view.focus in tree.node_of else "",
        }
        draw_code_buttons("metrics", lambda: build_plan(work), constants)


def page() -> None:
    work = draw_page_head("What does blurring cost?", as_toast=True)
    if not work.table.trees:
        st.info("No quasi-identifier has a hierarchy yet, so nothing can be generalised.")
        st.page_link("pages/data.py", label="Choose roles on Data", icon=":material/arrow_forward:")
        return
    looked_at = work.looked_at
    column = looked_at if looked_at in work.table.trees else next(iter(work.table.trees))
    view = get_matrix_view(work)
    show_unready(work)
    show_metric_choices(work, column, view)
    show_matrices(work, column, view)
    show_composer(work)
    show_attribute_weights(work)
