"""A finished figure on dark paper: the same colours, as much lighter as it takes to see them.

Charts are drawn for white paper, on which they leave in reports and prints. Where a page is dark, a
figure is turned as a whole, so that no chart has to know of it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

PAPER, INK = "#14181D", "#E8ECF0"
"""Background and text of the dark theme in .streamlit/config.toml; a test compares them."""

MARK, TEXT = 3.0, 4.5  # the contrasts that WCAG asks for

_CHOSEN = {
    "#555555": "#FFFFFF",
    "#3300BB": "#99BBFF",
    "#770077": "#EEBBCC",
    "#332200": "#EEEE55",
}
"""The darkest colours of strategies, which would meet others if they were only made lighter.

Found by the search that found those; see :data:`kanon.charts.style.STRATEGY_COLOURS`.
"""

_GREY = 22  # the parts of a grey differ by no more
_LESS = 0.75  # the contrasts of a scale with two ends, or those would be white
_NAMED = {"white": (255, 255, 255), "black": (0, 0, 0)}
_PARTS = re.compile(r"rgba?\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(,[^)]*)?\)")
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}\b|\bwhite\b")
_STYLE = re.compile(r"<span style=('[^']*'|\"[^\"]*\")>")

RGB = tuple[int, int, int]


def dark(figure: go.Figure) -> go.Figure:
    """The same figure on dark paper; the given one stays as it is."""
    return go.Figure(_turned(figure.to_plotly_json(), "", False))


@lru_cache(maxsize=4096)
def on_dark(colour: str, least: float = MARK) -> str:
    """A colour as it is drawn on dark paper; what is no colour stays.

    >>> on_dark("#FFFFFF") == PAPER, on_dark("#1B1F24") == INK, on_dark("#E69F00"), on_dark("none")
    (True, True, '#E69F00', 'none')
    """
    parts = _parts(colour)
    if parts is None:
        return colour
    rgb, opacity = parts
    written = _written(rgb)
    found = rgb
    if written in _CHOSEN:
        found = _rgb(_CHOSEN[written])
    elif max(rgb) - min(rgb) <= _GREY:
        own = _contrast(rgb, _NAMED["white"])
        found = _standing_out(rgb, max(own, least) if least > MARK else own)
    elif contrast(written) < least:
        found = _standing_out(rgb, least)
    if opacity is not None:
        return f"rgba({found[0]}, {found[1]}, {found[2]}{opacity})"
    return _written(found)


def contrast(colour: str, paper: str = PAPER) -> float:
    """The contrast of two colours as WCAG 2 counts it, from 1 to 21.

    >>> contrast("#FFFFFF", "#000000")
    21.0
    """
    one, other = _parts(colour), _parts(paper)
    assert one is not None and other is not None
    return _contrast(one[0], other[0])


# --- a figure -------------------------------------------------------------------------------
def _turned(value: Any, key: str, text: bool) -> Any:
    """A part of a figure with its colours turned; ``text`` says that they are a font's."""
    if key == "colorscale" and not isinstance(value, Mapping):
        return _scale(value)
    if isinstance(value, Mapping):
        return {
            name: _turned(one, name, text or key.endswith("font")) for name, one in value.items()
        }
    if isinstance(value, str):
        return _string(value, key, TEXT if text else MARK)
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [_turned(one, key, text) for one in value]
    return value


def _string(value: str, key: str, least: float) -> str:
    if key.endswith("color"):
        return on_dark(value, least)
    if key == "shadow":
        return _COLOUR.sub(lambda found: on_dark(found[0]), value)
    if "<span" not in value:  # a text of a table is escaped, and has none
        return value
    return _STYLE.sub(
        lambda style: _COLOUR.sub(lambda found: on_dark(found[0], TEXT), style[0]), value
    )


def _scale(steps: Sequence[Sequence[Any]]) -> list[list[Any]]:
    given = [(at, parts[0]) for at, colour in steps if (parts := _parts(colour))]
    first = next((i for i, (_, rgb) in enumerate(given) if max(rgb) - min(rgb) > _GREY), len(given))
    lights = [_luminance(rgb) for _, rgb in given[first:]]
    if lights != sorted(lights, reverse=True):  # two ends
        white = _NAMED["white"]
        return [
            [at, _written(_standing_out(rgb, _contrast(rgb, white) ** _LESS))] for at, rgb in given
        ]
    greys = [[at, on_dark(_written(rgb))] for at, rgb in given[:first]]
    return greys + [[at, _written(_standing_out(rgb, _seen(rgb)))] for at, rgb in given[first:]]


def _seen(rgb: RGB) -> float:
    own = _contrast(rgb, _rgb(PAPER))
    dark = _luminance(rgb) < _luminance(_rgb(PAPER))
    return max(own, (MARK * (1 / own if dark else own)) ** 0.5)


# --- a colour -------------------------------------------------------------------------------
def _parts(colour: str) -> tuple[RGB, str | None] | None:
    """Red, green and blue, and the opacity as it is written, if any; None if it is no colour."""
    if colour in _NAMED:
        return _NAMED[colour], None
    if found := _PARTS.fullmatch(colour):
        return (int(found[1]), int(found[2]), int(found[3])), found[4]
    return (_rgb(colour), None) if re.fullmatch("#[0-9A-Fa-f]{6}", colour) else None


def _rgb(colour: str) -> RGB:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _written(rgb: RGB) -> str:
    return "#{:02X}{:02X}{:02X}".format(*rgb)


def _luminance(rgb: RGB) -> float:
    parts = [part / 255 for part in rgb]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: RGB, other: RGB) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _standing_out(rgb: RGB, wanted: float) -> RGB:
    paper, ink = _rgb(PAPER), _rgb(INK)
    if wanted >= _contrast(ink, paper):
        return ink
    end = _NAMED["white"] if _contrast(rgb, paper) < wanted else paper
    mixes = [_mixed(rgb, end, step / 255) for step in range(256)]
    enough = [mix for mix in mixes if _contrast(mix, paper) >= wanted]
    return min(enough, key=lambda mix: _contrast(mix, paper))


def _mixed(rgb: RGB, end: RGB, share: float) -> RGB:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(rgb, end, strict=True))
    return red, green, blue
