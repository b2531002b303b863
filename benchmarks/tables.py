"""Tables like a census file, of any size: what the growth of time and memory is measured on.

Nobody in them exists, and no real table was used. A hidden profile draws a record's values
together: each profile has a favourite value per column, and values far from it are rarer. So some
tuples are frequent and most are rare; the more records, the more of the rare ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import groups, intervals, mask, suppression

__all__ = ["COLUMNS", "Column", "census_like"]

PROFILES = 300


@dataclass(frozen=True)
class Column:
    """A column of the generated tables.

    Attributes
    ----------
    tree
        Its hierarchy; the leaves are its values.
    pull
        How fast values far from the profile's favourite, in the order of the leaves, get rarer.
    skew
        How much more frequent some values are than others.
    whole
        Whether its cells are whole numbers instead of text.
    """

    tree: Hierarchy
    pull: float
    skew: float
    whole: bool = False


def _in_runs(leaves: Sequence[str], *widths: int) -> Hierarchy:
    """Leaves in groups of so many neighbours, and these in groups of so many leaves, and so on."""
    levels = []
    names, covered = list(leaves), 1
    for width in widths:
        step = width // covered
        runs = [names[i : i + step] for i in range(0, len(names), step)]
        level = {f"{run[0].split(' to ')[0]} to {run[-1].split(' to ')[-1]}": run for run in runs}
        levels.append(level)
        names, covered = list(level), width
    return groups([*levels, {"*": names}])


def _named(name: str, count: int) -> list[str]:
    return [f"{name} {number}" for number in range(1, count + 1)]


@cache
def _columns() -> dict[str, Column]:
    postcodes = ["".join(digits) for digits in itertools.product("12345678", *["01234"] * 3)]
    ages = intervals([str(age) for age in range(95)], [5, 10, 20])
    return {
        "age": Column(ages, 2.0, 0.3, whole=True),
        "sex": Column(suppression(["female", "male"]), 0.5, 0.1),
        "postcode": Column(mask(postcodes, [3, 2, 1]), 3.0, 1.0),
        "education": Column(_in_runs(_named("schooling", 12), 3, 6), 3.5, 0.5),
        "occupation": Column(_in_runs(_named("occupation", 48), 4, 12), 3.0, 0.7),
        "marital-status": Column(_in_runs(_named("status", 6), 3), 3.5, 0.5),
        "birth-country": Column(_in_runs(_named("country", 40), 8), 3.5, 1.5),
        "household-size": Column(
            _in_runs([str(size) for size in range(1, 9)], 2, 4), 2.5, 0.5, whole=True
        ),
        "employment": Column(_in_runs(_named("employment", 6), 3), 3.5, 1.0),
    }


COLUMNS = _columns()
"""Nine quasi-identifiers, by name."""


def census_like(records: int, seed: int = 1, pull: float = 1.0) -> pd.DataFrame:
    """Draw a table.

    Parameters
    ----------
    records
        Its length.
    seed
        The same seed gives the same profiles, and with the same length the same table.
    pull
        How much of every column's pull is left: with less of it there are more classes.
    """
    rng = np.random.default_rng(seed)
    chances = [_chances(rng, column, pull) for column in COLUMNS.values()]
    frequency = 1.0 / np.arange(1, PROFILES + 1)
    below = np.cumsum(frequency / frequency.sum())[:-1]
    profile = np.searchsorted(below, rng.random(records), side="right")
    cells = {}
    for (name, column), cumulative in zip(COLUMNS.items(), chances, strict=True):
        # One search for all profiles: those of the p-th lie between p and p + 1.
        size = column.tree.n_leaves
        places = np.searchsorted(cumulative, profile + rng.random(records), side="right")
        codes = np.clip(places - profile * size, 0, size - 1)
        leaves = column.tree.labels[:size]
        values = np.array(leaves, dtype=np.int64) if column.whole else pd.array(leaves, dtype="str")
        cells[name] = values.take(codes)
    return pd.DataFrame(cells)


def _chances(rng: np.random.Generator, column: Column, pull: float) -> np.ndarray:
    """Per profile p the cumulative chances of the values, plus p; in one row."""
    size = column.tree.n_leaves
    frequency = (1.0 + rng.permutation(size)) ** -column.skew
    favourite = rng.choice(size, size=PROFILES, p=frequency / frequency.sum())
    distance = np.abs(np.arange(size) - favourite[:, None])
    weights = frequency * (1.0 + distance) ** -(pull * column.pull)
    cumulative = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    cumulative[:, -1] = 1.0
    return (cumulative + np.arange(PROFILES)[:, None]).ravel()
