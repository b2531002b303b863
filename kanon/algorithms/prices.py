"""Prices per class of records at which no group is worth much: what they add up to is a bound.

Let every record of class c have a price p_c. Among all groups of a lattice, a release uses some,
and each of them gets k records at least. In group G a record of class c loses own_c - kept_G, which
is its price less what it *brings*: p_c - own_c + kept_G. So the loss of a release is the sum of all
prices less what all records bring, and the records of no group bring more than it is *worth*: the
largest sum over k or more records of the classes that it covers. A group that is worth less than
nothing need not be used. So no release loses less than

    sum over classes n_c p_c  -  sum over groups max(0, worth_G)

whatever the prices are: the Lagrangian dual of the assignment of records to groups. If records may
be suppressed, that holds as long as no price is above what a record loses that is not shown.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms.distinct_groups import DistinctGroups
from kanon.algorithms.task import Task, own_potentials
from kanon.base.parallel import count_cores
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.prices import copy_group_members, count_group_members, find_best_groups, weigh

_PARTS = 2
"""Groups are weighed in so many parts, on however many cores: so sums do not depend on these."""

_STEPS = 40  # steps between two looks at all groups

_MOST_MEMBERS = 3_000_000  # the classes that the groups looked at in between have together, at most

_FEW = 50_000  # below so many classes of groups it is not worth to start threads

_AHEAD = 1.2  # the first aim, as a multiple of the bound to start with

_LEAST = 0.005
"""The first aim at least, as a share of all that can be lost: the bound to start with may be 0."""

_ENOUGH = 2e-4
"""Prices are good when the last looks raised the bound by a smaller share of it than this."""

_LAST = 5  # how many looks these are

_MOST_LOOKS = 80  # how often all groups are looked at, at most

_DEAREST = 6
"""No price is above two to this power times the most that a record can lose.

A record that is like no other may have a price of k times that, for the k - 1 that go with it, even
if it loses nothing itself. What is summed exactly has so many bits less, for that.
"""


@dataclass(frozen=True, eq=False)
class Assignment:
    groups: DistinctGroups
    counts: np.ndarray  # per class how many records are to be assigned
    own: np.ndarray  # per class the potential of its own tuple
    # per class what no price is above: at most so many times the largest of ``own`` that sums
    # stay exact (:data:`_DEAREST`)
    highest: np.ndarray
    k: int  # the records that every group in use has to get


@dataclass(frozen=True, eq=False)
class _GroupArrays:
    begin: np.ndarray
    members: np.ndarray
    kept: np.ndarray


class Prices:
    def __init__(self, problem: Assignment, price: np.ndarray) -> None:
        self.problem = problem
        self.scale = float(max(problem.own.max(initial=0), 1))
        self._own = problem.own / self.scale
        self._highest = problem.highest / self.scale
        self._counts = problem.counts.astype(np.float64)
        self._pool = ThreadPoolExecutor(min(count_cores(), _PARTS))
        self.price = np.minimum(price, self._highest)
        self.value = 0.0
        self.used = np.zeros(len(problem.groups.kept), dtype=np.float32)
        self._least = _LEAST * float(self._counts @ self._own)
        self._reach = 0.1 * max(self.mean, self._least / max(float(self._counts.sum()), 1.0))
        self._direction: np.ndarray | None = None
        self._target, self._factor, self._fails = 0.0, 1.0, 0

    @property
    def mean(self) -> float:
        return float(self._counts @ self.price) / max(float(self._counts.sum()), 1.0)

    def bound(self, suppressing: bool = False) -> int:
        """The bound that the prices prove, exactly, in units of the potentials."""
        highest = self.problem.own if suppressing else self.problem.highest
        price = np.minimum(self._convert_to_units(self.price), highest >> _DEAREST)
        worth, _ = self._weigh(self._get_all(), price - (self.problem.own >> _DEAREST))
        return (int(self.problem.counts @ price) - int(worth.sum())) << _DEAREST

    def raise_prices(self) -> None:
        """Look at all groups once, then take some steps with those that matter.

        A step goes along a mean of subgradients (the volume algorithm, Barahona and Anbil 2000): a
        subgradient is, per class, its records less those that the groups of some worth use. Between
        two looks no price rises by more than a reach, so that no other group can become worth
        something, and every value is a bound of all.
        """
        near_numbers, near, reach = self._find_near(self._reach, _MOST_MEMBERS)
        groups = replace(near, kept=self.problem.groups.kept[near_numbers] / self.scale)
        highest = np.minimum(self.price + reach, self._highest)
        before, used = self.price, self.used[near_numbers].astype(np.float64)
        self.value, slope, used_now = self._compute_value(groups, self.price)
        if self._direction is None:
            self._direction, self._target = slope, max(_AHEAD * self.value, self._least)
            used = used if used.any() else used_now
        direction = self._direction
        for _ in range(_STEPS):
            length = float(direction @ direction)
            if length == 0:
                break
            ahead = max(self._target, 1.002 * self.value) - self.value
            price = np.minimum(self.price + self._factor * ahead / length * direction, highest)
            value, slope, used_now = self._compute_value(groups, price)
            if value > self.value:
                self._factor *= 1.1 if direction @ slope >= 0 else 0.98
                self.price, self.value, self._fails = price, value, 0
            else:
                self._fails += 1
                if self._fails == 8:
                    self._factor, self._fails = 0.7 * self._factor, 0
            self._factor = min(max(self._factor, 1e-3), 2.0)
            turn = slope - direction
            bend = float(turn @ turn)
            part = min(max(-float(turn @ direction) / bend, 0.01), 0.1) if bend > 0 else 0.1
            direction = part * slope + (1 - part) * direction
            used = part * used_now + (1 - part) * used
        if self.value > 0.985 * self._target:
            self._target = 1.02 * self.value
        self._direction = direction
        self.used[:] = 0
        self.used[near_numbers] = used
        limited = float(np.mean(self.price - before >= 0.999 * reach))
        self._reach = reach * (1.3 if limited > 0.02 else 1 / 1.3 if limited < 0.003 else 1.0)

    def select_near_groups(self, reach: float, most: int) -> Prices:
        at, near, _ = self._find_near(reach, most)
        every = self.problem.groups
        groups = DistinctGroups(near.begin, near.members, every.kept[at], every.node[at])
        return self._continue_with(replace(self.problem, groups=groups), self.used[at])

    def copy_for_rest(self, counts: np.ndarray, highest: np.ndarray, kept: np.ndarray) -> Prices:
        groups = replace(self.problem.groups, kept=kept)
        rest = replace(self.problem, counts=counts, highest=highest, groups=groups)
        return self._continue_with(rest, self.used)

    def _continue_with(self, problem: Assignment, used: np.ndarray) -> Prices:
        prices = Prices(problem, self.price)
        prices.used[:] = used
        prices._reach = max(self._reach, 0.02 * self.mean)
        return prices

    def _convert_to_units(self, price: np.ndarray) -> np.ndarray:
        return np.floor(price * self.scale).astype(np.int64) >> _DEAREST

    def _get_all(self) -> _GroupArrays:
        groups = self.problem.groups
        kept = -(-groups.kept >> _DEAREST)  # upwards: what groups are worth is never too little
        return _GroupArrays(groups.begin, groups.members, kept)

    def _find_near(self, reach: float, most: int) -> tuple[np.ndarray, _GroupArrays, float]:
        groups = self._get_all()
        gain = self._convert_to_units(self.price) - (self.problem.own >> _DEAREST)
        at = np.arange(len(groups.kept))
        while True:
            worth, _ = self._weigh(groups, gain + (int(reach * self.scale) >> _DEAREST) + 1)
            worthwhile = np.flatnonzero(worth > 0)
            at, groups = at[worthwhile], self._select_groups(groups, worthwhile)
            if groups.begin[-1] <= most or reach * self.scale < 1:
                return at, groups, reach
            reach *= 0.8

    def _select_groups(self, groups: _GroupArrays, chosen: np.ndarray) -> _GroupArrays:
        counts, sizes = self.problem.counts, np.zeros(len(chosen), dtype=np.int64)
        count_group_members(groups.begin, groups.members, counts, chosen, sizes)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        members = np.empty(begin[-1], dtype=np.int32)
        copy_group_members(groups.begin, groups.members, counts, chosen, begin, members)
        return _GroupArrays(begin, members, groups.kept[chosen])

    def _compute_value(
        self, groups: _GroupArrays, price: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        worth, used = self._weigh(groups, price - self._own)
        return float(self._counts @ price - worth.sum()), self._counts - used, worth > 0

    def _weigh(self, groups: _GroupArrays, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kind, size = groups.kept.dtype, len(gain)
        worth = np.zeros(len(groups.kept), dtype=kind)
        cuts = np.searchsorted(groups.begin, np.linspace(0, groups.begin[-1], _PARTS + 1))
        cuts[0], cuts[-1] = 0, len(worth)

        def weigh_part(place: int) -> np.ndarray:
            used = np.zeros(size, dtype=kind)
            weigh(
                groups.begin, groups.members, groups.kept, self.problem.counts, gain,
                self.problem.k, int(cuts[place]), int(cuts[place + 1]),
                np.zeros(size, dtype=np.int32), np.zeros(size, dtype=kind), worth, used,
            )  # fmt: skip
            return used

        over = map if groups.begin[-1] < _FEW else self._pool.map
        return worth, np.sum(list(over(weigh_part, range(_PARTS))), axis=0)


def compute_least_losses(groups: DistinctGroups, own: np.ndarray) -> np.ndarray:
    """Per class the least loss per record of any group that covers it: what bounds its worth."""
    best = np.full(len(own), -1)
    find_best_groups(np.arange(len(groups.kept)), groups.begin, groups.members, groups.kept, best)
    return own - groups.kept[best]


def find_good_prices(
    task: Task, groups: DistinctGroups, progress: Progress = ignore_progress
) -> Prices:
    counts, own = np.array(task.classes.counts), own_potentials(task)
    dearest = np.full_like(own, own.max() * min(task.k, 1 << _DEAREST))
    problem = Assignment(groups, counts, own, dearest, task.k)
    prices = Prices(problem, compute_least_losses(groups, own) / max(int(own.max()), 1))
    whole = max(int(counts @ own) / prices.scale, 1e-300)
    values: list[float] = []
    for look in range(_MOST_LOOKS):
        prices.raise_prices()
        values.append(prices.value)
        progress(
            look / _MOST_LOOKS, f"no release loses less than {100 * prices.value / whole:.2f} %"
        )
        if look >= 2 * _LAST and prices.value <= values[-_LAST] * (1 + _ENOUGH):
            break
    return prices
