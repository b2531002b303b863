"""The running numbers of a lesson."""

import math
from typing import Any

import plotly.graph_objects as go

from kanon.base.formatting import percent
from kanon.charts.figure import drawn
from kanon.charts.lesson_look import HALO, ONE, QUIET
from kanon.charts.style import INK
from kanon.teaching.lesson import Lesson, written


def running_chart(lesson: Lesson, step: int | None = None) -> go.Figure:
    """The minimum k, the alteration and, with a sensitive column, l and t after each step."""
    steps = lesson.steps
    last = len(steps) - 1 if step is None else step
    now = steps[last].numbers
    rows: list[tuple[str, str, list[float | None]]] = [
        ("minimum k ↑", str(now.min_k), [each.numbers.min_k for each in steps]),
        ("alteration, % ↓", percent(now.alteration), [each.numbers.alteration for each in steps]),
    ]
    if lesson.sensitive is not None:
        rows += [
            ("entropy l ↑", written(now.l), [each.numbers.l for each in steps]),
            ("t, 0 to 1 ↓", written(now.t), [each.numbers.t for each in steps]),
        ]
    title = f"After step {last}: minimum k {rows[0][1]}, alteration {rows[1][1]}"
    data: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {}
    for row, (name, said, values) in enumerate(rows):
        number = str(row + 1) if row else ""
        shared = {"type": "scatter", "name": name, "xaxis": "x", "yaxis": f"y{number}"}
        data.append(
            {
                **shared, "mode": "lines", "x": list(range(last + 1)), "y": values[: last + 1],
                "line": {"shape": "hv", "width": 3, "color": ONE},
                "hovertemplate": f"step %{{x}}: %{{y:.3g}}<extra>{name}</extra>",
            }
        )  # fmt: skip
        data.append(
            {
                **shared, "mode": "markers+text", "x": [last], "y": [values[last]],
                "marker": {"size": 11, "color": ONE}, "text": [f" {said}"],
                "textposition": "middle right", "cliponaxis": False, "hoverinfo": "skip",
                "textfont": {"size": 14, "color": INK, "weight": 700, "shadow": HALO},
            }
        )  # fmt: skip
        most = max([value for value in values if value is not None], default=1) or 1
        upper = 1 - row / len(rows)
        axes[f"yaxis{number}"] = {
            "title": name, "range": [0, 1.35 * most], "nticks": 4, "fixedrange": True,
            "domain": (upper - 0.8 / len(rows), upper),
        }  # fmt: skip
    across = {
        # Room for what is said right of the last step.
        "title": "step", "range": [-0.2, 1.15 * (len(steps) - 1) + 0.2], "fixedrange": True,
        "tickvals": list(range(0, len(steps), math.ceil(len(steps) / 12))),
        "anchor": f"y{len(rows)}",
    }  # fmt: skip
    cursor = {
        "type": "line", "xref": "x", "yref": "paper", "x0": last, "x1": last, "y0": 0, "y1": 1,
        "line": {"color": QUIET, "width": 1, "dash": "dot"},
    }  # fmt: skip
    return drawn(
        data, title, 110 + len(rows) * 100, across, axes.pop("yaxis"), **axes,
        shapes=[cursor], hovermode="closest", margin={"l": 84, "r": 40, "t": 52, "b": 52},
    )  # fmt: skip
