"""A finished figure on dark paper: the same colours, lightened until they can be seen.

Charts are drawn for white paper, as in reports; a whole figure is converted where a page is dark.
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

_FIXED_DARK = {
    "#555555": "#FFFFFF",
    "#3300BB": "#99BBFF",
    "#770077": "#EEBBCC",
    "#332200": "#EEEE55",
}
"""The darkest colours of strategies, which would resemble others if they were only lightened."""

_GREY = 22  # the parts of a grey differ by no more
_LESS = 0.75  # the contrasts of a scale with two ends, or those would be white
_NAMED_RGB = {"white": (255, 255, 255), "black": (0, 0, 0)}
_PARTS = re.compile(r"rgba?\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(,[^)]*)?\)")
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}\b|\bwhite\b")
_STYLE = re.compile(r"<span style=('[^']*'|\"[^\"]*\")>")

RGB = tuple[int, int, int]


def convert_to_dark(figure: go.Figure) -> go.Figure:
    """The same figure on dark paper; the given one stays as it is."""
    return go.Figure(_convert_part(figure.to_plotly_json(), "", False))


@lru_cache(maxsize=4096)
def convert_colour_to_dark(colour: str, least: float = MARK) -> str:
    """A colour as it is drawn on dark paper; other texts stay as they are.

    >>> convert_colour_to_dark("#FFFFFF") == PAPER, convert_colour_to_dark("#1B1F24") == INK
    (True, True)
    >>> convert_colour_to_dark("#E69F00"), convert_colour_to_dark("none")
    ('#E69F00', 'none')
    """
    parts = _parse_colour(colour)
    if parts is None:
        return colour
    rgb, opacity = parts
    hex_colour = _format_hex(rgb)
    result = rgb
    if hex_colour in _FIXED_DARK:
        result = _parse_hex(_FIXED_DARK[hex_colour])
    elif max(rgb) - min(rgb) <= _GREY:
        current = _compute_contrast(rgb, _NAMED_RGB["white"])
        result = _find_contrasting_mix(rgb, max(current, least) if least > MARK else current)
    elif compute_contrast(hex_colour) < least:
        result = _find_contrasting_mix(rgb, least)
    if opacity is not None:
        return f"rgba({result[0]}, {result[1]}, {result[2]}{opacity})"
    return _format_hex(result)


def compute_contrast(colour: str, paper: str = PAPER) -> float:
    """The contrast of two colours as WCAG 2 counts it, from 1 to 21.

    >>> compute_contrast("#FFFFFF", "#000000")
    21.0
    """
    rgb, paper_rgb = _parse_colour(colour), _parse_colour(paper)
    assert rgb is not None and paper_rgb is not None
    return _compute_contrast(rgb[0], paper_rgb[0])


# --- a figure -------------------------------------------------------------------------------
def _convert_part(value: Any, key: str, text: bool) -> Any:
    if key == "colorscale" and not isinstance(value, Mapping):
        return _convert_colour_scale(value)
    if isinstance(value, Mapping):
        return {
            name: _convert_part(part, name, text or key.endswith("font"))
            for name, part in value.items()
        }
    if isinstance(value, str):
        return _convert_text(value, key, TEXT if text else MARK)
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [_convert_part(part, key, text) for part in value]
    return value


def _convert_text(value: str, key: str, least: float) -> str:
    if key.endswith("color"):
        return convert_colour_to_dark(value, least)
    if key == "shadow":
        return _COLOUR.sub(lambda match: convert_colour_to_dark(match[0]), value)
    if "<span" not in value:  # a text of a table is escaped, and has none
        return value
    return _STYLE.sub(
        lambda style: _COLOUR.sub(lambda match: convert_colour_to_dark(match[0], TEXT), style[0]),
        value,
    )


def _convert_colour_scale(steps: Sequence[Sequence[Any]]) -> list[list[Any]]:
    stops = [(at, parts[0]) for at, colour in steps if (parts := _parse_colour(colour))]
    first = next((i for i, (_, rgb) in enumerate(stops) if max(rgb) - min(rgb) > _GREY), len(stops))
    lights = [_compute_luminance(rgb) for _, rgb in stops[first:]]
    if lights != sorted(lights, reverse=True):  # two ends
        white = _NAMED_RGB["white"]
        return [
            [at, _format_hex(_find_contrasting_mix(rgb, _compute_contrast(rgb, white) ** _LESS))]
            for at, rgb in stops
        ]
    greys = [[at, convert_colour_to_dark(_format_hex(rgb))] for at, rgb in stops[:first]]
    return greys + [
        [at, _format_hex(_find_contrasting_mix(rgb, _choose_contrast(rgb)))]
        for at, rgb in stops[first:]
    ]


def _choose_contrast(rgb: RGB) -> float:
    current = _compute_contrast(rgb, _parse_hex(PAPER))
    dark = _compute_luminance(rgb) < _compute_luminance(_parse_hex(PAPER))
    return max(current, (MARK * (1 / current if dark else current)) ** 0.5)


# --- a colour -------------------------------------------------------------------------------
def _parse_colour(colour: str) -> tuple[RGB, str | None] | None:
    """Red, green and blue, and the opacity as written, if any; None for other texts."""
    if colour in _NAMED_RGB:
        return _NAMED_RGB[colour], None
    if match := _PARTS.fullmatch(colour):
        return (int(match[1]), int(match[2]), int(match[3])), match[4]
    return (_parse_hex(colour), None) if re.fullmatch("#[0-9A-Fa-f]{6}", colour) else None


def _parse_hex(colour: str) -> RGB:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _format_hex(rgb: RGB) -> str:
    return "#{:02X}{:02X}{:02X}".format(*rgb)


def _compute_luminance(rgb: RGB) -> float:
    parts = [part / 255 for part in rgb]
    r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _compute_contrast(first: RGB, second: RGB) -> float:
    low, high = sorted((_compute_luminance(first), _compute_luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _find_contrasting_mix(rgb: RGB, least: float) -> RGB:
    paper, ink = _parse_hex(PAPER), _parse_hex(INK)
    if least >= _compute_contrast(ink, paper):
        return ink
    end = _NAMED_RGB["white"] if _compute_contrast(rgb, paper) < least else paper
    mixes = [_combine_colours(rgb, end, step / 255) for step in range(256)]
    enough = [mix for mix in mixes if _compute_contrast(mix, paper) >= least]
    return min(enough, key=lambda mix: _compute_contrast(mix, paper))


def _combine_colours(rgb: RGB, end: RGB, share: float) -> RGB:
    r, g, b = (round(a + (b - a) * share) for a, b in zip(rgb, end, strict=True))
    return r, g, b
