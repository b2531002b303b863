"""What a comparison can be measured by, for its pictures: cards, numbers, texts."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from kanon.base.formatting import write_count
from kanon.base.rounding import write_decimals
from kanon.cards import Card
from kanon.experiments.comparison import Comparison
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.measures import minimum_k

CLASSES = Card(
    "classes", "Number of classes",
    "Groups of records that look the same: more groups reveal more of the original table.",
    "Mauger, Le Mahec, Dequen 2020", "", "higher",
    "1: all records look the same", "n: every record differs from all others",
)  # fmt: skip


def list_curve_cards(comparison: Comparison) -> Mapping[str, Card]:
    alterations = [comparison.card(f"alteration_{metric.name}") for metric in comparison.metrics]
    further = comparison.further.values()
    cards = (*comparison.criteria.values(), CLASSES, *further, *alterations)
    return {card.name: card for card in cards}


def list_privacy_cards(comparison: Comparison) -> Mapping[str, Card]:
    names = (L_CARD.name, T_CARD.name, minimum_k.CARD.name)
    return {name: comparison.criteria[name] for name in names if name in comparison.criteria}


def build_measure_table(comparison: Comparison, measure: str) -> pd.DataFrame:
    """A row per configuration, tie seed and k, with the value of one measure."""
    parts = []
    for line in comparison.lines:
        ks = comparison.list_ks(line)
        runs = line.at(measure, ks, comparison.sensitive)
        for seed, values in zip(line.runs, runs, strict=True):
            about = {"configuration": line.name, "tie_seed": seed}
            parts.append(pd.DataFrame({**about, "k": ks, get_file_column(measure): values}))
    table = pd.concat(parts, ignore_index=True).astype({"tie_seed": "Int64"})
    return comparison.add_requirement(table)


def get_file_column(measure: str) -> str:
    """The name of a measure's column in files; t is named as in all other files."""
    return "t_variational" if measure == T_CARD.name else measure


def get_axis_scale(card: Card) -> Literal["percent", "share", "log", "linear"]:
    """The axis that a measure is drawn on: counts are logarithmic.

    >>> get_axis_scale(L_CARD), get_axis_scale(CLASSES)
    ('percent', 'log')
    """
    if card.unit == "%":
        return "percent"
    if card.unit in ("share", "0 to 1", "Cramér's V"):
        return "share"
    return "log" if card.unit in ("", "records", "persons", "times k") else "linear"


def get_digits(card: Card) -> int | None:
    """To how many decimals numbers are compared, as they are shown; None for all of them."""
    return {"percent": 1, "share": 3}.get(get_axis_scale(card))


def format_measure(value: float, card: Card) -> str:
    """A number as it is shown, without its unit.

    >>> format_measure(12.34, L_CARD), format_measure(1234, CLASSES) == write_count(1234)
    ('12.3', True)
    """
    if np.isnan(value):
        return "–"
    if get_axis_scale(card) == "share":
        return write_decimals(value, 3)
    whole = card.unit != "%" and float(value).is_integer()
    return write_count(value) if whole or value >= 1000 else write_decimals(value, 1)


def build_hovers(values: np.ndarray, card: Card) -> dict[str, object]:
    """What a Plotly trace says of each of its values."""
    unit = " %" if card.unit == "%" else ""
    texts = [format_measure(value, card) for value in values.tolist()]
    return {"customdata": texts, "hovertemplate": f"%{{customdata}}{unit}"}


def get_short_title(card: Card) -> str:
    """What a measure is called where there is little room: without what stands in brackets.

    >>> get_short_title(L_CARD)
    'Diversity'
    """
    return card.title.split(" (")[0]


def format_unit(card: Card) -> str:
    """The unit of a measure and its better direction.

    >>> format_unit(L_CARD), format_unit(CLASSES)
    ('%, ↑ better', '↑ better')
    """
    return ", ".join(filter(None, [card.unit, card.arrow]))


def format_axis_title(card: Card) -> str:
    """The title of an axis or a panel: a measure with its unit and its better direction."""
    unit = f", {card.unit}" if card.unit else ""
    return f"{card.title}{unit} ({card.arrow})" if card.arrow else f"{card.title}{unit}"
