"""The difference of two configurations over k, and what an edit of hierarchies changed."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.base.formatting import write_count, write_percent
from kanon.base.rounding import write_decimals
from kanon.charts.style import (
    INK,
    add_opacity,
    escape_label,
    get_metric_colour,
    set_common_look,
    set_log_k_axis,
)
from kanon.experiments.comparison import Comparison
from kanon.measures.comparing import Difference

FIRST_AHEAD, SECOND_AHEAD = "#2166AC", "#B35806"
"""Blue where the first of two is better, brown where the second is: safe for colour blindness."""

_ROW_HEIGHT = 210
_OPEN = "#9AA3AB"


def describe_differences(comparison: Comparison, first: str, second: str, k: int) -> list[str]:
    """Which of two lines is better at k and by how much: a sentence per criterion."""
    both = comparison.only([first, second], bands=True)
    if k not in both.shared_ks:
        return [both.describe_lacks([k])]
    titles = {name: comparison.line(name).title for name in (first, second)}
    sentences = []
    for name in comparison.in_points:
        card, difference = comparison.card(name), comparison.difference(name, first, second)
        unit = "percentage points" if card.unit == "%" else "hundredths"
        verdict = _describe_difference(difference, titles[first], titles[second], k, unit)
        sentences.append(f"{card.title}: {verdict}")
    return sentences


def _describe_difference(gap: Difference, first: str, second: str, k: int, unit: str) -> str:
    place = gap.ks.index(k)
    value = float(gap.values[place])
    ahead = gap.find_leader(k)
    if ahead == "undecided":
        assert gap.low is not None and gap.high is not None
        low, high = (
            _format_difference(float(gap.low[place])),
            _format_difference(float(gap.high[place])),
        )
        return f"undecided: ties alone move the difference from {low} to {high} {unit}."
    if ahead == "equal" or f"{abs(value):.1f}" == "0.0":
        return "no difference to one decimal."
    better, other = (first, second) if ahead == "first" else (second, first)
    verdict = f"{better} is better than {other} by {abs(value):.1f} {unit}"
    if gap.low is None or gap.high is None:
        return f"{verdict}."
    ends = sorted(abs(float(end[place])) for end in (gap.low, gap.high))
    least, most = (f"{end:.1f}" for end in ends)
    if least == most:
        return f"{verdict}, whatever the tie seed."
    return f"{verdict}, or by {least} to {most} depending on the tie seed."


def draw_difference(comparison: Comparison, first: str, second: str, k: int) -> go.Figure:
    """The first line minus the second over k, in points: a panel per criterion, on one scale."""
    names = comparison.in_points
    columns = 2 if len(names) == 4 else 3
    rows = math.ceil(len(names) / columns)
    cards = [comparison.card(name) for name in names]
    figure = make_subplots(
        rows=rows, cols=columns, horizontal_spacing=0.06, vertical_spacing=0.3 / rows,
        subplot_titles=[f"{card.title} ({card.arrow})" for card in cards],
    )  # fmt: skip
    finding = f"k = {write_count(k)}: {describe_differences(comparison, first, second, k)[0]}"
    set_common_look(figure, escape_label(finding, longest=120), 90 + _ROW_HEIGHT * rows)
    differences = [comparison.difference(name, first, second) for name in names]
    is_stairs = comparison.only([first, second], bands=True).every_k
    reach = 1.05 * max(1.0, *(_find_largest_difference(gap) for gap in differences))
    n = comparison.n_records
    set_log_k_axis(figure, n, [2, *(10**power for power in range(1, 10) if 10**power <= n)])
    lowest, most = math.log10(1.8), math.log10(max(comparison.ks[-1], 3) * 1.15)
    figure.update_xaxes(title="", range=[lowest, most])
    figure.update_xaxes(title="k (log scale)", row=rows)
    figure.update_yaxes(range=[-reach, reach], zeroline=True, zerolinecolor=INK)
    for place, gap in enumerate(differences):
        _draw_difference_panel(figure, gap, is_stairs, k, place // columns + 1, place % columns + 1)
    figure.update_annotations(font={"size": 14})
    return figure.update_layout(margin={"t": 70, "b": 50})


def _draw_difference_panel(
    figure: go.Figure, gap: Difference, stairs: bool, k: int, row: int, col: int
) -> None:
    where, shape = {"row": row, "col": col}, "vh" if stairs else "linear"
    if gap.low is not None and gap.high is not None:
        for edge, fill in ((gap.low, None), (gap.high, "tonexty")):
            figure.add_scatter(
                x=gap.ks, y=edge, mode="lines", fill=fill,
                fillcolor=add_opacity(_OPEN, 0.25), hoverinfo="skip", **where,
                line={"shape": shape, "width": 1, "color": _OPEN},
            )  # fmt: skip
    up, down = (FIRST_AHEAD, SECOND_AHEAD) if gap.higher else (SECOND_AHEAD, FIRST_AHEAD)
    for colour, part in ((up, np.maximum(gap.values, 0)), (down, np.minimum(gap.values, 0))):
        figure.add_scatter(
            x=gap.ks, y=part, mode="lines", fill="tozeroy",
            fillcolor=add_opacity(colour, 0.35), line={"shape": shape, "width": 0},
            hoverinfo="skip", **where,
        )  # fmt: skip
    figure.add_scatter(
        x=gap.ks, y=gap.values, mode="lines" if stairs else "lines+markers",
        line={"shape": shape, "width": 2, "color": INK},
        hovertemplate="%{y:+.1f}<extra></extra>", **where,
    )  # fmt: skip
    figure.add_vline(x=k, line={"color": INK, "width": 1, "dash": "dot"}, **where)


def _find_largest_difference(gap: Difference) -> float:
    ends = [bound for bound in (gap.values, gap.low, gap.high) if bound is not None]
    return float(max(np.abs(bound).max(initial=0.0) for bound in ends))


def _format_difference(value: float) -> str:
    """A number that shows its sign; no minus before what is shown as 0.

    >>> _format_difference(-1.25), _format_difference(0.04), _format_difference(-0.04)
    ('−1.2', '0.0', '0.0')
    """
    text = f"{abs(value):.1f}"
    return text if text == "0.0" else f"{'−' if value < 0 else '+'}{text}"


def build_difference_table(comparison: Comparison, first: str, second: str) -> pd.DataFrame:
    """A row per criterion and k: the difference in points, its band, and the line that is ahead."""
    parts = []
    for name in comparison.in_points:
        gap = comparison.difference(name, first, second)
        bands = {} if gap.low is None else {"low": gap.low, "high": gap.high}
        which = {"criterion": name, "first": first, "second": second, "k": gap.ks}
        ahead = [gap.find_leader(k) for k in gap.ks]
        parts.append(pd.DataFrame({**which, "difference": gap.values, **bands, "ahead": ahead}))
    return comparison.add_requirement(pd.concat(parts, ignore_index=True))


def describe_what_if(changes: pd.DataFrame, titles: Mapping[str, str], first: str = "") -> str:
    """How the alteration changed, for one metric or for the metric where it changed most."""
    change = changes["own_after"] - changes["own_before"]
    name = first if first in changes.index else str(change.abs().idxmax())
    title = titles.get(name, name)
    before, after = changes.loc[name, "own_before"], changes.loc[name, "own_after"]
    if f"{before:.1f}" == f"{after:.1f}":
        k = write_count(changes.loc[name, "k_after"])
        return f"At k = {k} releases lose as much as before: {title} {after:.1f} %"
    direction = "less" if after < before else "more"
    return (
        f"At k = {write_count(changes.loc[name, 'k_after'])} releases now lose {direction}: "
        f"{title} {before:.1f} % → {after:.1f} %"
    )


def draw_what_if(changes: pd.DataFrame, titles: Mapping[str, str], first: str = "") -> go.Figure:
    """A line per guiding metric, from its alteration before to its alteration after, in %."""
    figure = go.Figure()
    names = [str(name) for name in changes.index][::-1]
    for name in names:
        before, after = changes.loc[name, "own_before"], changes.loc[name, "own_after"]
        colour, title = get_metric_colour(name), escape_label(titles.get(name, name))
        figure.add_scatter(
            x=[before, after], y=[title, title], mode="lines",
            line={"color": colour, "width": 3}, hoverinfo="skip",
        )  # fmt: skip
        for x, symbol, when in ((before, "circle-open", "before"), (after, "circle", "after")):
            figure.add_scatter(
                x=[x], y=[title], mode="markers", cliponaxis=False,
                marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 2}},
                hovertemplate=f"{title} {when}: {write_percent(x)}<extra></extra>",
            )  # fmt: skip
        figure.add_scatter(
            x=[max(before, after)], y=[title], mode="text", hoverinfo="skip", cliponaxis=False,
            text=[f"   {write_decimals(before, 1)} → {write_percent(after)}"],
            textposition="middle right",
        )  # fmt: skip
    set_common_look(
        figure,
        escape_label(describe_what_if(changes, titles, first), longest=120),
        90 + 34 * len(names),
    )
    figure.update_layout(hovermode="closest", margin={"l": 110})
    figure.update_yaxes(type="category")  # a metric may be called 1
    most = max(4.0, float(changes[["own_before", "own_after"]].to_numpy().max()))
    figure.update_xaxes(
        title="Alteration by the guiding metric, % (↓ better); ○ before, ● after",
        range=[0, 1.3 * most],  # room for the numbers beside the marks
        rangemode="tozero",
    )
    return figure
