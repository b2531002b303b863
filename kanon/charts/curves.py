"""The alteration of releases: curves against k, and a bar per column."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import CountedUnit, write_count, write_percent
from kanon.charts.figure import build_figure, find_drawn_k, get_k_axis
from kanon.charts.style import INK, LABEL, draw_upright_line, escape_label, get_metric_colour
from kanon.measures.along import Curves, Points, build_numbers_table, convert_to_total_variation
from kanon.metrics import Metric

FEW = 50  # up to so many k, each has a dot of its own


def draw_alteration_curve(
    curves: Curves | Points,
    metric: Metric,
    k: int,
    models: str = "",
    of: CountedUnit = "records",
    most: int = 0,
) -> go.Figure:
    """The alteration in % at every k under one metric, with a cursor at the chosen k.

    The axis ends at ``most`` at the least.
    """
    column = f"alteration_{metric.name}"
    alteration = float(curves.at([k])[column][0])
    colour = get_metric_colour(metric.name)
    ks, rows = find_drawn_k(curves)
    numbers = curves.columns() if isinstance(curves, Curves) else curves.numbers
    alterations, largest = numbers[column][rows], max(int(ks[-1]), most)
    axis = get_k_axis(largest, of=of)
    first, last = axis["range"]
    # The curve rises: there is room above and to the left of a point, or below and to the right.
    if (math.log10(k) - first) / (last - first) > 0.25:
        side = "top left"
    else:
        side = "bottom right" if alteration > 18 else "top right"
    line = {
        **get_step_style(curves, largest, colour),
        "x": ks,
        "y": alterations,
        "customdata": [write_percent(value) for value in alterations.tolist()],
        "hovertemplate": "k = %{x:,}: %{customdata}<extra></extra>",
    }
    cursor = {
        **draw_chosen_point(k, alteration, colour),
        "mode": "markers+text",
        "text": [f"  k = {write_count(k)}: {write_percent(alteration)}  "],
        "textposition": side,
        "textfont": {"size": 16, "color": INK},
    }
    cost = (
        f"k = {write_count(k)} and {escape_label(models, 80)} cost"
        if models
        else f"k = {write_count(k)} costs"
    )
    return build_figure(
        [line, cursor],
        f"{cost} {write_percent(alteration)} of all that could be lost, measured by "
        f"{escape_label(metric.card.title)}",
        270,
        axis,
        {"title": "Alteration, % (↓ better)", "range": [0, 112], "ticksuffix": " "},
        hovermode="x",
        shapes=[draw_upright_line(k)],
    )


_MOST_COLUMNS = 10  # so many columns have a bar of their own; the last one is for all others


def build_column_losses_table(points: Mapping[str, float]) -> pd.DataFrame:
    """A row per column, the largest loss first: points of alteration, and the share of the loss.

    >>> build_column_losses_table({"age": 1.0, "sex": 3.0})["share_of_loss_percent"].tolist()
    [75.0, 25.0]
    """
    rows = sorted(points.items(), key=lambda item: -item[1])
    total = sum(points.values())
    shares = [100 * lost / total if total else 0.0 for _, lost in rows]
    table = pd.DataFrame(rows, columns=["column", "alteration_points"])
    return table.assign(share_of_loss_percent=shares)


def draw_column_losses(points: Mapping[str, float], metric: Metric) -> go.Figure:
    """A bar per column: its part of the alteration, in points; together they are all of it."""
    table = build_column_losses_table(points)
    if len(table) > _MOST_COLUMNS:
        rest = table.iloc[_MOST_COLUMNS - 1 :]
        others = [f"{len(rest)} others", rest.iloc[:, 1].sum(), rest.iloc[:, 2].sum()]
        table = table.iloc[: _MOST_COLUMNS - 1]
        table.loc[len(table)] = others
    lost, shares = table["alteration_points"], table["share_of_loss_percent"]
    names = [escape_label(name, 16) for name in table["column"]]
    share_texts = [write_percent(share) for share in shares]
    total = write_percent(sum(points.values()))
    title = "No column loses anything"
    if lost.max() > 0:
        title = f"{names[0]} loses most: {share_texts[0]} of the {total}"
    bars = {
        "type": "bar", "x": list(range(len(names))), "y": lost,
        "marker": {"color": get_metric_colour(metric.name)},
        "text": [f"{value:.1f}" for value in lost], "textposition": "outside",
        "textfont": LABEL, "cliponaxis": False,
        "customdata": list(zip(names, share_texts, strict=True)),
        "hovertemplate": f"%{{customdata[0]}}: %{{y:.2f}} of {total}, %{{customdata[1]}} of the "
        "loss<extra></extra>",
    }  # fmt: skip
    return build_figure(
        [bars],
        title,
        220,
        {"tickvals": list(range(len(names))), "ticktext": names, "tickangle": 0},
        {"title": "Points", "range": [0, 1.25 * max(lost.max(), 0.1)], "nticks": 4},
        hovermode="closest",
        bargap=0.4,
    )


def get_step_style(curves: Curves | Points, largest: int, colour: str) -> dict[str, Any]:
    """How a curve over k is drawn whose points are those of :func:`find_drawn_k`."""
    line = {"shape": "hvh", "color": colour, "width": 3}
    if isinstance(curves, Points):
        mode = "markers"
    elif largest > FEW:
        mode = "lines"
    else:
        mode, line["width"] = "lines+markers", 1
    dots = {"size": 7, "color": colour}
    return {"type": "scatter", "mode": mode, "line": line, "marker": dots, "cliponaxis": False}


def draw_chosen_point(k: int, y: float, colour: str) -> dict[str, Any]:
    """A Plotly trace: a dot at the chosen k, with a white rim."""
    marker = {"size": 12, "color": colour, "line": {"color": "white", "width": 2}}
    return {
        "type": "scatter", "mode": "markers", "x": [k], "y": [y], "marker": marker,
        "hoverinfo": "skip", "cliponaxis": False,
    }  # fmt: skip


def build_curves_table(curves: Curves | Points) -> pd.DataFrame:
    """The numbers behind the curves: a row per release of the run, or per k."""
    if isinstance(curves, Points):
        return build_numbers_table(convert_to_total_variation(curves.numbers))
    columns = convert_to_total_variation(curves.columns())
    return pd.DataFrame({"k_up_to": columns.pop("min_k"), **columns})
