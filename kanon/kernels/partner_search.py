"""The cost of merges, and the search of the prefix tree for partners by what they cost.

The cost of a merge is a sum over quasi-identifiers, so what a prefix of the path costs is a lower
bound for every class below it, and a branch that costs more than the best partner so far is not
entered.
"""

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.badness import (
    add_candidate,
    bound_badness_of_two,
    compute_factor,
    compute_highest_cost,
    is_near_product,
    is_neutral,
    is_no_worse,
    measure_badness,
    measure_badness_of_two,
)
from kanon.kernels.compilation import loop
from kanon.kernels.exact_costs import compare_costs, is_better
from kanon.kernels.merging_state import (
    CHEAPEST_THEN_LEAST_BAD,
    LEAST_BAD_THEN_CHEAPEST,
    LEAST_PRODUCT,
    MERGES,
    NEAR,
    NONE,
)
from kanon.kernels.prefetching import prefetch
from kanon.kernels.prefix_tree import get_class


@loop
def _multiply_weight(size, weight):
    return size * weight if weight < NONE else np.int64(NONE)


@loop
def _lower_limit(limit, cost):
    return np.int64(cost) if cost < limit else limit


@loop
def compute_meeting_cost(parent, depth, mine, value, own, least):
    met = lca(parent, mine, value)
    down = depth[value] - depth[met]
    return own * (depth[mine] - depth[met]) + least * down, down


@loop
def search_partners(work, rules, view, root, chosen, own, least, by, bar):
    """Look for partners of ``chosen`` below a root, by what they cost; the class if one, else -1.

    A class y of size s costs ``own * up + s * down`` in each quasi-identifier, where ``up`` raises
    the chosen class to the LCA and ``down`` raises y. No class is smaller than ``least``, so with
    it in place of s the sum along a prefix is a lower bound for all classes below; branches that
    only reach the limit are entered, as they may hold an equal class that precedes the best.
    Where a prefix and the least that any other value than the own one adds cost more, none of the
    other values is looked at.

    By ``by``: without a view the class of least cost, by ties. ``CHEAPEST_THEN_LEAST_BAD``: all of
    least cost go near the best, with how bad the merge would be if there are several.
    ``LEAST_BAD_THEN_CHEAPEST``: the class of least cost, by ties, no worse than ``bar``.
    ``LEAST_PRODUCT``: all of about the least product of cost and badness go near the best; no class
    has a factor below ``bar``.
    """
    tree, nodes, order = work.tree, work.nodes, rules.order
    parents, depths = rules.parents, rules.depths
    # Per value met by this class: computed once, when needed.
    bound_of, down_of, known = work.bound, work.down, work.known
    m = len(order)
    stamp = work.state[MERGES] + 1
    best = np.int64(-1)
    lowest = np.int64(0)  # what the best costs
    limit = np.int64(2**63 - 1)
    slack = rules.digits.slack
    if view is not None:
        logs, records, total, start, length, value_of, tally = view.histograms
        at, whole, counts, marks = view.at, view.whole, work.counts, view.marks
        masses, reaches, masks, shares = view.mass, view.reach, view.mask, view.shares
        stamps = view.stamp
        size, mass, reach, mask = counts[chosen], masses[chosen], reaches[chosen], masks[chosen]
        # Whether every merge leaves the table as bad as its worst class is: nothing to be computed.
        plain = is_neutral(view, chosen, by, bar)
        product = np.inf
        if by == LEAST_PRODUCT:
            for place in range(view.state[NEAR]):
                product = min(product, view.near_value[place])
            limit = _lower_limit(limit, compute_highest_cost(product, bar, slack))
    other = work.path[0]  # per depth the least that another value adds
    for d in range(m):
        j = order[d]
        mine = nodes[chosen, j]
        other[d] = _multiply_weight(least, rules.nearest[j, mine])
        if parents[j, mine] >= 0:
            other[d] = min(other[d], own * (depths[j, mine] - depths[j, parents[j, mine]]))
    bound, down, branch, level = work.branches
    bound[0] = down[0] = level[0] = 0
    branch[0] = root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        lower, raised, entry, depth = bound[waiting], down[waiting], branch[waiting], level[waiting]
        if lower > limit:
            continue
        candidate = get_class(tree, entry)
        if candidate < 0:
            j = order[depth]
            mine = nodes[chosen, j]
            others = lower + other[depth] <= limit
            equal = np.int64(-1)  # the child that costs nothing: looked at before the others
            child = np.int64(tree.child[entry])
            while child >= 0 and (others or equal < 0):
                value = tree.value[child]
                if value == mine:
                    equal = child
                elif others:
                    if known[j, value] != stamp:
                        known[j, value] = stamp
                        bound_of[j, value], down_of[j, value] = compute_meeting_cost(
                            parents[j], depths[j], mine, value, own, least
                        )
                    if lower + bound_of[j, value] <= limit:
                        bound[waiting] = lower + bound_of[j, value]
                        down[waiting] = raised + down_of[j, value]
                        branch[waiting], level[waiting] = child, depth + 1
                        waiting += 1
                        prefetch(tree.child, np.int64(tree.child[child]))
                child = np.int64(tree.following[child])
            if equal >= 0:
                bound[waiting], down[waiting] = lower, raised
                branch[waiting], level[waiting] = equal, depth + 1
                waiting += 1
            continue
        more = work.counts[candidate] - least if rules.weighted else np.int64(0)
        cost = lower + more * raised
        while depth < m and cost <= limit:  # the path has ended: the rest is read off its tuple
            j = order[depth]
            value = nodes[candidate, j]
            if known[j, value] != stamp:
                known[j, value] = stamp
                bound_of[j, value], down_of[j, value] = compute_meeting_cost(
                    parents[j], depths[j], nodes[chosen, j], value, own, least
                )
            cost += bound_of[j, value] + more * down_of[j, value]
            depth += 1
        if cost > limit:
            continue
        if view is None:
            if best < 0 or is_better(work, rules, chosen, own, candidate, cost, best, lowest):
                best, lowest = candidate, cost
                limit = min(limit, cost + slack)
        elif by == LEAST_BAD_THEN_CHEAPEST:
            if best >= 0 and not is_better(work, rules, chosen, own, candidate, cost, best, lowest):
                continue
            if not (plain or is_no_worse(view, work, rules, chosen, candidate, bar)):
                continue
            best, lowest = candidate, cost
            limit = min(limit, cost + slack)
        elif by == CHEAPEST_THEN_LEAST_BAD:
            if view.state[NEAR] > 0:
                sign = compare_costs(
                    work, rules, chosen, own, candidate, cost, view.near[0], lowest
                )
                if sign > 0:
                    continue
                if sign < 0:
                    view.state[NEAR] = 0
            if view.state[NEAR] == 0:
                lowest = cost
                limit = min(limit, cost + slack)
            add_candidate(view, candidate, 0.0)
        elif stamps[candidate] != stamp:  # else it was noted before
            candidate_product = cost * bar
            if not plain:
                if not whole:
                    # Its product is at least cost times the bound on its factor.
                    bad = bound_badness_of_two(
                        at, logs, shares, size, mass, reach, mask, counts[candidate],
                        masses[candidate], reaches[candidate], masks[candidate],
                    )  # fmt: skip
                    if not is_near_product(cost * compute_factor(at, bad), product, slack):
                        continue
                    bad = measure_badness_of_two(
                        at, logs, records, total, start, length, value_of, tally, marks,
                        chosen, candidate, size + counts[candidate], mass + masses[candidate],
                    )  # fmt: skip
                else:
                    bad = measure_badness(view, work, rules, chosen, candidate)
                candidate_product = cost * compute_factor(at, bad)
            if is_near_product(candidate_product, product, slack):
                add_candidate(view, candidate, candidate_product)
            if candidate_product < product:
                product = candidate_product
                limit = _lower_limit(np.int64(2**63 - 1), compute_highest_cost(product, bar, slack))
    return best


@loop
def merge_cost(work, rules, chosen, candidate, own):
    its = work.counts[candidate] if rules.weighted else np.int64(1)
    cost = np.int64(0)
    for j in range(work.nodes.shape[1]):
        mine, theirs = work.nodes[chosen, j], work.nodes[candidate, j]
        cost += compute_meeting_cost(rules.parents[j], rules.depths[j], mine, theirs, own, its)[0]
    return cost


@loop
def sum_cost_up_to(work, rules, chosen, candidate, own, least, most):
    """What it costs to merge two classes; or, where it is more than ``most``, some more than it."""
    stamp, known = work.state[MERGES] + 1, work.known
    more = work.counts[candidate] - least if rules.weighted else np.int64(0)
    cost = np.int64(0)
    for j in rules.order:
        value = work.nodes[candidate, j]
        if known[j, value] != stamp:
            known[j, value] = stamp
            work.bound[j, value], work.down[j, value] = compute_meeting_cost(
                rules.parents[j], rules.depths[j], work.nodes[chosen, j], value, own, least
            )
        cost += work.bound[j, value] + more * work.down[j, value]
        if cost > most:
            break
    return cost
