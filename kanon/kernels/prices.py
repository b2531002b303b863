"""What groups are worth when every class has a price per record."""

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


@kernel(seconds=1)
def weigh(begin, members, kept, counts, gain, k, first, last, classes, values, worth, used):
    """What some groups are worth, and which records those use that are worth something.

    A record of class c in group G brings ``gain[c] + kept[G]``. A group is worth what its records
    bring that bring something; if they are fewer than k, it has to take those that cost least, up
    to k. Per group of ``first`` to ``last`` (exclusive) ``worth`` is filled, 0 for nothing or less;
    to ``used`` are added, per class, the records that groups of some worth take.
    """
    for group in range(first, last):
        total = kept[group] * 0
        held, rest, good = 0, 0, classes.shape[0]
        for place in range(begin[group], begin[group + 1]):
            c = members[place]
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
        n_taken, wanted = 0, k - held
        if total > 0 and wanted > 0:
            n_taken = _put_largest_first(values, classes, counts, rest, wanted)
            for place in range(n_taken):
                fill = min(wanted, counts[classes[place]])
                total += fill * values[place]
                wanted -= fill
        worth[group] = 0
        if total > 0 and wanted <= 0:
            worth[group] = total
            for place in range(good, classes.shape[0]):
                used[classes[place]] += counts[classes[place]]
            wanted = k - held
            for place in range(n_taken):
                fill = min(wanted, counts[classes[place]])
                used[classes[place]] += fill
                wanted -= fill


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
