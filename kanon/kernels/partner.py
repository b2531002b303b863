"""The partner of a class, as the strategy says."""

import numpy as np

from kanon.kernels.badness import compute_factor, mark_counts, measure_badness
from kanon.kernels.compilation import loop
from kanon.kernels.exact_costs import compute_exact_cost, is_better
from kanon.kernels.heap import is_before_by_ties
from kanon.kernels.merging_state import (
    CHEAPEST_THEN_LEAST_BAD,
    LEAST_BAD_THEN_CHEAPEST,
    LEAST_PRODUCT,
    LESS,
    LOOKS_AT_L,
    MORE,
    NEAR,
    TOLERANCE,
)
from kanon.kernels.partner_badness import (
    add_helpers,
    add_least_bad,
    add_least_bad_for_table,
    find_first_no_worse,
)
from kanon.kernels.partner_product import add_helping_products, add_low_products, get_least_value
from kanon.kernels.partner_search import merge_cost, search_partners
from kanon.kernels.third_classes import mark_thirds
from kanon.kernels.worst_classes import find_worst_classes


@loop
def _choose_near(view, work, rules, chosen, own, most):
    by_cost = rules.by == LEAST_BAD_THEN_CHEAPEST
    best, least = -1, np.int64(0)
    for place in range(view.state[NEAR]):
        if view.near_value[place] > most:
            continue
        candidate = view.near[place]
        cost = merge_cost(work, rules, chosen, candidate, own) if by_cost else np.int64(0)
        if best < 0 or (
            is_better(work, rules, chosen, own, candidate, cost, best, least)
            if by_cost
            else is_before_by_ties(candidate, best, work.ranks, work.nodes)
        ):
            best, least = candidate, cost
    return best


@loop
def _find_partner_by_product(work, rules, view, root, chosen, own, least, slack):
    view.state[NEAR] = 0
    if view.whole:
        bar = compute_factor(view.at, view.ends_bad[0])
        search_partners(work, rules, view, root, chosen, own, least, rules.by, bar)
        add_helping_products(view, work, rules, chosen, own, slack)
    else:
        mark_thirds(view, work, rules, chosen)
        bar = add_low_products(view, work, rules, root, chosen, own, least)
        search_partners(work, rules, view, root, chosen, own, least, rules.by, bar)
    if rules.digits.slack > 0:
        for place in range(view.state[NEAR]):
            candidate = view.near[place]
            cost = merge_cost(work, rules, chosen, candidate, own)
            factor = compute_factor(view.at, measure_badness(view, work, rules, chosen, candidate))
            view.near_value[place] = factor * compute_exact_cost(
                work, rules, chosen, candidate, own, cost
            )
    most = get_least_value(view) * (1 + TOLERANCE)
    if rules.digits.of.shape[2] == 0:
        most += 2.0 * rules.digits.slack
    return _choose_near(view, work, rules, chosen, own, most)


@loop
def _find_partner_by_badness(work, rules, view, root, chosen, own, least, slack):
    by = rules.by
    if view.whole:
        bar = view.ends_bad[0]
        best_helped = add_helpers(view, work, rules, chosen, slack)
        if best_helped < bar - slack:
            return _choose_near(view, work, rules, chosen, own, best_helped + slack)
        bar = min(bar, best_helped) + slack
        view.state[NEAR] = 0
        if by == LEAST_BAD_THEN_CHEAPEST:
            best = search_partners(work, rules, view, root, chosen, own, least, by, bar)
        else:
            best = find_first_no_worse(view, work, rules, chosen, bar)
        if best >= 0:
            return best
        lowest = add_least_bad_for_table(view, work, rules, chosen, slack)
    else:
        mark_thirds(view, work, rules, chosen)
        lowest = add_least_bad(view, work, rules, chosen, slack)
    return _choose_near(view, work, rules, chosen, own, lowest + slack)


@loop
def _find_partner_by_cost(work, rules, view, root, chosen, own, least, slack):
    """The class of least cost; of several, the one whose merge is least bad."""
    view.state[NEAR] = 0
    search_partners(work, rules, view, root, chosen, own, least, rules.by, 0.0)
    if view.state[NEAR] == 1:
        return view.near[0]
    for place in range(view.state[NEAR]):
        bad = measure_badness(view, work, rules, chosen, view.near[place])
        view.near_value[place] = bad
    most = get_least_value(view) + slack
    return _choose_near(view, work, rules, chosen, own, most)


@loop
def find_partner(work, rules, view, root, chosen, own, least):
    by = rules.by
    if view is None:
        return search_partners(work, rules, None, root, chosen, own, least, by, 0.0)
    slack = TOLERANCE if view.at == LOOKS_AT_L else 0.0
    mark_counts(view, chosen, MORE)
    if view.whole:
        find_worst_classes(view)
    if by == CHEAPEST_THEN_LEAST_BAD:
        best = _find_partner_by_cost(work, rules, view, root, chosen, own, least, slack)
    elif by == LEAST_PRODUCT:
        best = _find_partner_by_product(work, rules, view, root, chosen, own, least, slack)
    else:
        best = _find_partner_by_badness(work, rules, view, root, chosen, own, least, slack)
    mark_counts(view, chosen, LESS)
    return best
