"""One look for all charts: colours that mean the same everywhere, axes, fonts, escaping."""

import html
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from kanon.base.formatting import CountedUnit, join_words, write_count

INK = "#1B1F24"
"""Texts, axes and what stands out by itself, on the white paper of all charts."""

METRIC_COLOURS: Mapping[str, str] = {
    "distortion": "#0072B2",
    "ncp": "#E69F00",
    "total": "#009E73",
    "llm": "#D55E00",
    "nllm": "#AA3377",
    "wllm": "#56B4E9",
    "wnllm": "#5B5B5B",
    "entropy": "#332288",
    "general-loss": "#117733",
    "custom": "#8C6D31",
}
"""One colour per metric on every page, after Okabe and Ito, for colour-blind readers too."""

_COMPOSED_COLOURS = ("#882255", "#999933", "#44AA99", "#661100", "#BB5566", "#224466")

_STRATEGY_LOOKS = {  # colour, dash and marker
    "s1": ("#555555", "solid", "circle"),
    "s2": ("#5599DD", "11px,3px", "square"),
    "s3": ("#3300BB", "6px,3px", "triangle-up"),
    "s4": ("#7755DD", "3px,3px", "diamond"),
    "s5": ("#DD7799", "11px,3px,2px,3px", "cross"),
    "s6": ("#770077", "6px,3px,2px,3px,2px,3px", "triangle-down"),
    "s7": ("#BB3399", "2px,4px", "x"),
    "l": ("#337700", "18px,4px", "star"),
    "t": ("#999900", "18px,4px,3px,4px", "pentagon"),
    "k": ("#332200", "12px,3px,2px,3px,2px,3px", "hexagon"),
}

STRATEGY_COLOURS: Mapping[str, str] = {name: look[0] for name, look in _STRATEGY_LOOKS.items()}
"""One colour per strategy: those that look at l cool, at t warm.

Ten colours far apart in OKLab, also for the colour-blind, and dark enough for a thin line on white;
a test checks the distances.
"""

STRATEGY_DASHES: Mapping[str, str] = {name: look[1] for name, look in _STRATEGY_LOOKS.items()}
"""One dash per strategy on every page: steady for those that look at l, broken by dots for t."""

STRATEGY_MARKERS: Mapping[str, str] = {name: look[2] for name, look in _STRATEGY_LOOKS.items()}
"""One marker per strategy on every page, by its name in Plotly."""

ALGORITHM_COLOURS: Mapping[str, str] = {
    "gaa": "#AA3377",
    "gaa-small": "#DD88BB",
    "datafly": "#D55E00",
    "samarati": "#0072B2",
    "improved-greedy": "#009E73",
    "mingen": "#8C6D31",
    "incognito": "#56B4E9",
    "ola": "#332288",
    "flash": "#999933",
    "optimal": INK,
    "mondrian": "#E69F00",
    "lattice-sweep": "#C00000",
    "optimal-local": "#7B3F00",
    "local-suppression": "#B8860B",
    "k-member": "#44AA99",
    "kaca": "#117733",
    "oka": "#77AADD",
    "mdav": "#7F7F7F",
}
"""One colour per algorithm, where algorithms vary; the dash tells the families apart."""

_FAMILY_LOOKS = {  # dash and marker
    "merging": ("solid", "circle"),
    "levels": ("7px,3px", "square"),
    "regions": ("12px,3px", "diamond"),
    "clusters": ("2px,3px", "triangle-up"),
}

FAMILY_DASHES: Mapping[str, str] = {name: look[0] for name, look in _FAMILY_LOOKS.items()}
"""One dash per family of algorithms."""

FAMILY_MARKERS: Mapping[str, str] = {name: look[1] for name, look in _FAMILY_LOOKS.items()}
"""One marker per family of algorithms, by its name in Plotly."""

SAVED_COLOURS = ("#000000", "#B00020", "#00695C", "#8A6100")
"""Colours of configurations that were kept beside those that are compared now."""

ROLE_COLOURS: Mapping[str, str] = {
    "identifier": "#C0392B",
    "quasi-identifier": "#B9770E",
    "sensitive": "#7D3C98",
    "insensitive": "#707B7C",
}
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
