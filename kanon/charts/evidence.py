"""What an attacker gains from a release: its figures, beside those that need no release."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import write_percent
from kanon.charts.figure import build_figure
from kanon.charts.style import (
    BLUE,
    GREEN,
    INK,
    LABEL,
    LEGEND_ABOVE,
    TITLE_ON_TOP,
    VERMILION,
    escape_label,
)
from kanon.evidence.attack import Evidence

_MARKS = {  # by columns of the table: colour, symbol
    "in the table as it was": (VERMILION, "line-ns"),
    "without the release": (INK, "line-ns"),
    "for people outside": (GREEN, "diamond"),
    "with the release": (BLUE, "circle"),
}


def build_evidence_table(evidence: Evidence) -> pd.DataFrame:
    """A row per figure, in %; the interval is that of people outside, if any, else of the release.

    >>> from kanon.evidence.figures import Figure
    >>> evidence = Evidence(10, "records", 3, ("age",), Figure(0.1, 0.9), Figure(0.2, 0.1),
    ...     {"ill": Figure(0.7, 0.5, control=0.6, low=0.5, high=0.7)}, None, None)
    >>> build_evidence_table(evidence).iloc[:, 2:5].values.tolist()
    [[90.0, nan, nan], [nan, 10.0, nan], [nan, 50.0, 60.0]]
    """
    rows = {
        title: (
            figure.value,
            *((figure.baseline, None) if title == "Singling out" else (None, figure.baseline)),
            figure.control, figure.low, figure.high,
        )
        for title, figure in evidence.figures.items()
    }  # fmt: skip
    columns = ["with the release", *[*_MARKS][:3], "low", "high"]
    table = 100 * pd.DataFrame.from_dict(rows, "index", float, columns)
    return table.rename_axis("figure, %").reset_index()


def draw_evidence(evidence: Evidence) -> go.Figure:
    """A row per figure: a dot for the release, strokes and a diamond for what it is beside."""
    table = build_evidence_table(evidence)
    data: list[dict[str, Any]] = []
    for name, (colour, symbol) in _MARKS.items():
        rows = table[table[name].notna()]
        shares, texts = rows[name], [write_percent(share) for share in rows[name]]
        mark: dict[str, Any] = {
            "type": "scatter", "mode": "markers", "x": shares, "y": rows.index, "name": name,
            "marker": {"symbol": symbol, "size": 12, "color": colour}, "customdata": texts,
            "hovertemplate": f"%{{customdata}} {name}<extra></extra>", "cliponaxis": False,
        }  # fmt: skip
        if symbol == "line-ns":
            mark["marker"] |= {"size": 16, "line": {"color": colour, "width": 3}}
        else:
            own = rows["for people outside"].notna() == (symbol == "diamond")
            ends = (rows["high"] - shares, shares - rows["low"])
            array, minus = (end.where(own).fillna(0) for end in ends)
            mark["error_x"] = {"type": "data", "array": array, "arrayminus": minus, "color": colour}
        if symbol == "circle":
            places = ["top left" if share > 90 else "top right" for share in shares]
            mark |= {"mode": "markers+text", "text": texts, "textposition": places}
            mark["textfont"] = LABEL
        if len(rows):
            data.append(mark)
    names = [escape_label(title, 28) for title in table["figure, %"]]
    return build_figure(
        data, "How often is an attacker right?", 150 + 46 * len(table),
        {"title": "Share, % (↓ better)", "range": [-2, 102], "tickvals": [*range(0, 101, 20)]},
        {
            "tickvals": table.index, "ticktext": names, "range": [len(table) - 0.5, -0.7],
            "automargin": True,
        },
        hovermode="closest", showlegend=True, legend={**LEGEND_ABOVE, "traceorder": "normal"},
        margin={"l": 10, "r": 24, "t": 92, "b": 48}, **TITLE_ON_TOP,
    )  # fmt: skip
