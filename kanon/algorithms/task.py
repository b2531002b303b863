"""What an algorithm is handed; it knows neither tables nor plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.words import counted

__all__ = ["Progress", "Task", "no_progress"]

Progress = Callable[[float, str], None]
"""Told how much of the work is done, from 0 to 1, and what is being done."""


def no_progress(fraction: float, text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class Task:
    """The classes to recode, what raising a value costs, and what has to hold.

    Attributes
    ----------
    classes
        The classes of the original table.
    potentials
        Per quasi-identifier the scaled potential of every node (see
        :func:`kanon.metrics.scaled_potentials`), attribute weights included.
    k
        The number of records that every released class has to hold.
    weighted
        Whether a merge counts every record, or only one representative per class.
    tie_seed
        A seed for the order in which ties are broken; None for the canonical order.
    """

    classes: EquivalenceClasses
    potentials: tuple[np.ndarray, ...]
    k: int
    weighted: bool = True
    tie_seed: int | None = None

    def check(self) -> None:
        """Check that some release can meet k.

        Raises
        ------
        Unsatisfiable
            The table has fewer than k records.
        """
        if self.k > self.classes.n_records:
            raise Unsatisfiable(
                f"k = {self.k} cannot be reached: the table has "
                f"{counted(self.classes.n_records, 'record')} to anonymise, and k can be at most "
                "that."
            )
