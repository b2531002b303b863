"""What a panel of a board can show. Adding a kind is adding a class and its place in ``KINDS``."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from kanon.base.rounding import round_apart
from kanon.cards import Card
from kanon.charts.comparison_measures import (
    CLASSES,
    build_hovers,
    build_measure_table,
    format_axis_title,
    format_unit,
    get_axis_scale,
    get_short_title,
    list_curve_cards,
    list_privacy_cards,
)
from kanon.charts.layout import Panel
from kanon.charts.line_style import Look
from kanon.charts.panel_axes import (
    PERCENT_RANGE,
    PanelContext,
    choose_k_ticks,
    compute_padded_log_range,
    format_panel_axis_title,
    format_tick,
    set_k_axis,
    set_panel_y_axis,
)
from kanon.charts.scatter import (
    COST,
    build_scatter_table,
    create_marker,
    describe_front,
    find_fronts,
)
from kanon.charts.style import SCALE, add_opacity, escape_distinct_labels, escape_label
from kanon.experiments.comparison import Comparison
from kanon.hierarchy.cost_matrices import CostMatrix, as_share, matrix_table
from kanon.measures import class_sizes

_FAINT = "#9AA3AB"
CLASS_SIZES = "Class sizes"


class PanelKind:
    """What a panel shows: as far as a kind says nothing else, one measure."""

    name: ClassVar[str]
    title: ClassVar[str]

    def explain_lack(self, scene: PanelContext) -> str:
        """Why it cannot be drawn here, in a sentence; nothing if it can."""
        return ""

    def head(self, scene: PanelContext) -> str:
        """The title of the panel, as plain text."""
        return self._get_card(scene).title

    def describe_axis(self, scene: PanelContext) -> str:
        """The unit and the better direction, or what a reader has to know first."""
        return format_unit(self._get_card(scene))

    def measures(self, scene: PanelContext) -> Sequence[str]:
        """The measures whose numbers stand at the cursor."""
        return [scene.panel.measure]

    def draw(self, scene: PanelContext) -> dict[str, Any]:
        """Draw it, and return the data of the cursor; ``range`` is that of its y axis."""
        raise NotImplementedError

    def table(self, scene: PanelContext) -> pd.DataFrame:
        """The numbers behind it."""
        raise NotImplementedError

    def _get_card(self, scene: PanelContext) -> Card:
        return list_curve_cards(scene.comparison)[scene.panel.measure]


class CurvePanel(PanelKind):
    """One measure over k, a line per configuration, with the band of its tie seeds."""

    name = "curve"
    title = "A measure over k"

    def explain_lack(self, scene: PanelContext) -> str:
        measure, comparison = scene.panel.measure, scene.comparison
        cards = list_curve_cards(comparison)
        if measure not in comparison.further:
            return _explain_missing_measure(measure, cards)
        if comparison.needs_measuring(measure):
            return f"{get_short_title(cards[measure])}: press Compare to measure it."
        if comparison.lines and not comparison.has_values(measure):
            return f"{get_short_title(cards[measure])} is not defined for these releases."
        return ""

    def draw(self, scene: PanelContext) -> dict[str, Any]:
        comparison, card = scene.comparison, self._get_card(scene)
        ks = comparison.ks
        values_by_line = comparison.at(card.name, ks)
        set_k_axis(scene)
        ends = set_panel_y_axis(scene, card, values_by_line)
        traces: list[dict[str, Any]] = []
        if card.name == "min_k":
            traces.append(_create_trace(scene, x=ks, y=ks, mode="lines", hoverinfo="skip",
                                 line={"color": _FAINT, "dash": "dot", "width": 1}))  # fmt: skip
        for place, line in enumerate(comparison.lines):
            look, own_ks = scene.looks[line.name], comparison.list_ks(line)
            runs = values_by_line[place][:, line.knows(ks)]
            # A staircase where every k is known: the release is the same up to the k it reaches.
            shape = "vh" if line.every_k else "linear"
            if line.every_k and np.isnan(runs[0]).any():
                traces.append(_draw_dots(scene, line.title, look, own_ks, runs, card))
                continue
            if comparison.has_bands:
                traces += [
                    _create_trace(scene, x=own_ks, y=edge, mode="lines", hoverinfo="skip",
                           fill=fill, line={"shape": shape, "width": 0},
                           fillcolor=add_opacity(look.colour, 0.18))
                    for edge, fill in ((runs.min(axis=0), None), (runs.max(axis=0), "tonexty"))
                ]  # fmt: skip
            mode = "lines" if line.every_k else "lines+markers"
            curve = _create_trace(
                scene, x=own_ks, y=runs[0], mode=mode, name=escape_label(line.title), meta="line",
                marker=create_marker(look, 7), **build_hovers(runs[0], card),
                line={"color": look.colour, "width": look.width, "shape": shape,
                      "dash": look.dash},
            )  # fmt: skip
            traces.append(curve)
            if line.every_k and scene.marked():
                at = _choose_marker_places(len(own_ks), place, len(comparison.lines))
                traces.append(
                    _create_trace(scene, x=[own_ks[i] for i in at], y=runs[0][at], mode="markers",
                           marker=create_marker(look, 8), hoverinfo="skip")
                )  # fmt: skip
        scene.figure.add_traces(traces)
        return {"kind": "curves", "log": get_axis_scale(card) == "log", "range": ends,
                "values": _round_places(values_by_line[:, 0])}  # fmt: skip

    def table(self, scene: PanelContext) -> pd.DataFrame:
        return build_measure_table(scene.comparison, scene.panel.measure)


class MatrixPanel(PanelKind):
    """The cost matrix of a column under a metric, as shares: all such panels have one scale."""

    name = "matrix"
    title = "Cost matrix"

    def explain_lack(self, scene: PanelContext) -> str:
        if scene.costs(scene.panel.column, scene.panel.metric) is not None:
            return ""
        if not scene.panel.column:
            return "Choose a column and a metric for this cost matrix."
        return f"This table has no cost matrix of {scene.panel.column}."

    def head(self, scene: PanelContext) -> str:
        metrics = {metric.name: metric.card.title for metric in scene.comparison.metrics}
        metric = metrics.get(scene.panel.metric, scene.panel.metric)
        return f"{scene.panel.column}: {metric}"

    def describe_axis(self, scene: PanelContext) -> str:
        which = "group → group" if self._get_matrix(scene).grouped else "row → column"
        return f"cost {which}, % of losing a value"

    def measures(self, scene: PanelContext) -> Sequence[str]:
        return []

    def _get_matrix(self, scene: PanelContext) -> CostMatrix:
        matrix = scene.costs(scene.panel.column, scene.panel.metric)
        assert matrix is not None
        return as_share(matrix)

    def draw(self, scene: PanelContext) -> dict[str, Any]:
        matrix = self._get_matrix(scene)
        size, scale = scene.size, self._format_cost_bar(scene)
        font, room = size.choose_label_size(matrix.labels)
        for kind, pixels in (("x", size.width), ("y", size.height)):
            low, high = scene.get_axis(kind).domain
            scene.get_axis(kind).domain = [low + (high - low) * room / pixels, high]
        places = [str(place) for place in range(len(matrix.labels))]
        labels = [escape_label(label, 60) for label in matrix.labels]
        heatmap = _create_trace(
            scene, type="heatmap", x=places, y=places, z=(100 * matrix.values).astype(np.float32),
            colorscale=SCALE, zmin=0, zmax=100, colorbar=scale,
            customdata=[[[a, b] for b in labels] for a in labels],
            text=round_apart(100 * matrix.values, 1),
            hovertemplate="from <b>%{customdata[0]}</b> to <b>%{customdata[1]}</b>: "
            "%{text:.1f} %<extra></extra>",
        )  # fmt: skip
        scene.figure.add_traces([heatmap])
        common = {
            "type": "category", "ticks": "", "showgrid": False, "showline": False,
            "fixedrange": True, "tickmode": "linear", "dtick": 1,
            "tickfont": {"size": font},
            "labelalias": dict(
                zip(places, escape_distinct_labels(matrix.labels, size.label), strict=True)
            ),
        }  # fmt: skip
        scene.get_axis("y").update(**common, autorange="reversed")
        scene.get_axis("x").update(**common, tickangle=-90)
        return {"kind": "still", "range": [0, 1]}

    def _format_cost_bar(self, scene: PanelContext) -> dict[str, Any]:
        start, end = scene.get_axis("x").domain
        ticks = [0, 25, 50, 75, 100]
        return {
            "orientation": "h", "x": start, "xanchor": "left", "xpad": 0, "ypad": 4,
            "y": scene.get_axis("y").domain[0], "yanchor": "top", "len": end - start,
            "thickness": 8, "outlinewidth": 0, "tickvals": ticks,
            "tickfont": {"size": scene.size.small},
        }  # fmt: skip

    def table(self, scene: PanelContext) -> pd.DataFrame:
        return matrix_table(self._get_matrix(scene)).reset_index()


class ScatterPanel(PanelKind):
    """Privacy against alteration at the k of the cursor, and the front that nothing beats."""

    name = "scatter"
    title = "Privacy against alteration"

    def explain_lack(self, scene: PanelContext) -> str:
        return _explain_missing_measure(scene.panel.measure, list_privacy_cards(scene.comparison))

    def head(self, scene: PanelContext) -> str:
        return f"{get_short_title(self._get_card(scene))} against alteration"

    def measures(self, scene: PanelContext) -> Sequence[str]:
        return [COST.name, scene.panel.measure]

    def draw(self, scene: PanelContext) -> dict[str, Any]:
        comparison, card = scene.comparison, self._get_card(scene)
        costs = comparison.at(COST.name, comparison.ks)
        privacy_values = comparison.at(card.name, comparison.ks)
        ends = set_panel_y_axis(scene, card, privacy_values)
        scene.get_axis("x").update(
            range=PERCENT_RANGE, dtick=25, fixedrange=True, ticksuffix=" ",
            title=format_panel_axis_title(scene, escape_label(format_axis_title(COST))),
        )  # fmt: skip
        traces = []
        for line, x, y in zip(comparison.lines, costs[:, 0], privacy_values[:, 0], strict=True):
            look, own = scene.looks[line.name], line.knows(comparison.ks)
            traces.append(
                _create_trace(scene, x=x[own], y=y[own], mode="lines", hoverinfo="skip",
                       line={"color": add_opacity(look.colour, 0.3), "width": 1.5,
                             "dash": look.dash})
            )  # fmt: skip
        scene.figure.add_traces(traces)
        fronts_by_k = find_fronts(comparison, card.name)
        knows = np.array([line.knows(comparison.ks) for line in comparison.lines]).T
        sentences = [
            describe_front(
                [line.title for line, known in zip(comparison.lines, at_k, strict=True) if known],
                flags[at_k].tolist(),
                card,
            )
            for flags, at_k in zip(fronts_by_k, knows, strict=True)
        ]
        sentences = [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in sentences]
        bands = {}
        if comparison.has_bands:
            bands = {
                name: [_round_places(values.min(axis=1)), _round_places(values.max(axis=1))]
                for name, values in (("wide", costs), ("high", privacy_values))
            }
        return {
            "kind": "points", "log": get_axis_scale(card) == "log", "range": ends,
            "across": PERCENT_RANGE,
            "xs": _round_places(costs[:, 0]), "values": _round_places(privacy_values[:, 0]),
            "front": [np.flatnonzero(line_flags).tolist() for line_flags in fronts_by_k],
            "said": sentences, **bands,
        }  # fmt: skip

    def table(self, scene: PanelContext) -> pd.DataFrame:
        return build_scatter_table(scene.comparison, scene.panel.measure)


class ClassesPanel(PanelKind):
    """The sizes of the classes at the k of the cursor."""

    name = "classes"
    title = CLASS_SIZES

    def head(self, scene: PanelContext) -> str:
        return CLASS_SIZES

    def describe_axis(self, scene: PanelContext) -> str:
        return "% of records, in classes up to a size"

    def measures(self, scene: PanelContext) -> Sequence[str]:
        return [CLASSES.name]

    def draw(self, scene: PanelContext) -> dict[str, Any]:
        edges, shares = self._compute_size_shares(scene)
        ends = compute_padded_log_range(1, edges[-1])
        ticks = choose_k_ticks(edges[-1])
        scene.get_axis("x").update(
            type="log", range=ends, fixedrange=True, tickvals=ticks,
            ticktext=[format_tick(size, ticks[-1]) for size in ticks], tickangle=0,
            title=format_panel_axis_title(scene, "class size, in records (log scale)"),
        )  # fmt: skip
        scene.get_axis("y").update(range=PERCENT_RANGE, dtick=25, ticksuffix=" ", fixedrange=True)
        # Axes alone would not be drawn.
        scene.figure.add_traces(
            [_create_trace(scene, x=[1], y=[0], mode="lines", hoverinfo="skip")]
        )
        return {
            "kind": "profile", "log": False, "range": PERCENT_RANGE, "across": ends,
            "grid": [math.log10(edge) for edge in edges], "profiles": _round_places(shares),
        }  # fmt: skip

    def _compute_size_shares(self, scene: PanelContext) -> tuple[list[int], np.ndarray]:
        comparison = scene.comparison
        class_counts = np.array(
            [line.get_class_sizes(comparison.ks) for line in comparison.lines], dtype=np.float64
        )
        n_records = comparison.n_records
        if comparison.of == "persons":  # a person may have several records, all in classes
            n_records = int(np.nanmax(class_counts.sum(axis=2)))
        edges = class_sizes.compute_bin_ends(n_records).tolist()
        return edges, 100 * class_counts.cumsum(axis=2) / n_records

    def table(self, scene: PanelContext) -> pd.DataFrame:
        edges, shares = self._compute_size_shares(scene)
        comparison = scene.comparison
        index = pd.MultiIndex.from_product(
            [[line.name for line in comparison.lines], comparison.ks, edges],
            names=["configuration", "k", "class_size_up_to"],
        )
        table = pd.DataFrame({"records_percent": shares.ravel()}, index=index)
        table = table.dropna().reset_index()  # a line may have no release for a k
        return comparison.add_requirement(table)


KINDS: Mapping[str, PanelKind] = {
    kind.name: kind for kind in (CurvePanel(), MatrixPanel(), ScatterPanel(), ClassesPanel())
}
"""What a panel can show, by name."""


def replace_lacking_sizes(panel: Panel, comparison: Comparison) -> Panel:
    """A panel of class sizes as one of their number, where sizes are not known."""
    runs = [run for line in comparison.lines for run in line.runs.values()]
    if panel.kind != ClassesPanel.name or all(run.class_sizes is not None for run in runs):
        return panel
    return replace(panel, kind=CurvePanel.name, measure=CLASSES.name)


def _draw_dots(
    scene: PanelContext, title: str, look: Look, ks: Sequence[int], runs: np.ndarray, card: Card
) -> dict[str, Any]:
    """A measure that is known at some k alone: dots, with nothing drawn between them."""
    known_places = np.flatnonzero(~np.isnan(runs[0])).tolist()
    known_values = runs[0][known_places]
    spread = None
    if len(runs) > 1:
        low, high = runs[:, known_places].min(axis=0), runs[:, known_places].max(axis=0)
        spread = {
            "type": "data", "symmetric": False, "array": high - known_values,
            "arrayminus": known_values - low, "color": look.colour, "thickness": 1.5, "width": 3,
        }  # fmt: skip
    return _create_trace(
        scene, x=[ks[i] for i in known_places], y=known_values, mode="markers",
        name=escape_label(title), meta="line", marker=create_marker(look, 8), error_y=spread,
        **build_hovers(known_values, card),
    )  # fmt: skip


def _explain_missing_measure(measure: str, cards: Mapping[str, Card]) -> str:
    if measure in cards:
        return ""
    if measure in ("l_percent", "t_percent"):
        return f"This comparison has no {measure[0]}: it was made without a sensitive column."
    if not measure:
        return "Choose a measure for this panel."
    return f"This comparison has no measure {measure}."


def _create_trace(scene: PanelContext, **properties: Any) -> dict[str, Any]:
    trace = {"type": "scatter", **scene.axes, **properties}
    return {key: value for key, value in trace.items() if value is not None}


def _round_places(values: np.ndarray) -> list[Any]:
    """Places on a drawing: two decimals are finer than a pixel. None where there is no number."""
    places = values.round(2).astype(object)
    places[np.isnan(values)] = None
    return places.tolist()


def _choose_marker_places(size: int, place: int, lines: int) -> list[int]:
    """Five places along a line; those of another line are elsewhere.

    >>> _choose_marker_places(100, 0, 2), _choose_marker_places(100, 1, 2)
    ([0, 20, 40, 60, 80], [10, 30, 50, 70, 90])
    """
    return sorted({int((step + place / lines) * size / 5) for step in range(5)})


def select_named_lines(comparison: Comparison, names: Iterable[str]) -> Comparison:
    """The comparison with only the lines of these names; with all lines if there are none."""
    name_set = set(names)
    return comparison.only(name_set, bands=True) if name_set else comparison
