"""Where a panel is drawn, and its axes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.formatting import write_count
from kanon.cards import Card
from kanon.charts.comparison_measures import get_axis_scale
from kanon.charts.layout import SIZES, Panel, PanelSize
from kanon.charts.line_style import Look
from kanon.charts.style import get_axis_number, get_panel_axes
from kanon.experiments.comparison import Comparison
from kanon.hierarchy.cost_matrices import CostMatrix

Costs = Callable[[str, str], CostMatrix | None]
"""The cost matrix of a column under a metric, few nodes; None if there is no such column."""

PERCENT_RANGE = [0.0, 103.0]  # the ends of an axis in percent


@dataclass(frozen=True, eq=False)
class PanelContext:
    comparison: Comparison  # the configurations of this panel alone
    looks: Mapping[str, Look]  # how each line looks, by name
    panel: Panel  # what is asked for
    place: int  # the place of the panel on the board, from 0
    figure: go.Figure  # the board: a panel changes its own two axes alone
    costs: Costs  # where cost matrices come from
    size: PanelSize = SIZES[3]  # how large the panel and its texts are

    @property
    def axes(self) -> dict[str, str]:
        return get_panel_axes(self.place)

    def get_axis(self, kind: str) -> Any:
        return self.figure.layout[f"{kind}axis{get_axis_number(self.place)}"]

    def marked(self) -> bool:
        """Whether markers tell lines apart; they are left out where all have the same."""
        return len({look.symbol for look in self.looks.values()}) > 1


def choose_k_ticks(largest: int) -> list[int]:
    """Panels are narrow: fewer ticks than a chart of its own has, but several in a small table.

    >>> choose_k_ticks(8), choose_k_ticks(300), choose_k_ticks(30_000)
    ([2, 3, 4, 5, 6, 7, 8], [2, 5, 10, 20, 50, 100, 200], [2, 10, 100, 1000, 10000])
    """
    if largest <= 8:
        return list(range(2, largest + 1))
    powers = [10**power for power in range(1, 10)]
    if largest < 500:
        powers = sorted({5, *powers, *(2 * ten for ten in powers), *(5 * ten for ten in powers)})
    return [2, *(tick for tick in powers if tick <= largest)]


def compute_k_range(comparison: Comparison) -> list[float]:
    return [math.log10(1.8), math.log10(max(comparison.ks[-1], 3) * 1.15)]


def set_k_axis(scene: PanelContext) -> None:
    """Give a panel the logarithmic axis for k that all panels share."""
    ticks = choose_k_ticks(scene.comparison.n_records)
    scene.get_axis("x").update(
        type="log", range=compute_k_range(scene.comparison), fixedrange=True, tickvals=ticks,
        ticktext=[format_tick(k, ticks[-1]) for k in ticks], tickangle=0,
        title=format_panel_axis_title(scene, f"k, in {scene.comparison.of} (log scale)"),
    )  # fmt: skip


def format_panel_axis_title(scene: PanelContext, text: str) -> dict[str, Any]:
    return {"text": text, "standoff": 4, "font": {"size": scene.size.text}}


def format_tick(tick: int, largest: int) -> str:
    """A tick in a small panel: where some have six digits, thousands are short.

    >>> format_tick(1000, 10_000) == write_count(1000)
    True
    >>> format_tick(1000, 100_000), format_tick(10**6, 10**6)
    ('1k', '1M')
    """
    if largest < 100_000 or tick < 1000:
        return write_count(tick)
    return f"{tick // 1000}k" if tick < 10**6 else f"{tick // 10**6}M"


def set_panel_y_axis(scene: PanelContext, card: Card, values: np.ndarray) -> list[float]:
    """Percentages share one scale, counts are logarithmic; returns the ends of the axis."""
    most = float(np.nanmax(values, initial=0.0))
    scale = get_axis_scale(card)
    if scale == "percent":  # some can exceed 100 %
        most = round(most, 6)
        ends = PERCENT_RANGE if most <= 100 else [0.0, 1.05 * most]
        tick_style: dict[str, Any] = {"dtick": 25 if most <= 100 else None}
    elif card.unit == "0 to 1":  # beside percentages, as high as they
        ends = [end / 100 for end in PERCENT_RANGE]
        tick_style = {"dtick": 0.25}
    elif scale != "log":
        ends = [0.0, 1.08 * most or 1.0]
        tick_style = {"nticks": 5}
    else:
        ends = compute_k_range(scene.comparison)
        if card.name != "min_k":
            ends = compute_padded_log_range(float(np.nanmin(values)), most)
        n_records = scene.comparison.n_records
        beyond = (10**power for power in range(1, 19) if 10**power > n_records)  # up to n²
        ticks = [tick for tick in (1, *choose_k_ticks(n_records), *beyond)
                 if ends[0] <= math.log10(tick) <= ends[1]]  # fmt: skip
        tick_texts = [write_count(tick) if tick < 10**6 else f"10<sup>{len(str(tick)) - 1}</sup>"
                for tick in ticks]  # fmt: skip
        tick_style = {"type": "log", "tickvals": ticks, "ticktext": tick_texts}
    scene.get_axis("y").update(range=ends, ticksuffix=" ", fixedrange=True, **tick_style)
    return ends


def compute_padded_log_range(low: float, high: float) -> list[float]:
    low, high = max(low, 1.0), max(high, 2.0)
    return [math.log10(low / 1.15), math.log10(high * 1.15)]
