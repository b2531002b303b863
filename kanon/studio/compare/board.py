"""The board with its cursor: a chart, and over it a slider for k that needs no round trip."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kanon.base.fingerprint import fingerprint_of
from kanon.charts.board import draw_board, panel_table, small_multiples
from kanon.charts.comparison_measures import measure_table, measures_of, privacy_measures
from kanon.charts.dark import on_dark
from kanon.charts.layout import NODES, NODES_FILLING, Layout
from kanon.charts.scatter import privacy_against_alteration, scatter_table
from kanon.errors import KanonError
from kanon.experiments.comparison import Comparison
from kanon.hierarchy.cost_matrices import LARGEST_MATRIX, CostMatrix, cut, matrix_of
from kanon.metrics import potentials
from kanon.studio.compare.board_layout import arrange, layout_of
from kanon.studio.compare.state import CompareView
from kanon.studio.session import state
from kanon.studio.session.run_plan import TreeInputs
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work, counted_records, metric_called
from kanon.studio.widgets.picture import (
    Part,
    PictureSettings,
    chart,
    data_button,
    on_dark_paper,
    picture,
    picture_links,
)
from kanon.studio.widgets.standings import titles_of_measures

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
        <div class="overlay"><svg aria-hidden="true"></svg>
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
    moved: Callable[[int], None],
    key: Hashable,
    about: str,
    settings: PictureSettings,
) -> None:
    work = state.work()
    layout, filling = layout_of(work, comparison), work.view(CompareView).filling
    if filling is not None and filling >= len(layout.panels):
        filling = None
    costs = costs_from(work, NODES if filling is None else NODES_FILLING)
    of = (*work.table.trees.items(), *work.settings.composed.items()) if _has_matrix(layout) else ()
    drawn = state.remembered(
        "board" if filling is None else "board-filling", (key, layout, filling, of),
        lambda: draw_board(comparison, layout, costs, filling),
    )  # fmt: skip
    if filling is not None:
        st.html(_FILLING)
    with st.container(key="board-place" if filling is None else "board-filling"):
        board_with_cursor(drawn.figure, drawn.cursor, k, moved)
    costs = costs_from(work, LARGEST_MATRIX)  # a file has room for more than a panel
    with st.container(horizontal=True):
        arrange(comparison)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            picture_links("board", settings, parts=_PARTS)
            with st.popover("Data of a panel", icon=":material/download:"):
                for place, panel in enumerate(drawn.cursor["panels"]):
                    title = plain(shortened(panel["title"])) or "nothing"
                    data_button(
                        f"{place + 1}: {title}",
                        partial(panel_table, comparison, layout, place, costs),
                        f"panel-{place + 1}",
                        f"{about}|{layout.panels[place]}|{_fingerprint(work, layout)}",
                        kind="tertiary",
                    )
    _larger(comparison, k, key, about, settings)


def _larger(
    comparison: Comparison, k: int, key: Hashable, about: str, settings: PictureSettings
) -> None:
    """Small multiples, and privacy against alteration at k: drawn only while they are open."""
    if len(comparison.lines) < 2:
        return
    state.seeded("board-larger", bool(state.typed("board-larger")))
    box = st.expander(
        "Seen larger: each against all others, and privacy against alteration",
        icon=":material/grid_view:",
        key="board-larger",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        known = measures_of(comparison)
        known = {name: card for name, card in known.items() if comparison.knows(name)}
        titles = titles_of_measures(comparison, known)
        measure = _measure("Each against all others in", 0, titles)
        figure = state.remembered(
            "multiples", (key, measure, k), lambda: small_multiples(comparison, measure, k)
        )
        picture(figure, partial(measure_table, comparison, measure), "multiples",
                f"{about}|{measure}", settings)  # fmt: skip
        protecting = titles_of_measures(comparison, privacy_measures(comparison))
        privacy = _measure("Against alteration", 1, protecting)
        figure = state.remembered(
            "scatter", (key, privacy, k), lambda: privacy_against_alteration(comparison, k, privacy)
        )
        picture(figure, partial(scatter_table, comparison, privacy), "scatter",
                f"{about}|{privacy}", settings)  # fmt: skip


def _measure(label: str, place: int, known: Mapping[str, str]) -> str:
    larger = state.work().compare.larger
    chosen = larger[place] if larger[place] in known else next(iter(known))

    def take(asked: str) -> None:
        both = (asked, larger[1]) if place == 0 else (larger[0], asked)
        state.change(replace(state.work().compare, larger=both))

    st.selectbox(
        label,
        list(known),
        **bound(f"board-larger-{place}", chosen, take),
        format_func=lambda name: known[name],
        width=360,
    )
    return chosen


def _has_matrix(layout: Layout) -> bool:
    return any(panel.kind == "matrix" for panel in layout.panels)


def _fingerprint(work: Work, layout: Layout) -> str:
    """What cost matrices depend on."""
    if not _has_matrix(layout):
        return ""
    table = work.table
    trees = {column: TreeInputs.of(tree, weighted=True) for column, tree in table.trees.items()}
    # Which records a node counts depends on what happens to those with missing values.
    return fingerprint_of(
        work.settings.composed, table.digest, work.version, table.missing, list(trees), trees
    )


def costs_from(work: Work, most: int) -> Callable[[str, str], CostMatrix | None]:
    """Where the board finds cost matrices: in the hierarchies of now, at most so many nodes."""

    def costs(column: str, metric: str) -> CostMatrix | None:
        trees = work.table.trees
        if column not in trees:
            return None
        place, tree = list(trees).index(column), trees[column]
        try:
            found = metric_called(work, metric)
            records = counted_records(work, found, trees)
            potential = potentials(found, list(trees.values()), records)[place]
        except KanonError:
            return None
        return matrix_of(tree, potential, cut(tree, tree.root, most=most))

    return cache(costs)


def board_with_cursor(
    figure: go.Figure, cursor: dict[str, Any], k: int, moved: Callable[[int], None]
) -> None:
    """Draw a board and a cursor at k; ``moved`` gets the new k once the cursor rests."""

    def rested() -> None:
        found = state.typed(_KEY).get("k")
        if found in cursor["ks"]:
            moved(found)

    def filled() -> None:
        told = state.typed(_KEY).get("fill")
        if told is not None:
            state.change(replace(state.work().view(CompareView), filling=told["place"]))

    lines = cursor["lines"]
    if on_dark_paper():
        lines = [{**line, "colour": on_dark(line["colour"])} for line in lines]
    told = {**cursor, "lines": lines, "k": k}
    told["fill"] = [f"Panel {place + 1} fills the screen" for place in range(len(cursor["panels"]))]
    _cursor(key=_KEY, data=told, on_k_change=rested, on_fill_change=filled)
    chart(figure, "board", height="content" if cursor["numbers"] else "stretch")
