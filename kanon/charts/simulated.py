"""The mean ranks of the strategies on simulated columns: a panel per criterion."""

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.base.formatting import join_words
from kanon.charts.style import LABEL, STRATEGY_COLOURS, STRATEGY_MARKERS, set_common_look
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.simulated.ranks import OVERALL
from kanon.measures.alteration import CARD as ALTERATION_CARD

_PANELS = {
    ALTERATION_CARD.name: "Alteration",
    L_CARD.name: "Diversity (l)",
    T_CARD.name: "Distance (t)",
    OVERALL: "Overall",
}
_HEIGHT = 360
_LINE = "#AEB6BD"


def describe_mean_ranks(means: pd.DataFrame) -> str:
    """Who has the best mean rank in each criterion, in the middle of a sentence or as a title.

    >>> names = ["alteration", "l_percent", "t_percent", "overall"]
    >>> describe_mean_ranks(pd.DataFrame([[1.0, 5, 4, 3.3], [1.0, 1, 2, 1.3]], ["s1", "s3"], names))
    'Best mean rank: S1 and S3 in alteration, S3 in diversity (l), S3 in distance (t)'
    """
    parts = []
    for name, title in _PANELS.items():
        if name != OVERALL:
            mean_ranks = means[name].round(2)
            best = [
                str(strategy).upper() for strategy in means.index[mean_ranks == mean_ranks.min()]
            ]
            parts.append(f"{join_words(best)} in {title[0].lower()}{title[1:]}")
    return f"Best mean rank: {', '.join(parts)}"


def draw_mean_ranks(means: pd.DataFrame) -> go.Figure:
    """A panel per criterion with the mean rank of each strategy, from 1, the best, to 7."""
    names = [name.upper() for name in means.index]
    figure = make_subplots(
        rows=1, cols=len(_PANELS), shared_yaxes=True, horizontal_spacing=0.025,
        subplot_titles=list(_PANELS.values()),
    )  # fmt: skip
    for place, (criterion, title) in enumerate(_PANELS.items(), start=1):
        values = means[criterion]
        line = {"color": _LINE, "width": 2}
        for name, value in zip(names, values, strict=True):
            figure.add_scatter(
                x=[1, value], y=[name, name], mode="lines", line=line, hoverinfo="skip",
                row=1, col=place,
            )  # fmt: skip
        figure.add_scatter(
            x=values, y=names, mode="markers+text", name=title, meta="ranks",
            text=[f"{value:.2f}" for value in values], textfont=LABEL,
            textposition="middle right", cliponaxis=False,
            marker={
                "size": 12, "color": [STRATEGY_COLOURS[name] for name in means.index],
                "symbol": [STRATEGY_MARKERS[name] for name in means.index],
            },
            hovertemplate="%{y}: mean rank %{x:.2f} of 7<extra></extra>", row=1, col=place,
        )  # fmt: skip
    set_common_look(figure, describe_mean_ranks(means), _HEIGHT)
    figure.update_xaxes(range=[0.7, 8.3], tickvals=list(range(1, 8)))
    figure.update_yaxes(autorange="reversed", ticksuffix=" ")
    figure.update_annotations(font={"size": 14})
    figure.add_annotation(
        text="mean rank: 1 the best, 7 the worst (← better)", xref="paper", yref="paper", x=0.5,
        y=0, yshift=-28, yanchor="top", showarrow=False, font={"size": 13},
    )  # fmt: skip
    figure.update_layout(
        hovermode="closest", margin={"l": 40, "r": 16, "t": 74, "b": 62}, title={"y": 0.97}
    )
    return figure
