"""The compiled loops of uniform spread: a cell counts as each leaf below its node, equally likely.

All add only, so that no digits are lost to differences, a table of leaves is counted in whole
numbers, and impossible values get exactly 0.
"""

import numpy as np

from kanon.kernels.ancestors import count_between
from kanon.kernels.compilation import kernel


@kernel(seconds=1, arrays=True)
def estimate_answers(nodes, counts, starts, covered, sets, queried, low, high, estimates):
    """Fill ``estimates`` with the estimated number of records that each query matches.

    ``covered`` has the first and last leaf of all nodes, and how many of these leaves they cover;
    ``sets``, where the leaves of each node that lacks some start and end, and these leaves.
    """
    (first, last, sizes), (begins, stops, leaves) = covered, sets
    m, size = nodes.shape
    # The classes by their node, per attribute; those at node v of attribute j end at
    # ``ends[starts[j] + v]``, and begin where those of the node before end.
    ends = np.zeros(starts[m], dtype=np.int64)
    by_node = np.empty((m, size), dtype=np.int32)
    for j in range(m):
        own = ends[starts[j] : starts[j + 1]]
        for c in range(size):
            own[nodes[j, c]] += 1
        before = 0
        for node in range(len(own)):
            before, own[node] = before + own[node], before
        for c in range(size):
            by_node[j, own[nodes[j, c]]] = c
            own[nodes[j, c]] += 1
    most = 0
    for j in range(m):
        most = max(most, starts[j + 1] - starts[j])
    parts = np.zeros((queried.shape[1], most))
    for q in range(len(queried)):
        least, fewest = 0, size + 1
        for slot in range(queried.shape[1]):
            j = queried[q, slot]
            if j < 0:
                continue
            there, before = 0, 0
            for node in range(starts[j + 1] - starts[j]):
                at = starts[j] + node
                within = min(last[at], high[q, slot]) - max(first[at], low[q, slot])
                if begins[at] < stops[at]:
                    within = count_between(
                        leaves, begins[at], stops[at], low[q, slot], high[q, slot]
                    )
                parts[slot, node] = 0.0
                if within > 0:
                    parts[slot, node] = within / sizes[at]
                    there += ends[at] - before
                before = ends[at]
            if there < fewest:
                least, fewest = slot, there
        # Only the classes that can match by the attribute that leaves fewest are looked at.
        total, j, before = 0.0, queried[q, least], 0
        for node in range(starts[j + 1] - starts[j]):
            end = ends[starts[j] + node]
            if parts[least, node] > 0.0:
                for place in range(before, end):
                    c = by_node[j, place]
                    matching = counts[c] * parts[least, node]
                    for slot in range(queried.shape[1]):
                        if slot != least and queried[q, slot] >= 0:
                            matching *= parts[slot, nodes[queried[q, slot], c]]
                    total += matching
            before = end
        estimates[q] = total
