"""What the pictures of lessons share: colours, lines, and the room that they have."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

ONE, OTHER, MET = "#0072B2", "#D55E00", "#332288"
"""In a lattice what satisfies, what does not, and the walk."""

QUIET, EDGE = "#6B747D", "#C3CAD2"
"""What is not looked at, and the edges between nodes."""

HALO = "0 0 3px white, 0 0 3px white, 0 0 3px white"
"""What keeps letters readable where a line runs behind them."""

_CLASSES = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"),
    *("#332288", "#999933", "#882255", "#44AA99", "#8C6D31", "#5B5B5B"),
)


def get_class_colour(number: int) -> str:
    """The colour of a class by its number: one in tables, candidates, trees and regions.

    >>> get_class_colour(1), get_class_colour(13) == get_class_colour(1), get_class_colour(0)
    ('#0072B2', True, '#6B747D')
    """
    return _CLASSES[(number - 1) % len(_CLASSES)] if number else QUIET


class Room(NamedTuple):
    # in pixels
    width: float
    height: float | None
    letters: int  # the size of its smallest letters, in pixels


PAGE = Room(400, None, 13)  # a column of the page, at its narrowest


def draw_lines_between(
    pairs: Sequence[tuple[Any, Any]],
    at: Mapping[Any, tuple[float, float]],
    colour: str,
    width: float,
    dash: str,
) -> dict[str, Any]:
    """A Plotly trace: straight lines between pairs of nodes, at the coordinates ``at``."""
    x, y = ([end for a, b in pairs for end in (at[a][i], at[b][i], None)] for i in (0, 1))
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
        "showlegend": False, "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def scale_letters(figure: go.Figure, room: Room) -> go.Figure:
    """The figure with the room's size and no letters smaller than the room's, in pixels."""

    def enlarge(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                key: {**enlarge(item), "size": max(room.letters, item.get("size", 0))}
                if key in ("font", "tickfont", "textfont") and isinstance(item, dict)
                else enlarge(item)
                for key, item in part.items()
            }
        return [enlarge(item) for item in part] if isinstance(part, list | tuple) else part

    if room.height is None:
        return figure
    enlarged = enlarge(figure.to_plotly_json())
    enlarged["layout"] |= {"width": room.width, "height": room.height, "hovermode": False}
    return go.Figure(enlarged)


_TITLE_LETTERS = 36  # so many of a title fit beside another picture in a window of 1024 pixels
_TITLE_LINE = 22  # the height of a line of the title, in pixels


def split_title(figure: go.Figure) -> go.Figure:
    """The same for half of a page: its title goes on in further lines, where it is long.

    >>> from kanon.charts.figure import build_figure
    >>> whole = build_figure([], "Where do “M, Cat” and “M, Lion” meet, and why?", 300, {}, {})
    >>> half = split_title(whole)
    >>> half.layout.title.text, half.layout.height, half.layout.margin.t - whole.layout.margin.t
    ('Where do “M, Cat” and “M, Lion”<br>meet, and why?', 322, 22)
    """
    lines = textwrap.wrap(figure.layout.title.text, _TITLE_LETTERS)
    more = _TITLE_LINE * (len(lines) - 1)
    return go.Figure(figure).update_layout(
        title_text="<br>".join(lines),
        height=figure.layout.height + more,
        margin_t=figure.layout.margin.t + more,
    )
