"""What is asked of a release beside what it reached: how often each threshold is reached."""

import math
from typing import Any

import plotly.graph_objects as go

from kanon.charts.figure import drawn
from kanon.charts.style import BLUE, INK, LABEL, VERMILION, escaped
from kanon.release.decision import Decision, Part

_FURTHEST = 8.0  # times: what lies beyond is said, not drawn

_SHORT = {
    "highest_risk": "easiest: 1 in",
    "mean_risk": "average: 1 in",
    "l": "mixed values",
    "t": "unlike the table",
}


def times_reached(part: Part) -> float:
    """How many times what is asked was reached: 1 is just enough, above 1 is better.

    >>> from kanon.release.context import Context, thresholds
    >>> asked = thresholds(Context(release="research"))
    >>> times_reached(Part(asked["k"], "", 10)), times_reached(Part(asked["t"], "ill", 0.8))
    (2.0, 0.5)
    """
    wanted = part.threshold.wanted
    assert wanted is not None
    above, below = part.reached, wanted
    if part.threshold.card.direction == "lower":
        above, below = below, above
    return above / below if below else math.inf


def decision_chart(decision: Decision, title: str) -> go.Figure:
    """A bar per threshold, from what is asked to what was reached; to the right is better."""
    parts = decision.parts[::-1]  # the first one on top
    names = [_name(part) for part in parts]
    ends = [min(max(times_reached(part), 1 / _FURTHEST), _FURTHEST) for part in parts]
    data: list[dict[str, Any]] = []
    for met, colour, what, sign in ((True, BLUE, "met", "✓"), (False, VERMILION, "not met", "✗")):
        rows = [place for place, part in enumerate(parts) if part.met is met]
        data.append(
            {
                "type": "bar", "orientation": "h", "name": f"{sign} {what}",
                "y": [names[place] for place in rows],
                # From just enough, drawn as a thin bar where it is exactly that.
                "base": [min(1.0, ends[place]) for place in rows],
                "x": [max(abs(ends[place] - 1.0), 0.015) for place in rows],
                "marker": {"color": colour}, "width": 0.55,
                "hovertext": [_said(parts[place]) for place in rows],
                "hovertemplate": "%{y}: %{hovertext}<extra></extra>",
            }
        )  # fmt: skip
    notes = [
        {
            "x": 1, "xref": "paper", "xanchor": "left", "y": name, "showarrow": False,
            "text": f" {'✓' if part.met else '✗'} {_said(part)}",
            "font": LABEL,
        }
        for name, part in zip(names, parts, strict=True)
    ]  # fmt: skip
    line = {
        "type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"color": INK, "width": 2},
    }  # fmt: skip
    longest = 20 + 6.5 * max(map(len, names))  # pixels
    ticks = [0.125, 0.25, 0.5, 1, 2, 4, 8]
    return drawn(
        data, title, 110 + 44 * len(parts),
        {
            "title": "times what is asked: 1 is just enough (→ better)", "type": "log",
            "range": [math.log10(0.1), math.log10(10)], "tickvals": ticks,
            "ticktext": ["⅛", "¼", "½", "1", "2", "4", "8"],
        },
        {"categoryorder": "array", "categoryarray": names},
        hovermode="closest", showlegend=False, annotations=notes, shapes=[line], barmode="overlay",
        margin={"l": longest, "r": 112, "t": 44, "b": 52},
    )  # fmt: skip


def _name(part: Part) -> str:
    name = _SHORT.get(part.threshold.card.name, f"{part.of} alike")
    return f"{escaped(part.column, 14)}: {name}" if part.column else name


def _said(part: Part) -> str:
    reached, wanted = part.shown
    return f"{reached}, asked {wanted}"
