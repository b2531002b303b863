"""The controls that arrange the board, and save and load its layout."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from kanon.charts.comparison_measures import measures_of, privacy_measures, short_title
from kanon.charts.layout import FEWEST, MOST, Layout, Panel, layout_from_json, starting_layout
from kanon.charts.panels import KINDS
from kanon.errors import PlanError
from kanon.experiments.comparison import Comparison
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import asks_for_some_k, comparison_request, lacking, outlook
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, metric_called, usable_metrics
from kanon.studio.widgets.controls import upload_field
from kanon.studio.widgets.files import file_button
from kanon.studio.widgets.standings import titles_of_measures

_LARGEST = 200_000  # bytes: a layout file is small

Choice = tuple[str, str]  # what a panel shows: its kind, and its measure if it has one


def layout_of(work: Work, comparison: Comparison) -> Layout:
    return work.compare.layout or starting_layout(comparison.criteria)


def choices(comparison: Comparison) -> dict[Choice, str]:
    titles = titles_of_measures(comparison, measures_of(comparison))
    curves = {("curve", name): title for name, title in titles.items()}
    own = {key: title for key, title in curves.items() if key[1].startswith("alteration_")}
    further = {key: title for key, title in curves.items() if key[1] in comparison.further}
    pictures = {
        ("scatter", name): f"{short_title(card)} against alteration"
        for name, card in privacy_measures(comparison).items()
    }
    pictures |= {("matrix", ""): "Cost matrix of a column", ("classes", ""): KINDS["classes"].title}
    return {
        **{key: title for key, title in curves.items() if key not in {**own, **further}},
        **pictures, **own, **further,
    }  # fmt: skip


def with_size(work: Work, layout: Layout, number: int) -> Work:
    return work.with_parts(
        replace(work.compare, layout=layout.sized(number)), replace(work.message, problem=None)
    )


def with_panel(work: Work, layout: Layout, place: int, panel: Panel) -> Work:
    """Put a panel in one place; a cost matrix starts with a column and a metric."""
    if panel.kind == "matrix":
        column, metric = panel.column or work.looked_at or "", panel.metric or work.settings.metric
        panel = replace(panel, column=column, metric=metric)
    panels = [*layout.panels]
    panels[place] = panel
    return work.with_parts(
        replace(work.compare, layout=Layout(tuple(panels))), replace(work.message, problem=None)
    )


def with_layout_file(work: Work, content: bytes) -> Work:
    if len(content) > _LARGEST:
        raise PlanError("This file is not a layout: it is larger than 200 kB.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("This file is not a layout: it is not UTF-8 text.") from None
    layout = layout_from_json(text, KINDS)
    return work.with_parts(
        replace(work.compare, layout=layout), Message(notice="The layout was loaded.")
    )


def arrange(comparison: Comparison) -> None:
    work = state.work()
    layout = layout_of(work, comparison)
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


def _choose_number(work: Work, layout: Layout) -> None:
    st.segmented_control(
        "Panels",
        range(FEWEST, MOST + 1),
        **bound(
            f"board-number-{work.version}",
            len(layout.panels),
            lambda number: state.put(with_size(state.work(), layout, int(number))),
            keep=True,
        ),
    )


def _show_panel(work: Work, comparison: Comparison, layout: Layout, place: int) -> None:
    panel, options = layout.panels[place], choices(comparison)
    current = (panel.kind, panel.measure)
    if current not in options:  # it is from another comparison
        options = {**options, current: f"{panel.measure or panel.kind} (not here)"}
    start = f"board-{work.version}-{place}"

    def put(new: Panel) -> None:
        state.put(with_panel(state.work(), layout, place, new))

    def take_kind(picked_choice: tuple[str, str]) -> None:
        if picked_choice in options:  # a browser may pick something that is no longer offered
            kind, measure = picked_choice
            put(Panel(kind, measure, lines=panel.lines))
            measure_asked()

    st.selectbox(
        f"Panel {place + 1}",
        list(options),
        **bound(f"{start}-kind", current, take_kind),
        format_func=lambda choice: options.get(choice, str(choice)),
    )
    if panel.kind == "matrix":
        _select_name("Column", f"{start}-column", list(work.table.trees), panel.column,
                lambda name: name, lambda name: put(replace(panel, column=name)))  # fmt: skip
        usable = usable_metrics(work)
        titles = {name: metric_called(work, name).card.title for name in usable}
        _select_name("Metric", f"{start}-metric", usable, panel.metric,
                lambda name: titles.get(name, name),
                lambda name: put(replace(panel, metric=name)))  # fmt: skip
        return
    titles = {line.name: line.title for line in comparison.lines}
    names = [*titles, *(name for name in panel.lines if name not in titles)]
    st.multiselect(
        "Configurations",
        names,
        **bound(
            f"{start}-lines",
            list(panel.lines),
            lambda value: put(replace(panel, lines=tuple(name for name in value if name in names))),
        ),
        format_func=lambda name: titles.get(name) or f"{name} (not here)",
        placeholder="all",
    )


def _select_name(
    label: str,
    key: str,
    names: Sequence[str],
    current: str,
    get_title: Callable[[str], str],
    put: Callable[[str], None],
) -> None:
    """A select box of names that includes the chosen one even if it no longer exists."""

    def take(name: str | None) -> None:
        if name is not None and name in options:
            put(name)

    options = list(names) if current in names or not current else [*names, current]
    st.selectbox(
        label,
        options,
        index=None,
        **bound(key, current or None, take),
        format_func=get_title,
        placeholder="choose",
    )


def _show_files(work: Work, layout: Layout) -> None:
    key = f"board-file-{work.version}"

    def load() -> None:
        file = state.typed(key)
        if file is None:
            return
        if state.attempt(lambda: with_layout_file(state.work(), file.getvalue()), at="layout"):
            measure_asked()

    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = layout.to_json()
        file_button(
            "Save the layout", text, "layout", "json", text, "board-layout",
            help="The arrangement as a small file, with no data of the table except column names.",
        )  # fmt: skip
        upload_field(
            plain("Load a layout"), "plan_megabytes", type="json", key=key, on_change=load,
            width=420,
        )  # fmt: skip
    state.said_here("layout")


def measure_asked() -> None:
    work = state.work()
    if work.findings.comparison is None or not asks_for_some_k(work):
        return
    lines = outlook(work).lines
    if lines and lacking(work, lines, at_some=True):
        runner.run(comparison_request)
