"""What the advisor tried: alteration against l or t of every way, the front, and the proposals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.formatting import round_apart, thin
from kanon.charts.comparison_measures import titled
from kanon.charts.figure import drawn
from kanon.charts.line_style import Look
from kanon.charts.scatter import COST, marker_of
from kanon.charts.style import INK, STRATEGY_COLOURS, STRATEGY_MARKERS, darkened, escaped
from kanon.experiments.advisor.proposals import NEARLY_EVERYTHING, Proposal
from kanon.experiments.advisor.weights import CONCERNS, WeighedWays
from kanon.measures.pareto import pareto_front

_AXES = {
    "l": "l of the least mixed class (↑ better)",
    "t": "t of the most unusual class, 0 to 1 (↓ better)",
}


def on_front(weighed: WeighedWays, concern: str) -> np.ndarray:
    """Which ways nothing beats in alteration and one other concern. Shape (W,), bool."""
    lost = weighed.losses[:, [0, CONCERNS.index(concern)]]
    return pareto_front(lost, ["lower", "lower"])


def advised_chart(
    weighed: WeighedWays, proposals: Sequence[Proposal], concern: str = "l"
) -> go.Figure:
    """A point per way, the front joined, the proposals with their numbers."""
    figures = [weighed.figures(place) for place in range(len(weighed.ways))]
    x = np.array([each["mean_alteration"] for each in figures])
    titles = [escaped(weighed.title(place)) for place in range(len(weighed.ways))]
    alone = not weighed.comparison.sensitive
    y: list[Any] = titles if alone else [each[concern] for each in figures]
    levels = np.zeros(len(x)) if alone else round_apart(y, 2)
    hovers = np.column_stack([round_apart(x, 1), levels])
    data: list[dict[str, Any]] = []
    if not alone:
        on = np.flatnonzero(on_front(weighed, concern))
        on = on[np.argsort(x[on], kind="stable")]
        data.append(
            {
                "type": "scatter", "mode": "lines", "hoverinfo": "skip", "name": "nothing beats",
                "x": x[on], "y": [y[place] for place in on],
                "line": {"color": INK, "width": 1.5, "dash": "dot", "shape": "hv"},
            }
        )  # fmt: skip
    for strategy, colour in STRATEGY_COLOURS.items():
        for scope in ("table", "class"):
            places = [
                place
                for place, line in enumerate(weighed.ways)
                if (line.configuration.strategy, line.configuration.scope) == (strategy, scope)
            ]
            if not places:
                continue
            look = Look(colour, marker=STRATEGY_MARKERS[strategy], filled=scope == "table")
            data.append(
                {
                    "type": "scatter", "mode": "markers", "meta": "ways",
                    "name": strategy.upper(), "legendgroup": strategy,
                    "showlegend": look.filled,
                    "x": x[places], "y": [y[place] for place in places],
                    "marker": marker_of(look, 9), "cliponaxis": False,
                    "text": [titles[place] for place in places],
                    "customdata": hovers[places],
                    "hovertemplate": "%{text}<br>alteration %{customdata[0]:.1f} %"
                    + ("" if alone else f"<br>{concern} = %{{customdata[1]:.2f}}")
                    + "<extra></extra>",
                }
            )  # fmt: skip
    if not alone:
        hollow = marker_of(Look(INK, filled=False), 9)
        data.append(
            {
                "type": "scatter", "mode": "markers", "x": [None], "y": [None],
                "name": "open: merged class", "marker": hollow,
            }
        )  # fmt: skip
    room = max(2.0, 0.08 * float(np.ptp(x)))
    middle = (x.min() + x.max()) / 2
    reach = {} if alone else _reach(concern, y)
    colours = [darkened(STRATEGY_COLOURS[way.configuration.strategy]) for way in weighed.ways]
    # Names stand towards the middle, off all ticks, and at different heights, so that near points
    # can be told apart.
    offsets = ((14, 66), (34, 40), (56, 14))
    notes = [
        {
            "x": x[one.place], "y": y[one.place], "text": f"<b>{number}</b> {titles[one.place]}",
            "ax": right if x[one.place] <= middle else -right,
            "xanchor": "left" if x[one.place] <= middle else "right",
            "ay": down if not alone and y[one.place] >= sum(reach["range"]) / 2 else -down,
            "arrowcolor": INK, "arrowwidth": 1.2, "arrowhead": 0,
            "bgcolor": "rgba(255,255,255,0.85)", "borderpad": 2,
            "font": {"size": 14, "color": colours[one.place]},
        }
        for number, (one, (right, down)) in enumerate(zip(proposals, offsets, strict=False), 1)
    ]  # fmt: skip
    ks = weighed.ks
    span = f"k = {thin(ks[0])}" + (f" to {thin(ks[-1])}, on average" if len(ks) > 1 else "")
    best = titles[proposals[0].place]
    picked = 0 < weighed.meets.sum() < len(titles)
    finding = f"{best} has the least score{' of those that meet the limits' if picked else ''}"
    if x[proposals[0].place] >= NEARLY_EVERYTHING:
        finding += ", and loses nearly everything"
    return drawn(
        data, f"{span}: {finding}", 340,
        {"title": titled(COST), "ticksuffix": " ", "range": [x.min() - room, x.max() + room]},
        {"title": "" if alone else _AXES[concern], "automargin": True, **reach},
        hovermode="closest", showlegend=not alone, annotations=notes,
        legend={"x": 1.01, "y": 1, "font": {"size": 12}, "tracegroupgap": 0},
        margin={"l": 60, "r": 20, "t": 48, "b": 52},
    )  # fmt: skip


def _reach(concern: str, y: list[float]) -> dict[str, Any]:
    room = max(0.1, 0.15 * (max(y) - min(y)))
    low, high = (1.0, math.inf) if concern == "l" else (0.0, 1.0)
    return {"range": [max(low, min(y) - room), min(high, max(y) + room)]}
