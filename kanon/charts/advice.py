"""What the advisor tried: alteration against l or t, the front, and the proposals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.formatting import write_count
from kanon.base.rounding import round_apart
from kanon.charts.comparison_measures import format_axis_title
from kanon.charts.figure import build_figure
from kanon.charts.line_style import Look
from kanon.charts.scatter import COST, create_marker
from kanon.charts.style import (
    INK,
    STRATEGY_COLOURS,
    STRATEGY_MARKERS,
    escape_label,
    get_text_colour,
)
from kanon.experiments.advisor.proposals import NEARLY_EVERYTHING, Proposal
from kanon.experiments.advisor.weights import CONCERNS, Ranking
from kanon.measures.pareto import find_pareto_front

_AXES = {
    "l": "l of the least mixed class (↑ better)",
    "t": "t of the most unusual class, 0 to 1 (↓ better)",
}


def find_front(ranking: Ranking, concern: str) -> np.ndarray:
    """Which lines no other beats in alteration and one other concern. Shape (W,), bool."""
    losses = ranking.losses[:, [0, CONCERNS.index(concern)]]
    return find_pareto_front(losses, ["lower", "lower"])


def draw_advice(ranking: Ranking, proposals: Sequence[Proposal], concern: str = "l") -> go.Figure:
    """A point per configuration, the front of the best joined, and the proposals numbered."""
    numbers = [ranking.figures(place) for place in range(len(ranking.ways))]
    x = np.array([row["mean_alteration"] for row in numbers])
    titles = [escape_label(ranking.title(place)) for place in range(len(ranking.ways))]
    only_alteration = not ranking.comparison.sensitive
    y: list[Any] = titles if only_alteration else [row[concern] for row in numbers]
    levels = np.zeros(len(x)) if only_alteration else round_apart(y, 2)
    hovers = np.column_stack([round_apart(x, 1), levels])
    data: list[dict[str, Any]] = []
    if not only_alteration:
        front = np.flatnonzero(find_front(ranking, concern))
        front = front[np.argsort(x[front], kind="stable")]
        data.append(
            {
                "type": "scatter", "mode": "lines", "hoverinfo": "skip",
                "name": "front: best trade-offs",
                "x": x[front], "y": [y[place] for place in front],
                "line": {"color": INK, "width": 1.5, "dash": "dot", "shape": "hv"},
            }
        )  # fmt: skip
    for strategy, colour in STRATEGY_COLOURS.items():
        for scope in ("table", "class"):
            places = [
                place
                for place, line in enumerate(ranking.ways)
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
                    "marker": create_marker(look, 9), "cliponaxis": False,
                    "text": [titles[place] for place in places],
                    "customdata": hovers[places],
                    "hovertemplate": "%{text}<br>alteration %{customdata[0]:.1f} %"
                    + ("" if only_alteration else f"<br>{concern} = %{{customdata[1]:.2f}}")
                    + "<extra></extra>",
                }
            )  # fmt: skip
    if not only_alteration:
        hollow = create_marker(Look(INK, filled=False), 9)
        data.append(
            {
                "type": "scatter", "mode": "markers", "x": [None], "y": [None],
                "name": "open: looks at the merged class", "marker": hollow,
            }
        )  # fmt: skip
    padding = max(2.0, 0.08 * float(np.ptp(x)))
    middle = (x.min() + x.max()) / 2
    y_range = {} if only_alteration else _compute_y_range(concern, y)
    colours = [
        get_text_colour(STRATEGY_COLOURS[line.configuration.strategy]) for line in ranking.ways
    ]
    # Names stand towards the middle and at different heights, so that near ones do not overlap.
    offsets = ((14, 66), (34, 40), (56, 14))
    notes = [
        {
            "x": x[proposal.place], "y": y[proposal.place],
            "text": f"<b>{number}</b> {titles[proposal.place]}",
            "ax": right if x[proposal.place] <= middle else -right,
            "xanchor": "left" if x[proposal.place] <= middle else "right",
            "ay": down if y_range and y[proposal.place] >= sum(y_range["range"]) / 2 else -down,
            "arrowcolor": INK, "arrowwidth": 1.2, "arrowhead": 0,
            "bgcolor": "rgba(255,255,255,0.85)", "borderpad": 2,
            "font": {"size": 14, "color": colours[proposal.place]},
        }
        for number, (proposal, (right, down)) in enumerate(zip(proposals, offsets, strict=False), 1)
    ]  # fmt: skip
    ks = ranking.ks
    ks_text = f"k = {write_count(ks[0])}" + (
        f" to {write_count(ks[-1])}, on average" if len(ks) > 1 else ""
    )
    best = titles[proposals[0].place]
    excludes_some = 0 < ranking.meets.sum() < len(titles)
    finding = (
        f"{best} has the lowest score{' of those that meet the limits' if excludes_some else ''}"
    )
    if x[proposals[0].place] >= NEARLY_EVERYTHING:
        finding += ", but loses nearly everything"
    return build_figure(
        data, f"{ks_text}: {finding}", 340,
        {"title": format_axis_title(COST), "ticksuffix": " ",
         "range": [x.min() - padding, x.max() + padding]},
        {"title": "" if only_alteration else _AXES[concern], "automargin": True, **y_range},
        hovermode="closest", showlegend=not only_alteration, annotations=notes,
        legend={"x": 1.01, "y": 1, "font": {"size": 12}, "tracegroupgap": 0},
        margin={"l": 60, "r": 20, "t": 48, "b": 52},
    )  # fmt: skip


def _compute_y_range(concern: str, y: list[float]) -> dict[str, Any]:
    padding = max(0.1, 0.15 * (max(y) - min(y)))
    low, high = (1.0, math.inf) if concern == "l" else (0.0, 1.0)
    return {"range": [max(low, min(y) - padding), min(high, max(y) + padding)]}
