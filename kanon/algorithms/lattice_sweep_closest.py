"""A release from prices: the groups that pay off at good prices are opened, the surest first."""

import numpy as np

from kanon.algorithms.distinct_groups import distinct_groups
from kanon.algorithms.lattice_sweep_better import improved, total_loss
from kanon.algorithms.lattice_sweep_joining import with_the_rest
from kanon.algorithms.lattice_sweep_walk import lattice_above, targets_at
from kanon.algorithms.prices import Prices, good_prices
from kanon.algorithms.task import Task
from kanon.base.formatting import counted
from kanon.base.progress import Progress, no_progress, stretch
from kanon.errors import PlanError
from kanon.kernels.prices import best_of, take
from kanon.recoding import Recoding, Trace

_NEAR = 0.3
"""Groups that stay worth nothing if every price rises by this share of their mean are left out."""

_MOST_MEMBERS = 8_000_000  # the classes that these groups have together, at most

_SHARE = 0.05  # the share of the groups still to be opened that are opened at once

_SLACK = 0.2
"""How far below nothing a group may be worth that is opened, as a share of the mean price."""

_LEAST = 0.05  # groups that were in use less than this are not opened


def closest(task: Task, known: Recoding, progress: Progress = no_progress) -> Recoding:
    first, second, third = 0.1, 0.5, 0.95  # the shares of the time after groups, prices, opening
    groups = distinct_groups(task, stretch(progress, 0, first))
    if groups is None:
        raise PlanError(
            "The table is too large for effort 'closest': its groups would fill the memory. Use "
            "effort 'thorough'."
        )
    prices = good_prices(task, groups, stretch(progress, first, second))
    near = prices.of_near_groups(_NEAR * prices.mean, _MOST_MEMBERS)
    into = _opened(near, stretch(progress, second, third))
    if (into < 0).all():  # at prices at which nothing is to gain
        return known
    at = np.where(into >= 0, near.problem.groups.node[into], -1)
    _, raised = lattice_above(task.classes)
    targets = targets_at(task.classes.nodes, at, raised, at < 0)
    trace = Trace(evaluated=known.trace.evaluated, steps=len(np.unique(into[into >= 0])))
    release = with_the_rest(task, targets, at < 0, trace)
    found = improved(release, task, stretch(progress, third, 1))
    return min(known, found, key=lambda each: total_loss(task, each))


def _opened(prices: Prices, progress: Progress) -> np.ndarray:
    """Per class the group that it goes to, -1 for none. Shape (E,)."""
    whole, slack, size = prices.problem, _SLACK * prices.mean, len(prices.price)
    groups, kept, n = whole.groups, whole.groups.kept.copy(), whole.counts.sum()
    into, best = np.full(size, -1), np.full(size, -1)
    who, values = np.zeros(size, dtype=np.int32), np.zeros(size)
    while True:
        surest = np.argsort(-prices.used, kind="stable")
        surest = surest[: int(np.ceil(_SHARE * prices.used.sum(dtype=np.float64)))]
        order = surest[prices.used[surest] > _LEAST]
        if len(order) == 0:
            return np.where(into < 0, best, into)
        taken = np.zeros(len(order), dtype=np.bool_)
        take(
            order, groups.begin, groups.members, kept / prices.scale, whole.counts,
            prices.price - whole.own / prices.scale, whole.k, slack, who, values, into, taken,
        )  # fmt: skip
        kept[order] = -whole.highest.max()  # nothing brings that much: it is not used again
        best_of(order[taken], groups.begin, groups.members, groups.kept, best)
        left = np.where(into < 0, whole.counts, 0)
        highest = np.where(best < 0, whole.highest, whole.own - groups.kept[best])
        progress(1 - left.sum() / n, f"{counted(int(left.sum()), 'record')} in no group yet")
        prices.used[order] = 0
        prices = prices.for_rest(left, highest, kept)
        for _ in range(2):  # all groups are looked at before the next are opened
            prices.raised()
