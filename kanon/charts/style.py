"""One look for all charts: colours that mean the same everywhere, axes, fonts, escaping."""

from __future__ import annotations

import html
import zlib
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from kanon.words import thin

__all__ = [
    "K_TICKS",
    "METRIC_COLOURS",
    "ROLE_COLOURS",
    "colour_of_metric",
    "escaped",
    "k_axis",
    "lay_out",
    "translucent",
]

METRIC_COLOURS: Mapping[str, str] = {
    "distortion": "#0072B2",
    "ncp": "#E69F00",
    "total": "#009E73",
    "llm": "#D55E00",
    "nllm": "#AA3377",
    "wllm": "#56B4E9",
    "wnllm": "#5B5B5B",
    "custom": "#8C6D31",
}
"""One colour per metric on every page, after Okabe and Ito, for colour-blind readers too."""

_COMPOSED_COLOURS = ("#332288", "#117733", "#882255", "#999933", "#44AA99", "#661100")

ROLE_COLOURS: Mapping[str, str] = {
    "identifier": "#C0392B",
    "quasi-identifier": "#B9770E",
    "sensitive": "#7D3C98",
    "insensitive": "#707B7C",
}
"""One colour per role of a column; a word and an icon always stand beside it."""

K_TICKS = (2, 3, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, 5000, 10000, 30000, 100000, 1000000)
"""Ticks of a logarithmic axis for k: the papers' k, as far as they leave room for each other."""

_INK, _GRID = "#1B1F24", "#E3E7EB"


def colour_of_metric(name: str) -> str:
    """The colour of a metric: of a composed one, the same wherever it has that name."""
    composed = _COMPOSED_COLOURS[zlib.crc32(name.encode()) % len(_COMPOSED_COLOURS)]
    return METRIC_COLOURS.get(name, composed)


def escaped(text: object, longest: int = 40) -> str:
    """Text from a table as a label: Plotly would read ``<b>`` and links in it.

    >>> escaped("<b>age</b>")
    '&lt;b&gt;age&lt;/b&gt;'
    """
    flat = " ".join(str(text).split())
    return html.escape(flat if len(flat) <= longest else flat[: longest - 1] + "…", quote=False)


def lay_out(figure: go.Figure, title: str, height: int = 320) -> go.Figure:
    """Give a figure the common look; the title is the finding or the question."""
    figure.update_layout(
        title={"text": title, "x": 0, "xanchor": "left", "font": {"size": 17}},
        font={"size": 14, "color": _INK},
        height=height,
        margin={"l": 64, "r": 24, "t": 40, "b": 48},
        plot_bgcolor="white",
        paper_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        hovermode="x unified",
    )
    figure.update_xaxes(gridcolor=_GRID, linecolor=_INK, ticks="outside", zeroline=False)
    figure.update_yaxes(gridcolor=_GRID, linecolor=_INK, ticks="outside", zeroline=False)
    return figure


def translucent(colour: str, opacity: float) -> str:
    """A colour that what lies behind shines through.

    >>> translucent("#0072B2", 0.2)
    'rgba(0, 114, 178, 0.2)'
    """
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


def k_axis(figure: go.Figure, largest: int, at: Sequence[int] = K_TICKS) -> go.Figure:
    """A logarithmic axis for k, with the papers' k as ticks."""
    ticks = [k for k in at if k <= largest]
    figure.update_xaxes(
        type="log",
        title="k, records per class at least (log scale)",
        tickvals=ticks,
        ticktext=[thin(k) for k in ticks],
        tickangle=0,
    )
    return figure
