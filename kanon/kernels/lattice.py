"""The compiled loops of lattice searches: counting the classes of a node.

The quasi-identifiers are split into two halves. Per half and levels every distinct half of a tuple
has a small number, its *part*; so the class that a tuple falls into at a node is told by two
numbers, and counting needs one pass over them.
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel


@kernel(seconds=1, arrays=True)
def number_parts(tuples, raised, starts, widths, depths, parts, worth):
    """Number the distinct tuples that halves are raised to, by first appearance; how many.

    ``tuples`` (P, h) are distinct halves. ``raised`` and ``depths`` hold what each node is raised
    to and its potential, for attribute j from ``starts[j]`` on, ``widths[j]`` nodes. Fills
    ``parts`` (P,), the number of each half, and ``worth``, the potential of each number.
    """
    total, size = tuples.shape
    capacity = 16
    while capacity < 2 * total:
        capacity *= 2
    shift = np.uint64(64 - int(np.round(np.log2(capacity))))
    table = np.full(capacity, -1, dtype=np.int32)
    n_parts = 0
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
            number = table[place]
            if number < 0:
                table[place] = n_parts
                first[n_parts] = i
                value = 0
                for j in range(size):
                    value += depths[starts[j] + tuples[i, j]]
                worth[n_parts] = value
                parts[i] = n_parts
                n_parts += 1
                break
            other = first[number]
            same = True
            for j in range(size):
                if raised[starts[j] + tuples[i, j]] != raised[starts[j] + tuples[other, j]]:
                    same = False
                    break
            if same:
                parts[i] = number
                break
            place = (place + 1) & (capacity - 1)
    return n_parts


class ClassRuns(NamedTuple):
    """Classes as pairs of halves: runs of classes with the same first half."""

    left: np.ndarray  # per run the position of its first half
    start: np.ndarray  # where its classes start; one more, where they end
    right: np.ndarray  # per class the position of its second half
    counts: np.ndarray  # per class its records


class CountingRoom(NamedTuple):
    head: np.ndarray  # per part of a first half the first run that has it
    following: np.ndarray  # per run the next one with its part
    place: np.ndarray  # per part of a second half the class found last that has it


@kernel(seconds=1)
def count_classes(source, left_part, right_part, n_left, n_right, k, most, room, runs):
    """Count the classes of a node; -1 once more than ``most`` records are in classes below k.

    Nothing is hashed or cleared: the runs of one part of a first half are read together, and an
    entry of ``place`` is valid only if it was made since. The last part comes first. ``source``
    may be the runs of a node below; each of the ``n_left`` and ``n_right`` parts occurs; ``runs``
    is filled, one run per part of a first half.
    """
    head, following, place = room.head, room.following, room.place
    for part in range(n_left):
        head[part] = -1
    for part in range(n_right):
        place[part] = -1
    for run in range(source.left.shape[0] - 1, -1, -1):
        part = left_part[source.left[run]]
        following[run] = head[part]
        head[part] = run
    classes, few = 0, 0
    for new_run in range(n_left):
        run = head[n_left - 1 - new_run]
        first = classes
        runs.left[new_run] = source.left[run]
        runs.start[new_run] = first
        while run >= 0:
            for i in range(source.start[run], source.start[run + 1]):
                right = source.right[i]
                class_ = place[right_part[right]]
                if class_ < first:
                    place[right_part[right]] = classes
                    runs.right[classes] = right
                    runs.counts[classes] = source.counts[i]
                    classes += 1
                else:
                    runs.counts[class_] += source.counts[i]
            run = following[run]
        for i in range(first, classes):
            if runs.counts[i] < k:
                few += runs.counts[i]
        if few > most:
            return -1
    runs.start[n_left] = classes
    return classes


@kernel(seconds=1)
def sum_node_figures(classes, left_part, right_part, left_worth, right_worth, n_left, k, figures):
    """Fill ``figures`` with what a node's classes amount to; those below k are suppressed.

    ``figures`` (6,): the records suppressed; the classes kept, and all; the sum of squared sizes
    of the classes kept, and of all; the potential left in the suppressed records. The worths are
    the potentials of the parts' nodes.
    """
    suppressed = 0
    n_kept = 0
    squares = 0
    all_squares = 0
    left_potential = 0
    for run in range(n_left):
        worth = left_worth[left_part[classes.left[run]]]
        for i in range(classes.start[run], classes.start[run + 1]):
            count = classes.counts[i]
            all_squares += count * count
            if count >= k:
                n_kept += 1
                squares += count * count
            else:
                suppressed += count
                left_potential += count * (worth + right_worth[right_part[classes.right[i]]])
    figures[0] = suppressed
    figures[1] = n_kept
    figures[2] = classes.start[n_left]
    figures[3] = squares
    figures[4] = all_squares
    figures[5] = left_potential
