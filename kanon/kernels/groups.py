"""The groups of classes that are alike, of equal size and with equal histograms."""

import numpy as np

from kanon.kernels.compilation import loop
from kanon.kernels.hashing import MIX
from kanon.kernels.heap import push
from kanon.kernels.histograms import measure
from kanon.kernels.merging_state import FIRST, GROUPS, LOOKS_AT_K, LOOKS_AT_T
from kanon.kernels.worst_classes import rate


@loop
def _slot(view, work, each):
    """The slot of a class: a hash of its size and histogram (splitmix64)."""
    histograms = view.histograms
    start, length = histograms.start[each], histograms.length[each]
    state = np.uint64(work.counts[each]) * MIX
    for entry in range(start, start + length):
        state = (state ^ np.uint64(histograms.value[entry])) * np.uint64(0xBF58476D1CE4E5B9)
        state = state ^ (state >> np.uint64(27))
        state = (state ^ np.uint64(histograms.tally[entry])) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return np.int64(state & np.uint64(len(view.groups.slots) - 1))


@loop
def _alike(view, work, one, other):
    """Whether two classes have the same size and histogram."""
    histograms = view.histograms
    length = histograms.length[one]
    if work.counts[one] != work.counts[other] or length != histograms.length[other]:
        return False
    its, others = histograms.start[one], histograms.start[other]
    for step in range(length):
        if histograms.value[its + step] != histograms.value[others + step]:
            return False
        if histograms.tally[its + step] != histograms.tally[others + step]:
            return False
    return True


@loop
def _found(view, work, founder, slot):
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
def _close(view, group, slot):
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
    moved = groups.live[last]
    groups.live[place], groups.place[moved] = moved, place
    groups.sizes[place] = groups.sizes[last]
    groups.masses[place] = groups.masses[last]
    groups.reaches[place] = groups.reaches[last]
    groups.masks[place] = groups.masks[last]


@loop
def see(view, work, added):
    groups = view.groups
    slot = _slot(view, work, added)
    group = groups.slots[slot]
    while group >= 0 and not _alike(view, work, groups.head[group], added):
        group = groups.chain[group]
    if group < 0:
        group = added
        _found(view, work, added, slot)
    else:
        view.bad[added], view.mass[added] = view.bad[group], view.mass[group]
        view.reach[added], view.mask[added] = view.reach[group], view.mask[group]
    head = groups.head[group]
    groups.of[added], groups.following[added], groups.previous[added] = group, head, -1
    if head >= 0:
        groups.previous[head] = added
    groups.head[group] = added
    groups.members[group] += 1
    if view.whole:
        rate(view.worst, added, view.bad[added])
    if len(view.first):
        push(work, view.first, view.state[FIRST], added, True)
        view.state[FIRST] += 1


@loop
def miss(view, work, gone):
    groups = view.groups
    group, before, after = groups.of[gone], groups.previous[gone], groups.following[gone]
    if before >= 0:
        groups.following[before] = after
    else:
        groups.head[group] = after
    if after >= 0:
        groups.previous[after] = before
    groups.members[group] -= 1
    if groups.members[group] == 0:
        _close(view, group, _slot(view, work, gone))
    if view.whole:
        rate(view.worst, gone, -np.inf)
