"""t-closeness: the sensitive values of every class are mixed as in the whole table, up to t."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from kanon.cards import Card, read_card
from kanon.errors import PlanError, list_names, quote
from kanon.privacy.model import ClassMeasure, Range, SensitiveModel
from kanon.privacy.row_checks import ClassMix, PlainTree, check_at_most
from kanon.sensitive import Sensitive

CARD = read_card(__file__)

Distance = Literal["norm1", "variational", "emd-equal", "emd-ordered", "hierarchical"]
"""The distances between two mixes; the second and third are the same number."""

HIGHEST: Mapping[str, float] = {**dict.fromkeys(get_args(Distance), 1.0), "norm1": 2.0}
"""The largest distance between two mixes."""

SPOKEN: Mapping[str, str] = {
    "norm1": "norm 1",
    "variational": "total variation",
    "emd-equal": "earth mover's, unordered",
    "emd-ordered": "earth mover's, ordered",
    "hierarchical": "earth mover's, by the hierarchy",
}
"""The names of the distances in sentences."""


def each(sensitive: Sensitive, distance: Distance = "norm1") -> np.ndarray:
    """The distance between the mix of each class, p = p(s, C), and that of the table, q = p(s, T).

    - ``norm1``: sum over s of abs(p - q), in [0, 2];
    - ``variational``, ``emd-equal``: half of that, in [0, 1]: total variation, which is the earth
      mover's distance where every value is equally far from every other;
    - ``emd-ordered``: the earth mover's distance where the values in the table form a row, by
      size: 1 / (v - 1) times the sum over i < v of abs(sum over j <= i of (p_j - q_j)), in [0, 1];
      0 if v = 1. Neighbours are one step apart whatever their difference. Missing cells are the
      last value.
    - ``hierarchical``: the earth mover's distance where two values are as far apart as the level
      of their lowest common group, as a share of the level of the root; levels are longest paths.
      A missing cell is a value below the root alone. In [0, 1].

    All are counted in whole numbers and divided once, so equal mixes have equal distances.

    A class with two colds, and one with a cold and a flu: p - q is (1/4, -1/4) and (-1/4, 1/4).

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).tolist(), each(ill, "emd-equal").tolist()
    ([0.5, 0.5], [0.25, 0.25])

    Shape (R,), float64. From 0 (the class is mixed like the table).

    Raises
    ------
    PlanError
        The distance is unknown, or is the ordered one and the column is not numeric, or is the
        hierarchical one and the column has no hierarchy.

    Notes
    -----
    Source: Li, Li, Venkatasubramanian 2007, section 5; ``norm1``: Mauger, Le Mahec, Dequen 2023.

    Half of the way between two values leads up to their lowest common group. So the hierarchical
    distance is the length of a path in a tree, however long its branches are, and the least work
    is half of the sum over values and groups g of rise(g) / level(root) times abs(p(g) - q(g)):
    rise(g) are the levels from g to the next group, p(g) and q(g) the shares of all values in g.
    """
    _check_distance(distance)
    if distance == "emd-ordered":
        return _compute_ordered_distance(sensitive)
    if distance == "hierarchical":
        return _compute_hierarchical_distance(sensitive)
    n, sizes = int(sensitive.total.sum()), sensitive.sizes
    # The surplus of some values of a class equals the deficit of others.
    due = sensitive.total[sensitive.value] * sizes[sensitive.of_entry]
    surplus = sensitive.summed(np.maximum(sensitive.count * n - due, 0))
    return (2 if distance == "norm1" else 1) * surplus / (n * sizes)


def _check_distance(distance: str) -> None:
    if distance not in HIGHEST:
        names = list_names(HIGHEST)
        raise PlanError(f"The distance {quote(distance)} is unknown; choose from {names}.")


def _compute_ordered_distance(sensitive: Sensitive) -> np.ndarray:
    if not sensitive.numeric:
        raise PlanError(
            "t-closeness with distance = emd-ordered needs numbers, which "
            f"{quote(sensitive.name)} does not have. Choose 'norm1', 'variational' or 'emd-equal'."
        )
    occurs = sensitive.total > 0
    total = sensitive.total[occurs]
    n, v, sizes = int(total.sum()), len(total), sensitive.sizes
    if v < 2:
        return np.zeros(sensitive.n_classes)
    # Whole numbers unless a sum could overflow, which no table of a million records does.
    kind = np.int64 if v * n * n < 2**62 else np.float64
    below = np.cumsum(total)[:-1].astype(kind)
    up_to = np.concatenate([np.zeros(1, kind), np.cumsum(below)])
    first, last = sensitive.start[:-1], sensitive.start[1:] - 1
    # From one value of a class to its next, its cumulative share stays the same.
    begin = (np.cumsum(occurs) - 1)[sensitive.value]
    end = np.append(begin[1:], 0)
    end[last] = v - 1
    records = np.cumsum(sensitive.count)
    records = records - (records[first] - sensitive.count[first])[sensitive.of_entry]

    def sum_up(at: np.ndarray, count: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Sum abs(count * n - below * size) from begin to end, where below only rises."""
        have, size = count.astype(kind) * n, sizes[at].astype(kind)
        turn = np.clip(np.searchsorted(below, -(-have // size)), begin, end)
        less = have * (turn - begin) - size * (up_to[turn] - up_to[begin])
        more = size * (up_to[end] - up_to[turn]) - have * (end - turn)
        return np.asarray(less + more)

    classes = np.arange(sensitive.n_classes)
    none = np.zeros_like(classes)
    sums = np.add.reduceat(sum_up(sensitive.of_entry, records, begin, end), first)
    sums = sums + sum_up(classes, none, none, begin[first])
    return np.asarray(sums / ((v - 1.0) * n * sizes))


def _compute_hierarchical_distance(sensitive: Sensitive) -> np.ndarray:
    tree = sensitive.tree
    if tree is None:
        raise PlanError(
            f"The hierarchical distance of {quote(sensitive.name)} is counted only where a plan is "
            "run that has a hierarchy for it."
        )
    n, sizes, depth = int(sensitive.total.sum()), sensitive.sizes, tree.chain.shape[1]
    height = int(tree.rise[tree.chain[0]].sum())
    # Each record counts for its value and for every group above it.
    below = Sensitive.from_counts(
        sensitive.name, ("",) * len(tree.rise), False, np.repeat(sensitive.of_entry, depth),
        tree.chain[sensitive.value].ravel(), np.repeat(sensitive.count, depth), sensitive.n_classes,
    )  # fmt: skip
    # Whole numbers unless a sum could overflow, which no table of a million records does.
    kind = np.int64 if 2 * height * n * n < 2**62 else np.float64
    rise, total = tree.rise.astype(kind), np.zeros(len(tree.rise), dtype=kind)
    np.add.at(total, tree.chain.ravel(), np.repeat(sensitive.total, depth))
    due = total[below.value] * sizes[below.of_entry]
    # Groups that a class lacks add what is due there.
    more = below.summed(rise[below.value] * (np.abs(below.count * n - due) - due))
    return np.asarray((more + (rise @ total) * sizes) / (2.0 * height * n * sizes))


@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """The model "the mix of every class is at most t away from that of the table".

    The distances are those of :func:`each`; t is at most 2 for ``norm1`` and 1 for the others.
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
        _check_distance(self.distance)
        if self.t > HIGHEST[self.distance]:
            raise PlanError(
                f"t has to be a number of at least 0 and at most 1 where distance is "
                f"{self.distance}, not {self.t}."
            )
        if self.columns and self.distance in ("emd-ordered", "hierarchical"):
            raise PlanError(
                f"The distance {quote(self.distance)} is for one column, not for a combination."
            )

    @property
    def sentence(self) -> str:
        """The model with its parameters, for a sentence."""
        return f"{self.title} with t = {self.t:.12g} ({SPOKEN[self.distance]}) for {self.subject}"

    def levels_of(self, sensitive: Sensitive) -> np.ndarray:
        """The distance of each class from the table. Shape (R,)."""
        return each(sensitive, self.distance)


def check_rows(
    mix: ClassMix,
    t: float,
    distance: str,
    texts: Sequence[str] = (),
    tree: PlainTree | None = None,
) -> tuple[float, bool]:
    """The largest distance of a class from the table, for the check of a release.

    ``texts`` are the values in the order of their numbers.
    """
    if tree is not None:  # value by value, as the recipient does
        classes: list[Counter[str]] = [Counter() for _ in mix.sizes]
        for place, value, count in zip(mix.of, mix.value, mix.count, strict=True):
            classes[place][texts[value]] += int(count)
        shares = mix.total / mix.total.sum()
        return recount(classes, dict(zip(texts, shares.tolist(), strict=True)), t, distance, tree)
    if distance == "emd-ordered":
        return check_at_most(_sum_carried_shares(mix), t)
    # A missing value of a class adds its share in the table.
    norm_1 = mix.sums(np.abs(mix.p - mix.q)) + 1 - mix.sums(mix.q)
    return check_at_most(norm_1 if distance == "norm1" else norm_1 / 2, t)


def _sum_carried_shares(mix: ClassMix) -> np.ndarray:
    """Compute how far shares are carried along the values, neighbours being one step apart."""
    whole = np.cumsum(mix.total) / mix.total.sum()
    sums = np.concatenate([[0.0], np.cumsum(whole)])
    # From one value of a class to before its next, its cumulative share stays the same.
    first = np.append(True, mix.of[1:] != mix.of[:-1])
    running = np.cumsum(mix.count)
    share = (running - (running - mix.count)[first][mix.of]) / mix.sizes[mix.of]
    after = np.where(np.append(first[1:], True), len(whole), np.append(mix.value[1:], 0))
    meet = np.clip(np.searchsorted(whole, share), mix.value, after)
    distances = share * (2 * meet - mix.value - after) + sums[mix.value] + sums[after]
    levels = mix.sums(distances - 2 * sums[meet]) + sums[mix.value[first]]
    return np.asarray(levels / max(len(whole) - 1, 1))


def recount(
    classes: list[Counter[str]],
    usual: dict[str, float],
    t: float,
    distance: str,
    tree: dict[str, tuple[str, int]] | None = None,
) -> tuple[float, bool]:
    """The largest distance of a class from the table, with the shares in their order.

    ``tree`` has, per value and group of a hierarchy, the group above it and its level.
    """
    level = 0.0
    for mix in classes:
        apart = [mix[value] / mix.total() - q for value, q in usual.items()]
        if tree:  # within a group the smaller of what its branches have too much or lack moves
            root = next(name for name, (group, _) in tree.items() if not group)
            branches: dict[str, list[float]] = {name: [] for name in tree}
            for value, more in zip(usual, apart, strict=True):
                name = value if value in tree else value.removeprefix("'")  # before a formula
                group, height = tree.get(name, (root, 0))
                branches[name if height else group].append(more)
            moved = 0.0
            for name, (group, height) in sorted(tree.items(), key=lambda item: item[1][1]):
                up = sum(more for more in branches[name] if more > 0)
                moved += height * min(up, up - sum(branches[name]))
                branches[group or root].append(sum(branches[name]))
            level = max(level, moved / tree[root][1])
        elif distance == "emd-ordered":  # how far shares are carried from value to value
            distance_sum = sum(abs(so_far) for so_far in accumulate(apart))
            level = max(level, distance_sum / max(len(apart) - 1, 1))
        else:
            norm1 = sum(map(abs, apart))
            level = max(level, norm1 if distance == "norm1" else norm1 / 2)
    return level, level <= t * (1 + 1e-12) + 1e-12


def _measure_by(distance: Distance) -> Callable[[Sensitive], np.ndarray]:
    return lambda sensitive: each(sensitive, distance)


MEASURES = (
    ClassMeasure("t_norm1", CARD, each, 3),
    ClassMeasure(
        "t_variational", CARD, _measure_by("variational"), 4,
        heading="t ↓",
        title="t-closeness, total variation",
        unit="0 to 1",
        meaning="The share of the worst class that would need a different value to match the "
        "table's mix.",
    ),
    ClassMeasure("t_emd_equal", CARD, _measure_by("emd-equal"), 4),
    ClassMeasure(
        "t_emd_ordered", CARD, _measure_by("emd-ordered"), 5,
        heading="t, ordered ↓",
        title="t-closeness, ordered earth mover's distance",
        unit="0 to 1",
        meaning="The same, but values that are closer in order count as less different.",
        for_numbers=True,
    ),
    ClassMeasure(
        "t_hierarchical", CARD, _measure_by("hierarchical"), 5,
        heading="t, by hierarchy ↓",
        title="t-closeness, earth mover's distance by the hierarchy",
        unit="0 to 1",
        meaning="The same, but values that are closer in the hierarchy count as less different.",
        for_trees=True,
    ),
)  # fmt: skip

MODEL = TCloseness
