"""Costs in exact arithmetic, where whole numbers of 64 bits had to be rounded."""

from __future__ import annotations

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import loop
from kanon.kernels.heap import precedes


@loop
def _sum_digits(work, rules, chosen, candidate, own, sums):
    """The digits of what it costs to merge two classes, not carried over yet."""
    its = work.counts[candidate] if rules.weighted else np.int64(1)
    sums[:] = 0
    for j in range(work.nodes.shape[1]):
        mine, theirs, digits = work.nodes[chosen, j], work.nodes[candidate, j], rules.digits[j]
        met = lca(rules.parents[j], mine, theirs)
        for place in range(len(sums)):
            sums[place] += own * (digits[mine, place] - digits[met, place])
            sums[place] += its * (digits[theirs, place] - digits[met, place])


@loop
def _sign(sums, others, bits):
    """The sign of a difference of two numbers in digits, the lowest first."""
    carry, rest = np.int64(0), np.int64(0)
    for place in range(len(sums)):
        carry += sums[place] - others[place]
        rest |= carry & ((np.int64(1) << bits) - 1)
        carry >>= bits
    if carry != 0:
        return 1 if carry > 0 else -1
    return 1 if rest != 0 else 0


@loop
def compare_costs(work, rules, chosen, own, one, cost, other, its):
    """The sign of the difference of what it costs to merge ``chosen`` with one and with another.

    ``cost`` and ``its`` are these costs, rounded. Where potentials are irrational, costs that
    cannot be told from each other count as equal.
    """
    apart = cost - its
    if abs(apart) > rules.slack:
        return 1 if apart > 0 else -1
    if rules.slack == 0 or rules.digits.shape[2] == 0:
        return 0
    _sum_digits(work, rules, chosen, one, own, work.sums[0])
    _sum_digits(work, rules, chosen, other, own, work.sums[1])
    return _sign(work.sums[0], work.sums[1], rules.bits)


@loop
def is_better(work, rules, chosen, own, one, cost, other, its):
    """Whether a merge with one costs less than with another, or as much, and comes first."""
    sign = compare_costs(work, rules, chosen, own, one, cost, other, its)
    return sign < 0 or (sign == 0 and precedes(one, other, work.ranks, work.nodes))


@loop
def exact_cost(work, rules, chosen, candidate, own, cost):
    """What a merge costs, rounded once, up to a factor that is the same for all."""
    if rules.digits.shape[2] == 0:
        return float(cost)
    _sum_digits(work, rules, chosen, candidate, own, work.sums[0])
    found = 0.0
    for place in range(rules.digits.shape[2]):
        found += work.sums[0, place] * 2.0 ** (rules.bits * (place - rules.digits.shape[2]))
    return found
