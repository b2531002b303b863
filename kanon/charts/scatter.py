"""Privacy against alteration: what each configuration buys, and the front that nothing beats."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kanon.base.formatting import join_words
from kanon.cards import Card
from kanon.charts.comparison_measures import (
    get_file_column,
    get_short_title,
    list_privacy_cards,
)
from kanon.charts.line_style import Look
from kanon.experiments.comparison import Comparison, get_percent_factor
from kanon.experiments.criteria import CRITERIA
from kanon.measures.comparing import round_to_digits
from kanon.measures.pareto import find_pareto_front

COST = CRITERIA["mean_alteration"]  # what privacy is set against

_DIGITS = 1  # as they are shown: what looks equal is equal


def find_unbeaten(costs: np.ndarray, privacy_values: np.ndarray, privacy: Card) -> np.ndarray:
    """Which lines nothing beats in both; lines that look equal do not beat each other."""
    directions = (COST.direction or "lower", privacy.direction or "higher")
    factor = get_percent_factor(privacy.name)
    return find_pareto_front(
        round_to_digits(np.column_stack([costs, factor * privacy_values]), _DIGITS), directions
    )


def find_fronts(comparison: Comparison, measure: str) -> np.ndarray:
    """Which lines are on the front at each k, as booleans of shape (len(ks), lines)."""
    card = list_privacy_cards(comparison)[measure]
    costs = comparison.at(COST.name, comparison.ks)[:, 0]
    privacy_values = comparison.at(measure, comparison.ks)[:, 0]
    return np.array(
        [
            find_unbeaten(*coordinates, card)
            for coordinates in zip(costs.T, privacy_values.T, strict=True)
        ],
        dtype=bool,
    ).reshape(len(comparison.ks), len(comparison.lines))


def describe_front(titles: Sequence[str], on: Sequence[bool], privacy: Card) -> str:
    """The finding in a sentence.

    >>> describe_front(["A", "B", "C"], [True, False, True], CRITERIA["min_k"])
    'nothing beats A and C in both minimum k and mean alteration'
    >>> describe_front(["A", "B"], [True, True], CRITERIA["min_k"])
    'none beats another in both minimum k and mean alteration'
    >>> describe_front(["A", "B"], [True, False], CRITERIA["min_k"])
    'nothing beats A in both minimum k and mean alteration'
    """
    measures = (
        f"in both {_strip_capital(get_short_title(privacy))} and {_strip_capital(COST.title)}"
    )
    if len(titles) > 1 and all(on):
        return f"none beats another {measures}"
    names = [title for title, is_on_front in zip(titles, on, strict=True) if is_on_front]
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return f"nothing beats {join_words(names)} {measures}"


def _strip_capital(title: str) -> str:
    """A title inside a sentence: 'Minimum k' as 'minimum k', but 't' and 'NCP' as they are."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def create_marker(look: Look, size: int) -> dict[str, object]:
    """Plotly's marker of ``size`` pixels: a white rim if filled, else a white inside."""
    if look.filled:
        return {
            "symbol": look.marker, "size": size, "color": look.colour,
            "line": {"color": "white", "width": 1},
        }  # fmt: skip
    return {
        "symbol": look.marker, "size": size, "color": "white",
        "line": {"color": look.colour, "width": 2},
    }  # fmt: skip


def build_scatter_table(comparison: Comparison, privacy: str) -> pd.DataFrame:
    parts = []
    on = find_fronts(comparison, privacy)
    ks = comparison.ks
    values_by_measure = {measure: comparison.at(measure, ks) for measure in (COST.name, privacy)}
    for place, line in enumerate(comparison.lines):
        own = line.knows(ks)
        columns: dict[str, object] = {"configuration": line.name, "k": np.asarray(ks)[own]}
        for measure, values in values_by_measure.items():
            name = get_file_column(measure)
            runs = values[place][:, own]
            columns[name] = runs[0]
            if comparison.has_bands:
                columns[f"{name}_low"] = runs.min(axis=0)
                columns[f"{name}_high"] = runs.max(axis=0)
        parts.append(pd.DataFrame({**columns, "on_front": on[own, place]}))
    return comparison.add_requirement(pd.concat(parts, ignore_index=True))
