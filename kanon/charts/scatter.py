"""Privacy against alteration: what each configuration buys, and the front that nothing beats."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import join_words, write_count, write_percent
from kanon.base.old_names import keep_old_name
from kanon.cards import Card
from kanon.charts.comparison_measures import (
    format_axis_title,
    format_measure,
    get_axis_scale,
    get_file_column,
    get_short_title,
    list_privacy_cards,
)
from kanon.charts.labels import Box
from kanon.charts.line_style import Look, choose_looks
from kanon.charts.style import INK, add_opacity, escape_label, get_text_colour, set_common_look
from kanon.experiments.comparison import Comparison, get_percent_factor
from kanon.experiments.criteria import CRITERIA
from kanon.measures.comparing import round_to_digits
from kanon.measures.pareto import find_pareto_front

COST = CRITERIA["mean_alteration"]  # what privacy is set against

_WIDE, _HEIGHT = 1000.0, 430  # pixels of the drawing on a page, about
_DIGITS = 1  # as they are shown: what looks equal is equal


def find_unbeaten(costs: np.ndarray, privacy_values: np.ndarray, privacy: Card) -> np.ndarray:
    """Which lines nothing beats in both; lines that look equal do not beat each other."""
    directions = (COST.direction or "lower", privacy.direction or "higher")
    factor = get_percent_factor(privacy.name)
    return find_pareto_front(
        round_to_digits(np.column_stack([costs, factor * privacy_values]), _DIGITS), directions
    )


def find_fronts(comparison: Comparison, measure: str) -> np.ndarray:
    """Which lines are on the front at each k, as booleans of shape (len(ks), lines)."""
    card = list_privacy_cards(comparison)[measure]
    costs = comparison.at(COST.name, comparison.ks)[:, 0]
    privacy_values = comparison.at(measure, comparison.ks)[:, 0]
    return np.array(
        [
            find_unbeaten(*coordinates, card)
            for coordinates in zip(costs.T, privacy_values.T, strict=True)
        ],
        dtype=bool,
    ).reshape(len(comparison.ks), len(comparison.lines))


def describe_front(titles: Sequence[str], on: Sequence[bool], privacy: Card) -> str:
    """The finding in a sentence.

    >>> describe_front(["A", "B", "C"], [True, False, True], CRITERIA["min_k"])
    'nothing beats A and C in both minimum k and mean alteration'
    >>> describe_front(["A", "B"], [True, True], CRITERIA["min_k"])
    'none beats another in both minimum k and mean alteration'
    >>> describe_front(["A", "B"], [True, False], CRITERIA["min_k"])
    'nothing beats A in both minimum k and mean alteration'
    """
    measures = (
        f"in both {_strip_capital(get_short_title(privacy))} and {_strip_capital(COST.title)}"
    )
    if len(titles) > 1 and all(on):
        return f"none beats another {measures}"
    names = [title for title, is_on_front in zip(titles, on, strict=True) if is_on_front]
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return f"nothing beats {join_words(names)} {measures}"


def _strip_capital(title: str) -> str:
    """A title inside a sentence: 'Minimum k' as 'minimum k', but 't' and 'NCP' as they are."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def draw_privacy_against_alteration(
    comparison: Comparison, k: int, privacy: str = "l_percent"
) -> go.Figure:
    """A point per configuration at k, the front of the best, and each one's path over k."""
    card, looks = list_privacy_cards(comparison)[privacy], choose_looks(comparison)
    comparison = comparison.select_lines_at([k])
    lines = comparison.lines
    titles = [escape_label(line.title) for line in lines]
    costs, privacy_values = (
        comparison.at(measure, [k])[..., 0] for measure in (COST.name, privacy)
    )
    on = find_unbeaten(costs[:, 0], privacy_values[:, 0], card)
    figure = go.Figure()
    figure.add_traces(_draw_front(costs[on, 0], privacy_values[on, 0]))
    factor, linear = get_percent_factor(privacy), get_axis_scale(card) != "log"
    ends = (
        _compute_axis_ends(costs, True),
        [end / factor for end in _compute_axis_ends(factor * privacy_values, linear)],
    )
    sides = _choose_label_sides(
        _convert_to_pixels(costs[:, 0], ends[0], True, _WIDE),
        _convert_to_pixels(privacy_values[:, 0], ends[1], linear, _HEIGHT - 100.0),
        titles,
    )
    for place, line in enumerate(lines):
        look = looks[line.name]
        x, y = costs[place], privacy_values[place]
        wide = {"color": add_opacity(look.colour, 0.6), "thickness": 1.5, "width": 4}
        bars = {
            name: {"symmetric": False, "array": [v.max() - v[0]],
                   "arrayminus": [v[0] - v.min()], **wide}
            for name, v in (("error_x", x), ("error_y", y)) if comparison.has_bands
        }  # fmt: skip
        figure.add_scatter(
            x=[x[0]], y=[y[0]], mode="markers+text", name=titles[place], meta="line",
            marker=create_marker(look, 13), text=[titles[place] if sides[place] else ""],
            textposition=sides[place] or "middle right", cliponaxis=False,
            textfont={"size": 14, "color": get_text_colour(look.colour), "shadow": "auto"},
            hovertemplate=f"{titles[place]}<br>{COST.title} {write_percent(float(x[0]))}<br>"
            f"{card.title} {format_measure(float(y[0]), card)} {card.unit}<extra></extra>",
            **bars,
        )  # fmt: skip
    finding = describe_front(titles, on.tolist(), card)
    set_common_look(figure, f"k = {write_count(k)}: {finding}", _HEIGHT)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(title=format_axis_title(COST), ticksuffix=" ", range=ends[0])
    figure.update_yaxes(
        title=escape_label(format_axis_title(card), 60), ticksuffix=" ", range=ends[1]
    )
    if not linear:
        figure.update_yaxes(type="log")
    if not all(sides):  # what cannot be named in its place is named above
        rows = 1 + sum(len(title) + 6 for title in titles) // 110
        figure.update_layout(
            showlegend=True, height=_HEIGHT + 24 * rows, margin={"t": 44 + 24 * rows},
            legend={"orientation": "h", "x": 0, "y": 1.01, "yanchor": "bottom"},
            title={"y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 8}},
        )  # fmt: skip
    return figure


def create_marker(look: Look, size: int) -> dict[str, object]:
    """Plotly's marker of ``size`` pixels: a white rim if filled, else a white inside."""
    if look.filled:
        return {
            "symbol": look.marker, "size": size, "color": look.colour,
            "line": {"color": "white", "width": 1},
        }  # fmt: skip
    return {
        "symbol": look.marker, "size": size, "color": "white",
        "line": {"color": look.colour, "width": 2},
    }  # fmt: skip


def _draw_front(x: np.ndarray, y: np.ndarray) -> list[go.Scatter]:
    """The front as stairs: between two of its points, nothing is reached that neither has."""
    order = np.lexsort((y, x))
    if len(order) < 2:
        return []
    return [
        go.Scatter(
            x=x[order], y=y[order], mode="lines", hoverinfo="skip", showlegend=False,
            line={"color": INK, "width": 1.5, "dash": "dot", "shape": "hv"},
        )
    ]  # fmt: skip


def _choose_label_sides(x: np.ndarray, y: np.ndarray, titles: Sequence[str]) -> list[str]:
    """Where the label of each point stands so that it lies on nothing; nowhere if it cannot.

    >>> _choose_label_sides(np.array([10.0, 12.0]), np.array([10.0, 10.0]), ["A", "B"])
    ['top left', 'top right']
    >>> _choose_label_sides(np.array([10.0] * 9), np.array([10.0] * 9), ["A"] * 9).count("")
    5
    """
    boxes = [Box(a - 6, b - 6, a + 6, b + 6) for a, b in zip(x, y, strict=True)]
    chosen_sides = []
    for place, (a, b, title) in enumerate(zip(x, y, titles, strict=True)):
        others = boxes[:place] + boxes[place + 1 :]
        wide = 8.0 * len(title)
        for side, start, low in (
            ("top right", a + 6, b + 3), ("bottom right", a + 6, b - 19),
            ("top left", a - 6 - wide, b + 3), ("bottom left", a - 6 - wide, b - 19),
            ("middle right", a + 9, b - 8), ("middle left", a - 9 - wide, b - 8),
        ):  # fmt: skip
            label_box = Box(start, low, start + wide, low + 16)
            inside = start >= -40 and label_box.right <= _WIDE + 20
            if inside and not any(label_box.has_overlap(box) for box in others):
                boxes.append(label_box)
                chosen_sides.append(side)
                break
        else:
            chosen_sides.append("")
    return chosen_sides


def _convert_to_pixels(
    values: np.ndarray, ends: Sequence[float], percent: bool, length: float
) -> np.ndarray:
    along = values if percent else np.log10(np.maximum(values, 0.1))
    return np.nan_to_num((along - ends[0]) / (ends[1] - ends[0]) * length)


def _compute_axis_ends(values: np.ndarray, percent: bool) -> list[float]:
    """The ends of an axis around the points, with room for labels; counts are logarithmic.

    >>> _compute_axis_ends(np.array([40.0, 60.0]), percent=True)
    [35.0, 65.0]
    """
    finite = values[np.isfinite(values) & (percent | (values > 0))]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 100.0)
    if not percent:
        return [float(np.log10(max(low, 1) / 1.5)), float(np.log10(max(high, 1) * 1.8))]
    room = max(0.25 * (high - low), (20 - (high - low)) / 2)
    return [max(low - room, -3.0), min(high + room, 106.0)]


def build_scatter_table(comparison: Comparison, privacy: str) -> pd.DataFrame:
    """A row per configuration and k: both coordinates, and whether it is on the front."""
    parts = []
    on = find_fronts(comparison, privacy)
    ks = comparison.ks
    values_by_measure = {measure: comparison.at(measure, ks) for measure in (COST.name, privacy)}
    for place, line in enumerate(comparison.lines):
        own = line.knows(ks)
        columns: dict[str, object] = {"configuration": line.name, "k": np.asarray(ks)[own]}
        for measure, values in values_by_measure.items():
            name = get_file_column(measure)
            runs = values[place][:, own]
            columns[name] = runs[0]
            if comparison.has_bands:
                columns[f"{name}_low"] = runs.min(axis=0)
                columns[f"{name}_high"] = runs.max(axis=0)
        parts.append(pd.DataFrame({**columns, "on_front": on[own, place]}))
    return comparison.add_requirement(pd.concat(parts, ignore_index=True))


privacy_against_alteration = keep_old_name(
    draw_privacy_against_alteration, "privacy_against_alteration"
)
