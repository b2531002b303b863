"""What the pictures of lessons share: colours, lines, and letters for a projector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

ONE, OTHER, MET = "#0072B2", "#D55E00", "#332288"
"""Of two classes the first, the second, and where they meet; also what satisfies and what not."""

QUIET, EDGE = "#6B747D", "#C3CAD2"
"""What is not looked at, and the edges between nodes."""

HALO = "0 0 3px white, 0 0 3px white, 0 0 3px white"
"""What keeps letters readable where a line runs behind them."""

_LARGE = 18
"""The smallest text of a picture that is projected, in pixels."""


def lines_between(
    pairs: Sequence[tuple[Any, Any]],
    at: Mapping[Any, tuple[float, float]],
    colour: str,
    width: float,
    dash: str,
) -> dict[str, Any]:
    """Straight lines between pairs of nodes, by where those stand."""
    x, y = ([each for a, b in pairs for each in (at[a][i], at[b][i], None)] for i in (0, 1))
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
        "showlegend": False, "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def enlarged(figure: go.Figure) -> go.Figure:
    """The same for a projector: no text is smaller than it can be read from the last row."""

    def grown(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                key: {**grown(each), "size": max(_LARGE, each.get("size", 0))}
                if key in ("font", "tickfont", "textfont") and isinstance(each, dict)
                else grown(each)
                for key, each in part.items()
            }
        return [grown(each) for each in part] if isinstance(part, list | tuple) else part

    found = grown(figure.to_plotly_json())
    margin = {side: 1.3 * room for side, room in found["layout"]["margin"].items()}
    found["layout"]["margin"] = margin
    found["layout"]["title"]["font"]["size"] = 24
    return go.Figure(found)
