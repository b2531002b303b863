"""How bad a merge is: the class that is made, or the table that has it."""

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import loop
from kanon.kernels.histograms import ln, n_log_n
from kanon.kernels.merging_state import (
    COVERED,
    LEAST_PRODUCT,
    LESS,
    LOOKS_AT_K,
    LOOKS_AT_L,
    MERGES,
    MORE,
    NEAR,
    SEARCHED,
    SLACK,
    TOLERANCE,
)
from kanon.kernels.prefix_tree import find_class


@loop
def mark_counts(view, c, sign):
    histograms = view.histograms
    start = histograms.start[c]
    for entry in range(start, start + histograms.length[c]):
        view.marks[histograms.value[entry]] += sign * histograms.tally[entry]


@loop
def _sum_added_logs(logs, value, tally, marks, first, last):
    grown = 0.0
    for entry in range(first, last):
        mine = marks[value[entry]]
        if mine > 0:
            its = tally[entry]
            grown += n_log_n(logs, mine + its) - n_log_n(logs, mine) - n_log_n(logs, its)
    return grown


@loop
def _sum_added_excess(total, records, value, tally, marks, first, last, size):
    """How much the excess over the table's shares, times n, grows as a class joins the marks."""
    grown = np.int64(0)
    for entry in range(first, last):
        due = total[value[entry]] * size
        mine = marks[value[entry]] * records
        grown += max(mine + tally[entry] * records - due, 0) - max(mine - due, 0)
    return grown


@loop
def _sum_excess(total, records, value, tally, first, last, size):
    above = np.int64(0)
    for entry in range(first, last):
        above += max(tally[entry] * records - total[value[entry]] * size, 0)
    return above


@loop
def measure_badness_of_two(
    at, logs, records, total, start, length, value, tally, marks, a, b, size, mass
):
    """How bad a merge is. Takes arrays, as it is slow to pass the tuples that hold them."""
    if at == LOOKS_AT_K:
        return -float(size)
    first, last = start[b], start[b] + length[b]
    if at == LOOKS_AT_L:
        mass += _sum_added_logs(logs, value, tally, marks, first, last)
        return mass / size - ln(logs, size)
    own, its = start[a], start[a] + length[a]
    above = _sum_excess(total, records, value, tally, own, its, size)
    above += _sum_added_excess(total, records, value, tally, marks, first, last, size)
    return (2 * above) / (records * size)


@loop
def measure_merged_class(view, work, chosen, other, third):
    logs, records, total, start, length, value, tally = view.histograms
    marks, at = view.marks, view.at
    size = work.counts[chosen] + work.counts[other]
    mass = view.mass[chosen] + view.mass[other]
    if third < 0:
        return measure_badness_of_two(
            at, logs, records, total, start, length, value, tally, marks, chosen, other, size, mass
        )  # fmt: skip
    size += work.counts[third]
    if at == LOOKS_AT_K:
        return -float(size)
    first, last = start[other], start[other] + length[other]
    after, end = start[third], start[third] + length[third]
    if at == LOOKS_AT_L:
        mass += view.mass[third] + _sum_added_logs(logs, value, tally, marks, first, last)
        mark_counts(view, other, MORE)
        mass += _sum_added_logs(logs, value, tally, marks, after, end)
        mark_counts(view, other, LESS)
        return mass / size - ln(logs, size)
    own, its = start[chosen], start[chosen] + length[chosen]
    above = _sum_excess(total, records, value, tally, own, its, size)
    above += _sum_added_excess(total, records, value, tally, marks, first, last, size)
    mark_counts(view, other, MORE)
    above += _sum_added_excess(total, records, value, tally, marks, after, end, size)
    mark_counts(view, other, LESS)
    return (2 * above) / (records * size)


@loop
def bound_badness_of_two(
    at, logs, shares, size, mass, reach, mask, other_size, other_mass, other_reach, other_mask
):
    """A lower bound of how bad a merge of two classes is, whichever values they share."""
    both = size + other_size
    if at == LOOKS_AT_L:
        return (mass + other_mass) / both - ln(logs, both) - SLACK
    covered = min(reach + other_reach, shares[mask | other_mask])
    return max(abs(mass - other_mass) / both, 2.0 * (1.0 - covered)) - SLACK


@loop
def find_third_class(view, work, rules, chosen, candidate):
    """The class that already has the merged tuple of a candidate; -1 if none."""
    stamp = work.state[MERGES] + 1
    if view.state[COVERED] == stamp:
        return view.third[candidate] if view.stamp[candidate] == stamp else -1
    nodes = work.nodes
    met = nodes[nodes.shape[0] // 2 + work.state[MERGES]]  # where the merged tuple will stand
    for j in range(nodes.shape[1]):
        met[j] = lca(rules.parents[j], nodes[chosen, j], nodes[candidate, j])
    third = find_class(work, SEARCHED, met, rules.order)
    return -1 if third == candidate else third


@loop
def get_worst_left(view, candidate, third):
    for place in range(3):
        end = view.ends[place]
        if end >= 0 and end != candidate and end != third:
            return view.ends_bad[place]
    return -np.inf


@loop
def measure_with_third(view, work, chosen, candidate, third):
    bad = measure_merged_class(view, work, chosen, candidate, third)
    return max(bad, get_worst_left(view, candidate, third)) if view.whole else bad


@loop
def measure_badness(view, work, rules, chosen, candidate):
    third = find_third_class(view, work, rules, chosen, candidate)
    return measure_with_third(view, work, chosen, candidate, third)


@loop
def is_neutral(view, chosen, by, bar):
    """Whether no merge of ``chosen`` changes how bad the table's worst class is."""
    if not view.whole:
        return False
    if by == LEAST_PRODUCT:  # of those that do not take in all of the worst classes
        return view.bad[chosen] <= view.ends_bad[0]
    fits = view.at == LOOKS_AT_K or view.bad[chosen] <= bar
    return fits and view.ends_bad[0] <= bar


@loop
def is_no_worse(view, work, rules, chosen, candidate, bar):
    third = find_third_class(view, work, rules, chosen, candidate)
    if view.whole and get_worst_left(view, candidate, third) > bar:
        return False
    return measure_merged_class(view, work, chosen, candidate, third) <= bar


@loop
def compute_factor(at, bad):
    """What a cost is multiplied by: 1 / l, or t."""
    return np.exp(bad) if at == LOOKS_AT_L else max(bad, 0.0)


@loop
def is_near_product(candidate_product, product, slack):
    """Whether a product may be the least, or equal to it; factors are at most 2."""
    return candidate_product <= product * (1 + TOLERANCE) + 2.0 * slack


@loop
def compute_highest_cost(product, factor, slack):
    if factor <= 0 or product == np.inf:
        return np.inf
    return (product * (1 + 2 * TOLERANCE) + 2.0 * slack) / factor


@loop
def add_candidate(view, candidate, value):
    place = view.state[NEAR]
    view.near[place] = candidate
    view.near_value[place] = value
    view.state[NEAR] += 1
