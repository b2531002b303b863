"""What does blurring cost? Cost matrices, composed metrics, and the weights of columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import plotly.graph_objects as go
import streamlit as st

from kanon.base.formatting import counted
from kanon.errors import quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.cost_matrices import LARGEST_MATRIX
from kanon.hierarchy.intermediate_costs import COMPOSED, INTERMEDIATES
from kanon.metrics import MULTIPLIERS
from kanon.studio.metrics.composed_metrics import (
    equal_metrics,
    of_phases,
    with_attribute_weight,
    with_composed,
    without_composed,
)
from kanon.studio.metrics.costs import Costs, costs_of, drillable, view_of
from kanon.studio.metrics.state import MatrixView
from kanon.studio.session import state
from kanon.studio.session.parts import SharedView
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work, metric_called, usable_metrics
from kanon.studio.shell.frame import head, metric_titles, unready
from kanon.studio.widgets.controls import segments
from kanon.studio.widgets.how import formula, how_metric
from kanon.studio.widgets.picture import PictureSettings, chart, data_button, picture_links
from kanon.studio.widgets.tree import tree_editor
from kanon.studio.widgets.tree_edits import drawable

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
MULTIPLIER_NAMES = {
    "none": "1 for every column",
    "w1": "w1: tall hierarchies weigh less",
    "w2": "w2: flat hierarchies weigh more",
}


def take_view(**fields: Any) -> None:
    state.change(replace(state.work().view(MatrixView), **fields))


def matrix_with_cells(figure: go.Figure, key: str, on_pick: Callable[[int, int], None]) -> None:
    """Draw a cost matrix; ``on_pick`` gets the row and column of a clicked cell, in either picture.

    ``key`` has letters, digits, ``-`` and ``_`` only.
    """
    listener, zoom = f"{key}-cells", f"{key}-zoom"
    size, revision = len(figure.data[0].z), figure.layout.uirevision

    def pick_cell() -> None:
        cell = (state.typed(listener) or {}).get("cell")
        if not isinstance(cell, dict):  # a browser may send anything
            return
        places = [cell.get("row"), cell.get("column")]
        row, column = (place if type(place) is int else -1 for place in places)
        if 0 <= row < size and 0 <= column < size:
            state.seeded(zoom, cell.get("view"))
            on_pick(row, column)

    def clear_zoom() -> None:
        state.seeded(zoom, None)

    ranges = _get_zoom_ranges(state.typed(zoom), revision, size)
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
    chart(figure, key)


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


def choices(work: Work, column: str, view: MatrixView) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        key = f"costs-column-{work.version}"
        st.selectbox(
            "Quasi-identifier",
            list(work.table.trees),
            **bound(key, column, "column", into=SharedView),
            format_func=shortened,
            label_visibility="collapsed",
            width=190,
        )
        options = {"label_visibility": "collapsed", "width": "content"}
        segments("Show", MODES, "costs-mode", view.mode, "mode", MatrixView, **options)
        titles, usable = metric_titles(work), usable_metrics(work)
        metric_fields = [("first", "Metric", view.first)]
        if view.mode != "one":
            metric_fields = [
                ("first", "First metric", view.first),
                ("second", "Second metric", view.second),
            ]
        for field, label, chosen_metric in metric_fields:
            key = f"costs-{field}"
            st.selectbox(
                label,
                usable,
                **bound(key, chosen_metric, field, into=MatrixView),
                format_func=lambda name: titles[name],
                label_visibility="collapsed",
                width=150,
            )
        if view.mode != "one":
            st.toggle(
                "As shares",
                **bound("costs-share", view.share, "share", into=MatrixView, read=bool),
                help="Divides each cost by the cost of losing a value completely, so that metrics "
                "with different units can be compared.",
            )


def narrowed(work: Work, column: str, tree: Hierarchy, view: MatrixView) -> None:
    if tree.n_nodes <= LARGEST_MATRIX:
        return
    groups, key = drillable(tree), f"costs-focus-{work.version}-{column}"
    focus = view.focus if view.focus in groups else groups[0]
    st.selectbox(
        f"{counted(tree.n_nodes, 'node')}, more than {LARGEST_MATRIX}: groups stand for their "
        "values. Zoom in on",
        groups,
        **bound(key, focus, "focus", into=MatrixView),
        format_func=lambda name: shortened(name, 60),
        width=420,
    )


def cell_choice(work: Work, costs: Costs) -> None:
    row, column = costs.cell
    labels = costs.labels
    places = range(len(labels))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for end, label, place in ((0, "From", row), (1, "to", column)):
            st.selectbox(
                label,
                places,
                **bound(f"costs-cell-{end}-{work.version}", place, take_end, end, costs),
                format_func=lambda place: shortened(labels[place], 60),
            )
    for sentence in costs.sentences():
        st.markdown(plain(sentence))


def take_end(end: int, costs: Costs, place: int) -> None:
    row, column = costs.cell
    if end == 0:
        pick(place, column, costs.labels)
    else:
        pick(row, place, costs.labels)


def pick(row: int, column: int, labels: Sequence[str]) -> None:
    take_view(cell=(labels[row], labels[column]))


def matrices(work: Work, column: str, view: MatrixView) -> None:
    trees = work.table.trees
    tree = trees[column]
    narrowed(work, column, tree, view)
    composed, missing = work.settings.composed, work.table.missing
    sources = (tuple(composed.items()), tuple(trees.items()), work.version, missing)
    key = (view, work.settings.metric, column, *sources)
    costs = state.remembered("costs", key, lambda: costs_of(work, column, view))
    figure = state.remembered("costs-figure", key, costs.figure)
    if explanations := costs.explained():
        st.caption(plain(" ".join(explanations)))
    # As wide as its labels need; what has no room beside it goes below.
    st.html(_STYLE)
    with st.container(horizontal=view.mode != "two"):
        with st.container(width=int(figure.layout.width)):
            matrix_with_cells(figure, "costs", lambda row, to: pick(row, to, costs.labels))
            versions = [(name, work.table.history(name).version) for name in trees]
            about = f"{view}|{column}|{versions}|{missing}|{composed}"
            settings = PictureSettings.of_table(work, f"hierarchy of {quoted(column)}")
            with st.container(horizontal=True, vertical_alignment="center"):
                data_button("Data", costs.table, "cost-matrix", about, kind="tertiary")
                picture_links("costs", settings)
        with st.container(key="costs-beside"):
            cell_choice(work, costs)
            if drawable(tree):
                tree_editor(costs.drawing(work, column), key="costs-tree", edited=lambda _: None)
    with st.expander("How it is computed"):
        for metric in costs.metrics:
            st.markdown(how_metric(metric, trees, column))


def compose(work: Work) -> None:
    st.subheader("Compose a metric")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        intermediate = st.selectbox(
            "Cost of one step up",
            COMPOSED,
            key="compose-intermediate",
            format_func=lambda name: INTERMEDIATES[name].title,
            width=220,
        )
        multiplier = st.selectbox(
            "times, per column",
            list(MULTIPLIERS),
            key="compose-multiplier",
            format_func=lambda name: MULTIPLIER_NAMES[name],
            width=260,
        )
        field = f"compose-name-{len(work.settings.composed)}"
        st.text_input("Name", key=field, width=180)
        st.button("Save metric", key="compose-keep", on_click=keep_metric, args=(field,))
    metric = of_phases(intermediate, multiplier)
    same = equal_metrics(work, metric)
    sentence = plain(formula(metric))
    if same:
        sentence = f"{sentence}, which is {plain(', '.join(same))}."
    st.markdown(sentence)
    for composed in work.settings.composed:
        with st.container(horizontal=True, vertical_alignment="center"):
            sentence = plain(formula(metric_called(work, composed)))
            st.markdown(f"**{plain(composed)}**: {sentence}", width="content")
            st.button(
                "Remove",
                key=f"compose-remove-{composed}",
                type="tertiary",
                on_click=lambda name=composed: state.put(without_composed(state.work(), name)),
            )


def keep_metric(field: str) -> None:
    phases = (state.typed("compose-intermediate"), state.typed("compose-multiplier"))
    state.attempt(lambda: with_composed(state.work(), state.typed(field) or "", *phases))


def attribute_weights(work: Work) -> None:
    st.subheader("How much does losing a column hurt?")
    st.caption(
        "A column with weight 2 counts twice in the search, so less of it is lost. With weight 0 "
        "its loss does not count. Weights guide the search only; alteration is measured without "
        "them."
    )
    columns = work.table.quasi_identifiers
    for start in range(0, len(columns), 5):
        places = st.columns(5)
        for place, name in zip(places, columns[start : start + 5], strict=False):
            weight = work.settings.attribute_weights.get(name, 1.0)
            # The key holds the value: a wrong entry stays in the field, to be corrected.
            key = f"attribute-weight-{work.version}-{columns.index(name)}-{weight:g}"
            place.text_input(
                plain(shortened(name)),
                value=f"{weight:g}",
                key=key,
                on_change=take_weight,
                args=(name, key),
            )


def take_weight(name: str, key: str) -> None:
    state.attempt(lambda: with_attribute_weight(state.work(), name, state.typed(key)))


def page() -> None:
    work = head("What does blurring cost?", aloud=True)
    if not work.table.trees:
        st.info("No quasi-identifier has a hierarchy yet, so nothing can be generalised.")
        st.page_link("pages/data.py", label="Choose roles on Data", icon=":material/arrow_forward:")
        return
    looked_at = work.looked_at
    column = looked_at if looked_at in work.table.trees else next(iter(work.table.trees))
    view = view_of(work)
    unready(work)
    choices(work, column, view)
    matrices(work, column, view)
    compose(work)
    attribute_weights(work)
