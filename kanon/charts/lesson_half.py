"""Pictures of lessons on half of a page."""

from __future__ import annotations

import textwrap

import plotly.graph_objects as go

_LINE = 36  # so many letters of a title fit beside another picture in a window of 1024 pixels

_HIGH = 22  # the height of a line of the title, in pixels


def halved(figure: go.Figure) -> go.Figure:
    """The same for half of a page: its title goes on in further lines, where it is long.

    >>> from kanon.charts.figure import drawn
    >>> whole = drawn([], "Where do “M, Cat” and “M, Lion” meet, and why?", 300, {}, {})
    >>> half = halved(whole)
    >>> half.layout.title.text, half.layout.height, half.layout.margin.t - whole.layout.margin.t
    ('Where do “M, Cat” and “M, Lion”<br>meet, and why?', 322, 22)
    """
    lines = textwrap.wrap(figure.layout.title.text, _LINE)
    more = _HIGH * (len(lines) - 1)
    return go.Figure(figure).update_layout(
        title_text="<br>".join(lines),
        height=figure.layout.height + more,
        margin_t=figure.layout.margin.t + more,
    )
