"""The controls that arrange the board, and save and load its layout."""

from dataclasses import replace

import streamlit as st

from kanon.charts.comparison_measures import get_short_title, list_curve_cards, list_privacy_cards
from kanon.charts.layout import FEWEST, MOST, Layout, Panel, choose_starting_layout, read_layout
from kanon.charts.panels import KINDS
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import (
    describe_comparison,
    list_missing_runs,
    needs_single_k_measures,
    request_comparison,
)
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, get_metric, list_usable_metrics
from kanon.studio.widgets.controls import draw_upload_field
from kanon.studio.widgets.files import draw_file_button
from kanon.studio.widgets.standings import get_measure_titles

_LARGEST = 200_000  # bytes: a layout file is small

Choice = tuple[str, str]  # what a panel shows: its kind, and its measure if it has one


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


def set_panel_count(work: SessionState, layout: Layout, number: int) -> SessionState:
    return work.replace_sections(
        replace(work.compare, layout=layout.select_panels(number)),
        replace(work.message, problem=None),
    )


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
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("This file is not a layout: it is not UTF-8 text.") from None
    layout = read_layout(text, KINDS)
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
            lambda number: state.set_session(
                set_panel_count(state.get_session(), layout, int(number))
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
