"""Which class goes to which group at least loss: a mixed integer program, made small by prices.

For every group G a binary y_G says whether it is used, and for every class c that may go to it a
binary x_cG whether it does::

    minimise    sum of n_c (own_c - kept_G) x_cG
    subject to  sum over groups of x_cG = 1        for every class c
                x_cG <= y_G                        for every class c and group G that holds it
                sum over classes of n_c x_cG >= k y_G          for every group G

*Prices leave most of it out.* They prove a lower bound (see :mod:`kanon.algorithms.prices`), and as
much as G is worth less if it has to be used and to take c, the bound of all releases that do so is
higher. Where that reaches the loss of a release that is known, x_cG need not be looked at.
"""

from dataclasses import dataclass

import numpy as np

from kanon.algorithms.prices import Assignment, Prices

_OPTIMAL, _INFEASIBLE = 0, 2  # what the solver says if it is done


@dataclass(frozen=True, eq=False)
class Places:
    who: np.ndarray  # the classes, group after group
    group: np.ndarray  # for each the place of its group among those that are left
    groups: np.ndarray  # the groups that are left, as numbers of the problem's


@dataclass(frozen=True, eq=False)
class Solved:
    into: np.ndarray | None  # per class the group of the problem that it goes to
    bound: float  # what no choice of these places loses less than
    done: bool  # whether nothing better is left to be found


def places_below(prices: Prices, loss: float) -> Places:
    problem, gain = prices.problem, prices.price * prices.scale - prices.problem.own
    groups, counts = problem.groups, problem.counts
    room = (1 + 1e-9) * loss - prices.bound()  # more, for what rounding does to the bound
    who, sizes = [], np.zeros(len(groups.kept), dtype=np.int64)
    for group, kept in enumerate(groups.kept):
        members = groups.members[groups.begin[group] : groups.begin[group + 1]]
        rises = rise_of_bound(gain[members] + kept, counts[members], problem.k)
        left = members[rises < room]
        if counts[left].sum() >= problem.k:
            who.append(left)
            sizes[group] = len(left)
    used = np.flatnonzero(sizes)
    places = np.concatenate([np.zeros(0, dtype=np.int32), *who])
    return Places(places, np.repeat(np.arange(len(used)), sizes[used]), used)


def rise_of_bound(brings: np.ndarray, counts: np.ndarray, k: int) -> np.ndarray:
    """By how much the bound rises if a group has to be used and to take one of its classes."""
    whole = (brings * counts).astype(np.float64)
    good = brings > 0
    most, lacking = whole[good].sum(), max(0, k - int(counts[good].sum()))
    others = np.flatnonzero(~good)
    others = others[np.argsort(-brings[others], kind="stable")]
    records = np.concatenate([[0], np.cumsum(counts[others])])
    costs = np.concatenate([[0.0], np.cumsum(-whole[others])])
    worth = most - np.interp(lacking, records, costs)
    with_it = np.full(len(brings), worth)
    dear = others[records[1:] > lacking]  # the cheaper ones are taken anyway
    with_it[dear] = (
        most + whole[dear] - np.interp(np.maximum(lacking - counts[dear], 0), records, costs)
    )
    return max(worth, 0.0) - np.minimum(with_it, worth)


def least(problem: Assignment, places: Places, seconds: float) -> Solved:
    """Solve the program for some places with HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    counts, who, group = problem.counts, places.who, places.group
    size, many, few = len(counts), len(who), len(places.groups)
    if len(np.unique(who)) < size:
        return Solved(None, np.inf, done=True)
    lost = problem.own[who] - problem.groups.kept[places.groups][group]
    losses = (counts[who] * lost).astype(np.float64)
    unit = max(losses.max(), 1.0) / 1e4  # as the solver counts: it ends at a gap of a millionth
    x, y, ones = np.arange(many), many + np.arange(few), np.ones(many)
    rows = np.concatenate([who, size + x, size + x, size + many + group, size + many + y - many])
    columns = np.concatenate([x, x, many + group, x, y])
    values = np.concatenate([ones, -ones, ones, counts[who], np.full(few, -problem.k)])
    matrix = csr_array((values, (rows, columns)), shape=(size + many + few, many + few))
    found = milp(
        np.concatenate([losses / unit, np.zeros(few)]),
        integrality=np.ones(many + few),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(
            matrix,
            np.repeat([1.0, 0.0], [size, many + few]),
            np.repeat([1.0, np.inf], [size, many + few]),
        ),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    into = None
    if found.x is not None:
        taken = found.x[:many] > 0.5
        into = np.empty(size, dtype=np.int64)
        into[who[taken]] = places.groups[group[taken]]
    bound = np.inf if found.status == _INFEASIBLE else (found.mip_dual_bound or 0.0) * unit
    return Solved(into, bound, found.status in (_OPTIMAL, _INFEASIBLE))
