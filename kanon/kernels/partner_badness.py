"""The partners whose merge is least bad, whatever they cost."""

import numpy as np

from kanon.kernels.ancestors import is_ancestor_or_self
from kanon.kernels.badness import (
    add_candidate,
    find_third_class,
    get_worst_left,
    is_neutral,
    is_no_worse,
    measure_badness,
    measure_badness_of_two,
    measure_merged_class,
    measure_with_third,
)
from kanon.kernels.compilation import loop
from kanon.kernels.heap import add_to_heap, take_from_heap
from kanon.kernels.histograms import ln
from kanon.kernels.merging_state import (
    FIRST,
    GROUPS,
    LEAST_BAD,
    LOOKS_AT_K,
    LOOKS_AT_L,
    MARKED,
    MERGES,
    NEAR,
    SLACK,
)
from kanon.kernels.third_classes import mark_meeting


@loop
def _note_helper(view, work, chosen, candidate, third, slack):
    stamp = work.state[MERGES] + 1
    left = get_worst_left(view, candidate, third)
    if not left < view.ends_bad[0] - slack:
        return np.inf
    view.stamp[candidate] = stamp
    bad = measure_with_third(view, work, chosen, candidate, third)
    add_candidate(view, candidate, bad)
    return bad


@loop
def add_helpers(view, work, rules, chosen, slack):
    """Add candidates that merge with all worst classes; how bad the table is at best, or inf."""
    state, ends, ends_bad = view.state, view.ends, view.ends_bad
    state[NEAR] = state[MARKED] = 0
    least = np.inf
    if not ends_bad[2] < ends_bad[0] - slack:
        return least
    worst = ends[0]
    alone = ends_bad[1] < ends_bad[0] - slack
    for j in range(work.nodes.shape[1]):
        above, below = work.nodes[worst, j], work.nodes[chosen, j]
        alone = alone and is_ancestor_or_self(rules.parents[j], above, below)
    if alone:
        mark_meeting(view, work, rules, chosen, worst)
        for place in range(state[MARKED]):
            candidate = view.marked[place]
            bad = _note_helper(view, work, chosen, candidate, worst, slack)
            least = min(least, bad)
    for end in range(2):
        candidate = ends[end]
        if candidate >= 0 and view.stamp[candidate] != work.state[MERGES] + 1:
            third = find_third_class(view, work, rules, chosen, candidate)
            bad = _note_helper(view, work, chosen, candidate, third, slack)
            least = min(least, bad)
    return least


@loop
def fill_bounds(view, work, chosen):
    at, logs, groups = view.at, view.histograms.logs, view.groups
    sizes, masses, reaches, bounds = groups.sizes, groups.masses, groups.reaches, groups.bounds
    masks, shares, mask = groups.masks, view.shares, view.mask[chosen]
    size, mass, reach = work.counts[chosen], view.mass[chosen], view.reach[chosen]
    number = view.state[GROUPS]
    if at == LOOKS_AT_L:
        for place in range(number):
            both = size + sizes[place]
            bounds[place] = (mass + masses[place]) / both - ln(logs, both) - SLACK
    elif at == LOOKS_AT_K:
        for place in range(number):
            bounds[place] = -float(size + sizes[place])
    else:
        for place in range(number):
            covered = min(reach + reaches[place], shares[mask | masks[place]])
            apart = abs(mass - masses[place]) / (size + sizes[place])
            bounds[place] = max(apart, 2.0 * (1.0 - covered)) - SLACK
    first = 0
    for place in range(number):
        if bounds[place] < bounds[first]:
            first = place
    return first


@loop
def next_unmarked(view, candidate, stamp):
    """The class, or the next of its group, that is not marked; -1 if none."""
    while candidate >= 0 and view.stamp[candidate] == stamp:
        candidate = view.groups.following[candidate]
    return candidate


@loop
def _measure_meeting(view, work, chosen, candidate):
    groups, third = view.groups, view.third[candidate]
    group, met = groups.of[candidate], (work.state[MERGES] + 1) * len(work.counts) + third
    if groups.met[group] != met:
        groups.met[group] = met
        groups.met_bad[group] = measure_merged_class(view, work, chosen, candidate, third)
    return groups.met_bad[group]


@loop
def add_least_bad(view, work, rules, chosen, slack):
    """Add all candidates whose merge is about the least bad; returns how bad that is."""
    logs, records, total, start, length, value, tally = view.histograms
    groups, state, marks, at = view.groups, view.state, view.marks, view.at
    bounds, alike, alike_value = groups.bounds, groups.alike, groups.alike_value
    counts, masses, stamp = work.counts, view.mass, work.state[MERGES] + 1
    size, mass = counts[chosen], masses[chosen]
    first = groups.live[fill_bounds(view, work, chosen)]
    best = measure_badness(view, work, rules, chosen, groups.head[first])
    state[NEAR] = 0
    for place in range(state[MARKED]):
        candidate = view.marked[place]
        bad = _measure_meeting(view, work, chosen, candidate)
        if bad < best - slack:
            state[NEAR] = 0
        best = min(best, bad)
        if bad <= best + slack:
            add_candidate(view, candidate, bad)
    noted = 0
    for place in range(state[GROUPS]):
        if bounds[place] > best + slack:
            continue
        group = groups.live[place]
        candidate = next_unmarked(view, groups.head[group], stamp)
        if candidate < 0:
            continue
        bad = measure_badness_of_two(
            at, logs, records, total, start, length, value, tally, marks,
            chosen, candidate, size + counts[candidate], mass + masses[candidate],
        )  # fmt: skip
        if bad < best - slack:
            noted = 0
        best = min(best, bad)
        if bad <= best + slack:
            alike[noted], alike_value[noted] = group, bad
            noted += 1
    for place in range(noted):
        candidate = next_unmarked(view, groups.head[alike[place]], stamp)
        while candidate >= 0:
            add_candidate(view, candidate, alike_value[place])
            candidate = next_unmarked(view, groups.following[candidate], stamp)
    return best


@loop
def add_least_bad_for_table(view, work, rules, chosen, slack):
    """Add all candidates whose merge leaves the table least bad; returns how bad that is."""
    groups, state = view.groups, view.state
    best = np.inf
    state[NEAR] = 0
    for place in range(state[GROUPS]):
        candidate = groups.head[groups.live[place]]
        while candidate >= 0:
            bad = measure_badness(view, work, rules, chosen, candidate)
            if bad < best - slack:
                state[NEAR] = 0
            best = min(best, bad)
            if bad <= best + slack:
                add_candidate(view, candidate, bad)
            candidate = groups.following[candidate]
    return best


@loop
def find_first_no_worse(view, work, rules, chosen, bar):
    """The first class, by ties, whose merge is no worse than ``bar``; -1 if none is."""
    first, size = view.first, view.state[FIRST]
    plain = is_neutral(view, chosen, np.int64(LEAST_BAD), bar)
    n_passed = 0  # those that are too bad, kept aside
    first_found = -1
    while True:
        candidate, size = take_from_heap(work, first, size, True)
        if candidate < 0:
            break
        view.near[n_passed] = candidate
        n_passed += 1
        if plain or is_no_worse(view, work, rules, chosen, candidate, bar):
            first_found = candidate
            break
    for place in range(n_passed):
        add_to_heap(work, first, size, view.near[place], True)
        size += 1
    view.state[FIRST] = size
    return first_found
