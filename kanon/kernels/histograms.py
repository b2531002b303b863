"""Histograms of the sensitive attribute: joined, and measured."""

import numpy as np

from kanon.kernels.compilation import loop
from kanon.kernels.merging_state import LOOKS_AT_L


@loop
def n_log_n(logs, count):
    return logs[count] if count < len(logs) else count * np.log(count)


@loop
def ln(logs, count):
    return logs[count] / count if count < len(logs) else np.log(count)


@loop
def _gather_live(histograms, alive, state):
    """Move the entries of live classes together, in the order of the classes."""
    place = 0
    for c in range(len(alive)):
        if not alive[c] or histograms.length[c] == 0:
            continue
        start = histograms.start[c]
        histograms.start[c] = place
        for step in range(histograms.length[c]):
            histograms.value[place] = histograms.value[start + step]
            histograms.tally[place] = histograms.tally[start + step]
            place += 1
    state[0] = place


@loop
def join_histograms(histograms, alive, parts, merged, state, at):
    needed = 0
    for part in parts:
        if part >= 0:
            needed += histograms.length[part]
            alive[part] = True
    if state[0] + needed > len(histograms.value):
        _gather_live(histograms, alive, state)
    place = state[0]
    histograms.start[merged] = place
    for p in range(len(parts)):
        at[p] = 0
    while True:
        least = np.int32(2**31 - 1)
        for p in range(len(parts)):
            part = parts[p]
            if part >= 0 and at[p] < histograms.length[part]:
                least = min(least, histograms.value[histograms.start[part] + at[p]])
        if least == 2**31 - 1:
            break
        count = np.int64(0)
        for p in range(len(parts)):
            part = parts[p]
            if part >= 0 and at[p] < histograms.length[part]:
                entry = histograms.start[part] + at[p]
                if histograms.value[entry] == least:
                    count += histograms.tally[entry]
                    at[p] += 1
        histograms.value[place] = least
        histograms.tally[place] = count
        place += 1
    histograms.length[merged] = place - state[0]
    state[0] = place
    for part in parts:
        if part >= 0:
            alive[part] = False
            histograms.length[part] = 0


@loop
def measure(histograms, c, at):
    start, length = histograms.start[c], histograms.length[c]
    size = np.int64(0)
    for entry in range(start, start + length):
        size += histograms.tally[entry]
    if at == LOOKS_AT_L:
        mass = 0.0
        for entry in range(start, start + length):
            mass += n_log_n(histograms.logs, histograms.tally[entry])
        bad = mass / size - np.log(size) if length > 1 else 0.0
        return bad, mass, 0.0
    above, reach = np.int64(0), np.int64(0)
    for entry in range(start, start + length):
        whole = histograms.total[histograms.value[entry]]
        above += max(histograms.tally[entry] * histograms.records - whole * size, 0)
        reach += whole
    bad = (2 * above) / (histograms.records * size)
    return bad, size * bad, reach / histograms.records
