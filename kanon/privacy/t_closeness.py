"""t-closeness: the sensitive values of every class are mixed as in the whole table."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from kanon.cards import Card
from kanon.errors import PlanError, listing, quoted
from kanon.privacy.model import ClassMeasure, Range, SensitiveModel
from kanon.privacy.row_checks import ClassMix, check_at_most
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
    place: ClassVar[int] = 2
    gloss: ClassVar[str] = "every class is mixed much like the whole table"
    wish: ClassVar[Mapping[str, Any]] = {"t": 0.4, "distance": "variational"}

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

    def levels_of(self, sensitive: Sensitive) -> np.ndarray:
        """The distance of each class from the table. Shape (R,)."""
        return each(sensitive, self.distance)


def check_rows(mix: ClassMix, t: float, distance: str) -> tuple[float, bool]:
    """The largest distance of a class from the table, for the check of a release."""
    if distance == "emd-ordered":
        return check_at_most(_carry_shares(mix), t)
    # A value that a class lacks is as far away as it is frequent.
    norm_1 = mix.sums(np.abs(mix.p - mix.q)) + 1 - mix.sums(mix.q)
    return check_at_most(norm_1 if distance == "norm1" else norm_1 / 2, t)


def _carry_shares(mix: ClassMix) -> np.ndarray:
    """How far the shares have to be carried along the values, a step between neighbours being 1."""
    whole = np.cumsum(mix.total) / mix.total.sum()
    sums = np.concatenate([[0.0], np.cumsum(whole)])
    # A class has the same share up to each value from one that it has to before the next.
    first = np.append(True, mix.of[1:] != mix.of[:-1])
    counted = np.cumsum(mix.count)
    share = (counted - (counted - mix.count)[first][mix.of]) / mix.sizes[mix.of]
    after = np.where(np.append(first[1:], True), len(whole), np.append(mix.value[1:], 0))
    meet = np.clip(np.searchsorted(whole, share), mix.value, after)
    carried = share * (2 * meet - mix.value - after) + sums[mix.value] + sums[after]
    levels = mix.sums(carried - 2 * sums[meet]) + sums[mix.value[first]]
    return np.asarray(levels / max(len(whole) - 1, 1))


def recount(
    classes: list[Counter[str]], usual: dict[str, float], t: float, distance: str
) -> tuple[float, bool]:
    """The largest distance of a class from the table, whose shares stand in their order."""
    level = 0.0
    for mix in classes:
        apart = [mix[value] / mix.total() - q for value, q in usual.items()]
        if distance == "emd-ordered":  # how far shares are carried from value to value
            carried = sum(abs(so_far) for so_far in accumulate(apart))
            level = max(level, carried / max(len(apart) - 1, 1))
        else:
            norm1 = sum(map(abs, apart))
            level = max(level, norm1 if distance == "norm1" else norm1 / 2)
    return level, level <= t * (1 + 1e-12) + 1e-12


def _by(distance: Distance) -> Callable[[Sensitive], np.ndarray]:
    return lambda sensitive: each(sensitive, distance)


MEASURES = (
    ClassMeasure("t_norm1", CARD, each, 3),
    ClassMeasure(
        "t_variational", CARD, _by("variational"), 4,
        heading="t ↓",
        title="t-closeness, total variation",
        unit="0 to 1",
        meaning="So large a share of the worst class would need another value for it to be mixed "
        "as the whole table is.",
    ),
    ClassMeasure("t_emd_equal", CARD, _by("emd-equal"), 4),
    ClassMeasure(
        "t_emd_ordered", CARD, _by("emd-ordered"), 5,
        heading="t, ordered ↓",
        title="t-closeness, ordered earth mover's distance",
        unit="0 to 1",
        meaning="The same where values count as nearer if they are nearer in size.",
        for_numbers=True,
    ),
)  # fmt: skip


MODEL = TCloseness
