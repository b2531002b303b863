"""Heaps of classes by size and ties, or by ties alone: the next to repair, and the first."""

from kanon.kernels.compilation import loop


@loop
def is_before_by_ties(a, b, ranks, nodes):
    """The tie rule: lower rank first (all 0 without a seed), then lexicographic order."""
    if ranks[a] != ranks[b]:
        return ranks[a] < ranks[b]
    for j in range(nodes.shape[1]):
        if nodes[a, j] != nodes[b, j]:
            return nodes[a, j] < nodes[b, j]
    return False


@loop
def _is_sooner(work, a, b, by_ties):
    if not by_ties and work.counts[a] != work.counts[b]:
        return work.counts[a] < work.counts[b]
    return is_before_by_ties(a, b, work.ranks, work.nodes)


@loop
def add_to_heap(work, heap, size, added, by_ties):
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if not _is_sooner(work, added, heap[above], by_ties):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = added


@loop
def take_from_heap(work, heap, size, by_ties):
    """Take the next class that still exists, or -1; returns it and the size that is left."""
    while size > 0:
        top = heap[0]
        size -= 1
        last = heap[size]
        place = 0
        while 2 * place + 1 < size:
            below = 2 * place + 1
            if below + 1 < size and _is_sooner(work, heap[below + 1], heap[below], by_ties):
                below += 1
            if not _is_sooner(work, heap[below], last, by_ties):
                break
            heap[place] = heap[below]
            place = below
        heap[place] = last
        if work.alive[top]:
            return top, size
    return -1, 0
