"""How closely columns go together: before, after, and the difference, as heatmaps side by side."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.charts.figure import build_figure
from kanon.charts.style import (
    DIFFERENCES,
    HEADING,
    INK,
    LABEL,
    SCALE,
    TITLE_ON_TOP,
    escape_label,
    get_axis_number,
    get_panel_axes,
)
from kanon.measures.association_change import Associations

_MOST_NUMBERED = 6  # up to so many columns, the numbers stand in the cells
_NAME_LENGTH = 16


def build_association_table(before: Associations, after: Associations) -> pd.DataFrame:
    """A row per pair of columns that could be counted: Cramér's V before and after, 0 to 1."""
    rows = []
    for i, j in zip(*np.triu_indices(len(before.columns), 1), strict=True):
        if not np.isnan(before.cramers_v[i, j]):
            rows.append(
                {
                    "column": before.columns[i],
                    "other_column": before.columns[j],
                    "cramers_v_before": before.cramers_v[i, j],
                    "cramers_v_after": after.cramers_v[i, j],
                }
            )
    return pd.DataFrame(rows)


def draw_associations(before: Associations, after: Associations, title: str) -> go.Figure:
    """Three heat maps of Cramér's V: before, after, and after minus before, centred at 0."""
    values_before, values_after = before.cramers_v, after.cramers_v
    names = [escape_label(name, _NAME_LENGTH) for name in before.columns]
    left_margin = int(7.2 * max(map(len, names))) + 14
    cell = min(44, max(16, 300 // len(names)))
    head, foot = 68, int(5.6 * max(map(len, names))) + 62
    height = head + foot + cell * len(names)
    most = float(np.nanmax(np.abs(values_after - values_before), initial=0.0)) or 1.0
    width, between = 0.3165, 0.02525  # three pictures, of the whole width
    heads = (
        "<b>Before</b>, Cramér's V, 0 to 1",
        "<b>After</b>",
        "<b>After minus before</b> (+ closer)",
    )
    pictures = ((values_before, "coloraxis", "before"), (values_after, "coloraxis", "after"),
                (values_after - values_before, "coloraxis2", "difference"))  # fmt: skip
    data, axes, notes = [], {}, []
    places = list(range(len(names)))
    common = {"tickvals": places, "ticktext": names, "showgrid": False, "ticks": "",
              "showline": False, "fixedrange": True, "tickfont": LABEL,
              "zeroline": False, "range": [-0.5, len(names) - 0.5]}  # fmt: skip
    for place, ((values, scale, quantity), text) in enumerate(zip(pictures, heads, strict=True)):
        number, start = get_axis_number(place), place * (width + between)
        data.append({**_draw_associations(values, names, scale, quantity), **get_panel_axes(place)})
        axes[f"xaxis{number}"] = {
            **common, "domain": [start, start + width], "tickangle": -45, "anchor": f"y{number}",
        }  # fmt: skip
        axes[f"yaxis{number}"] = {
            **common, "range": common["range"][::-1], "anchor": f"x{number}",  # type: ignore[index]
            "showticklabels": place == 0,
        }  # fmt: skip
        notes.append({
            "text": text, "x": start + width / 2, "xref": "paper", "xanchor": "center", "y": 1,
            "yref": "paper", "yanchor": "bottom", "showarrow": False,
            "font": HEADING,
        })  # fmt: skip
    bar_height = 28 / height
    scales = {
        "coloraxis": _scale(SCALE, 0.0, 1.0, width + between / 2, bar_height),
        "coloraxis2": _scale(DIFFERENCES, -most, most, 1 - width / 2, bar_height),
    }
    return build_figure(
        data, title, height, {}, {}, **axes, **scales, annotations=notes, hovermode="closest",
        margin={"l": left_margin, "r": 12, "t": head, "b": foot, "autoexpand": False},
        plot_bgcolor="#F2F4F6", **TITLE_ON_TOP,
    )  # fmt: skip


def _draw_associations(
    values: np.ndarray, names: list[str], scale: str, quantity: str
) -> dict[str, Any]:
    """One picture. Columns are called by number: two may look alike once shortened."""
    places = list(range(len(names)))
    sign = "+.3f" if quantity == "difference" else ".3f"
    cell_texts: dict[str, Any] = {}
    if len(names) <= _MOST_NUMBERED:
        short = "+.2f" if quantity == "difference" else ".2f"
        cell_texts = {
            "text": [
                ["" if np.isnan(value) else format(value, short) for value in row] for row in values
            ],
            "texttemplate": "%{text}",
            "textfont": {"size": 13},
        }
    return {
        "type": "heatmap",
        "x": places,
        "y": places,
        "z": values,
        "coloraxis": scale,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "customdata": [[[first, second] for second in names] for first in names],
        "hovertemplate": f"<b>%{{customdata[0]}}</b> and <b>%{{customdata[1]}}</b><br>{quantity} "
        f"%{{z:{sign}}}<extra></extra>",
        **cell_texts,
    }


def _scale(colours: str, least: float, most: float, centre: float, below: float) -> dict[str, Any]:
    bar = {
        "orientation": "h", "x": centre, "xanchor": "center", "xref": "paper",
        "y": below, "yref": "container", "yanchor": "middle", "len": 0.24, "lenmode": "fraction",
        "thickness": 10, "outlinewidth": 0, "nticks": 5, "tickfont": {"size": 12, "color": INK},
    }  # fmt: skip
    return {"colorscale": colours, "cmin": least, "cmax": most, "colorbar": bar}
