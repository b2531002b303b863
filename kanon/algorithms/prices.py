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

from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms.distinct_groups import DistinctGroups, GroupFinder
from kanon.algorithms.task import Task, own_potentials
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.kernels.prices import (
    copy_group_members,
    count_group_members,
    find_best_groups,
    move_prices,
    turn_direction,
    weigh,
)

_STEPS = 40  # steps between two looks at all groups

_MOST_MEMBERS = 3_000_000  # the classes that the groups looked at in between have together, at most

_MOST_LISTED = 40_000_000
"""The classes that the groups have together, at most, that are listed to be looked at again."""

_WIDE = 4.0
"""Listed are the groups worth something if every price rises by so many times their mean."""

_FEW_STEPS = 6
"""Groups worth nothing at prices of so many steps on are left out until these are reached."""

_TURN = 0.05  # how far a direction may turn until then, as a share of the records of a class

_AHEAD = 1.2  # the first aim, as a multiple of the bound to start with

_LEAST = 0.005
"""The first aim at least, as a share of all that can be lost: the bound to start with may be 0."""

_ENOUGH = 2e-4
"""Prices are good when the last looks raised the bound by a smaller share of it than this."""

_FIRST_SHARE = 0.1  # the share of the time until the least losses are known

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
    """Prices, and the groups of a problem: all, or those that a finder finds at these prices.

    A finder is asked again whenever a price is to rise above what its last answer holds for.
    """

    def __init__(
        self, problem: Assignment, price: np.ndarray, finder: GroupFinder | None = None
    ) -> None:
        self.problem = problem
        self.scale = float(max(problem.own.max(initial=0), 1))
        self._own = problem.own / self.scale
        self._highest = problem.highest / self.scale
        self._counts = problem.counts.astype(np.float64)
        self._classes = np.empty(len(price), dtype=np.int32)  # room for :meth:`_weigh`
        self._rooms: dict[np.dtype, np.ndarray] = {}
        self.price = np.minimum(price, self._highest)
        self.value = 0.0
        self.used = np.zeros(len(problem.groups.kept), dtype=np.float32)
        self.least_losses = np.zeros(len(price), dtype=np.int64)  # see compute_least_losses
        self._finder, self._wide = finder, _WIDE
        self._ceiling = np.full_like(self.price, -1.0 if finder else np.inf)
        self._least = _LEAST * sum_products(self._counts, self._own)
        self._reach = 0.1 * max(self.mean, self._least / max(float(self._counts.sum()), 1.0))
        self._direction: np.ndarray | None = None
        self._target, self._factor, self._fails = 0.0, 1.0, 0

    @property
    def mean(self) -> float:
        return sum_products(self._counts, self.price) / max(float(self._counts.sum()), 1.0)

    def bound(self, suppressing: bool = False) -> int:
        """The bound that the prices prove, exactly, in units of the potentials."""
        highest = self.problem.own if suppressing else self.problem.highest
        price = np.minimum(self._convert_to_units(self.price), highest >> _DEAREST)
        worth, _ = self._weigh(self._get_all(), price - (self.problem.own >> _DEAREST))
        return (int(self.problem.counts @ price) - int(worth.sum())) << _DEAREST

    def raise_prices(self, progress: Progress = ignore_progress) -> None:
        """Look at all groups once, then take some steps with those that matter.

        A step goes along a mean of subgradients (the volume algorithm, Barahona and Anbil 2000): a
        subgradient is, per class, its records less those that the groups of some worth use. Between
        two looks no price rises by more than a reach, so that no other group can become worth
        something, and every value is a bound of all.
        """
        near_numbers, near, reach = self._find_near(self._reach, _MOST_MEMBERS, progress)
        near = replace(near, kept=self.problem.groups.kept[near_numbers] / self.scale)
        highest = np.minimum(self.price + reach, self._highest)
        before, used = self.price, self.used[near_numbers].astype(np.float64)
        gain = before - self._own
        worth, used_records = self._weigh(near, gain)
        self.value = sum_products(self._counts, before) - float(worth.sum())
        if self._direction is None:
            self._direction = self._counts - used_records
            self._target = max(_AHEAD * self.value, self._least)
            used = used if used.any() else (worth > 0).astype(np.float64)
        direction, moved = self._direction, np.empty_like(gain)
        length = sum_products(direction, direction)
        some, ceiling = near, np.full_like(gain, -np.inf)
        for _ in range(_STEPS):
            if length == 0:
                break
            ahead = max(self._target, 1.002 * self.value) - self.value
            step = self._factor * ahead / length
            paid = move_prices(
                self.price, direction, step, highest, self._own, self._counts, moved, gain
            )
            if (moved > ceiling).any():
                rise = _FEW_STEPS * step * (np.maximum(direction, 0) + _TURN * self._counts)
                ceiling = np.minimum(moved + rise, highest)
                worth, _ = self._weigh(near, ceiling - self._own)
                at = np.flatnonzero(worth > 0)
                some = self._select_groups(near, at)
            worth, used_records = self._weigh(some, gain)
            value = paid - float(worth.sum())
            is_better = value > self.value
            same_way, part, length = turn_direction(direction, self._counts, used_records)
            if is_better:
                self._factor *= 1.1 if same_way else 0.98
                self.price, self.value, self._fails = moved.copy(), value, 0
            else:
                self._fails += 1
                if self._fails == 8:
                    self._factor, self._fails = 0.7 * self._factor, 0
            self._factor = min(max(self._factor, 1e-3), 2.0)
            used *= 1 - part
            used[at[worth > 0]] += part
        if self.value > 0.985 * self._target:
            self._target = 1.02 * self.value
        self.used[:] = 0
        self.used[near_numbers] = used
        limited = float(np.mean(self.price - before >= 0.999 * reach))
        self._reach = reach * (1.3 if limited > 0.02 else 1 / 1.3 if limited < 0.003 else 1.0)

    def select_near_groups(
        self, reach: float, most: int, progress: Progress = ignore_progress
    ) -> Prices:
        at, _, _ = self._find_near(reach, most, progress)
        problem = replace(self.problem, groups=self._copy_groups(at))
        return self._continue_with(problem, self.used[at])

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

    def _find_near(
        self, reach: float, most: int, progress: Progress
    ) -> tuple[np.ndarray, _GroupArrays, float]:
        reach = min(reach, self._list_groups(reach, progress))
        groups = self._get_all()
        at = np.arange(len(groups.kept))
        while True:
            worth, _ = self._weigh(groups, self._raise_gain(reach))
            worthwhile = np.flatnonzero(worth > 0)
            at, groups = at[worthwhile], self._select_groups(groups, worthwhile)
            if groups.begin[-1] <= most or reach * self.scale < 1:
                return at, groups, reach
            reach *= 0.8

    def _list_groups(self, reach: float, progress: Progress) -> float:
        """List the groups that matter if prices rise by a reach; returns by how much they may."""
        left = float((self._ceiling - self.price).min(initial=np.inf))
        if self._finder is None or left >= reach:
            return left
        in_use = np.flatnonzero(self.used)
        keys, used = self._get_keys()[in_use], self.used[in_use]
        finder, most = self._finder, _MOST_LISTED // (1 if len(self.price) <= 2**16 else 2)
        wide = max(self._wide * self.mean, 2 * reach)
        finder.begin(most)
        self._list(finder.get_groups())  # the former list needs no room any more
        while not finder.find_more(self._raise_gain(wide), _DEAREST, progress):
            if wide * self.scale < 1:
                most *= 2
                finder.add_room(most)
                continue
            wide, self._wide = 0.8 * wide, 0.8 * self._wide
            self._list(finder.get_groups())
            worth, _ = self._weigh(self._get_all(), self._raise_gain(wide))
            finder.keep_groups(np.flatnonzero(worth > 0))
        self._list(finder.get_groups())
        if len(self.problem.groups.members) < most // 4:
            self._wide = min(1.5 * self._wide, 2 * _WIDE)
        _, here, there = np.intersect1d(
            self._get_keys(), keys, assume_unique=True, return_indices=True
        )
        self.used[here] = used[there]
        self._ceiling = self.price + wide
        return wide

    def _list(self, groups: DistinctGroups) -> None:
        self.problem = replace(self.problem, groups=groups)
        self.used = np.zeros(len(groups.kept), dtype=np.float32)

    def _get_keys(self) -> np.ndarray:
        groups = self.problem.groups
        return len(self.price) * groups.node.astype(np.int64) + groups.members[groups.begin[:-1]]

    def _raise_gain(self, reach: float) -> np.ndarray:
        """What classes bring in units, at least, if every price rises by a reach at most."""
        gain = self._convert_to_units(self.price) - (self.problem.own >> _DEAREST)
        return gain + (int(reach * self.scale) >> _DEAREST) + 1

    def _copy_groups(self, chosen: np.ndarray) -> DistinctGroups:
        near, every = self._select_groups(self._get_all(), chosen), self.problem.groups
        return DistinctGroups(near.begin, near.members, every.kept[chosen], every.node[chosen])

    def _select_groups(self, groups: _GroupArrays, chosen: np.ndarray) -> _GroupArrays:
        counts, sizes = self.problem.counts, np.zeros(len(chosen), dtype=np.int64)
        count_group_members(groups.begin, groups.members, counts, chosen, sizes)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        members = np.empty(begin[-1], dtype=groups.members.dtype)
        copy_group_members(groups.begin, groups.members, counts, chosen, begin, members)
        return _GroupArrays(begin, members, groups.kept[chosen])

    def _weigh(self, groups: _GroupArrays, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kind, size = groups.kept.dtype, len(gain)
        worth, used = np.zeros(len(groups.kept), dtype=kind), np.zeros(size, dtype=kind)
        if kind not in self._rooms:
            self._rooms[kind] = np.empty((2, size), dtype=kind)
        weigh(
            groups.begin, groups.members, groups.kept, self.problem.counts, gain, self.problem.k,
            self._classes, self._rooms[kind], worth, used,
        )  # fmt: skip
        return worth, used


def sum_products(one: np.ndarray, other: np.ndarray) -> float:
    """Without the threads of a matrix product: they wait for each other longer than they work."""
    return float(np.einsum("i,i", one, other))


def compute_least_losses(groups: DistinctGroups, own: np.ndarray) -> np.ndarray:
    """Per class the least loss per record of any group that covers it: what bounds its worth."""
    best = np.full(len(own), -1)
    find_best_groups(np.arange(len(groups.kept)), groups.begin, groups.members, groups.kept, best)
    return own - groups.kept[best]


def find_good_prices(
    task: Task, groups: DistinctGroups | None = None, progress: Progress = ignore_progress
) -> Prices:
    """Raise prices until the bound rises no further, with all groups of the task or some."""
    counts, own = np.array(task.classes.counts), own_potentials(task)
    finder, begin = None, 0.0
    if groups is None:
        finder, begin = GroupFinder(task), _FIRST_SHARE
        least = finder.find_least_losses(own, scale_progress(progress, 0, begin))
        finder.begin(0)
        groups = finder.get_groups()
    else:
        least = compute_least_losses(groups, own)
    dearest = np.full_like(own, own.max() * min(task.k, 1 << _DEAREST))
    problem = Assignment(groups, counts, own, dearest, task.k)
    prices = Prices(problem, least / max(int(own.max()), 1), finder)
    prices.least_losses = least
    whole = max(int(counts @ own) / prices.scale, 1e-300)
    values: list[float] = []
    progress = scale_progress(progress, begin, 1)
    for look in range(_MOST_LOOKS):
        prices.raise_prices(scale_progress(progress, look / _MOST_LOOKS, (look + 1) / _MOST_LOOKS))
        values.append(prices.value)
        progress(
            (look + 1) / _MOST_LOOKS,
            f"no release loses less than {100 * prices.value / whole:.2f} %",
        )
        if look >= 2 * _LAST and prices.value <= values[-_LAST] * (1 + _ENOUGH):
            break
    return prices
