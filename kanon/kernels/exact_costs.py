"""Costs of merges in exact arithmetic, where whole numbers of 64 bits had to be rounded."""

import numpy as np

from kanon.kernels.compilation import loop
from kanon.kernels.digits import compare, sum_digits
from kanon.kernels.heap import is_before_by_ties


@loop
def compare_costs(work, rules, chosen, own, a, cost_a, b, cost_b):
    """The sign of the difference of two merges' costs; ``cost_a`` and ``cost_b`` are rounded."""
    apart = cost_a - cost_b
    if abs(apart) > rules.digits.slack:
        return 1 if apart > 0 else -1
    if rules.digits.slack == 0:
        return 0
    nodes, counts = work.nodes, work.counts
    weight_a = counts[a] if rules.weighted else np.int64(1)
    weight_b = counts[b] if rules.weighted else np.int64(1)
    return compare(
        rules.digits, rules.parents, nodes[chosen], own, weight_a, nodes[a],
        nodes[chosen], own, weight_b, nodes[b],
    )  # fmt: skip


@loop
def is_better(work, rules, chosen, own, a, cost_a, b, cost_b):
    """Whether merging with a costs less than with b, or as much and a comes first."""
    sign = compare_costs(work, rules, chosen, own, a, cost_a, b, cost_b)
    return sign < 0 or (sign == 0 and is_before_by_ties(a, b, work.ranks, work.nodes))


@loop
def compute_exact_cost(work, rules, chosen, candidate, own, cost):
    digits = rules.digits
    length = digits.of.shape[2]
    if length == 0:
        return float(cost)
    its = work.counts[candidate] if rules.weighted else np.int64(1)
    sum_digits(
        digits, rules.parents, work.nodes[chosen], own, work.nodes[candidate], its, digits.sums[0]
    )
    total = 0.0
    for place in range(length):
        total += digits.sums[0, place] * 2.0 ** (digits.bits * (place - length))
    return total
