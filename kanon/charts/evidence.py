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

_MARKS = {"without it": (INK, "line-ns"), "people outside": (GREEN, "diamond")}
_MARKS |= {"with the release": (BLUE, "circle")}


def build_evidence_table(evidence: Evidence) -> pd.DataFrame:
    """A row per figure, in %; the interval is that of people outside, if any, else of the release.

    >>> from kanon.evidence.figures import Figure
    >>> evidence = Evidence(10, "records", 3, ("age",), Figure(0.1, 0.9), Figure(0.2, 0.1),
    ...     {"ill": Figure(0.7, 0.5, control=0.6, low=0.5, high=0.7)}, None, None)
    >>> build_evidence_table(evidence).iloc[:, 2:4].values.tolist()
    [[90.0, nan], [10.0, nan], [50.0, 60.0]]
    """
    rows = {title: figure.numbers for title, figure in evidence.figures.items()}
    columns = {"value": "with the release", "baseline": "without it", "control": "people outside"}
    table = pd.DataFrame.from_dict(rows, "index").reindex(columns=[*columns, "low", "high"])
    return (100 * table).rename(columns=columns).rename_axis("figure, %").reset_index()


def draw_evidence(evidence: Evidence) -> go.Figure:
    """A row per figure: a dot for the release, a stroke and a diamond for what it is beside."""
    table = build_evidence_table(evidence)
    data: list[dict[str, Any]] = []
    for name, (colour, symbol) in _MARKS.items():
        shares = table[name]
        texts = [write_percent(share) for share in shares]
        mark: dict[str, Any] = {
            "type": "scatter", "mode": "markers", "x": shares, "y": table.index, "name": name,
            "marker": {"symbol": symbol, "size": 12, "color": colour}, "customdata": texts,
            "hovertemplate": f"%{{customdata}} {name}<extra></extra>", "cliponaxis": False,
        }  # fmt: skip
        if name == "without it":  # to single out, the attacker has the table as it was
            colours = [VERMILION, *[colour] * (len(table) - 1)]
            mark["marker"] |= {"size": 16, "line": {"color": colours, "width": 3}}
        else:
            own = table["people outside"].notna() == (name == "people outside")
            ends = ((table["high"] - shares).where(own), (shares - table["low"]).where(own))
            array, minus = (end.fillna(0) for end in ends)
            mark["error_x"] = {"type": "data", "array": array, "arrayminus": minus, "color": colour}
        if name == "with the release":
            mark |= {"mode": "markers+text", "text": texts, "textposition": "top center"}
            mark["textfont"] = LABEL
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
