"""The compiled loops of Mondrian: which cut a region gets next, and making it.

A region is a stretch of an array of classes; a cut divides the stretch in place. So at the end the
regions stand one after the other, and what belonged to a cut is still one stretch.
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import kernel, loop_with_arrays

NONE = -1  # the region cannot be cut any more

CANDIDATE, PARTS, ATTRIBUTE, VALUE, RECORDS = range(5)
"""What is told about a region and its proposed cut: which candidate it is, into how many parts, on
which quasi-identifier, a node (the highest value of the first part, or the one whose children are
parted), and how many records the region has."""

# which quasi-identifier of a region is cut first
WIDEST, MOST_DISTINCT, BEST_BALANCE, LEAST_LOSS = range(4)

SPREAD, OCCURRING, GROUP = range(3)
"""What share of its values a column of a region loses: how far its values are apart, as a share of
the whole table's; how many others occur; or how many others its lowest common ancestor covers."""

_CUTS = 3  # so many cuts of a region on one quasi-identifier are candidates at most


class MondrianInput(NamedTuple):
    """The classes and their values; nothing of it changes during a run."""

    nodes: np.ndarray  # (E, m): per class and quasi-identifier the node
    counts: np.ndarray  # (E,): the records of each class
    at: np.ndarray  # (m, widest): where each node stands on its quasi-identifier's line
    place: np.ndarray  # the same as whole numbers, equal where nodes stand at one place
    spans: np.ndarray  # (m,): how far apart the values of the whole table are
    parents: np.ndarray  # per quasi-identifier; -1 for roots
    first: np.ndarray  # per quasi-identifier the first leaf below each node
    last: np.ndarray  # and the first leaf after those
    others: np.ndarray  # (m,): how many leaves each quasi-identifier has beside one
    losing: np.ndarray  # (m,): what each loses, of SPREAD, OCCURRING, GROUP
    by_children: np.ndarray  # which are cut on the children of a node instead of the median


@kernel(seconds=5, arrays=True)
def propose(values, k, relaxed, dimension, order, regions, part, proposals):
    """The next cut of each of some regions after which every part holds k records.

    Quasi-identifiers are tried in the order of ``dimension``: :data:`WIDEST` or
    :data:`MOST_DISTINCT` in the region first, or :data:`BEST_BALANCE`, whose first cut that k
    allows has the smallest largest part, or :data:`LEAST_LOSS`, after whose cut the parts lose
    least. On each:

    - at the median v, the lowest value that at least half of the records do not exceed: first
      "up to v" against the rest, then "below v" against the rest. If ``relaxed``, before these:
      what is below v, and of the classes at v as many, in their order, as make both sides most
      equal (as many as possible, if there are two ways);
    - by children: one part per child of the lowest common ancestor, and one for records that have
      the ancestor itself.

    ``order`` holds the classes, region after region, rising in each; ``regions`` (R, 3) where each
    starts and stops, and how many candidates to skip. Fills ``part``, per class its part, and
    ``proposals`` (R, 5), the cut of each region; :data:`NONE` in the first place if there is none.
    """
    m = values.nodes.shape[1]
    low, high, worth = np.empty(m), np.empty(m), np.empty(m)
    by_worth = np.empty(m, dtype=np.int64)
    size = values.at.shape[1]
    held = np.zeros(size, dtype=np.int64)  # per child its records; 0 again after each use
    child_of = np.empty(size, dtype=np.int64)
    marks = np.zeros(size + 1, dtype=np.int64)
    for region in range(len(regions)):
        start, stop, passed = regions[region]
        proposals[region, CANDIDATE] = NONE
        total = 0
        for i in range(start, stop):
            total += values.counts[order[i]]
        proposals[region, RECORDS] = total
        if total < 2 * k or stop - start < 2:
            continue
        low[:], high[:] = np.inf, -np.inf
        for i in range(start, stop):
            for j in range(m):
                at = values.at[j, values.nodes[order[i], j]]
                low[j], high[j] = min(low[j], at), max(high[j], at)
        for j in range(m):
            worth[j] = 0.0
            if high[j] > low[j]:
                if dimension == WIDEST:
                    worth[j] = (high[j] - low[j]) / values.spans[j]
                elif dimension == MOST_DISTINCT:
                    worth[j] = _count_distinct(values.nodes, j, order, start, stop, held)
                else:
                    _, parts = _find_cut(
                        values, k, relaxed, 0, j, total, order, start, stop, part, held, child_of,
                        proposals[region],
                    )  # fmt: skip
                    if dimension == BEST_BALANCE:
                        largest = _find_largest(values.counts, order, start, stop, part, parts)
                        worth[j] = total - largest
                    elif parts:
                        lost = _measure_loss(values, order, start, stop, part, parts, marks)
                        # Rounded, so that what is equal but for the order of its sum is equal.
                        worth[j] = np.rint((m * total - lost + 1) * 2**20)
            spot = j
            while spot > 0 and worth[by_worth[spot - 1]] < worth[j]:
                by_worth[spot] = by_worth[spot - 1]
                spot -= 1
            by_worth[spot] = j
        for turn in range(passed // _CUTS, m):
            j = by_worth[turn]
            if worth[j] == 0.0:
                break
            skip = max(0, passed - turn * _CUTS)
            cut, parts = _find_cut(
                values, k, relaxed, skip, j, total, order, start, stop, part, held, child_of,
                proposals[region],
            )  # fmt: skip
            if parts:
                proposals[region, CANDIDATE] = turn * _CUTS + cut
                proposals[region, PARTS] = parts
                proposals[region, ATTRIBUTE] = j
                break


@loop_with_arrays
def _count_distinct(nodes, j, order, start, stop, held):
    count = 0
    for i in range(start, stop):
        node = nodes[order[i], j]
        count += held[node] == 0
        held[node] = 1
    for i in range(start, stop):
        held[nodes[order[i], j]] = 0
    return count


@loop_with_arrays
def _find_largest(counts, order, start, stop, part, parts):
    """The records of the largest part of a region; all of them where it has no parts."""
    sizes = np.zeros(max(parts, 1), dtype=np.int64)
    for i in range(start, stop):
        sizes[part[i] if parts else 0] += counts[order[i]]
    return sizes.max()


@loop_with_arrays
def _measure_loss(values, order, start, stop, part, parts, marks):
    """The cells of a region that its parts lose: each counts as the share of the values it loses.

    ``marks`` says of each leaf for which part and column it was last seen; last, for how many.
    """
    lost = 0.0
    for p in range(parts):
        for j in range(values.nodes.shape[1]):
            parents, losing = values.parents[j], values.losing[j]
            records, distinct, above = 0, 0, np.int64(-1)
            low, high = np.inf, -np.inf
            marks[-1] += 1
            for i in range(start, stop):
                if part[i] != p:
                    continue
                node = np.int64(values.nodes[order[i], j])
                records += values.counts[order[i]]
                if losing == GROUP:
                    above = node if above < 0 else lca(parents, above, node)
                elif losing == OCCURRING:
                    for leaf in range(values.first[j, node], values.last[j, node]):
                        distinct += marks[leaf] != marks[-1]
                        marks[leaf] = marks[-1]
                else:
                    at = values.at[j, node]
                    low, high = min(low, at), max(high, at)
            if losing == GROUP:
                distinct = values.last[j, above] - values.first[j, above]
            if losing != SPREAD:
                lost += records * (distinct - 1) / max(values.others[j], 1)
            elif high > low:
                lost += records * (high - low) / values.spans[j]
    return lost


@loop_with_arrays
def _find_cut(
    values, k, relaxed, skip, j, total, order, start, stop, part, held, child_of, proposal
):
    """The first cut on a quasi-identifier that k allows after ``skip`` others: which, its parts."""
    if not values.by_children[j]:
        return _cut_at_median(
            values, k, relaxed, skip, j, total, order, start, stop, part, proposal
        )
    if skip:
        return 0, 0
    return 0, _cut_by_children(values, k, j, order, start, stop, part, held, child_of, proposal)


@loop_with_arrays
def _cut_at_median(values, k, relaxed, skip, j, total, order, start, stop, part, proposal):
    """A cut in two at the median: which of the candidates, and 2; or 0, 0 if none is allowed."""
    size = stop - start
    places, counts = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for i in range(size):
        places[i] = values.place[j, values.nodes[order[start + i], j]]
        counts[i] = values.counts[order[start + i]]
    below, upto, median = 0, 0, np.int64(-1)
    for i in np.argsort(places):
        if places[i] != median:
            if 2 * upto >= total:
                break
            below, median = upto, places[i]
        upto += counts[i]
    for cut in range(skip, _CUTS):
        n_taken = size  # so many of the classes at the median, in their order, go to the first part
        first = upto
        if relaxed and cut == 0:
            n_taken, first = _choose_most_equal(places, counts, median, below, total)
        elif cut == (2 if relaxed else 1):
            n_taken, first = 0, below
        elif cut == 2:
            break
        if first < k or total - first < k:
            continue
        largest = np.int64(-1)
        for i in range(size):
            goes = places[i] < median
            if places[i] == median and n_taken > 0:
                goes = True
                n_taken -= 1
            part[start + i] = 0 if goes else 1
            if goes and places[i] >= largest:
                node = values.nodes[order[start + i], j]
                if places[i] > largest or node < proposal[VALUE]:
                    largest, proposal[VALUE] = places[i], node
        return cut, 2
    return 0, 0


@loop_with_arrays
def _choose_most_equal(places, counts, median, below, total):
    best, first, n_taken = abs(2 * below - total), below, 0
    upto, n_seen = below, 0
    for i in range(len(places)):
        if places[i] == median:
            upto += counts[i]
            n_seen += 1
            if abs(2 * upto - total) <= best:
                best, first, n_taken = abs(2 * upto - total), upto, n_seen
    return n_taken, first


@loop_with_arrays
def _cut_by_children(values, k, j, order, start, stop, part, held, child_of, proposal):
    """A cut on the children of the lowest common ancestor: how many parts; 0 if not allowed."""
    parents = values.parents[j]
    above = values.nodes[order[start], j]
    for i in range(start + 1, stop):
        above = lca(parents, above, values.nodes[order[i], j])
    parts = 0
    for i in range(start, stop):
        node = values.nodes[order[i], j]
        while node != above and parents[node] != above:
            node = parents[node]
        if held[node] == 0:
            # Siblings in their order, by first leaf; records that have the ancestor come last.
            spot = parts
            while spot > 0 and (
                child_of[spot - 1] == above
                or (node != above and values.first[j, child_of[spot - 1]] > values.first[j, node])
            ):
                child_of[spot] = child_of[spot - 1]
                spot -= 1
            child_of[spot] = node
            parts += 1
        held[node] += values.counts[order[i]]
        part[i] = node
    allowed = parts > 1
    for spot in range(parts):
        allowed = allowed and held[child_of[spot]] >= k
    for spot in range(parts):
        held[child_of[spot]] = spot
    if allowed:
        for i in range(start, stop):
            part[i] = held[part[i]]
    for spot in range(parts):
        held[child_of[spot]] = 0
    proposal[VALUE] = above
    return parts if allowed else 0


@kernel(seconds=1, arrays=True)
def split_regions(order, part, regions, parts, ends):
    """Divide regions in place, part after part, each in its order; fills where they end."""
    written = 0
    for region in range(len(regions)):
        start, stop = regions[region, 0], regions[region, 1]
        held = np.zeros(parts[region] + 1, dtype=np.int64)
        for i in range(start, stop):
            held[part[i] + 1] += 1
        for p in range(parts[region]):
            held[p + 1] += held[p]
            ends[written] = start + held[p + 1]
            written += 1
        before = order[start:stop].copy()
        for i in range(stop - start):
            p = part[start + i]
            order[start + held[p]] = before[i]
            held[p] += 1


@kernel(seconds=1, arrays=True)
def find_common_ancestors(parents, nodes, starts):
    """The lowest common ancestor of each of several groups of nodes, which begin at ``starts``."""
    ancestors = np.empty(len(starts), dtype=np.int64)
    for group in range(len(starts)):
        stop = starts[group + 1] if group + 1 < len(starts) else len(nodes)
        above = nodes[starts[group]]
        for i in range(starts[group] + 1, stop):
            above = lca(parents, above, nodes[i])
        ancestors[group] = above
    return ancestors
