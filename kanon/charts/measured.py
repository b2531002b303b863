"""What a comparison can be measured by, for its pictures: cards, numbers, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kanon.cards import Card
from kanon.comparison import L_CARD, T_CARD, Comparison
from kanon.measures import minimum_k
from kanon.words import thin

__all__ = [
    "CLASSES",
    "MEAN_CLASS_SIZE",
    "is_percent",
    "measure_table",
    "measures_of",
    "number_said",
    "privacy_measures",
    "short_title",
    "titled",
    "unit_said",
    "values_of",
]

CLASSES = Card(
    "classes", "Number of classes",
    "Groups of records that look the same: more groups tell more of the original table.",
    "Mauger, Le Mahec, Dequen 2020", "", "higher",
    "1: all records look the same", "n: every record differs from all others",
)  # fmt: skip
MEAN_CLASS_SIZE = Card(
    "mean_class_size", "Mean class size",
    "Records per class on average; as close to k as possible is best for who uses the table.",
    "LeFevre, DeWitt, Ramakrishnan 2006", "records", "lower",
    "1: every record differs from all others", "n: all records look the same",
)  # fmt: skip


def measures_of(comparison: Comparison) -> Mapping[str, Card]:
    """Everything that a curve of a comparison can show, by name."""
    own = [comparison.card(f"alteration_{metric.name}") for metric in comparison.measured]
    cards = (*comparison.criteria.values(), CLASSES, MEAN_CLASS_SIZE, *own)
    return {card.name: card for card in cards}


def privacy_measures(comparison: Comparison) -> Mapping[str, Card]:
    """The criteria that say how well people are protected, by name."""
    names = (L_CARD.name, T_CARD.name, minimum_k.CARD.name)
    return {name: comparison.criteria[name] for name in names if name in comparison.criteria}


def values_of(comparison: Comparison, measure: str, ks: Sequence[int]) -> np.ndarray:
    """A measure of every line under every tie seed, its own first.

    Returns
    -------
    numpy.ndarray, shape (lines, seeds, len(ks))
    """
    if measure == MEAN_CLASS_SIZE.name:
        return comparison.n_records / comparison.at(CLASSES.name, ks)
    return comparison.at(measure, ks)


def measure_table(comparison: Comparison, measure: str) -> pd.DataFrame:
    """One measure in a row per configuration, tie seed and k."""
    ks, parts = comparison.ks, []
    for line, runs in zip(comparison.lines, values_of(comparison, measure, ks), strict=True):
        for seed, values in zip(line.runs, runs, strict=True):
            about = {"configuration": line.name, "tie_seed": seed}
            parts.append(pd.DataFrame({**about, "k": ks, measure: values}))
    return pd.concat(parts, ignore_index=True).astype({"tie_seed": "Int64"})


def is_percent(card: Card) -> bool:
    """Whether a measure runs from 0 to 100."""
    return card.unit == "%"


def number_said(value: float, card: Card) -> str:
    """A number as it is shown, without its unit.

    >>> number_said(12.34, L_CARD), number_said(1234, CLASSES) == thin(1234)
    ('12.3', True)
    """
    if np.isnan(value):
        return "–"
    whole = not is_percent(card) and float(value).is_integer()
    return thin(value) if whole or value >= 1000 else f"{value:.1f}"


def short_title(card: Card) -> str:
    """What a measure is called where there is little room: without what stands in brackets.

    >>> short_title(L_CARD)
    'Diversity'
    """
    return card.title.split(" (")[0]


def unit_said(card: Card) -> str:
    """The unit of a measure and its better direction.

    >>> unit_said(L_CARD), unit_said(CLASSES)
    ('%, ↑ better', '↑ better')
    """
    return ", ".join(filter(None, [card.unit, card.arrow]))


def titled(card: Card) -> str:
    """A measure with its unit and its better direction: the title of an axis or a panel."""
    unit = f", {card.unit}" if card.unit else ""
    return f"{card.title}{unit} ({card.arrow})" if card.arrow else f"{card.title}{unit}"
