"""What an edit of hierarchies changed: before and after, side by side."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import percent, thin, write_decimals
from kanon.charts.style import colour_of_metric, escaped, lay_out


def what_if_title(found: pd.DataFrame, titles: Mapping[str, str], first: str = "") -> str:
    """The finding: which way the alteration went, for one metric or where it moved most."""
    change = found["own_after"] - found["own_before"]
    name = first if first in found.index else str(change.abs().idxmax())
    title = titles.get(name, name)
    before, after = found.loc[name, "own_before"], found.loc[name, "own_after"]
    if f"{before:.1f}" == f"{after:.1f}":
        k = thin(found.loc[name, "k_after"])
        return f"At k = {k} releases lose as much as before: {title} {after:.1f} %"
    way = "less" if after < before else "more"
    return (
        f"At k = {thin(found.loc[name, 'k_after'])} releases now lose {way}: "
        f"{title} {before:.1f} % → {after:.1f} %"
    )


def what_if_chart(found: pd.DataFrame, titles: Mapping[str, str], first: str = "") -> go.Figure:
    """One line per metric that guided, from its alteration before to the one after."""
    figure = go.Figure()
    names = [str(name) for name in found.index][::-1]
    for name in names:
        before, after = found.loc[name, "own_before"], found.loc[name, "own_after"]
        colour, title = colour_of_metric(name), escaped(titles.get(name, name))
        figure.add_scatter(
            x=[before, after], y=[title, title], mode="lines",
            line={"color": colour, "width": 3}, hoverinfo="skip",
        )  # fmt: skip
        for x, symbol, when in ((before, "circle-open", "before"), (after, "circle", "after")):
            figure.add_scatter(
                x=[x], y=[title], mode="markers",
                marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 2}},
                hovertemplate=f"{title} {when}: {percent(x)}<extra></extra>", cliponaxis=False,
            )  # fmt: skip
        figure.add_scatter(
            x=[max(before, after)], y=[title], mode="text", hoverinfo="skip", cliponaxis=False,
            text=[f"   {write_decimals(before, 1)} → {percent(after)}"],
            textposition="middle right",
        )  # fmt: skip
    lay_out(figure, escaped(what_if_title(found, titles, first), longest=120), 90 + 34 * len(names))
    figure.update_layout(hovermode="closest", margin={"l": 110})
    figure.update_yaxes(type="category")  # a metric may be called 1
    most = max(4.0, float(found[["own_before", "own_after"]].to_numpy().max()))
    figure.update_xaxes(
        title="Alteration as the guiding metric counts, % (↓ better); ○ before, ● after",
        range=[0, 1.3 * most],  # room for the numbers beside the marks
        rangemode="tozero",
    )
    return figure
