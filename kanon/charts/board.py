"""The board of a comparison: two to nine pictures with one cursor for k."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.base.formatting import write_count
from kanon.charts.comparison_measures import (
    format_measure,
    get_digits,
    get_short_title,
    list_curve_cards,
)
from kanon.charts.layout import (
    FILLING,
    FOOT,
    LEFT,
    MOST,
    NUMBERS_HEAD,
    NUMBERS_ROW,
    NUMBERS_ROWS,
    PROJECTED,
    RIGHT,
    SIZES,
    SPACE,
    SPACE_OF_THREE,
    Layout,
    Panel,
    PanelSize,
    choose_starting_layout,
)
from kanon.charts.line_style import choose_looks
from kanon.charts.panel_axes import (
    Costs,
    PanelContext,
    compute_k_range,
)
from kanon.charts.panels import KINDS, replace_lacking_sizes, select_named_lines
from kanon.charts.style import (
    escape_label,
    hide_axes,
    set_common_look,
)
from kanon.experiments.comparison import Comparison, join_titles
from kanon.experiments.titles import is_guided
from kanon.hierarchy.cost_matrices import CostMatrix
from kanon.measures.comparing import Standing, rank_configurations, round_to_digits

_NUMERALS = "".join(chr(ord("①") + place) for place in range(MOST))
_MEAN = "on average over the seven metrics"


@dataclass(frozen=True, eq=False)
class Board:
    figure: go.Figure  # all panels in one figure, with room for the table of numbers
    cursor: dict[str, Any]


def draw_board(
    comparison: Comparison,
    layout: Layout | None = None,
    costs: Costs | None = None,
    filling: Sequence[int] = (),
) -> Board:
    """Draw panels side by side with the data of the common cursor; ``filling`` alone, for a screen.

    ``filling`` holds the places of one to three panels; empty, all are drawn with their numbers.
    """
    layout = layout or choose_starting_layout(comparison.criteria)
    places = filling or range(len(layout.panels))
    panels, numerals = zip(*((layout.panels[at], _NUMERALS[at]) for at in places), strict=True)
    rows, columns = (1, len(filling)) if filling else layout.grid
    size = (PROJECTED if filling else SIZES)[columns]
    scenes = _create_contexts(comparison, panels, costs or _find_no_costs, size)
    lacks = [
        KINDS[scene.panel.kind].explain_lack(scene) or _explain_no_lines(scene) for scene in scenes
    ]
    titles = ["" if lack else KINDS[scene.panel.kind].head(scene)
              for scene, lack in zip(scenes, lacks, strict=True)]  # fmt: skip
    head = int(2.4 * size.title) + 14
    plot_height = rows * size.height + (rows - 1) * (FOOT + head)
    figure = make_subplots(
        rows=rows, cols=columns, subplot_titles=[
            _format_panel_head(*head_parts)
            for head_parts in zip(scenes, titles, numerals, strict=False)
        ],
        horizontal_spacing=SPACE_OF_THREE if columns == 3 else SPACE,
        vertical_spacing=(FOOT + head) / plot_height if rows > 1 else 0,
    )  # fmt: skip
    free = len(panels) < rows * columns
    below = 0
    if not filling and not free:
        below = NUMBERS_ROW * min(len(comparison.lines), NUMBERS_ROWS) + NUMBERS_HEAD
    set_common_look(figure, "", head + plot_height + FOOT + below)
    figure.update_annotations(font={"size": size.title}, xanchor="left", align="left")
    cursor_panels = []
    for scene, lack, title in zip(scenes, lacks, titles, strict=True):
        scene = replace(scene, figure=figure)
        x, y = list(scene.get_axis("x").domain), list(scene.get_axis("y").domain)
        whole = escape_label(title, 200) if len(title) > size.letters else None
        figure.layout.annotations[scene.place].update(x=x[0], hovertext=whole)
        panel_cursor = {"kind": "still", "range": [0, 1]}
        if lack:
            _write_in_panel(scene, lack)
        else:
            for kind in "xy":
                scene.get_axis(kind).tickfont = {"size": size.small}
            panel_cursor = KINDS[scene.panel.kind].draw(scene)
        lines = [comparison.lines.index(line) for line in scene.comparison.lines]
        cursor_panels.append({"title": title, "x": x, "y": y, "lines": lines, **panel_cursor})
    for place in range(len(panels), rows * columns):
        hide_axes(figure, place)
    # Margins that stay as they are: the cursor is laid over the drawing.
    figure.update_xaxes(automargin=False)
    figure.update_yaxes(automargin=False)
    wider = FILLING if filling else 1
    margin = {"l": int(wider * LEFT), "r": RIGHT, "t": head,
              "b": int(wider * FOOT) + below, "autoexpand": False}  # fmt: skip
    figure.update_layout(margin=margin, dragmode=False, hovermode="x unified")
    numbers = None if filling else {"x": [0.0, 1.0], "y": [0.0, 0.0], "height": below}
    if numbers and free:  # they stand beside the last panel
        last = rows * columns
        first_x, last_x = (figure.layout[f"xaxis{axis}"].domain for axis in (len(panels) + 1, last))
        numbers.update(x=[first_x[0], last_x[1]], y=list(figure.layout[f"yaxis{last}"].domain))
    cursor = _build_cursor(comparison, scenes, lacks, figure)
    return Board(figure, {**cursor, "panels": cursor_panels, "numbers": numbers})


def build_panel_table(
    comparison: Comparison, layout: Layout, place: int, costs: Costs | None = None
) -> pd.DataFrame:
    """The numbers behind one panel; empty if the comparison has nothing for it."""
    scene = _create_contexts(comparison, layout.panels, costs or _find_no_costs, SIZES[1])[place]
    kind = KINDS[scene.panel.kind]
    return (
        pd.DataFrame()
        if kind.explain_lack(scene) or _explain_no_lines(scene)
        else kind.table(scene)
    )


def _find_no_costs(column: str, metric: str) -> CostMatrix | None:
    return None


def _create_contexts(
    comparison: Comparison, panels: Sequence[Panel], costs: Costs, size: PanelSize
) -> list[PanelContext]:
    looks = choose_looks(comparison)
    contexts = []
    for place, panel in enumerate(panels):
        lines = select_named_lines(comparison, panel.lines)
        panel = replace_lacking_sizes(panel, lines)
        contexts.append(PanelContext(lines, looks, panel, place, go.Figure(), costs, size))
    return contexts


def _explain_no_lines(scene: PanelContext) -> str:
    if scene.comparison.lines:
        return ""
    return "This comparison has none of the configurations chosen for this panel."


def _format_panel_head(scene: PanelContext, title: str, numeral: str) -> str:
    if not title:
        return numeral
    size = scene.size
    number = len(scene.comparison.lines)
    part = f" · {number} of {len(scene.looks)}" if 0 < number < len(scene.looks) else ""
    about = escape_label(KINDS[scene.panel.kind].describe_axis(scene) + part, size.about)
    style = f"font-size:{size.small}px;color:#5B6570"
    return f"{numeral} {escape_label(title, size.letters)}<br><span style='{style}'>{about}</span>"


def _write_in_panel(scene: PanelContext, sentence: str) -> None:
    wide = min(35, scene.size.letters - 3)
    lines = wrap(escape_label(sentence, 160), wide, break_long_words=False, break_on_hyphens=False)
    for kind in "xy":
        scene.get_axis(kind).update(visible=False, range=[0, 1], fixedrange=True)
    names = scene.axes
    scene.figure.add_annotation(
        text="<br>".join(lines), x=0.5, y=0.5, xref=names["xaxis"], yref=names["yaxis"],
        showarrow=False, font={"size": scene.size.text, "color": "#5B6570"},
    )  # fmt: skip


def _build_cursor(
    comparison: Comparison, scenes: Sequence[PanelContext], lacks: Sequence[str], figure: go.Figure
) -> dict[str, Any]:
    numerals: dict[str, str] = {}  # each measure once, with the panel that shows it first
    for numeral, scene, lack in zip(_NUMERALS, scenes, lacks, strict=False):
        for measure in () if lack else KINDS[scene.panel.kind].measures(scene):
            numerals.setdefault(measure, numeral)
    margin, looks = figure.layout.margin, choose_looks(comparison)
    return {
        "ks": list(comparison.ks),
        "headlines": _format_headlines(comparison),
        "range": compute_k_range(comparison),
        "margin": {"left": margin.l, "right": margin.r, "top": margin.t, "bottom": margin.b},
        "columns": [
            _build_cursor_column(comparison, measure, numeral)
            for measure, numeral in numerals.items()
        ],
        "lines": [
            {
                "name": line.title,
                **asdict(looks[line.name]),
                "dash": looks[line.name].dash.replace("solid", "").replace("px", ""),
            }
            for line in comparison.lines
        ],
    }


def _build_cursor_column(comparison: Comparison, measure: str, numeral: str) -> dict[str, Any]:
    card = list_curve_cards(comparison)[measure]
    runs_by_line = comparison.at(measure, comparison.ks)
    # Rounded once: the place of a dot may be rough, a number may not.
    texts = [[format_measure(value, card) for value in row] for row in runs_by_line[:, 0].tolist()]
    sign = -1.0 if card.direction == "higher" else 1.0
    values = sign * round_to_digits(runs_by_line, get_digits(card))
    marks = np.zeros(values[:, 0].shape, dtype=int)
    if card.direction and len(comparison.lines) > 1:
        lacks = np.array([~line.knows(comparison.ks) for line in comparison.lines])
        # A measure known at some k only has no best line where one of them is unknown.
        compared = np.where(lacks, np.inf, values[:, 0])
        among = np.minimum if measure in comparison.further else np.fmin
        best = ~lacks & (compared == among.reduce(compared))
        marks += best & ~(best | lacks).all(axis=0)
    if card.direction and comparison.has_bands:
        low, value, high = (
            pd.DataFrame(bounds.T) for bounds in
            (values.min(axis=1), values[:, 0], values.max(axis=1))
        )  # fmt: skip
        undecided = rank_configurations(value, low, high).undecided
        assert undecided is not None
        marks += 2 * undecided.to_numpy().T
    return {
        "title": card.title, "short": get_short_title(card), "unit": card.unit,
        "numeral": f"{numeral}{card.arrow[:1]}", "arrow": card.arrow[:1],
        "shown": texts, "marks": marks.tolist(),
    }  # fmt: skip


def _format_headlines(comparison: Comparison) -> list[str]:
    titles = [line.title for line in comparison.lines]
    means = comparison.compare_means()
    # Only metrics guide; a strategy does not.
    plain = all(
        line.title == line.guide.card.title and is_guided(line.configuration)
        for line in comparison.lines
    )
    by = ("guided by", "by") if plain else ("with", "with")
    headlines = []
    for k in comparison.ks:
        more = [comparison.describe_lacks([k], reasons=False), comparison.requirement]
        headline = f"k = {write_count(k)}: {_describe_extremes(titles, means, k, by)}"
        headlines.append(f"{headline}. {' '.join(filter(None, more))}" if any(more) else headline)
    return headlines


def _describe_extremes(titles: list[str], means: Standing, k: int, by: tuple[str, str]) -> str:
    values, undecided = means.values.loc[k].to_numpy(), means.undecided
    known = ~np.isnan(values)  # a line may have no release for this k
    values, titles = values[known], [titles[place] for place in np.flatnonzero(known)]
    if undecided is not None and means.low is not None and means.high is not None:
        is_open = undecided.loc[k].to_numpy()[known]
        if is_open.any():
            low, high = (ends.loc[k].to_numpy()[known][is_open] for ends in (means.low, means.high))
            between = f"{low.min():.1f} to {high.max():.1f} % is lost {_MEAN}"
            if is_open.all():
                return f"ties decide which loses least: {between}"
            names = [title for title, is_tied in zip(titles, is_open, strict=True) if is_tied]
            return f"ties decide between {join_titles(names)}: {between}"
    texts = [f"{value:.1f}" for value in values]
    least, most = f"{values.min():.1f}", f"{values.max():.1f}"
    if len(titles) == 1:
        return f"{by[0]} {titles[0]}, {least} % is lost {_MEAN}"
    if least == most:
        whichever = "whichever metric guides" if by[0] == "guided by" else "whichever is chosen"
        return f"{whichever}, {least} % is lost {_MEAN}"
    best, worst = (
        join_titles([title for title, text in zip(titles, texts, strict=True) if text == end])
        for end in (least, most)
    )
    first = f"{by[0]} {best}, releases lose least: {least} % {_MEAN}"
    # With bands, ties may decide the last place too, which was not looked at.
    return first if undecided is not None else f"{first}; {by[1]} {worst}, most: {most} %"
