"""How far counts are off that are taken from a release: the share of them within each error."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import write_count, write_percent
from kanon.base.rounding import round_apart
from kanon.charts.figure import build_figure
from kanon.charts.style import (
    BLUE,
    GREEN,
    GREY,
    LABEL,
    LEGEND_ABOVE,
    TITLE_ON_TOP,
    draw_upright_line,
)
from kanon.measures.query_error import QueryStudy

_FURTHEST = 200.0  # percent: what is off by more is said, not drawn


def build_query_table(study: QueryStudy, names: tuple[str, ...]) -> pd.DataFrame:
    """A row per counting query: its columns, its true and estimated count, its error in %."""
    queries = study.queries
    return pd.DataFrame(
        {
            "about": [
                " × ".join(names[j] for j in row if j >= 0) for row in queries.attributes.tolist()
            ],
            "kind": np.where(queries.of_ranges, "range", "cell"),
            "true": study.true,
            "estimated": study.estimated,
            "error_percent": study.errors,
        }
    )


def draw_query_errors(study: QueryStudy, title: str) -> go.Figure:
    """The % of queries by their largest error in %, ranges and single cells apart."""
    end = min(_FURTHEST, max(1.5 * study.quantile(0.9), 1.0))
    data: list[dict[str, Any]] = []
    for name, colour, dash, mask in (
        ("counts over ranges", BLUE, "solid", study.queries.of_ranges),
        ("single cells", GREEN, "7px,3px", ~study.queries.of_ranges),
    ):
        errors = np.sort(study.errors[mask])
        within = 100 * np.arange(1, len(errors) + 1) / len(errors)
        beyond = int((errors > end).sum())
        inside = errors <= end
        more = (
            f", {write_count(beyond)} of {write_count(len(errors))} off by more" if beyond else ""
        )
        data.append(
            {
                "type": "scatter", "mode": "lines", "name": name + more,
                "x": [0, *errors[inside], end],
                "y": [0, *within[inside], 100 * inside.mean()],
                "line": {"color": colour, "width": 2.5, "shape": "hv", "dash": dash},
                "customdata": round_apart([0, *within[inside], 100 * inside.mean()], 1),
                "hovertemplate": f"%{{customdata:.1f}} % of {name} are off by at most %{{x:.1f}} %"
                "<extra></extra>",
            }
        )  # fmt: skip
    shapes, notes = [], []
    for share, label in ((0.5, "half"), (0.9, "nine of ten")):
        error = study.quantile(share)
        if error <= end:
            shapes.append(draw_upright_line(error, GREY))
            right = error > 0.7 * end
            notes.append({
                "x": error, "y": 0.02 if share == 0.5 else 0.14, "yref": "y domain",
                "xanchor": "right" if right else "left", "yanchor": "bottom", "showarrow": False,
                "text": f" {label}: {write_percent(error)} ", "font": LABEL,
            })  # fmt: skip
    return build_figure(
        data, title, 300,
        {"title": "off by at most, % of the true count (↓ better)", "range": [0, end],
         "ticksuffix": " %"},
        {"title": "share of the counts", "range": [0, 102], "ticksuffix": " %", "dtick": 25},
        hovermode="closest", showlegend=True, shapes=shapes, annotations=notes,
        legend=LEGEND_ABOVE, margin={"l": 64, "r": 12, "t": 76, "b": 52}, **TITLE_ON_TOP,
    )  # fmt: skip
