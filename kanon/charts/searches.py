"""Three searches of one lattice: what they lose and take over k, and over quasi-identifiers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.algorithms import datafly, improved_greedy, samarati
from kanon.algorithms.catalogue import short_title
from kanon.base.formatting import count_noun, write_count
from kanon.cards import Card
from kanon.charts.comparison_measures import format_axis_title
from kanon.charts.style import get_axis_number, get_panel_axes, get_text_colour, set_common_look
from kanon.charts.walks import WALK_LOOKS
from kanon.experiments.searches import (
    K_OVER_COLUMNS,
    SEARCHES,
    Searches,
    Tally,
    compute_time_ratio,
    count_comparisons,
)
from kanon.measures import iloss, iloss_mean, level_of_generalisation

MARKERS = {
    datafly.CARD.name: "circle",
    improved_greedy.CARD.name: "diamond",
    samarati.CARD.name: "square",
}
"""One marker per search, drawn from large to small, so that all are seen where they agree."""

_SIZES = dict(zip(MARKERS, ((12, 6.0), (10, 3.0), (6, 2.5)), strict=True))

_OURS, _SAMARATI, _DATAFLY = improved_greedy.CARD.name, samarati.CARD.name, datafly.CARD.name
_LEVEL, _LOSS = level_of_generalisation.CARD.name, iloss.CARD.name
_COMPARABLE = 1.25
"""So many times as long, or as much, is comparable: seconds of one search differ by that much."""

_BOUND, _FAINT = "#6B747C", "#AEB6BD"
_HEIGHT, _TOP, _FOOT = 400, 104, 54  # pixels
_HEAD, _BELOW = {"size": 14}, {"standoff": 6, "font": {"size": 14}}

SECONDS = Card("seconds", "Time", "How long the search took.", "", "s", "lower", "", "")
EVALUATED = Card(
    "nodes_evaluated", "Nodes evaluated", "How many nodes were counted.", "", "", "lower", "", ""
)


# --- what came out, in sentences --------------------------------------------------------------
def describe_searches(study: Searches) -> str:
    """At how many k Improved greedy rises fewer levels than Datafly, and loses less."""
    levels, loss = (
        count_comparisons(study, measure, _OURS, _DATAFLY).less for measure in (_LEVEL, _LOSS)
    )
    return (
        f"{short_title(_OURS)} rises fewer levels than {short_title(_DATAFLY)} at {levels} of "
        f"{len(study.ks)} k, and loses less at {loss}"
    )


def describe_claims(study: Searches) -> list[str]:
    """What holds here of the claims about Improved greedy: a sentence on levels, loss and time."""
    datafly, samarati, name = map(short_title, (_DATAFLY, _SAMARATI, _OURS))
    levels, of_k = count_comparisons(study, _LEVEL, _OURS, _DATAFLY), f"{len(study.ks)} k"
    above = count_comparisons(study, _LEVEL, _OURS, _SAMARATI)
    loss = count_comparisons(study, _LOSS, _OURS, _DATAFLY)
    ours, theirs = (float(study.get_values(_LOSS, name).sum()) for name in (_OURS, _SAMARATI))
    as_much = ours / theirs if theirs else 1.0
    slower, faster = (compute_time_ratio(study, _OURS, name) for name in (_DATAFLY, _SAMARATI))
    return [
        f"Levels: fewer than {datafly} at {levels.less} of {of_k}, as many at {levels.equal}, more "
        f"at {levels.more}; as many as {samarati} at {above.equal}, more at {above.more}. So on "
        f"this table {name} is {_describe_advantage(levels)} than {datafly}.",
        f"Loss: less than {datafly} at {loss.less} of {of_k}, as much at {loss.equal}, more at "
        f"{loss.more}; averaged over k, {_format_factor(as_much)} that of {samarati}. So on this "
        f"table {name} is {_describe_advantage(loss)} than {datafly} and "
        f"{_describe_drawback(as_much)} worse than {samarati}.",
        f"Time: {_format_factor(slower)} that of {datafly} and {_format_factor(faster)} that of "
        f"{samarati} in the median over k. So on this table {name} is {_describe_drawback(slower)} "
        f"slower than {datafly} and {'faster' if faster < 1 else 'no faster'} than {samarati}.",
    ]


def _describe_advantage(tally: Tally) -> str:
    """Whether one search is better than another in what is less.

    >>> [_describe_advantage(Tally(*n)) for n in ((2, 1, 0), (2, 0, 1), (0, 3, 0))]
    ['better', 'mostly better', 'no better']
    """
    if tally.less <= tally.more:
        return "no better"
    return "mostly better" if tally.more else "better"


def _describe_drawback(factor: float) -> str:
    return "not clearly" if factor <= _COMPARABLE else "clearly"


def describe_effort(study: Searches) -> str:
    """How many nodes of the largest lattice each search evaluates."""
    most = study.over_columns["columns"].max()
    last = study.over_columns[study.over_columns["columns"] == most].set_index("algorithm")
    nodes = last["nodes_evaluated"]
    node_texts = [f"{short_title(name)} {write_count(nodes[name])}" for name in SEARCHES]
    whole = count_noun(int(last["lattice_nodes"].iloc[0]), "node")
    return f"Evaluated of {whole} with {most} quasi-identifiers: {', '.join(node_texts)}"


def _format_factor(factor: float) -> str:
    """How many times, in two digits.

    >>> _format_factor(0.3141), _format_factor(31.41), _format_factor(1.04)
    ('0.31 times', '31 times', '1.0 times')
    """
    digits = 2 if factor < 1 else 1 if factor < 10 else 0
    return f"{factor:.{digits}f} times"


# --- the numbers ------------------------------------------------------------------------------
def build_over_k_table(study: Searches) -> pd.DataFrame:
    """A row per search and k, with the settings of the study, for download."""
    table = study.over_k.rename(columns={"alteration": f"alteration_{study.metric.name}"})
    return table.assign(quasi_identifiers=len(study.attributes), suppression_limit=study.limit)


def build_over_columns_table(study: Searches) -> pd.DataFrame:
    """A row per search and number of quasi-identifiers, with the limit, for download."""
    return study.over_columns.assign(suppression_limit=study.limit)


# --- the pictures -----------------------------------------------------------------------------
def draw_over_k(study: Searches) -> go.Figure:
    """Loss, level of generalisation and seconds over k: a panel each, a line per search."""
    cards = (iloss_mean.CARD, level_of_generalisation.CARD, SECONDS)
    titles = [*map(format_axis_title, cards[:2]), f"{format_axis_title(SECONDS)}, log scale"]
    figure = _create_search_panels(titles, describe_searches(study), 0.075)
    ks = study.ks
    for panel, card in enumerate(cards):
        for name in MARKERS:
            values = study.get_values(card.name, name)
            figure.add_trace(
                _draw_search_line(name, panel, ks, values, panel == 0)
                | {
                    "customdata": study.get_values(iloss.CARD.name, name),
                    "hovertemplate": {
                        iloss_mean.CARD: "%{y:.4f}, iloss %{customdata:,.0f} cells",
                        level_of_generalisation.CARD: "%{y} levels",
                        SECONDS: "%{y:.3g} s",
                    }[card],
                }
            )
    ends = [float(np.log10(ks[0] / 1.15)), float(np.log10(ks[-1] * 1.2))]
    ticks = [k for k in (3, 10, 100, 1000, 10_000) if k <= ks[-1]]
    figure.update_xaxes(
        type="log", range=ends, tickvals=ticks, ticktext=[write_count(k) for k in ticks],
        title={"text": "k (log scale)", **_BELOW}, hoverformat=",d",
    )  # fmt: skip
    top = sum(study.tops)
    most = study.over_k[iloss_mean.CARD.name].max()
    _set_y_axis(figure, 0, [0, max(0.02, 1.12 * most)])
    _set_y_axis(figure, 1, [0, 1.12 * max(top, 1)], tickformat="d")
    _set_y_axis(figure, 2, _compute_log_range(study.over_k["seconds"]), log=True)
    figure.add_shape(
        type="line", xref="x2 domain", x0=0, x1=1, yref="y2", y0=top, y1=top,
        line={"color": _BOUND, "width": 1.5, "dash": "dash"},
    )  # fmt: skip
    figure.add_annotation(
        text=f"all roots: {top}", xref="x2 domain", x=0, yref="y2", y=top, yanchor="bottom",
        xanchor="left", showarrow=False, font={"size": 12, "color": _BOUND},
    )  # fmt: skip
    _write_line_names(
        figure, 2, [(name, study.get_values("seconds", name)[-1]) for name in SEARCHES]
    )
    return figure


def draw_over_columns(study: Searches) -> go.Figure:
    """Seconds and nodes evaluated over the number of quasi-identifiers, a line per search."""
    if study.lacking:
        raise ValueError(study.lacking)
    table = study.over_columns
    heads = [
        f"{format_axis_title(SECONDS)}, log scale",
        f"{format_axis_title(EVALUATED)}, log scale",
    ]
    figure = _create_search_panels(heads, describe_effort(study), 0.09, right=190)
    numbers = sorted({int(number) for number in table["columns"]})
    ends = {}
    for name in MARKERS:
        search_rows = table[table["algorithm"] == name].sort_values("columns")
        bound = {
            "xaxis": "x2", "yaxis": "y2", "x": search_rows["columns"],
            "y": search_rows["most_evaluated"], "name": f"{short_title(name)} at most",
            "mode": "lines+markers", "showlegend": False,
            "line": {"color": _BOUND, "width": 1.5, "dash": "dash"}, "cliponaxis": False,
            "marker": {"symbol": f"{MARKERS[name]}-open", "size": 7, "color": _BOUND},
            "hovertemplate": "%{y:,}", "meta": "bound",
        }  # fmt: skip
        figure.add_scatter(**bound)
        for panel, column in enumerate(("seconds", "nodes_evaluated")):
            number = "%{y:.3g} s" if panel == 0 else "%{y:,}"
            figure.add_trace(
                _draw_search_line(
                    name, panel, search_rows["columns"], search_rows[column], panel == 0
                )
                | {"hovertemplate": number}
            )
        ends[name] = search_rows["nodes_evaluated"].iloc[-1]
        ends[f"{name}-bound"] = search_rows["most_evaluated"].iloc[-1]
    whole = table.drop_duplicates("columns").sort_values("columns")
    figure.add_scatter(
        xaxis="x2", yaxis="y2", x=whole["columns"], y=whole["lattice_nodes"], mode="lines",
        name="The whole lattice", showlegend=False, hovertemplate="%{y:,}", meta="lattice",
        line={"color": _FAINT, "width": 2, "dash": "dot"},
    )  # fmt: skip
    ends["lattice"] = whole["lattice_nodes"].iloc[-1]
    figure.update_xaxes(
        range=[numbers[0] - 0.25, numbers[-1] + 0.25], tickvals=numbers,
        title={"text": f"quasi-identifiers, at k = {K_OVER_COLUMNS}", **_BELOW},
    )  # fmt: skip
    _set_y_axis(figure, 0, _compute_log_range(table["seconds"]), log=True)
    _set_y_axis(figure, 1, _compute_log_range([1, table["lattice_nodes"].max()]), log=True)
    _write_line_names(figure, 1, list(ends.items()))
    return figure


def _create_search_panels(
    heads: Sequence[str], title: str, space: float, right: int = 130
) -> go.Figure:
    figure = make_subplots(1, len(heads), horizontal_spacing=space, subplot_titles=heads)
    wide = (1 - space * (len(heads) - 1)) / len(heads)
    for head in figure.layout.annotations:
        head.update(font=_HEAD, xanchor="left", x=head.x - wide / 2)
    set_common_look(figure, title, _HEIGHT)
    figure.update_layout(title={"yref": "container", "yanchor": "top", "y": 1 - 8 / _HEIGHT})
    figure.update_xaxes(tickfont={"size": 13}, tickangle=0)
    figure.update_yaxes(tickfont={"size": 13})
    legend = {
        "orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "yanchor": "top",
        "y": 1 - 38 / _HEIGHT, "font": {"size": 14}, "itemclick": False, "itemdoubleclick": False,
    }  # fmt: skip
    margin = {"l": 56, "r": right, "t": _TOP, "b": _FOOT}
    return figure.update_layout(
        showlegend=True, legend=legend, margin=margin, hovermode="x unified"
    )


def _draw_search_line(name: str, panel: int, x: Any, y: Any, first: bool) -> dict[str, Any]:
    look = WALK_LOOKS[name]
    size, width = _SIZES[name]
    return {
        "type": "scatter", **get_panel_axes(panel), "x": x, "y": y,
        "name": short_title(name), "legendgroup": name, "showlegend": first, "meta": name,
        "mode": "lines+markers", "cliponaxis": False,
        "line": {"color": look.colour, "dash": look.dash, "width": width},
        "marker": {"symbol": MARKERS[name], "size": size, "color": look.colour,
                   "line": {"color": "white", "width": 1}},
    }  # fmt: skip


def _set_y_axis(
    figure: go.Figure, panel: int, ends: Sequence[float], log: bool = False, **more: Any
) -> None:
    """The y axis of a panel: from and to, in powers of ten if it is logarithmic."""
    kind = {"type": "log", **_choose_log_ticks(ends)} if log else {}
    figure.layout[f"yaxis{get_axis_number(panel)}"].update(
        range=list(ends), ticksuffix=" ", **kind, **more
    )


def _compute_log_range(values: Any) -> list[float]:
    """A logarithmic range around some values, half a decade at least.

    >>> [round(end, 2) for end in _compute_log_range([10, 1000])]
    [0.85, 3.15]
    """
    logs = np.log10(np.asarray(values, dtype=float))
    low, high = float(logs.min()) - 0.15, float(logs.max()) + 0.15
    return [low, max(high, low + 0.5)]


def _choose_log_ticks(ends: Sequence[float]) -> dict[str, Any]:
    """The ticks of a logarithmic axis: powers of ten; of a short one their 2 and 5 times too.

    >>> _choose_log_ticks([-1.2, -0.5])["ticktext"], _choose_log_ticks([0.0, 3.2])["tickvals"][-1]
    (['0.1', '0.2'], 1000.0)
    """
    powers = range(int(np.floor(ends[0])), int(np.ceil(ends[1])) + 1)
    steps = (1, 2, 5) if ends[1] - ends[0] < 1.6 else (1,)
    candidates = [step * 10.0**power for power in powers for step in steps]
    ticks = [value for value in candidates if ends[0] <= np.log10(value) <= ends[1]]
    return {
        "tickvals": ticks,
        "ticktext": [write_count(value) if value >= 1 else f"{value:.10g}" for value in ticks],
    }


def _write_line_names(figure: go.Figure, panel: int, ends: Sequence[tuple[str, float]]) -> None:
    number = get_axis_number(panel)
    low, high = figure.layout[f"yaxis{number}"].range
    heights = [(np.log10(float(value)) - low) / (high - low) for _, value in ends]
    room = 17 / (_HEIGHT - _TOP - _FOOT)
    for (key, _), y in zip(ends, _place_apart(heights, room), strict=True):
        if key in WALK_LOOKS:
            text, colour = short_title(key), get_text_colour(WALK_LOOKS[key].colour)
        elif key == "lattice":
            text, colour = "all nodes", _BOUND
        else:
            text, colour = f"{short_title(key.removesuffix('-bound'))} at most", _BOUND
        figure.add_annotation(
            text=text, xref=f"x{number} domain", x=1, xshift=8, xanchor="left", showarrow=False,
            yref=f"y{number} domain", y=y, yanchor="middle", font={"size": 13, "color": colour},
        )  # fmt: skip


def _place_apart(positions: Sequence[float], room: float) -> list[float]:
    """Places as near to those wanted as they can be, each at least so far from the next.

    >>> [round(place, 3) for place in _place_apart([0.5, 0.5, 0.1], 0.1)]
    [0.45, 0.55, 0.1]
    """
    order = sorted(range(len(positions)), key=lambda i: (positions[i], i))
    groups: list[tuple[float, int]] = []  # the middle of labels that touch, and how many they are
    for i in order:
        middle, size = positions[i], 1
        while groups and middle - groups[-1][0] < room * (size + groups[-1][1]) / 2 - 1e-9:
            before, more = groups.pop()
            middle, size = (middle * size + before * more) / (size + more), size + more
        groups.append((middle, size))
    places = [middle + room * (j - (size - 1) / 2) for middle, size in groups for j in range(size)]
    spread = [0.0] * len(positions)
    for i, place in zip(order, places, strict=True):
        spread[i] = place
    return spread
