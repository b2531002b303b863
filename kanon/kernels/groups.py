"""The groups of classes that are alike, of equal size and with equal histograms."""

import numpy as np

from kanon.kernels.compilation import loop
from kanon.kernels.hashing import MIX
from kanon.kernels.heap import add_to_heap
from kanon.kernels.histograms import measure
from kanon.kernels.merging_state import FIRST, GROUPS, LOOKS_AT_K, LOOKS_AT_T
from kanon.kernels.worst_classes import set_badness


@loop
def _compute_slot(view, work, c):
    """A hash of the size and histogram of a class (splitmix64)."""
    histograms = view.histograms
    start, length = histograms.start[c], histograms.length[c]
    state = np.uint64(work.counts[c]) * MIX
    for entry in range(start, start + length):
        state = (state ^ np.uint64(histograms.value[entry])) * np.uint64(0xBF58476D1CE4E5B9)
        state = state ^ (state >> np.uint64(27))
        state = (state ^ np.uint64(histograms.tally[entry])) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return np.int64(state & np.uint64(len(view.groups.slots) - 1))


@loop
def _is_alike(view, work, a, b):
    histograms = view.histograms
    length = histograms.length[a]
    if work.counts[a] != work.counts[b] or length != histograms.length[b]:
        return False
    its, others = histograms.start[a], histograms.start[b]
    for step in range(length):
        if histograms.value[its + step] != histograms.value[others + step]:
            return False
        if histograms.tally[its + step] != histograms.tally[others + step]:
            return False
    return True


@loop
def _create_group(view, work, founder, slot):
    groups, histograms = view.groups, view.histograms
    if view.at == LOOKS_AT_K:
        bad, mass, reach = -float(work.counts[founder]), 0.0, 0.0
    else:
        bad, mass, reach = measure(histograms, founder, view.at)
    mask = 0
    if view.at == LOOKS_AT_T:
        start = histograms.start[founder]
        for entry in range(start, start + histograms.length[founder]):
            mask |= 1 << view.bucket[histograms.value[entry]]
    view.bad[founder], view.mass[founder] = bad, mass
    view.reach[founder], view.mask[founder] = reach, mask
    place = view.state[GROUPS]
    groups.live[place], groups.place[founder] = founder, place
    groups.sizes[place], groups.masses[place] = work.counts[founder], mass
    groups.reaches[place], groups.masks[place] = reach, mask
    groups.head[founder], groups.members[founder] = -1, 0
    groups.chain[founder] = groups.slots[slot]
    groups.slots[slot] = founder
    view.state[GROUPS] += 1


@loop
def _close_group(view, group, slot):
    groups = view.groups
    above = groups.slots[slot]
    if above == group:
        groups.slots[slot] = groups.chain[group]
    else:
        while groups.chain[above] != group:
            above = groups.chain[above]
        groups.chain[above] = groups.chain[group]
    view.state[GROUPS] -= 1
    place, last = groups.place[group], view.state[GROUPS]
    last_group = groups.live[last]
    groups.live[place], groups.place[last_group] = last_group, place
    groups.sizes[place] = groups.sizes[last]
    groups.masses[place] = groups.masses[last]
    groups.reaches[place] = groups.reaches[last]
    groups.masks[place] = groups.masks[last]


@loop
def add_to_group(view, work, c):
    groups = view.groups
    slot = _compute_slot(view, work, c)
    group = groups.slots[slot]
    while group >= 0 and not _is_alike(view, work, groups.head[group], c):
        group = groups.chain[group]
    if group < 0:
        group = c
        _create_group(view, work, c, slot)
    else:
        view.bad[c], view.mass[c] = view.bad[group], view.mass[group]
        view.reach[c], view.mask[c] = view.reach[group], view.mask[group]
    head = groups.head[group]
    groups.of[c], groups.following[c], groups.previous[c] = group, head, -1
    if head >= 0:
        groups.previous[head] = c
    groups.head[group] = c
    groups.members[group] += 1
    if view.whole:
        set_badness(view.worst, c, view.bad[c])
    if len(view.first):
        add_to_heap(work, view.first, view.state[FIRST], c, True)
        view.state[FIRST] += 1


@loop
def remove_from_group(view, work, c):
    groups = view.groups
    group, before, after = groups.of[c], groups.previous[c], groups.following[c]
    if before >= 0:
        groups.following[before] = after
    else:
        groups.head[group] = after
    if after >= 0:
        groups.previous[after] = before
    groups.members[group] -= 1
    if groups.members[group] == 0:
        _close_group(view, group, _compute_slot(view, work, c))
    if view.whole:
        set_badness(view.worst, c, -np.inf)
