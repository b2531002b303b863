"""The partners with the least product of cost and badness."""

import numpy as np

from kanon.kernels.ancestors import is_ancestor_or_self
from kanon.kernels.badness import (
    add_candidate,
    bound_badness_of_two,
    compute_factor,
    compute_highest_cost,
    is_near_product,
    measure_badness,
    measure_badness_of_two,
    measure_merged_class,
)
from kanon.kernels.compilation import loop
from kanon.kernels.histograms import ln
from kanon.kernels.merging_state import COVERED, GROUPS, LOOKS_AT_L, MARKED, NEAR
from kanon.kernels.partner_badness import fill_bounds, next_unmarked
from kanon.kernels.partner_search import merge_cost, search_partners, sum_cost_up_to
from kanon.kernels.third_classes import mark_meeting

_STEPS, _SAMPLED = 24, 16
"""How often a factor is lowered at most until few candidates have a lower one; one in so many is
asked."""


@loop
def _note_product(view, work, rules, chosen, candidate, own, product):
    cost = merge_cost(work, rules, chosen, candidate, own)
    candidate_product = cost * compute_factor(
        view.at, measure_badness(view, work, rules, chosen, candidate)
    )
    if is_near_product(candidate_product, product, rules.digits.slack):
        add_candidate(view, candidate, candidate_product)
    return min(product, candidate_product)


@loop
def add_low_products(view, work, rules, root, chosen, own, least):
    """Note those of low factors and those that meet a third class; the factor that others reach."""
    at, groups, state = view.at, view.groups, view.state
    bounds, counts, stamp = groups.bounds, work.counts, state[COVERED]
    logs, records, total, start, length, value, tally = view.histograms
    masses, reaches, masks, marks = view.mass, view.reach, view.mask, view.marks
    marked, thirds, shares = view.marked, view.third, view.shares
    size, mass = counts[chosen], masses[chosen]
    cheapest = search_partners(work, rules, None, root, chosen, own, least, rules.by, 0.0)
    fill_bounds(view, work, chosen)
    usual = measure_badness(view, work, rules, chosen, cheapest)
    product = merge_cost(work, rules, chosen, cheapest, own) * compute_factor(at, usual)
    add_candidate(view, cheapest, product)
    number = state[GROUPS]
    # Downwards from how bad the merge with the cheapest class is, until about a tenth is below.
    bar = usual
    for _ in range(_STEPS):
        bar = bar - 0.5 * np.log(2.0) if at == LOOKS_AT_L else bar * np.sqrt(0.5)
        below = 0
        for place in range(0, number, _SAMPLED):
            below += bounds[place] < bar
        if below * _SAMPLED <= 16 + number // 10:
            break
    for place in range(number):
        if bounds[place] >= bar:
            continue
        most = compute_highest_cost(product, compute_factor(at, bounds[place]), rules.digits.slack)
        bad = -np.inf  # not measured yet
        candidate = next_unmarked(view, groups.head[groups.live[place]], stamp)
        while candidate >= 0:
            cost = sum_cost_up_to(work, rules, chosen, candidate, own, least, most)
            if cost <= most:
                if bad == -np.inf:
                    bad = measure_badness_of_two(
                        at, logs, records, total, start, length, value, tally, marks,
                        chosen, candidate, size + counts[candidate], mass + masses[candidate],
                    )  # fmt: skip
                candidate_product = cost * compute_factor(at, bad)
                if is_near_product(candidate_product, product, rules.digits.slack):
                    add_candidate(view, candidate, candidate_product)
                    product = min(product, candidate_product)
                most = compute_highest_cost(product, compute_factor(at, bad), rules.digits.slack)
            candidate = next_unmarked(view, groups.following[candidate], stamp)
    third, both, joint, reach, mask = -1, size, mass, 0.0, masks[chosen]
    for place in range(state[MARKED]):
        candidate = marked[place]
        if thirds[candidate] != third:  # it is often the same as the one before
            third = thirds[candidate]
            both = size + counts[third]
            bad = measure_badness_of_two(
                at, logs, records, total, start, length, value, tally, marks,
                chosen, third, both, mass + masses[third],
            )  # fmt: skip
            joint = both * (bad + ln(logs, both) if at == LOOKS_AT_L else bad)
            reach, mask = reaches[chosen] + reaches[third], masks[chosen] | masks[third]
        bad = bound_badness_of_two(
            at, logs, shares, both, joint, reach, mask, counts[candidate],
            masses[candidate], reaches[candidate], masks[candidate],
        )  # fmt: skip
        most = compute_highest_cost(product, compute_factor(at, bad), rules.digits.slack)
        cost = sum_cost_up_to(work, rules, chosen, candidate, own, least, most)
        if cost > most:
            continue
        candidate_product = cost * compute_factor(
            at, measure_merged_class(view, work, chosen, candidate, third)
        )
        if is_near_product(candidate_product, product, rules.digits.slack):
            add_candidate(view, candidate, candidate_product)
            product = min(product, candidate_product)
    return compute_factor(at, bar)


@loop
def get_least_value(view):
    least = np.inf
    for place in range(view.state[NEAR]):
        least = min(least, view.near_value[place])
    return least


@loop
def add_helping_products(view, work, rules, chosen, own, slack):
    """Note the near candidates that take in all worst classes: a search bounds them too high."""
    ends, ends_bad = view.ends, view.ends_bad
    if not ends_bad[2] < ends_bad[0] - slack:
        return
    product = get_least_value(view)
    for end in range(2):
        candidate = ends[end]
        if candidate < 0:
            continue
        # Without it, and at best without the other one, too: the third is the worst that is left.
        cost = merge_cost(work, rules, chosen, candidate, own)
        if is_near_product(
            cost * compute_factor(view.at, ends_bad[2]), product, rules.digits.slack
        ):
            product = _note_product(view, work, rules, chosen, candidate, own, product)
    worst = ends[0]
    if not ends_bad[1] < ends_bad[0] - slack:
        return
    for j in range(work.nodes.shape[1]):
        if not is_ancestor_or_self(rules.parents[j], work.nodes[worst, j], work.nodes[chosen, j]):
            return
    view.state[MARKED] = 0
    mark_meeting(view, work, rules, chosen, worst)
    for place in range(view.state[MARKED]):
        candidate = view.marked[place]
        product = _note_product(view, work, rules, chosen, candidate, own, product)
