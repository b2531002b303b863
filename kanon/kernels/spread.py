"""The compiled loops of uniform spread: a cell counts as each leaf below its node, equally likely.

All add only, so that no digits are lost to differences, a table of leaves is counted in whole
numbers, and what nobody can have is exactly 0.
"""

from __future__ import annotations

import numpy as np

from kanon.kernels.compilation import kernel


@kernel(seconds=1, arrays=True)
def spread(at: np.ndarray, first: np.ndarray, last: np.ndarray, found: np.ndarray) -> None:
    """Add to every leaf its part of the cells at each node above it.

    Parameters
    ----------
    at : shape (N,), int64
        The number of cells at each node.
    first, last : shape (N,)
        The leaves below each node.
    found : shape (L,)
        Added to: the estimated number of cells of each leaf.
    """
    for node in range(len(at)):
        if at[node]:
            part = at[node] / (last[node] - first[node])
            for leaf in range(first[node], last[node]):
                found[leaf] += part


@kernel(seconds=1, arrays=True)
def join(
    order: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    counts: np.ndarray,
    first_one: np.ndarray,
    last_one: np.ndarray,
    first_other: np.ndarray,
    last_other: np.ndarray,
    found: np.ndarray,
) -> None:
    """Add the estimated number of records of every pair of leaves of two columns.

    Parameters
    ----------
    order : shape (I,)
        The items by their node in the first column.
    one, other : shape (I,)
        Per item its node in either column.
    counts : shape (I,)
        Per item its number of records.
    first_one, last_one : shape (N_1,)
    first_other, last_other : shape (N_2,)
        The leaves below each node.
    found : shape (L_1, L_2)
        Added to.
    """
    row = np.zeros(found.shape[1])
    place = 0
    while place < len(order):
        node = one[order[place]]
        row[:] = 0.0
        low, high = found.shape[1], 0
        # All items of this node at once; their leaves in the first column share them out alike.
        while place < len(order) and one[order[place]] == node:
            item = order[place]
            start, end = first_other[other[item]], last_other[other[item]]
            part = counts[item] / (end - start)
            for leaf in range(start, end):
                row[leaf] += part
            low, high = min(low, start), max(high, end)
            place += 1
        several = last_one[node] - first_one[node]
        for above in range(first_one[node], last_one[node]):
            for leaf in range(low, high):
                found[above, leaf] += row[leaf] / several


@kernel(seconds=1, arrays=True)
def associate(joint: np.ndarray) -> tuple[float, float]:
    """Cramér's V and the mutual information in bits of a table of two columns.

    Parameters
    ----------
    joint : shape (L_1, L_2)
        The number of records of every pair of values.
    """
    rows, columns = np.zeros(joint.shape[0]), np.zeros(joint.shape[1])
    for i in range(joint.shape[0]):
        for j in range(joint.shape[1]):
            rows[i] += joint[i, j]
            columns[j] += joint[i, j]
    several = min((rows > 0).sum(), (columns > 0).sum()) - 1
    if several < 1:
        return 0.0, 0.0
    total = rows.sum()
    square, bits = 0.0, 0.0
    for i in range(joint.shape[0]):
        if rows[i] == 0.0:
            continue
        for j in range(joint.shape[1]):
            if columns[j] == 0.0:
                continue
            expected = rows[i] * columns[j] / total
            apart = joint[i, j] - expected
            square += apart * apart / expected
            if joint[i, j] > 0.0:
                bits += joint[i, j] * np.log2(joint[i, j] / expected)
    return min(1.0, np.sqrt(square / (total * several))), max(0.0, bits / total)


@kernel(seconds=1, arrays=True)
def answer(
    nodes: np.ndarray,
    counts: np.ndarray,
    starts: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    asked: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    found: np.ndarray,
) -> None:
    """The estimated number of records that each query matches.

    Parameters
    ----------
    nodes : shape (m, R)
        Per attribute and class its node.
    counts : shape (R,)
        The number of records of each class.
    starts : shape (m + 1,)
        The nodes of attribute j stand from ``starts[j]`` on in ``first`` and ``last``.
    first, last : shape (any,)
        The leaves below each node.
    asked : shape (Q, A)
        Per query its attributes; -1 where it has fewer.
    low, high : shape (Q, A)
        Per query and attribute the leaves ``low <= leaf < high`` that match.
    found : shape (Q,)
        Written.
    """
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
    parts = np.zeros((asked.shape[1], most))
    for q in range(len(asked)):
        least, fewest = 0, size + 1
        for slot in range(asked.shape[1]):
            j = asked[q, slot]
            if j < 0:
                continue
            there, before = 0, 0
            for node in range(starts[j + 1] - starts[j]):
                at = starts[j] + node
                within = min(last[at], high[q, slot]) - max(first[at], low[q, slot])
                parts[slot, node] = 0.0
                if within > 0:
                    parts[slot, node] = within / (last[at] - first[at])
                    there += ends[at] - before
                before = ends[at]
            if there < fewest:
                least, fewest = slot, there
        # Only the classes that can match by the attribute that leaves fewest are looked at.
        total, j, before = 0.0, asked[q, least], 0
        for node in range(starts[j + 1] - starts[j]):
            end = ends[starts[j] + node]
            if parts[least, node] > 0.0:
                for place in range(before, end):
                    c = by_node[j, place]
                    matching = counts[c] * parts[least, node]
                    for slot in range(asked.shape[1]):
                        if slot != least and asked[q, slot] >= 0:
                            matching *= parts[slot, nodes[asked[q, slot], c]]
                    total += matching
            before = end
        found[q] = total
