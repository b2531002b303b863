"""The board: a chart, and over it a cursor for k that needs no round trip."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.charts.board import build_panel_table, draw_board
from kanon.charts.dark import convert_colour_to_dark
from kanon.charts.layout import NODES, NODES_FILLING, Layout
from kanon.errors import KanonError
from kanon.experiments.comparison import Comparison
from kanon.hierarchy.cost_matrices import LARGEST_MATRIX, CostMatrix, cut, matrix_of
from kanon.metrics import potentials
from kanon.studio.compare.board_layout import get_layout, show_arrangement
from kanon.studio.compare.state import CompareView
from kanon.studio.session import state
from kanon.studio.session.run_plan import get_tree_inputs
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState, count_records_at_nodes, get_metric
from kanon.studio.widgets.picture import (
    Part,
    PictureSettings,
    draw_chart,
    draw_data_button,
    draw_picture_links,
    is_dark_theme,
)

_FOLDER = Path(__file__).parent
_KEY = "cursor"
_FILLING = """<style>
.st-key-board-filling { position: fixed; inset: 0; z-index: 1000000; padding: 1rem 2rem;
  gap: 0.5rem; background: light-dark(#FFFFFF, #14181D); }
.st-key-board-filling .st-key-board { flex: 1; min-height: 0; }
</style>"""
_PARTS: Sequence[Part] = [
    [(_KEY, ".headline"), (_KEY, ".finding")], [(_KEY, ".legend")], [("board",), (_KEY, ".overlay")]
]  # fmt: skip

_cursor = st.components.v2.component(
    "kanon_cursor",
    html="""<div class="cursor">
        <button class="back" hidden>Back to the board</button>
        <p class="headline" aria-live="polite"></p>
        <p class="finding" hidden></p>
        <div class="row">
            <label for="k">Move k</label><input id="k" type="range" min="0" step="1">
        </div>
        <ul class="legend" aria-label="Configurations"></ul>
        <div class="overlay"><svg aria-hidden="true"></svg><div class="points"></div>
            <div class="place" tabindex="0" role="region" aria-label="Numbers at k">
                <table class="numbers"></table></div>
            <div class="buttons"></div></div>
    </div>""",
    css=(_FOLDER / "board.css").read_text("utf-8"),
    js=(_FOLDER / "board.js").read_text("utf-8"),
)


def show_board(
    comparison: Comparison,
    k: int,
    on_move: Callable[[int], None],
    key: Hashable,
    about: str,
    settings: PictureSettings,
    on_use: Callable[[int, int], None] | None = None,
    has_costs: bool = True,
) -> None:
    work = state.get_session()
    layout, filling = get_layout(work, comparison), work.view(CompareView).filling
    if filling is not None and filling >= len(layout.panels):
        filling = None
    costs = build_cost_source(work, (NODES if filling is None else NODES_FILLING) * has_costs)
    inputs = (
        (*work.table.trees.items(), *work.settings.composed.items()) if _has_matrix(layout) else ()
    )
    board = state.get_or_compute(
        "board" if filling is None else "board-filling", (key, layout, filling, inputs),
        lambda: draw_board(comparison, layout, costs, filling),
    )  # fmt: skip
    if filling is not None:
        st.html(_FILLING)
    with st.container(key="board-place" if filling is None else "board-filling"):
        draw_board_with_cursor(board.figure, board.cursor, k, on_move, on_use)
    # A file has room for more than a panel.
    costs = build_cost_source(work, LARGEST_MATRIX * has_costs)
    with st.container(horizontal=True):
        show_arrangement(comparison)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            draw_picture_links("board", settings, parts=_PARTS)
            with st.popover("Data of a panel", icon=":material/download:"):
                for place, panel in enumerate(board.cursor["panels"]):
                    title = escape_markdown(trim_title(panel["title"])) or "nothing"
                    draw_data_button(
                        f"{place + 1}: {title}",
                        partial(build_panel_table, comparison, layout, place, costs),
                        f"panel-{place + 1}",
                        f"{about}|{layout.panels[place]}|{_get_costs_fingerprint(work, layout)}",
                        kind="tertiary",
                    )


def _has_matrix(layout: Layout) -> bool:
    return any(panel.kind == "matrix" for panel in layout.panels)


def _get_costs_fingerprint(work: SessionState, layout: Layout) -> str:
    if not _has_matrix(layout):
        return ""
    table = work.table
    trees = get_tree_inputs(table.trees, weighted=True)
    # The records below a node depend on what happens to those with missing values.
    return compute_fingerprint(
        work.settings.composed, table.digest, work.version, table.missing, list(trees), trees
    )


def build_cost_source(work: SessionState, most: int) -> Callable[[str, str], CostMatrix | None]:
    """A cached source of cost matrices of the current hierarchies, with at most ``most`` nodes.

    0: of no matrices, for a comparison that may be of other hierarchies.
    """

    def get_costs(column: str, metric: str) -> CostMatrix | None:
        trees = work.table.trees
        if not most or column not in trees:
            return None
        place, tree = list(trees).index(column), trees[column]
        try:
            named = get_metric(work, metric)
            records = count_records_at_nodes(work, named, trees)
            potential = potentials(named, list(trees.values()), records)[place]
        except KanonError:
            return None
        return matrix_of(tree, potential, cut(tree, tree.root, most=most))

    return cache(get_costs)


def draw_board_with_cursor(
    figure: go.Figure,
    cursor: dict[str, Any],
    k: int,
    on_move: Callable[[int], None],
    on_use: Callable[[int, int], None] | None,
) -> None:
    """Draw a board and a cursor at k.

    ``on_move`` gets the new k once the cursor rests, ``on_use`` the place of a line and the k.
    """

    def take_k() -> None:
        chosen_k = state.get_widget_value(_KEY).get("k")
        if chosen_k in cursor["ks"]:
            on_move(chosen_k)

    def take_filling() -> None:
        data = state.get_widget_value(_KEY).get("fill")
        if data is not None:
            state.update_sections(
                replace(state.get_session().view(CompareView), filling=data["place"])
            )

    def take_use() -> None:
        used = state.get_widget_value(_KEY).get("use") or {}
        if on_use is None:
            return
        if used.get("k") in cursor["ks"] and used.get("line") in range(len(cursor["lines"])):
            on_use(used["line"], used["k"])

    lines = cursor["lines"]
    if is_dark_theme():
        lines = [{**line, "colour": convert_colour_to_dark(line["colour"])} for line in lines]
    data = {**cursor, "lines": lines, "k": k}
    data["fill"] = [f"Show panel {place + 1} full screen" for place in range(len(cursor["panels"]))]
    if on_use is not None:
        data["use"] = [f"Use this on Anonymise: {line['name']}" for line in lines]
    _cursor(
        key=_KEY, data=data, on_k_change=take_k, on_fill_change=take_filling, on_use_change=take_use
    )
    draw_chart(figure, "board", height="content" if cursor["numbers"] else "stretch")
