"""What an attacker gains from released records, as shares of the persons in the table.

Each figure is that of an attacker who reads the release. Persons with several records count once.
The definitions follow the three risks of the Article 29 Working Party (Opinion 05/2014, WP 216).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from kanon.base.progress import Progress, ignore_progress
from kanon.evidence.records import Records, count_matches, guess_values

MOST_SETS = 1000  # sets of known columns that are tried

_Z = 1.959963984540054  # of the normal distribution, for 95 %


@dataclass(frozen=True)
class Figure:
    """The result of one attack; every number is a share in [0, 1], lower is better for persons."""

    value: float  # with the release
    baseline: float | None = None  # without it
    # the same attack on persons who are not in the release, and its 95 % interval
    control: float | None = None
    low: float | None = None
    high: float | None = None
    mean: float | None = None  # for membership, over the persons of the table

    @property
    def numbers(self) -> dict[str, float]:
        """What there is, by the name of its field."""
        return {name: number for name, number in vars(self).items() if number is not None}

    @property
    def gain(self) -> float | None:
        """(value − control) / (1 − control): what the release gives away of those in it alone.

        0: as much is guessed of people who are not in it; 1: everything.
        """
        if self.control is None:
            return None
        return (self.value - self.control) / (1 - self.control) if self.control < 1 else 0.0


class Interval(NamedTuple):
    """A 95 % interval of a share."""

    low: float
    high: float


def compute_wilson_interval(share: float, n: int) -> Interval:
    """The 95 % Wilson interval of a share that was found in a sample of n.

    Where the share is a mean of numbers from 0 to 1, the interval is too wide rather than too
    narrow, as such numbers vary less than yes and no.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".

    >>> [round(end, 4) for end in compute_wilson_interval(0.5, 100)]
    [0.4038, 0.5962]
    """
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def limit_set_size(n_columns: int, known: int) -> int:
    """The most columns that can be known so that at most :data:`MOST_SETS` sets are tried.

    >>> limit_set_size(9, 3), limit_set_size(40, 3), limit_set_size(2, 3)
    (3, 2, 2)
    """
    sizes = range(1, min(known, n_columns) + 1)
    return max((size for size in sizes if math.comb(n_columns, size) <= MOST_SETS), default=1)


def find_singled_out(
    known: Records, released: Records, size: int, progress: Progress = ignore_progress
) -> np.ndarray:
    """The persons of whom some ``size`` known columns match one released record, their own.

    More known columns match fewer records, so smaller sets need not be tried.

    Parameters
    ----------
    known
        The released records as they were in the table: each matches its own released record.

    Returns
    -------
    numpy.ndarray
        The numbers of these persons, rising.
    """
    m, n_columns = known.n_quasi_identifiers, len(known.columns)
    searched, singled_out = known, [np.zeros(0, dtype=np.int64)]
    sets = [*combinations(range(n_columns), size)]
    _, smallest = np.unique(released.nodes, axis=0, return_counts=True)
    if smallest.min(initial=2) > 1:  # quasi-identifiers alone match a whole class
        sets = [columns for columns in sets if columns[-1] >= m]
    for place, columns in enumerate(sets):
        progress(place / len(sets), f"set {place + 1} of {len(sets)}")
        if not searched.n_records:
            break
        alone = np.unique(searched.persons[count_matches(searched, released, columns)[0] == 1])
        singled_out.append(alone)
        searched = searched.select(np.flatnonzero(~np.isin(searched.persons, alone)))
    return np.unique(np.concatenate(singled_out))


def measure_linkability(known: Records, released: Records, columns: list[int]) -> np.ndarray:
    """Per person how often two sources that know the columns between them link the right record.

    A record that both sources find matches all columns, however these are split, so the number is
    1 / (persons with a record that matches all columns): of a person's record for which it is most.

    Parameters
    ----------
    known
        The released records as they were in the table.

    Returns
    -------
    numpy.ndarray
        One number in [0, 1] for each person of ``known``, in the order of their numbers.
    """
    matches = count_matches(known, released, columns)[1]
    persons, place = np.unique(known.persons, return_inverse=True)
    most = np.zeros(len(persons))
    np.maximum.at(most, place, 1 / matches)
    return most


def measure_inference(
    known: Records, released: Records, known_values: np.ndarray, released_values: np.ndarray
) -> float:
    """How often the best guess of a sensitive value is right, in [0, 1]; mean over persons.

    See :func:`kanon.evidence.records.guess_values`.
    """
    right = guess_values(known, released, known_values, released_values)
    return math.fsum((known.weights * right).tolist())


def find_most_frequent_share(known: Records, values: np.ndarray) -> float:
    """The share of persons with the most frequent value: a guess that needs no release."""
    return float(np.bincount(values, known.weights).max())
