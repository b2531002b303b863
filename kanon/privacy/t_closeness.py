"""t-closeness: the sensitive values of every class are mixed as in the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, listing, quoted
from kanon.privacy.model import Range, SensitiveModel
from kanon.sensitive import Sensitive

CARD = Card(
    name="t-closeness",
    title="t-closeness",
    summary="In every class the sensitive values are mixed as in the whole table, up to a "
    "distance t.",
    source="Li, Li, Venkatasubramanian 2007; by norm 1: Mauger, Le Mahec, Dequen 2023",
    unit="sum of differences between shares",
    direction="lower",
    lowest="0: every class is mixed as the whole table",
    highest="nearly 2 by norm 1, else 1: some class has values that hardly occur elsewhere",
)

Distance = Literal["norm1", "variational", "emd-equal", "emd-ordered"]
"""How the distance between two mixes is counted; the second and third are one number."""

HIGHEST: Mapping[str, float] = {
    "norm1": 2.0,
    "variational": 1.0,
    "emd-equal": 1.0,
    "emd-ordered": 1.0,
}
"""No distance between two mixes is larger."""

SPOKEN: Mapping[str, str] = {
    "norm1": "norm 1",
    "variational": "total variation",
    "emd-equal": "earth mover's, unordered",
    "emd-ordered": "earth mover's, ordered",
}
"""What the distances are called in a sentence; plans hold their names."""


def each(sensitive: Sensitive, distance: Distance = "norm1") -> np.ndarray:
    """The distance between the mix of each class, p = p(s, C), and that of the table, q = p(s, T).

    - ``norm1``: sum over s of abs(p - q), in [0, 2];
    - ``variational``, ``emd-equal``: half of it, in [0, 1]: total variation, which is the earth
      mover's distance where every value is equally far from every other;
    - ``emd-ordered``: the earth mover's distance where the values of the table stand in a row, by
      size: 1 / (v - 1) times the sum over i < v of abs(sum over j <= i of (p_j - q_j)), in [0, 1];
      0 if v = 1. Neighbours are one step apart whatever their difference. Missing cells are the
      last value.

    All are counted in whole numbers and divided once, so equal mixes have equal distances.

    Parameters
    ----------
    distance
        Which of them.

    Returns
    -------
    numpy.ndarray, shape (R,), float64
        From 0, the class is mixed as the table.

    Raises
    ------
    PlanError
        The distance is unknown, or the ordered one for a column that does not hold numbers.

    Notes
    -----
    Source: Li, Li, Venkatasubramanian 2007, section 5; ``norm1``: Mauger, Le Mahec, Dequen 2023.

    Examples
    --------
    Twice a cold; a cold and a flu: p - q is (1/4, -1/4) and (-1/4, 1/4).

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).tolist(), each(ill, "emd-equal").tolist()
    ([0.5, 0.5], [0.25, 0.25])
    """
    if distance not in HIGHEST:
        raise PlanError(f"The distance {quoted(distance)} is unknown; known are {_KNOWN}.")
    if distance == "emd-ordered":
        return _ordered(sensitive)
    n, sizes = int(sensitive.total.sum()), sensitive.sizes
    # What a class has more than its due of some values, it lacks of others.
    due = sensitive.total[sensitive.value] * sizes[sensitive.of_entry]
    surplus = sensitive.summed(np.maximum(sensitive.count * n - due, 0))
    return (2 if distance == "norm1" else 1) * surplus / (n * sizes)


_KNOWN = listing(get_args(Distance))


def _ordered(sensitive: Sensitive) -> np.ndarray:
    """The earth mover's distance over the values in their order."""
    if not sensitive.numeric:
        raise PlanError(
            f"t-closeness with distance = emd-ordered for {quoted(sensitive.name)} needs numbers, "
            "which have an order; choose 'norm1', 'variational' or 'emd-equal'."
        )
    occurs = sensitive.total > 0
    total = sensitive.total[occurs]
    n, v, sizes = int(total.sum()), len(total), sensitive.sizes
    if v < 2:
        return np.zeros(sensitive.n_classes)
    # Whole numbers while no sum can overflow, as in every table of a million records.
    kind = np.int64 if v * n * n < 2**62 else np.float64
    below = np.cumsum(total)[:-1].astype(kind)
    up_to = np.concatenate([np.zeros(1, kind), np.cumsum(below)])
    first, last = sensitive.start[:-1], sensitive.start[1:] - 1
    # From one of its values to the next, the share of a class that is below stays the same.
    begin = (np.cumsum(occurs) - 1)[sensitive.value]
    end = np.append(begin[1:], 0)
    end[last] = v - 1
    records = np.cumsum(sensitive.count)
    records = records - (records[first] - sensitive.count[first])[sensitive.of_entry]

    def apart(of: np.ndarray, count: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The sum of abs(count * n - below * size) from begin to end: below only rises."""
        have, size = count.astype(kind) * n, sizes[of].astype(kind)
        turn = np.clip(np.searchsorted(below, -(-have // size)), begin, end)
        less = have * (turn - begin) - size * (up_to[turn] - up_to[begin])
        more = size * (up_to[end] - up_to[turn]) - have * (end - turn)
        return np.asarray(less + more)

    classes = np.arange(sensitive.n_classes)
    none = np.zeros_like(classes)
    sums = np.add.reduceat(apart(sensitive.of_entry, records, begin, end), first)
    sums = sums + apart(classes, none, none, begin[first])
    return np.asarray(sums / ((v - 1.0) * n * sizes))


@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """The model "the mix of every class is at most t away from that of the table".

    Parameters
    ----------
    t
        A number in [0, 2] for ``norm1``, in [0, 1] for the other distances.
    column
        The sensitive column.
    distance
        See :func:`each`; ``emd-ordered`` is for columns of numbers.

    Raises
    ------
    PlanError
        t or the distance is anything else.
    """

    t: Annotated[float, Range(0, 2)]
    column: str
    distance: Distance = "norm1"
    card: ClassVar[Card] = CARD
    symbol: ClassVar[str] = "t"
    of_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distance not in HIGHEST:
            raise PlanError(f"distance is {quoted(self.distance)}, but has to be one of {_KNOWN}.")
        if self.t > HIGHEST[self.distance]:
            raise PlanError(
                f"t has to be a number of at least 0 and at most 1 where distance is "
                f"{self.distance}, not {self.t}."
            )

    @property
    def sentence(self) -> str:
        """The model with its parameters, as it stands in a sentence."""
        return f"{self.title} with t = {self.t:.12g} ({SPOKEN[self.distance]}) for " + quoted(
            self.column
        )

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The distance of each class from the table. Shape (R,)."""
        return each(classes.sensitive_named(self.column), self.distance)

    def accepts(self, levels: np.ndarray) -> np.ndarray:
        """Which levels are at most t."""
        return levels <= self.t


MODEL = TCloseness
