"""What a line of a comparison looks like: colour, dash and marker, the same on every page."""

import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np

from kanon.algorithms.catalogue import algorithm_named
from kanon.charts.style import (
    ALGORITHM_COLOURS,
    FAMILY_DASHES,
    FAMILY_MARKERS,
    SAVED_COLOURS,
    STRATEGY_COLOURS,
    STRATEGY_DASHES,
    STRATEGY_MARKERS,
    get_metric_colour,
)
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.titles import is_guided

_SPARE = ("#1B7F79", "#A0522D", "#4B0082", "#2F4F4F", "#C71585", "#556B2F", "#B8860B", "#36648B")

_DOTS = "2px,3px"  # the dash of the second of two comparisons

_NEAR = 0.05  # colours less far apart in OKLab look alike on thin lines

_CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
_LAB = np.array([
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
])  # fmt: skip


@dataclass(frozen=True)
class Look:
    """How a line is drawn. No two lines of a comparison look alike."""

    colour: str  # ``#rrggbb``
    # by the strategy, as Plotly names them
    dash: str = "solid"
    marker: str = "circle"
    filled: bool = True  # whether markers are filled: the strategy looks at the whole table
    width: float = 2  # in pixels

    @property
    def symbol(self) -> str:
        """Plotly's name of the marker: open markers end in ``-open``."""
        return self.marker if self.filled else f"{self.marker}-open"


def choose_looks(comparison: Comparison) -> Mapping[str, Look]:
    new_lines = [line for line in comparison.lines if not line.kept]
    names = [(line.configuration.algorithm, line.board) for line in new_lines]
    by_algorithm = len(set(names)) == len(names) and len({name for name, _ in names}) > 1
    by_strategy = (
        len({line.configuration.metric for line in new_lines if is_guided(line.configuration)}) <= 1
        and len({line.configuration.strategy for line in new_lines}) > 1
    )
    looks: dict[str, Look] = {}
    for line in new_lines:
        look = (
            _create_algorithm_look(line)
            if by_algorithm
            else _create_strategy_look(line, by_strategy)
        )
        looks[line.name] = _choose_distinct_look(_mark_second(look, line), looks.values())
    saved_lines = [line for line in comparison.lines if line.kept]
    colours = {line.board: cycle(SAVED_COLOURS) for line in saved_lines}
    for line in saved_lines:
        look = _create_strategy_look(line, False)
        look = replace(look, colour=next(colours[line.board]), width=3)
        looks[line.name] = _choose_distinct_look(_mark_second(look, line), looks.values())
    return {line.name: looks[line.name] for line in comparison.lines}


def _mark_second(look: Look, line: Line) -> Look:
    """The same colour in dots and with the other kind of markers, for the second comparison."""
    return replace(look, dash=_DOTS, filled=not look.filled) if line.board == 2 else look


def _choose_distinct_look(look: Look, others: Iterable[Look]) -> Look:
    """The look, or with another colour where others of its dash and marker are too like it."""
    alike = [
        other.colour for other in others if (other.dash, other.symbol) == (look.dash, look.symbol)
    ]

    def find_gap(colour: str) -> float:
        return min((compute_colour_distance(colour, other) for other in alike), default=math.inf)

    colours = (look.colour, *_SPARE)
    colour = next(
        (colour for colour in colours if find_gap(colour) >= _NEAR), max(colours, key=find_gap)
    )
    return replace(look, colour=colour)


def compute_colour_distance(first: str, second: str) -> float:
    """How unlike two colours look, in OKLab: below 0.02 they cannot be told apart.

    >>> compute_colour_distance("#000000", "#FFFFFF") > 0.99
    True
    >>> compute_colour_distance("#5B5B5B", "#555555") < 0.03
    True
    """
    rgb_shares = [
        [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in (first, second)
    ]
    linear = [[x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb]
              for rgb in rgb_shares]  # fmt: skip
    lab = np.cbrt(np.array(linear) @ _CONES.T) @ _LAB.T
    return float(np.linalg.norm(lab[0] - lab[1]))


def _create_algorithm_look(line: Line) -> Look:
    name = line.configuration.algorithm
    family = algorithm_named(name).CARD.family
    number = zlib.crc32(name.encode())  # an algorithm that has no colour of its own yet
    return Look(
        colour=ALGORITHM_COLOURS.get(name, _SPARE[number % len(_SPARE)]),
        dash=FAMILY_DASHES[family],
        marker=FAMILY_MARKERS[family],
        filled=line.configuration.scope == "table",
    )


def _create_strategy_look(line: Line, by_strategy: bool) -> Look:
    strategy, metric = line.configuration.strategy, line.configuration.metric
    number = zlib.crc32(strategy.encode())  # a strategy that has no look of its own yet
    dashes, markers = list(STRATEGY_DASHES.values()), list(STRATEGY_MARKERS.values())
    return Look(
        colour=(
            STRATEGY_COLOURS.get(strategy, _SPARE[number % len(_SPARE)])
            if by_strategy or not is_guided(line.configuration)
            else get_metric_colour(metric)
        ),
        dash=STRATEGY_DASHES.get(strategy, dashes[number % len(dashes)]),
        marker=STRATEGY_MARKERS.get(strategy, markers[number % len(markers)]),
        filled=line.configuration.scope == "table",
    )
