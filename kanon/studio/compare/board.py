"""The board: a chart, and over it a cursor for k that needs no round trip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.charts.board import build_panel_table, draw_board
from kanon.charts.comparison_measures import get_short_title, list_curve_cards, list_privacy_cards
from kanon.charts.dark import convert_colour_to_dark
from kanon.charts.layout import (
    FEWEST,
    MOST,
    NODES,
    NODES_FILLING,
    Layout,
    Panel,
    choose_starting_layout,
    read_layout,
)
from kanon.charts.panels import KINDS
from kanon.errors import KanonError, PlanError
from kanon.experiments.comparison import Comparison
from kanon.hierarchy.cost_matrices import LARGEST_MATRIX, CostMatrix, cut, matrix_of
from kanon.metrics import potentials
from kanon.studio.compare.state import CompareView
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import (
    describe_comparison,
    list_missing_runs,
    needs_single_k_measures,
    request_comparison,
)
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.run_plan import get_tree_inputs
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import (
    SessionState,
    count_records_at_nodes,
    get_metric,
    list_usable_metrics,
)
from kanon.studio.widgets.controls import draw_upload_field
from kanon.studio.widgets.files import draw_file_button
from kanon.studio.widgets.picture import (
    Part,
    PictureSettings,
    draw_chart,
    draw_data_button,
    draw_picture_links,
    is_dark_theme,
)
from kanon.studio.widgets.standings import get_measure_titles

_FOLDER = Path(__file__).parent

_KEY = "cursor"

_PROJECTED = (0, 1, 2)  # the panels of the projector, by place

_FILLING = """<style>
.stApp :not(:has(.st-key-board-filling), .st-key-board-filling, .st-key-board-filling *) {
  display: none !important; }
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

_LARGEST = 200_000  # bytes: a layout file is small

Choice = tuple[str, str]  # what a panel shows: its kind, and its measure if it has one


# --- the arrangement --------------------------------------------------------------------------
def get_layout(work: SessionState, comparison: Comparison) -> Layout:
    return work.compare.layout or choose_starting_layout(comparison.criteria)


def list_panel_choices(comparison: Comparison) -> dict[Choice, str]:
    titles = get_measure_titles(comparison, list_curve_cards(comparison))
    curves = {("curve", name): title for name, title in titles.items()}
    own = {key: title for key, title in curves.items() if key[1].startswith("alteration_")}
    further = {key: title for key, title in curves.items() if key[1] in comparison.further}
    pictures = {
        ("scatter", name): f"{get_short_title(card)} against alteration"
        for name, card in list_privacy_cards(comparison).items()
    }
    pictures |= {("matrix", ""): "Cost matrix of a column", ("classes", ""): KINDS["classes"].title}
    return {
        **{key: title for key, title in curves.items() if key not in {**own, **further}},
        **pictures, **own, **further,
    }  # fmt: skip


def set_panel(work: SessionState, layout: Layout, place: int, panel: Panel) -> SessionState:
    """Put a panel in one place; a cost matrix starts with a column and a metric."""
    if panel.kind == "matrix":
        column, metric = panel.column or work.looked_at or "", panel.metric or work.settings.metric
        panel = replace(panel, column=column, metric=metric)
    panels = [*layout.panels]
    panels[place] = panel
    return work.replace_sections(
        replace(work.compare, layout=Layout(tuple(panels))), replace(work.message, problem=None)
    )


def load_layout(work: SessionState, content: bytes) -> SessionState:
    if len(content) > _LARGEST:
        raise PlanError("This file is not a layout: it is larger than 200 kB.")
    layout = read_layout(content, KINDS)
    return work.replace_sections(
        replace(work.compare, layout=layout), Message(notice="The layout was loaded.")
    )


def show_arrangement(comparison: Comparison) -> None:
    work = state.get_session()
    layout = get_layout(work, comparison)
    with st.expander("Arrange the board", icon=":material/dashboard_customize:"):
        _choose_number(work, layout)
        _, in_row = layout.grid
        for first in range(0, len(layout.panels), in_row):
            for place, spot in zip(
                range(first, min(first + in_row, len(layout.panels))), st.columns(in_row),
                strict=False,
            ):  # fmt: skip
                with spot, st.container(border=True):
                    _show_panel(work, comparison, layout, place)
        _show_files(work, layout)


def _choose_number(work: SessionState, layout: Layout) -> None:
    st.segmented_control(
        "Panels",
        range(FEWEST, MOST + 1),
        **attach_widget(
            f"board-number-{work.version}",
            len(layout.panels),
            lambda number: state.update_sections(
                replace(state.get_session().compare, layout=layout.select_panels(int(number)))
            ),
            keep=True,
        ),
    )


def _show_panel(work: SessionState, comparison: Comparison, layout: Layout, place: int) -> None:
    panel, options = layout.panels[place], list_panel_choices(comparison)
    current = (panel.kind, panel.measure)
    if current not in options:  # it is from another comparison
        options = {**options, current: f"{panel.measure or panel.kind} (not here)"}
    start = f"board-{work.version}-{place}"

    def put(new: Panel) -> None:
        state.set_session(set_panel(state.get_session(), layout, place, new))

    def take_kind(picked_choice: tuple[str, str]) -> None:
        if picked_choice in options:  # a browser may pick something that is no longer offered
            kind, measure = picked_choice
            put(Panel(kind, measure, lines=panel.lines))
            start_missing_runs()

    st.selectbox(
        f"Panel {place + 1}",
        list(options),
        **attach_widget(f"{start}-kind", current, take_kind),
        format_func=lambda choice: options.get(choice, str(choice)),
    )
    if panel.kind == "matrix":
        trees, usable = list(work.table.trees), list_usable_metrics(work)
        st.selectbox(
            "Column",
            trees,
            index=None,
            **attach_widget(
                f"{start}-column",
                panel.column if panel.column in trees else None,
                lambda name: put(replace(panel, column=name)),
                keep=True,
            ),
            placeholder="choose",
        )
        st.selectbox(
            "Metric",
            usable,
            index=None,
            **attach_widget(
                f"{start}-metric",
                panel.metric if panel.metric in usable else None,
                lambda name: put(replace(panel, metric=name)),
                keep=True,
            ),
            format_func=lambda name: get_metric(work, name).card.title,
            placeholder="choose",
        )
        return
    titles = {line.name: line.title for line in comparison.lines}
    names = [*titles, *(name for name in panel.lines if name not in titles)]
    st.multiselect(
        "Configurations",
        names,
        **attach_widget(
            f"{start}-lines",
            list(panel.lines),
            lambda value: put(replace(panel, lines=tuple(name for name in value if name in names))),
        ),
        format_func=lambda name: titles.get(name) or f"{name} (not here)",
        placeholder="all",
    )


def _show_files(work: SessionState, layout: Layout) -> None:
    key = f"board-file-{work.version}"

    def load() -> None:
        file = state.get_widget_value(key)
        if file is None:
            return
        if state.try_update(
            lambda: load_layout(state.get_session(), file.getvalue()), problem_at="layout"
        ):
            start_missing_runs()

    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = layout.to_json()
        draw_file_button(
            "Save the layout", text, "layout", "json", text, "board-layout",
            help="The arrangement as a small file, with no data of the table except column names.",
        )  # fmt: skip
        draw_upload_field(
            escape_markdown("Load a layout"), "plan_megabytes", type="json", key=key,
            on_change=load, width=420,
        )  # fmt: skip
    state.show_message_at("layout")


def start_missing_runs() -> None:
    work = state.get_session()
    if work.findings.comparison is None or not needs_single_k_measures(work):
        return
    lines = describe_comparison(work).lines
    if lines and list_missing_runs(work, lines, at_some=True):
        runner.run_request(request_comparison)


# --- the board --------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class BoardInputs:
    comparison: Comparison
    k: int  # the nearest to the chosen one that is known
    key: str  # a fingerprint of all that its numbers depend on
    settings: PictureSettings


def show_board(
    inputs: BoardInputs,
    on_use: Callable[[int, int], None] | None = None,
    has_costs: bool = True,
) -> None:
    work, comparison = state.get_session(), inputs.comparison
    layout, single = get_layout(work, comparison), work.view(CompareView).filling
    wanted = _PROJECTED if work.shared.on_projector else () if single is None else (single,)
    filling = tuple(at for at in wanted if at < len(layout.panels))
    most_nodes = NODES_FILLING if len(filling) == 1 else NODES
    costs = build_cost_source(work, most_nodes * has_costs)
    costs_key = _get_costs_fingerprint(work, layout)
    board = state.get_or_compute(
        "board-filling" if filling else "board", (inputs.key, layout, filling, costs_key),
        lambda: draw_board(comparison, layout, costs, filling),
    )  # fmt: skip
    if filling:
        st.html(_FILLING)
    with st.container(key="board-filling" if filling else "board-place"):
        draw_board_with_cursor(board.figure, board.cursor, inputs.k, on_use)
    # A file has room for more than a panel.
    costs = build_cost_source(work, LARGEST_MATRIX * has_costs)
    with st.container(horizontal=True):
        show_arrangement(comparison)
        st.button(
            "Projector",
            icon=":material/slideshow:",
            key="board-projector",
            on_click=_fill_screen,
            kwargs={"on_projector": True},
            help="The first three panels fill the window, with letters large enough for the last "
            "row. One cursor moves them: ← → or a presenter remote; Esc brings you back.",
        )
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            draw_picture_links("board", inputs.settings, parts=_PARTS)
            with st.popover("Data of a panel", icon=":material/download:"):
                for place, panel in enumerate(board.cursor["panels"]):
                    title = escape_markdown(trim_title(panel["title"])) or "nothing"
                    draw_data_button(
                        f"{place + 1}: {title}",
                        partial(build_panel_table, comparison, layout, place, costs),
                        f"panel-{place + 1}",
                        f"{inputs.key}|{layout.panels[place]}|{costs_key}",
                        kind="tertiary",
                    )


def _fill_screen(place: int | None = None, on_projector: bool = False) -> None:
    work = state.get_session()
    view = replace(work.view(CompareView), filling=place)
    state.update_sections(view, replace(work.shared, on_projector=on_projector))


def _get_costs_fingerprint(work: SessionState, layout: Layout) -> str:
    if all(panel.kind != "matrix" for panel in layout.panels):
        return ""
    table = work.table
    trees = get_tree_inputs(table.trees, weighted=True)
    # The records below a node depend on what happens to those with missing values.
    return compute_fingerprint(
        work.settings.composed, table.digest, work.version, table.missing, list(trees), trees
    )


def build_cost_source(work: SessionState, most: int) -> Callable[[str, str], CostMatrix | None]:
    """Cost matrices of the current hierarchies with at most ``most`` nodes; 0 for no matrices."""

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
    on_use: Callable[[int, int], None] | None,
) -> None:
    """Draw a board and a cursor at k; ``on_use`` gets the place of a line and the k."""

    def take_k() -> None:
        chosen_k = state.get_widget_value(_KEY).get("k")
        if chosen_k in cursor["ks"]:
            state.update_sections(replace(state.get_session().settings, k=chosen_k))

    def take_filling() -> None:
        data = state.get_widget_value(_KEY).get("fill")
        if data is not None:
            _fill_screen(data["place"])

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
