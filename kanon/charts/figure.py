"""A figure in one go: Plotly checks all of it again at every later update."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.formatting import CountedUnit
from kanon.charts.style import HEADING, K_TICKS, LABEL, set_common_look, set_log_k_axis
from kanon.measures.along import Curves, Points

K_SPACE = 1.1  # how far an axis for k goes on beyond the largest k, as a factor

_EVERY = 50  # up to here, every k is listed
_FURTHER = re.compile(r"[xy]axis\d+")


def build_figure(
    data: Sequence[Mapping[str, Any]],
    title: str,
    height: int,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    **layout: Any,
) -> go.Figure:
    """A figure with the common look; ``height`` is in pixels, ``layout`` may add further axes."""
    common = _create_common_layout()
    further = {name: layout.pop(name) for name in list(layout) if _FURTHER.fullmatch(name)}
    axes = {
        name: {
            **common[name[:5]],
            "tickfont": LABEL,
            **axis,
            "title": {"text": axis.get("title", ""), "font": HEADING},
        }
        for name, axis in {"xaxis": x, "yaxis": y, **further}.items()
    }
    figure_title = {"text": title, **common["title"]}
    return go.Figure([*data], {**common, "title": figure_title, "height": height, **axes, **layout})


@lru_cache(maxsize=1)
def _create_common_layout() -> dict[str, Any]:
    layout = set_common_look(go.Figure(), "").layout.to_plotly_json()
    del layout["template"], layout["title"]["text"]
    return layout


@lru_cache(maxsize=32)
def get_k_axis(
    largest: int, at: tuple[int, ...] = K_TICKS, of: CountedUnit = "records"
) -> dict[str, Any]:
    """A logarithmic axis for k up to the largest one, as a mapping that must not be changed.

    >>> get_k_axis(10)["tickvals"]
    [2, 3, 5, 10]
    """
    axis = set_log_k_axis(go.Figure(), largest, at, of).layout.xaxis.to_plotly_json()
    ends = [float(np.log10(1.8)), float(np.log10(max(largest, 2) * K_SPACE))]
    return {**axis, "title": axis["title"]["text"], "range": ends}


def find_drawn_k(curves: Curves | Points) -> tuple[np.ndarray, np.ndarray]:
    """The k at which a curve is drawn, rising, and the row of the release for each.

    A release serves all k up to the size of its smallest class: the curve is a staircase, drawn
    through the first and the last k of every step.
    """
    if isinstance(curves, Points):
        ks = np.asarray(curves.numbers["k"])
        return ks, np.arange(len(ks))
    last = np.asarray(curves.min_k)
    first = np.concatenate([[1], last[:-1] + 1])
    small = np.arange(2, min(_EVERY, last[-1]) + 1)
    ks = np.unique(np.concatenate([first, last, small]))
    ks = ks[ks >= min(2, last[-1])]
    return ks, np.searchsorted(last, ks, side="left")
