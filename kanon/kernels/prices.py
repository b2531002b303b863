"""What groups are worth when every class has a price per record."""

import numpy as np

from kanon.kernels.compilation import kernel, loop


@loop
def _put_largest_first(values, members, counts, size, n_records):
    """Put the largest values first, as few as hold ``n_records`` records; returns how many."""
    low, high, before = 0, size, 0
    # What stands before ``low`` is among the largest and holds ``before`` records; what stands from
    # ``high`` on is not.
    while low < high:
        pivot = values[(low + high) // 2]
        left, right, place = low, high, low
        held = before
        while place < right:
            if values[place] > pivot:
                values[place], values[left] = values[left], values[place]
                members[place], members[left] = members[left], members[place]
                held += counts[members[left]]
                left += 1
                place += 1
            elif values[place] < pivot:
                right -= 1
                values[place], values[right] = values[right], values[place]
                members[place], members[right] = members[right], members[place]
            else:
                place += 1
        if held >= n_records:
            high = left
            continue
        for equal in range(left, right):
            held += counts[members[equal]]
            if held >= n_records:
                return equal + 1
        low, before = right, held
    return high


@loop
def weigh_group(members, start, size, level, counts, gain, k, room, classes, values):
    """What the group of ``members`` from ``start`` is worth: 0 for nothing or less.

    Returns also the records of the classes that bring something, and how many classes, the first of
    ``classes``, fill it up to k. ``room[0]`` is any number of the kind of ``values``.
    """
    total = level * 0
    held = 0
    for i in range(size):
        c = np.uint32(members[start + i])
        value = gain[c] + level
        values[0, i] = value
        if value > 0:
            total += counts[c] * value
            held += counts[c]
    wanted = k - held
    if total <= 0 or wanted <= 0:
        return total, held, 0
    # What is dearer than twice the mean that can be paid is mostly not needed: half of what is
    # wanted would have to be cheaper.
    room[0] = 2 * total / wanted
    limit = room[0]
    n_cheap, n_records = 0, 0
    for _ in range(2):
        n_cheap, n_records, cost = 0, 0, total * 0
        for i in range(size):
            value = -values[0, i]
            if 0 <= value < limit:
                c = np.uint32(members[start + i])
                classes[n_cheap] = c
                values[1, n_cheap] = -value
                n_cheap += 1
                n_records += counts[c]
                cost += counts[c] * value
        if n_records >= wanted or cost + (wanted - n_records) * limit >= total:
            break
        limit = total - cost
    if n_records < wanted:
        return total * 0, held, 0
    n_taken = _put_largest_first(values[1], classes, counts, n_cheap, wanted)
    for place in range(n_taken):
        fill = min(wanted, counts[classes[place]])
        total += fill * values[1, place]
        wanted -= fill
    return max(total, total * 0), held, n_taken


@kernel(seconds=1)
def weigh(begin, members, kept, counts, gain, k, classes, values, worth, used):
    """What some groups are worth, and which records those use that are worth something.

    A record of class c in group G brings ``gain[c] + kept[G]``. A group is worth what its records
    bring that bring something; if they are fewer than k, it has to take those that cost least, up
    to k. ``worth`` is filled per group, 0 for nothing or less; to ``used`` are added, per class,
    the records that groups of some worth take.
    """
    for group in range(worth.shape[0]):
        start = np.uint64(begin[group])
        size = np.uint64(begin[group + 1]) - start
        level = kept[group]
        total, held, n_taken = weigh_group(
            members, start, size, level, counts, gain, k, worth[group:], classes, values
        )
        worth[group] = total
        if total <= 0:
            continue
        for i in range(size):
            if values[0, i] > 0:
                c = np.uint32(members[start + i])
                used[c] += counts[c]
        wanted = k - held
        for place in range(n_taken):
            fill = min(wanted, counts[classes[place]])
            used[classes[place]] += fill
            wanted -= fill


@kernel(seconds=1)
def move_prices(price, direction, step, highest, own, counts, moved, gain):
    """Fill the prices one step on, and what classes bring there; returns what all records pay."""
    total = 0.0
    for c in range(price.shape[0]):
        moved[c] = min(price[c] + step * direction[c], highest[c])
        gain[c] = moved[c] - own[c]
        total += counts[c] * moved[c]
    return total


@kernel(seconds=1)
def turn_direction(direction, counts, used):
    """Turn a direction to the slope, per class its records less those used: nearer to nothing.

    Returns whether the two pointed the same way, the slope's part in the result, and the result's
    squared length.
    """
    same, along, bend = 0.0, 0.0, 0.0
    for c in range(direction.shape[0]):
        slope = counts[c] - used[c]
        turn = slope - direction[c]
        same += slope * direction[c]
        along += turn * direction[c]
        bend += turn * turn
    part = 0.1
    if bend > 0:
        part = min(max(-along / bend, 0.01), 0.1)
    length = 0.0
    for c in range(direction.shape[0]):
        slope = counts[c] - used[c]
        direction[c] = part * slope + (1 - part) * direction[c]
        length += direction[c] * direction[c]
    return same >= 0, part, length


@kernel(seconds=1)
def count_group_members(begin, members, counts, chosen, sizes):
    for place in range(chosen.shape[0]):
        sizes[place] = 0
        for at in range(begin[chosen[place]], begin[chosen[place] + 1]):
            if counts[members[at]] > 0:
                sizes[place] += 1


@kernel(seconds=1)
def copy_group_members(begin, members, counts, chosen, to_begin, to_members):
    for place in range(chosen.shape[0]):
        at = to_begin[place]
        for old in range(begin[chosen[place]], begin[chosen[place] + 1]):
            if counts[members[old]] > 0:
                to_members[at] = members[old]
                at += 1


@kernel(seconds=1)
def open_groups(
    order, begin, members, kept, counts, gain, k, slack, classes, values, into, is_used
):
    """Let groups take classes that are in none, one group after the other.

    Each takes those that bring something, and if they are fewer than k records those that cost
    least, up to k. It is not used if it is worth nothing before it is filled, or then less than
    minus ``slack`` per record of k. ``into``, per class its group (-1 for none), changes; ``taken``
    tells which groups of ``order`` are used. Classes without records are to be in some group.
    """
    for place in range(order.shape[0]):
        group = order[place]
        total = 0.0
        held, rest, good = 0, 0, classes.shape[0]
        for at in range(begin[group], begin[group + 1]):
            c = members[at]
            if into[c] >= 0:
                continue
            value = gain[c] + kept[group]
            if value > 0:
                total += counts[c] * value
                held += counts[c]
                good -= 1
                classes[good] = c
            else:
                values[rest] = value
                classes[rest] = c
                rest += 1
        n_filled = 0
        if total > 0 and held < k:
            n_filled = _put_largest_first(values, classes, counts, rest, k - held)
            for at in range(n_filled):
                total += counts[classes[at]] * values[at]
                held += counts[classes[at]]
            total += slack * k
        is_used[place] = total > 0 and held >= k
        if is_used[place]:
            for at in range(good, classes.shape[0]):
                into[classes[at]] = group
            for at in range(n_filled):
                into[classes[at]] = group


@kernel(seconds=1)
def find_best_groups(chosen, begin, members, kept, best):
    """Note per class in ``best`` which group, of ``chosen`` or so far, keeps most of it."""
    for place in range(chosen.shape[0]):
        group = chosen[place]
        for at in range(begin[group], begin[group + 1]):
            old = best[members[at]]
            if old < 0 or kept[group] > kept[old]:
                best[members[at]] = group
