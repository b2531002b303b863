"""How exposed a table is: class sizes, and the columns that single people out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import thin
from kanon.charts.style import ROLE_COLOURS, escaped, lay_out

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


def singling_out_table(unique_without: Mapping[str, int], unique: int) -> pd.DataFrame:
    """By how much the unique records fall when one quasi-identifier is left out.

    Parameters
    ----------
    unique_without
        Per quasi-identifier the number of unique records without it.
    unique
        The number with all of them.

    >>> singling_out_table({"age": 1, "sex": 4}, 5)["fewer unique records"].tolist()
    [1, 4]
    """
    falls = sorted((unique - count, name) for name, count in unique_without.items())
    return pd.DataFrame(
        [(name, fall, unique - fall) for fall, name in falls],
        columns=["without column", "fewer unique records", "unique records left"],
    )


def singling_out_chart(falls: pd.DataFrame) -> go.Figure:
    """Which columns single people out, from :func:`singling_out_table`."""
    figure = go.Figure()
    names = [escaped(name, 24) for name in falls["without column"]]
    figure.add_bar(
        x=falls["fewer unique records"],
        # Positions, not names: two long names may be shortened to the same label.
        y=list(range(len(names))),
        orientation="h",
        marker_color=ROLE_COLOURS["quasi-identifier"],
        hovertemplate="Without it, %{x:,} fewer records are unique<extra></extra>",
    )
    stands_out = len(names) and falls["fewer unique records"].iloc[-1] > 0
    title = f"{names[-1]} singles people out most" if stands_out else "No column stands out"
    lay_out(figure, title, height=120 + 30 * len(names))
    figure.update_layout(hovermode="closest", margin={"l": 150})
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names)
    most = max(1, falls["fewer unique records"].max())
    return figure.update_xaxes(title="Fewer unique records without it", range=[0, 1.05 * most])
