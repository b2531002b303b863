"""One look for all charts: colours that mean the same everywhere, axes, fonts, escaping."""

import html
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from kanon.base.data_files import read_data
from kanon.base.formatting import CountedUnit, join_words, write_count

INK = "#1B1F24"
"""Texts, axes and what stands out by itself, on the white paper of all charts."""

_LOOKS = read_data(__file__)

METRIC_COLOURS: Mapping[str, str] = _LOOKS["metrics"]
"""One colour per metric on every page."""


def _list_looks(kind: str, part: str) -> dict[str, str]:
    return {name: look[part] for name, look in _LOOKS[kind].items()}


_COMPOSED_COLOURS = ("#882255", "#999933", "#44AA99", "#661100", "#BB5566", "#224466")

STRATEGY_COLOURS: Mapping[str, str] = _list_looks("strategies", "colour")
"""One colour per strategy: those that look at l cool, at t warm."""

STRATEGY_DASHES: Mapping[str, str] = _list_looks("strategies", "dash")
"""One dash per strategy on every page: steady for those that look at l, broken by dots for t."""

STRATEGY_MARKERS: Mapping[str, str] = _list_looks("strategies", "marker")
"""One marker per strategy on every page, by its name in Plotly."""

ALGORITHM_COLOURS: Mapping[str, str] = _LOOKS["algorithms"]
"""One colour per algorithm, where algorithms vary; the dash tells the families apart."""

FAMILY_DASHES: Mapping[str, str] = _list_looks("families", "dash")
"""One dash per family of algorithms."""

FAMILY_MARKERS: Mapping[str, str] = _list_looks("families", "marker")
"""One marker per family of algorithms, by its name in Plotly."""

SAVED_COLOURS = ("#000000", "#B00020", "#00695C", "#8A6100")
"""Colours of configurations that were kept beside those that are compared now."""

ROLE_COLOURS: Mapping[str, str] = _LOOKS["roles"]
"""One colour per role of a column; a word and an icon always stand beside it."""

K_TICKS = (2, 3, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, 5000, 10000, 30000, 100000, 1000000)
"""Ticks of a logarithmic axis for k: the papers' k, as far as they leave room for each other."""

GRID = "#E3E7EB"
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"  # of two or three things that differ
GREY, STAR = "#5B5B5B", "#F0C808"  # a limit or a bound; the node that is released
SCALE, DIFFERENCES = "Viridis_r", "PuOr"  # dark is more; orange below 0, purple above
LABEL = {"size": 13, "color": INK}  # the font of ticks, legends and notes
HEADING = {"size": 14, "color": INK}  # that of titles of axes and of parts of a picture

TITLE_ON_TOP = {"title_y": 1, "title_yanchor": "top", "title_pad": {"t": 12}}
"""A title at the upper edge, with room for a legend or heads below it."""

LEGEND_ABOVE = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": LABEL}

BAR_ROW, BARS_AROUND = 30, 120  # pixels of height: of a bar that lies, of what is around all bars

_FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", Helvetica, Arial, sans-serif'


def get_metric_colour(name: str) -> str:
    """The colour of a metric: of a composed one, the same wherever it has that name."""
    fallback = _COMPOSED_COLOURS[zlib.crc32(name.encode()) % len(_COMPOSED_COLOURS)]
    return METRIC_COLOURS.get(name, fallback)


def escape_label(text: object, longest: int = 40) -> str:
    """Text from a table as a label: Plotly would read ``<b>`` and links in it.

    >>> escape_label("<b>age</b>")
    '&lt;b&gt;age&lt;/b&gt;'
    """
    flat = " ".join(str(text).split())
    return html.escape(flat if len(flat) <= longest else flat[: longest - 1] + "…", quote=False)


def escape_distinct_labels(labels: Sequence[str], longest: int) -> list[str]:
    """Labels as :func:`escaped` cuts them, but so that different ones do not look the same.

    >>> escape_distinct_labels(["Married-civil", "Married-away", "Divorced"], 8)
    ['Mar…ivil', 'Mar…away', 'Divorced']
    >>> escape_distinct_labels(["Married-1-civil", "Married-2-civil"], 8)
    ['Marri…#1', 'Marri…#2']
    """
    results = [escape_label(label, longest) for label in labels]
    ends = [f"{label[: (longest - 1) // 2]}…{label[-(longest // 2) :]}" for label in labels]
    alternatives = (ends, [f"{label[: longest - 3]}…#{n}" for n, label in enumerate(labels, 1)])
    for shortened in alternatives:
        counts = Counter(results)
        results = [
            html.escape(cut, quote=False) if counts[text] > 1 and len(label) > longest else text
            for text, cut, label in zip(results, shortened, labels, strict=True)
        ]
    return results


def name_first(names: Sequence[str]) -> str:
    """Who comes first in a chart, as its title says it: by name, or by number if they are many.

    >>> name_first(["age"]), name_first(["age", "sex"]), name_first(list("abcd"))
    ('age', 'age and sex', '4 columns')
    """
    return join_words(names) if len(names) <= 3 else f"{len(names)} columns"


def set_common_look(figure: go.Figure, title: str, height: int = 320) -> go.Figure:
    """Give a figure the common look; the title is the finding or the question."""
    figure.update_layout(
        title={"text": title, "x": 0, "xanchor": "left", "font": {"size": 17, "weight": 600}},
        font={"size": 14, "color": INK, "family": _FONT},
        height=height,
        margin={"l": 64, "r": 24, "t": 40, "b": 48},
        plot_bgcolor="white",
        paper_bgcolor="white",  # kanon.charts.dark turns it where a page is dark
        showlegend=False,
        hovermode="x unified",
    )
    figure.update_xaxes(gridcolor=GRID, linecolor=INK, ticks="outside", zeroline=False)
    figure.update_yaxes(gridcolor=GRID, linecolor=INK, ticks="outside", zeroline=False)
    return figure


def add_opacity(colour: str, opacity: float) -> str:
    """A colour that what lies behind shines through.

    >>> add_opacity("#0072B2", 0.2)
    'rgba(0, 114, 178, 0.2)'
    """
    r, g, b = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({r}, {g}, {b}, {opacity:g})"


def get_axis_number(place: int) -> str:
    """What Plotly puts behind ``x`` and ``y`` for the axes of a panel, counted from 0.

    >>> get_axis_number(0), get_axis_number(1)
    ('', '2')
    """
    return "" if place == 0 else str(place + 1)


def get_panel_axes(place: int) -> dict[str, str]:
    """The names of the axes of the panel at ``place``, from 0, as a Plotly trace needs them."""
    return {"xaxis": f"x{get_axis_number(place)}", "yaxis": f"y{get_axis_number(place)}"}


def hide_axes(figure: go.Figure, place: int) -> None:
    """Hide both axes of an unused place in a grid of panels."""
    for kind in "xy":
        figure.layout[f"{kind}axis{get_axis_number(place)}"].visible = False


def draw_upright_line(x: float, colour: str = INK, width: float = 1.5) -> dict[str, Any]:
    """A Plotly shape: a dotted line at x from the bottom of a picture to its top."""
    line = {"color": colour, "width": width, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain", "line": line}


def draw_bars(title: str, names: Sequence[str], left: int, **bars: Any) -> go.Figure:
    """Horizontal bars, the first at the bottom, with ``left`` pixels for their names."""
    figure = go.Figure().add_bar(y=list(range(len(names))), orientation="h", **bars)
    set_common_look(figure, title, height=BARS_AROUND + BAR_ROW * len(names))
    figure.update_layout(hovermode="closest", margin={"l": left})
    return figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names)


def get_text_colour(colour: str) -> str:
    """A colour of the same hue for text, which has to be darker than a line to be read.

    >>> get_text_colour("#E69F00")
    '#8A5F00'
    """
    return "#" + "".join(f"{int(int(colour[at : at + 2], 16) * 0.6):02X}" for at in (1, 3, 5))


def set_log_k_axis(
    figure: go.Figure, largest: int, at: Sequence[int] = K_TICKS, of: CountedUnit = "records"
) -> go.Figure:
    """Give a figure a logarithmic axis for k, with ticks at the k of ``at`` up to ``largest``."""
    ticks = [k for k in at if k <= largest]
    figure.update_xaxes(
        type="log",
        title=f"k, minimum {of} per class (log scale)",
        tickvals=ticks,
        ticktext=[write_count(k) for k in ticks],
        tickangle=0,
    )
    return figure
