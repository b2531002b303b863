"""The interval of heights in which a search still looks, drawn behind the lattice."""

from __future__ import annotations

from typing import Any

from kanon.charts.lesson_look import MET
from kanon.charts.style import translucent


def interval_of(heights: tuple[int, int], looked_at: int) -> dict[str, Any]:
    """The layout that draws an interval: a band over its heights, its ends and middle at the right.

    >>> found = interval_of((4, 7), 5)
    >>> [each["text"] for each in found["annotations"]]
    ['high 7', 'middle 5', 'low 4']
    >>> [each["text"] for each in interval_of((4, 4), 4)["annotations"]]
    ['low = high 4']
    """
    low, high = heights
    ends = {high: "high", looked_at: "middle", low: "low"}
    if low == high:
        ends = {low: "low = high"}
    elif looked_at == low:
        ends[low] = "low, middle"
    band = {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": low - 0.4, "y1": high + 0.4,
        "fillcolor": translucent(MET, 0.1), "line": {"color": MET, "width": 2}, "layer": "below",
    }  # fmt: skip
    return {
        "shapes": [band],
        "annotations": [
            {
                "xref": "paper", "x": 1, "xanchor": "left", "y": height, "yanchor": "middle",
                "text": f"{name} {height}", "showarrow": False, "font": {"size": 14, "color": MET},
            }
            for height, name in ends.items()
        ],
    }  # fmt: skip
