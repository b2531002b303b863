"""Costs in exact arithmetic, where whole numbers of 64 bits had to be rounded."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import loop


class Digits(NamedTuple):
    """What tells rounded costs apart; see :class:`kanon.hierarchy.scaled_potentials.Potentials`."""

    slack: int  # costs that differ by more are in their exact order; 0 where costs are exact
    of: np.ndarray  # (m, N, d): the digits of every potential
    bits: int
    sums: np.ndarray  # (2, d): room for two costs


@loop
def sum_digits(digits, parents, mine, own, theirs, its, sums):
    """The digits of what raising two tuples to their meeting costs, without carries."""
    sums[:] = 0
    for j in range(len(mine)):
        met = lca(parents[j], mine[j], theirs[j])
        for place in range(len(sums)):
            sums[place] += own * (digits.of[j, mine[j], place] - digits.of[j, met, place])
            sums[place] += its * (digits.of[j, theirs[j], place] - digits.of[j, met, place])


@loop
def _compare_digits(sums, others, bits):
    """The sign of a difference of two numbers in digits, lowest digit first."""
    carry, rest = np.int64(0), np.int64(0)
    for place in range(len(sums)):
        carry += sums[place] - others[place]
        rest |= carry & ((np.int64(1) << bits) - 1)
        carry >>= bits
    if carry != 0:
        return 1 if carry > 0 else -1
    return 1 if rest != 0 else 0


@loop
def compare(
    digits, parents, mine, own, its, theirs, mine_other, own_other, its_other, theirs_other
):
    """The sign of the difference of two costs; 0 for irrational ones that cannot be told apart."""
    if digits.slack == 0 or digits.of.shape[2] == 0:
        return 0
    sum_digits(digits, parents, mine, own, theirs, its, digits.sums[0])
    sum_digits(digits, parents, mine_other, own_other, theirs_other, its_other, digits.sums[1])
    return _compare_digits(digits.sums[0], digits.sums[1], digits.bits)
