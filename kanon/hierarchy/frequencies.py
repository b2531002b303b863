"""Hierarchies built from the frequencies of the values."""

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal

from kanon.base.formatting import write_count
from kanon.base.kinds import ColumnKind
from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.build import is_whole, parsed_numbers, run_label, tree_of_paths
from kanon.hierarchy.tree import Hierarchy


def build_quantile_intervals(
    counts: Mapping[str, int], parts: Sequence[int], kind: ColumnKind | None = None
) -> Hierarchy:
    """Numbers in nested intervals with about the same number of records each.

    The finest level has up to ``parts[0]`` intervals, with bounds as near to the quantiles of the
    records as possible: a number with many records is never split.
    """
    records_by_text = _merge_counts(counts)
    numbers = dict(zip(records_by_text, parsed_numbers(list(records_by_text), kind), strict=True))
    if not sum(records_by_text.values()):
        raise HierarchyError("Intervals by records need at least one record.")
    _check_parts(parts)
    ascending = sorted(records_by_text, key=lambda text: (numbers[text], text))
    finest = _split_by_records(ascending, records_by_text, numbers, int(parts[0]))
    paths = [[text] for text in ascending]
    for count in parts:
        part_of = [part // (int(parts[0]) // int(count)) for part in finest]
        for _, places in itertools.groupby(range(len(paths)), part_of.__getitem__):
            members = list(places)
            name = run_label(ascending, members[0], members[-1], " to ")
            for place in members:
                paths[place].append(name)
    return tree_of_paths(paths)


def build_by_frequency(counts: Mapping[str, int], least: int) -> Hierarchy:
    """Frequent values directly under the root; all rare ones in one group first."""
    if not is_whole(least) or least < 1:
        raise HierarchyError(
            "The minimum number of records has to be a whole number of at least 1."
        )
    records_by_text = _merge_counts(counts)
    rare = [text for text, count in records_by_text.items() if count < least]
    if rare and len(rare) == len(records_by_text):
        raise HierarchyError(
            f"Every value has fewer than {write_count(least)} records, so all would share one "
            "group. Choose a smaller number."
        )
    name = f"Other (fewer than {int(least)} {'record' if least == 1 else 'records'})"
    frequent = [[text, text] for text, count in records_by_text.items() if count >= least]
    return tree_of_paths([*frequent, *([text, name] for text in rare)])


def find_percentile(counts: Mapping[str, int], percent: float, beyond_above: bool = True) -> float:
    """The bound that leaves at most the rest of the records above it, or ``percent`` below it."""
    if not 0 < percent < 100:
        raise HierarchyError(
            f"A bound in percent lies between 0 % and 100 %, not at {percent:g} %."
        )
    numbers = zip(parsed_numbers(list(counts)), counts.values(), strict=True)
    sizes = sorted(numbers, reverse=not beyond_above)
    sums = itertools.accumulate(records for _, records in sizes)
    needed = sum(counts.values()) * (percent if beyond_above else 100 - percent)
    pairs = zip(sizes, sums, strict=True)
    return next(float(number) for (number, _), total in pairs if 100 * total >= needed)


def _split_by_records(
    ascending: Sequence[str], counts: Mapping[str, int], numbers: Mapping[str, Decimal], parts: int
) -> list[int]:
    """Find the part that the middle of the records of each text falls into."""
    records = sum(counts.values())
    part_by_place: list[int] = []
    before = 0
    for _, equal in itertools.groupby(ascending, key=numbers.__getitem__):
        texts = list(equal)
        own_records = sum(counts[text] for text in texts)
        part = parts * (2 * before + own_records) // (2 * records)
        part_by_place += [min(part, parts - 1)] * len(texts)
        before += own_records
    return part_by_place


def _merge_counts(counts: Mapping[str, int]) -> dict[str, int]:
    records_by_text: dict[str, int] = {}
    for value, count in counts.items():
        text = convert_to_text(value)
        records_by_text[text] = records_by_text.get(text, 0) + int(count)
    return records_by_text


def _check_parts(parts: Sequence[int]) -> None:
    if not parts or any(not is_whole(part) or part < 2 for part in parts):
        raise HierarchyError("Intervals by records need whole numbers of parts, each at least 2.")
    for many, few in itertools.pairwise(parts):
        if few >= many or many % few:
            raise HierarchyError(
                f"The number of parts {write_count(many)} is not a multiple of the number "
                f"{write_count(few)} after it, as nested intervals require."
            )
