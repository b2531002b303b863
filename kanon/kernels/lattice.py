"""The compiled loops of lattice searches: counting the classes of a node.

The quasi-identifiers are split into two halves. Per half and levels every distinct half of a tuple
has a small number, its *part*; so the class that a tuple falls into at a node is told by two
numbers, and counting needs one pass over them.
"""

from __future__ import annotations

import numpy as np

from kanon.kernels.compilation import kernel

_DIRECT = 1 << 18
"""Up to so many possible pairs of parts, each has a place of its own in the table."""


@kernel(seconds=1, arrays=True)
def number_parts(
    tuples: np.ndarray,
    raised: np.ndarray,
    starts: np.ndarray,
    widths: np.ndarray,
    depths: np.ndarray,
    parts: np.ndarray,
    worth: np.ndarray,
) -> int:
    """Number the distinct tuples that some tuples are raised to, in the order of appearance.

    Parameters
    ----------
    tuples : shape (P, h)
        The distinct halves of tuples.
    raised, depths : shape (any,)
        Per attribute and node what it is raised to, and the potential of that; those of attribute
        j from ``starts[j]`` on.
    starts : shape (h,)
    widths : shape (h,)
        The number of nodes of each attribute.
    parts : shape (P,)
        Written: the number of each.
    worth : shape (P,)
        Written: per number the potential of the tuple, summed over its attributes.

    Returns
    -------
    int
        How many numbers there are.
    """
    total, size = tuples.shape
    capacity = 16
    while capacity < 2 * total:
        capacity *= 2
    shift = np.uint64(64 - int(np.round(np.log2(capacity))))
    table = np.full(capacity, -1, dtype=np.int32)
    found = 0
    first = np.empty(total, dtype=np.int32)
    for i in range(total):
        mixed = np.uint64(0)
        for j in range(size):
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + np.uint64(
                raised[starts[j] + tuples[i, j]] + 1
            )
        mixed ^= mixed >> np.uint64(32)
        place = np.int64((mixed * np.uint64(0xD6E8FEB86659FD93)) >> shift)
        while True:
            known = table[place]
            if known < 0:
                table[place] = found
                first[found] = i
                value = 0
                for j in range(size):
                    value += depths[starts[j] + tuples[i, j]]
                worth[found] = value
                parts[i] = found
                found += 1
                break
            other = first[known]
            same = True
            for j in range(size):
                if raised[starts[j] + tuples[i, j]] != raised[starts[j] + tuples[other, j]]:
                    same = False
                    break
            if same:
                parts[i] = known
                break
            place = (place + 1) & (capacity - 1)
    return found


@kernel(seconds=1, arrays=True)
def count_classes(
    rows: np.ndarray,
    counts: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    left_part: np.ndarray,
    right_part: np.ndarray,
    n_left: int,
    n_right: int,
    table: np.ndarray,
    keys: np.ndarray,
    found_rows: np.ndarray,
    found_counts: np.ndarray,
    into: np.ndarray,
) -> int:
    """Count the classes that some classes fall into at a node.

    Parameters
    ----------
    rows, counts : shape (S,)
        One original class of each class to count, and the records of it.
    left, right : shape (E,)
        Per original class the position of its halves.
    left_part, right_part
        Per half the number of its part at the node's levels.
    n_left, n_right
        How many parts there are.
    table : shape (a power of two,), int32, all -1
        Room; it is left as it was.
    keys : int64
        Room for the key of every class found.
    found_rows, found_counts : shape (S or more,)
        Written: the same for the classes found, in the order of appearance.
    into : shape (S,) or (0,)
        Written, if there is room: per given class the one it falls into.

    Returns
    -------
    int
        How many classes there are.
    """
    found = 0
    wanted = into.shape[0] > 0
    if n_left * n_right <= min(_DIRECT, table.shape[0]):
        for i in range(rows.shape[0]):
            row = rows[i]
            key = left_part[left[row]] * n_right + right_part[right[row]]
            known = table[key]
            if known < 0:
                known = found
                table[key] = found
                keys[found] = key
                found_rows[found] = row
                found_counts[found] = 0
                found += 1
            found_counts[known] += counts[i]
            if wanted:
                into[i] = known
        for i in range(found):
            table[keys[i]] = -1
        return found
    capacity = 16
    while capacity < 2 * rows.shape[0]:
        capacity *= 2
    shift = np.uint64(64 - int(np.round(np.log2(capacity))))
    for i in range(rows.shape[0]):
        row = rows[i]
        key = np.int64(left_part[left[row]]) * n_right + right_part[right[row]]
        mixed = np.uint64(key)
        mixed ^= mixed >> np.uint64(32)
        place = np.int64((mixed * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while True:
            known = table[place]
            if known < 0:
                known = found
                table[place] = found
                keys[found] = key
                found_rows[found] = row
                found_counts[found] = 0
                found += 1
                break
            if keys[known] == key:
                break
            place = (place + 1) & (capacity - 1)
        found_counts[known] += counts[i]
        if wanted:
            into[i] = known
    for i in range(capacity):
        table[i] = -1
    return found


@kernel(seconds=1, arrays=True)
def assess(
    rows: np.ndarray,
    counts: np.ndarray,
    size: int,
    left: np.ndarray,
    right: np.ndarray,
    left_part: np.ndarray,
    right_part: np.ndarray,
    left_worth: np.ndarray,
    right_worth: np.ndarray,
    k: int,
    found: np.ndarray,
) -> None:
    """What a node's classes amount to.

    Parameters
    ----------
    rows, counts : shape (size or more,)
        One original class of each class, and the records of it.
    left, right, left_part, right_part
        See :func:`count_classes`.
    left_worth, right_worth
        Per part the potential of its nodes.
    k
        Classes of fewer records are suppressed.
    found : shape (6,)
        Written: the records suppressed; the classes kept, and all; the sum of the squared sizes of
        the classes kept, and of all; the potential left in the suppressed records.
    """
    suppressed = 0
    kept = 0
    squares = 0
    every = 0
    lost = 0
    for i in range(size):
        count = counts[i]
        every += count * count
        if count >= k:
            kept += 1
            squares += count * count
        else:
            row = rows[i]
            suppressed += count
            lost += count * (left_worth[left_part[left[row]]] + right_worth[right_part[right[row]]])
    found[0] = suppressed
    found[1] = kept
    found[2] = size
    found[3] = squares
    found[4] = every
    found[5] = lost
