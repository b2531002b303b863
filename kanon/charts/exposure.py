"""How exposed a table is: class sizes, and the columns that single people out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.charts.style import ROLE_COLOURS, escaped, lay_out, thin

__all__ = ["class_size_chart", "class_size_table", "singling_out_chart"]

_BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, 999), (1000, None))


def class_size_table(sizes: np.ndarray) -> pd.DataFrame:
    """The records by the size of their equivalence class, in bands.

    >>> class_size_table(np.array([3, 1, 1]))["records"].tolist()[:3]
    [2, 0, 3]
    """
    rows = []
    for low, high in _BANDS:
        inside = sizes[(sizes >= low) & (sizes <= (high or np.inf))]
        name = (
            thin(low) if low == high else f"{thin(low)}–{thin(high)}" if high else f"≥ {thin(low)}"
        )
        rows.append((name, len(inside), int(inside.sum())))
    return pd.DataFrame(rows, columns=["class size", "classes", "records"])


def class_size_chart(sizes: np.ndarray) -> go.Figure:
    """How many records share their quasi-identifiers with how many others."""
    table = class_size_table(sizes)
    largest = table.index[table["classes"] > 0].max()
    table = table.loc[:largest]
    colours = ["#C0392B" if name == "1" else "#0072B2" for name in table["class size"]]
    figure = go.Figure()
    figure.add_bar(
        x=table["class size"],
        y=table["records"],
        marker_color=colours,
        customdata=table["classes"],
        hovertemplate="%{y:,} records in %{customdata:,} classes of this size<extra></extra>",
    )
    alone = int(table["records"].iloc[0])
    title = f"{thin(alone)} of {thin(int(sizes.sum()))} records stand alone"
    lay_out(figure, title, height=280)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(
        title="Class size: records that look the same",
        type="category",
        tickangle=0,
        tickfont={"size": 11},
    )
    return figure.update_yaxes(title="Records")


def singling_out_chart(unique_without: Mapping[str, int], unique: int) -> go.Figure:
    """By how much the unique records fall when one quasi-identifier is left out.

    Parameters
    ----------
    unique_without
        Per quasi-identifier the number of unique records without it.
    unique
        The number with all of them.
    """
    fall = sorted(((unique - count, name) for name, count in unique_without.items()))
    figure = go.Figure()
    figure.add_bar(
        x=[by for by, _ in fall],
        y=[escaped(name, 24) for _, name in fall],
        orientation="h",
        marker_color=ROLE_COLOURS["quasi-identifier"],
        hovertemplate="Without it, %{x:,} fewer records are unique<extra></extra>",
    )
    most = escaped(fall[-1][1], 24) if fall else ""
    title = f"{most} singles people out most" if fall and fall[-1][0] else "No column stands out"
    lay_out(figure, title, height=120 + 30 * len(fall))
    figure.update_layout(hovermode="closest", margin={"l": 150})
    return figure.update_xaxes(title="Fewer unique records without it")
