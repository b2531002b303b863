"""The controls that arrange the board: how many panels, what each shows, saved and loaded."""

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
    """What stands on the board: what was arranged, or what fits the comparison."""
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
    """The work with another panel in one place; a cost matrix begins with a column and a metric."""
    if panel.kind == "matrix":
        column, metric = panel.column or work.looked_at or "", panel.metric or work.settings.metric
        panel = replace(panel, column=column, metric=metric)
    panels = [*layout.panels]
    panels[place] = panel
    return work.with_parts(
        replace(work.compare, layout=Layout(tuple(panels))), replace(work.message, problem=None)
    )


def with_layout_file(work: Work, content: bytes) -> Work:
    """The work with the layout of a file; PlanError if it is none."""
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
        _number(work, layout)
        _, in_row = layout.grid
        for first in range(0, len(layout.panels), in_row):
            for place, spot in zip(
                range(first, min(first + in_row, len(layout.panels))), st.columns(in_row),
                strict=False,
            ):  # fmt: skip
                with spot, st.container(border=True):
                    _panel(work, comparison, layout, place)
        _files(work, layout)


def _number(work: Work, layout: Layout) -> None:
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


def _panel(work: Work, comparison: Comparison, layout: Layout, place: int) -> None:
    panel, known = layout.panels[place], choices(comparison)
    chosen = (panel.kind, panel.measure)
    if chosen not in known:  # it came from another comparison, and says so on the board
        known = {**known, chosen: f"{panel.measure or panel.kind} (not here)"}
    start = f"board-{work.version}-{place}"

    def put(new: Panel) -> None:
        state.put(with_panel(state.work(), layout, place, new))

    def take_kind(picked: tuple[str, str]) -> None:
        if picked in known:  # what a browser picked may not be offered any more
            kind, measure = picked
            put(Panel(kind, measure, lines=panel.lines))
            measure_asked()

    st.selectbox(
        f"Panel {place + 1}",
        list(known),
        **bound(f"{start}-kind", chosen, take_kind),
        format_func=lambda choice: known.get(choice, str(choice)),
    )
    if panel.kind == "matrix":
        _select("Column", f"{start}-column", list(work.table.trees), panel.column,
                lambda name: name, lambda name: put(replace(panel, column=name)))  # fmt: skip
        usable = usable_metrics(work)
        titles = {name: metric_called(work, name).card.title for name in usable}
        _select("Metric", f"{start}-metric", usable, panel.metric,
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


def _select(
    label: str,
    key: str,
    names: Sequence[str],
    chosen: str,
    called: Callable[[str], str],
    put: Callable[[str], None],
) -> None:
    """A select box of names, the chosen one among them even if it is gone."""

    def take(name: str | None) -> None:
        if name is not None and name in options:
            put(name)

    options = list(names) if chosen in names or not chosen else [*names, chosen]
    st.selectbox(
        label,
        options,
        index=None,
        **bound(key, chosen or None, take),
        format_func=called,
        placeholder="choose",
    )


def _files(work: Work, layout: Layout) -> None:
    key = f"board-file-{work.version}"

    def load() -> None:
        given = state.typed(key)
        if given is None:
            return
        if state.attempt(lambda: with_layout_file(state.work(), given.getvalue()), at="layout"):
            measure_asked()

    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = layout.to_json()
        file_button(
            "Save the layout", text, "layout", "json", text, "board-layout",
            help="What stands where, as a small file: no data of the table but names of columns.",
        )  # fmt: skip
        upload_field(
            plain("Load a layout"), "plan_megabytes", type="json", key=key, on_change=load,
            width=420,
        )  # fmt: skip
    state.said_here("layout")


def measure_asked() -> None:
    """Start what the board needs and is not measured yet, such as bands, at once."""
    work = state.work()
    if work.findings.comparison is None or not asks_for_some_k(work):
        return
    lines = outlook(work).lines
    if lines and lacking(work, lines, at_some=True):
        runner.run(comparison_request)
