"""Hierarchies built from how often each value occurs."""

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal

from kanon.base.formatting import thin
from kanon.base.kinds import ColumnKind
from kanon.base.values import canonical_text
from kanon.errors import HierarchyError
from kanon.hierarchy.build import is_whole, parsed_numbers, run_label, tree_of_paths
from kanon.hierarchy.tree import Hierarchy


def quantile_intervals(
    counts: Mapping[str, int], parts: Sequence[int], kind: ColumnKind | None = None
) -> Hierarchy:
    """Numbers in nested intervals that hold about as many records each.

    The finest level has ``parts[0]`` intervals, whose bounds lie as near to the quantiles of the
    records as they can: a number with many records is never split, so there may be fewer.
    """
    merged = _merged(counts)
    parsed = dict(zip(merged, parsed_numbers(list(merged), kind), strict=True))
    if not sum(merged.values()):
        raise HierarchyError("Intervals by records need at least one record.")
    _check_parts(parts)
    ascending = sorted(merged, key=lambda text: (parsed[text], text))
    finest = _parts_by_records(ascending, merged, parsed, int(parts[0]))
    paths = [[text] for text in ascending]
    for count in parts:
        part_of = [part // (int(parts[0]) // int(count)) for part in finest]
        for _, places in itertools.groupby(range(len(paths)), part_of.__getitem__):
            members = list(places)
            name = run_label(ascending, members[0], members[-1], " to ")
            for place in members:
                paths[place].append(name)
    return tree_of_paths(paths)


def by_frequency(counts: Mapping[str, int], least: int) -> Hierarchy:
    """Frequent values directly under the root; all rare ones in one group first."""
    if not is_whole(least) or least < 1:
        raise HierarchyError("The least number of records is a whole number of at least 1.")
    merged = _merged(counts)
    rare = [text for text, count in merged.items() if count < least]
    if rare and len(rare) == len(merged):
        raise HierarchyError(
            f"Every value has fewer than {thin(least)} records, so that all would share one group; "
            "choose a smaller number."
        )
    name = f"Other (fewer than {int(least)} {'record' if least == 1 else 'records'})"
    frequent = [[text, text] for text, count in merged.items() if count >= least]
    return tree_of_paths([*frequent, *([text, name] for text in rare)])


def _parts_by_records(
    ascending: Sequence[str], counts: Mapping[str, int], numbers: Mapping[str, Decimal], parts: int
) -> list[int]:
    """For each text the part, out of so many, that the middle of its records falls into."""
    records = sum(counts.values())
    found: list[int] = []
    before = 0
    for _, equal in itertools.groupby(ascending, key=numbers.__getitem__):
        texts = list(equal)
        own = sum(counts[text] for text in texts)
        part = parts * (2 * before + own) // (2 * records)
        found += [min(part, parts - 1)] * len(texts)
        before += own
    return found


def _merged(counts: Mapping[str, int]) -> dict[str, int]:
    merged: dict[str, int] = {}
    for value, count in counts.items():
        text = canonical_text(value)
        merged[text] = merged.get(text, 0) + int(count)
    return merged


def _check_parts(parts: Sequence[int]) -> None:
    if not parts or any(not is_whole(part) or part < 2 for part in parts):
        raise HierarchyError("Intervals by records need whole numbers of parts, each at least 2.")
    for many, few in itertools.pairwise(parts):
        if few >= many or many % few:
            raise HierarchyError(
                f"The number of parts {thin(many)} is not a multiple of the number {thin(few)} "
                "after it; nested intervals need that."
            )
