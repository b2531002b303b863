"""Sensitive columns that are drawn: values that depend on no other column."""

from collections.abc import Mapping
from itertools import product
from math import erf, inf, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from kanon.cards import Card, read_cards
from kanon.classes import EquivalenceClasses
from kanon.sensitive import Sensitive

Distribution = Literal["equivalent", "geometric", "normal"]

_CARDS = read_cards(__file__)

DISTRIBUTIONS: Mapping[Distribution, Card] = {name: _CARDS[name] for name in get_args(Distribution)}
"""How frequent the values of a column are."""

SIZES = (5, 10, 20, 50, 100, 200, 500)  # how many values a column has


class Column(NamedTuple):
    distribution: Distribution  # one of :data:`DISTRIBUTIONS`
    values: int  # v, the number of values

    @property
    def name(self) -> str:
        return f"simulated {self.distribution} {self.values}"


COLUMNS = tuple(Column(each, size) for each, size in product(get_args(Distribution), SIZES))
"""The 21 columns of the study."""


def compute_chances(column: Column) -> np.ndarray:
    v = column.values
    if column.distribution == "normal":
        ends = [-inf, *(3 * (2 * i - v) / v for i in range(1, v)), inf]
        below = np.array([erf(end / sqrt(2)) for end in ends])
        return np.diff(below) / 2
    base = 1.0 if column.distribution == "equivalent" else 0.01 ** (1 / v)
    weights = base ** np.arange(v)
    return weights / weights.sum()


def draw_values(records: int, column: Column, seed: int = 0) -> np.ndarray:
    place = list(DISTRIBUTIONS).index(column.distribution)
    generator = np.random.default_rng([seed, place, column.values])
    below = np.cumsum(compute_chances(column))[:-1]  # the last value takes what rounding leaves
    return np.searchsorted(below, generator.random(records), side="right")


def list_value_names(column: Column) -> list[str]:
    return [f"value {place:03d}" for place in range(column.values)]


def draw_sensitive_column(classes: EquivalenceClasses, column: Column, seed: int = 0) -> Sensitive:
    group = np.repeat(np.arange(classes.n_classes), classes.counts)
    occurring, codes = np.unique(draw_values(classes.n_records, column, seed), return_inverse=True)
    names = list_value_names(column)
    values = [names[place] for place in occurring]
    return Sensitive.from_records(column.name, values, False, group, codes, classes.n_classes)
