"""The smallest sets of columns that single records or persons out, found by counting.

A set of columns singles a record out if fewer than k records share its values: for k = 2, if no
other record does. It singles a person out if fewer than k persons share the values of one of the
person's records. A further column splits classes, so the share that is singled out never falls:
the smallest sets that reach a threshold say everything.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, groupby, islice
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import CountedUnit, count_noun, write_count, write_percent
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, list_names, quote
from kanon.schema import Role, check_columns
from kanon.sources.limits import require_records
from kanon.sources.memory import MemoryTable
from kanon.sources.tables import Table

_list_all = partial(list_names, most=1_000_000)

MOST_SETS = 20_000
"""The most sets that are counted: some twenty seconds with 30,000 records in memory."""


@dataclass(frozen=True)
class SmallestSet:
    """Columns that together single out enough records or persons, all of them needed."""

    columns: tuple[str, ...]  # in the table's order
    singled_out: int  # the number of records or persons


@dataclass(frozen=True)
class Contribution:
    """What a column contributes to the smallest sets."""

    column: str
    sets: int  # the number of smallest sets that contain it
    singled_out: int  # the most that one of them singles out only because of the column


@dataclass(frozen=True)
class SinglingOut:
    """The smallest sets of columns that single out a share of the records, or of the persons.

    Attributes
    ----------
    number
        n, the number of records or persons.
    share, k, asked
        The arguments ``share``, ``k`` and ``size`` of :func:`singling_out`.
    size
        The size up to which all sets were examined or ruled out: less than ``asked`` if there
        are too many larger ones.
    sets
        The smallest sets: those of fewer columns first, among them those that single out more.
    contributions
        What each column in one of them contributes, the largest contribution first.
    together
        The number that the columns below the share on their own single out together: no set of
        them singles out more.
    """

    columns: tuple[str, ...]  # those examined
    of: CountedUnit
    number: int
    share: float
    k: int
    asked: int
    size: int
    sets: tuple[SmallestSet, ...]
    contributions: tuple[Contribution, ...]
    together: int

    @property
    def complete(self) -> bool:
        """Whether all sets of the size that was asked for were examined."""
        return self.size == self.asked

    @property
    def found_with_more(self) -> bool:
        """Whether a larger set than examined reaches the share, where no examined set does."""
        return self.together >= round_share_up(self.share, self.number)

    @property
    def identifier_like(self) -> tuple[str, ...]:
        """The columns that alone single out every record or person, such as names."""
        return tuple(
            smallest.columns[0]
            for smallest in self.sets
            if len(smallest.columns) == 1 and smallest.singled_out == self.number
        )

    @property
    def proposed(self) -> tuple[str, ...]:
        """The suggested quasi-identifiers: columns of the smallest sets, except identifiers."""
        proposed = {column for smallest in self.sets for column in smallest.columns}
        proposed -= {*self.identifier_like}
        return tuple(column for column in self.columns if column in proposed)

    def contradicted(self, roles: Mapping[str, Role]) -> tuple[str, ...]:
        """The columns of the smallest sets whose role is insensitive, as of those without one."""
        contributing = {contribution.column for contribution in self.contributions}
        return tuple(
            column
            for column in self.columns
            if column in contributing and roles.get(column, Role.INSENSITIVE) is Role.INSENSITIVE
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """The result for JSON; numbers are called ``records`` or ``persons``, shares are of 1."""
        n = self.number
        return {
            self.of: n,
            "share": self.share,
            "k": self.k,
            "size": self.size,
            "complete": self.complete,
            "together": self.together,
            "sets": [
                {
                    "columns": [*entry.columns],
                    self.of: entry.singled_out,
                    "share": entry.singled_out / n,
                }
                for entry in self.sets
            ],
            "columns": [
                {"column": entry.column, "sets": entry.sets, self.of: entry.singled_out}
                for entry in self.contributions
            ],
            "identifier_like": [*self.identifier_like],
            "proposed": [*self.proposed],
        }

    @property
    def _share_text(self) -> str:
        if self.share < 0.0005:  # it would be rounded to 0.0 %
            return write_count(round_share_up(self.share, self.number))
        return write_percent(100 * self.share)

    @property
    def said(self) -> tuple[str, ...]:
        """The result in sentences, with names of columns but no values from the table."""
        condition = "no other one" if self.k == 2 else f"fewer than {self.k - 1} others"
        share = "shares" if self.k == 2 else "share"
        n = self._count(self.number)
        definition = f"A {self._noun} is singled out if {condition} of the {n} {share}"
        values = (
            "its values" if self.of == "records" else "the values of one of the person's records"
        )
        many = count_noun(len(self.sets), "smallest set") if self.sets else "No set"
        verb, end = "single" if len(self.sets) > 1 else "singles", ":" if self.sets else "."
        lines = [
            f"{definition} {values}.",
            f"{many} of up to {count_noun(self.size, 'column')} {verb} out at least "
            f"{self._share_text} of them{end}",
            *(f"  {_list_all(s.columns)}: {self._format(s.singled_out)}" for s in self.sets),
        ]
        if self.sets:
            lines.append("The most that each column adds to one of these sets (↓ better):")
        for entry in self.contributions:
            sets = count_noun(entry.sets, "set")
            lines.append(f"  {quote(entry.column)}: {self._format(entry.singled_out)}, in {sets}")
        if self.proposed:
            lines.append(f"Suggested quasi-identifiers: {_list_all(self.proposed)}.")
        if self.identifier_like:
            names = _list_all(self.identifier_like)
            lines.append(
                f"Each of these alone singles out every {self._noun}, as a name would: {names}."
            )
        if not self.complete:
            lines.append(
                f"Larger sets, up to {count_noun(self.asked, 'column')}, were not examined, "
                "because there are too many: look at fewer columns."
            )
        if sum(len(smallest.columns) == 1 for smallest in self.sets) < len(self.columns):
            lines.append(
                "Combined, the columns that each stay below this share single out "
                f"{self._format(self.together)}."
            )
        if not self.sets:
            outcome = "a larger set does" if self.found_with_more else "no larger set does either"
            lines.append(f"So {outcome}.")
        return tuple(lines)

    @property
    def _noun(self) -> str:
        return self.of.removesuffix("s")

    def _count(self, number: int) -> str:
        return count_noun(number, self._noun)

    def _format(self, number: int) -> str:
        return f"{self._count(number)}, {write_percent(100 * number / self.number)}"


def singling_out(
    table: Table,
    columns: Sequence[str] | None = None,
    share: float = 0.05,
    k: int = 2,
    size: int = 3,
    most: int = MOST_SETS,
    progress: Progress = ignore_progress,
    person: str | None = None,
) -> SinglingOut:
    """Find the smallest sets of columns that single out at least a share of records or persons.

    Of a set S of columns, the share is (1/n) Σ |C|, over the classes C of the records by S that
    have |C| < k. Where a column tells persons apart, |C| is the number of persons with records in
    C, and the share is that of all persons with a record in a class of fewer than k: anyone who
    knows that record finds them. It is between 0 (every class has k) and 1, and never falls when a
    column is added. A set is *smallest* if it reaches the threshold and no proper subset does. A
    missing cell counts as a value of its own, as in
    :meth:`kanon.sources.tables.Table.build_classes`.

    Sets are examined by size. A set is counted only if no subset reaches the threshold (Mannila
    and Toivonen 1997), and in memory only among the records that no subset singles out (Huhtala
    et al. 1999). An engine groups its rows by each set and counts the groups of each size; persons
    are counted in memory.

    Parameters
    ----------
    share
        The threshold, above 0 and up to 1. The default is a round number, not a norm.
    k
        Classes of fewer records or persons are singled out, 2 ≤ k ≤ n; 2 are the unique ones.
    size
        The most columns of a set, at least 1.
    most
        The most sets that are counted; single columns always are. Before a size with too many
        sets the search stops and says so.
    person
        The column that identifies the person; persons are counted then.

    Raises
    ------
    PlanError
        A number is out of its range, no column is named, the table lacks one, or a record lacks
        its person.
    TableError
        The table has no records, or a column more values than an engine can group by.

    References
    ----------
    Motwani, Xu 2007: Efficient algorithms for masking and finding quasi-identifiers (a set of
    attributes is one if it tells a share of the records apart); Mannila, Toivonen 1997: Levelwise
    search and borders of theories in knowledge discovery; Huhtala, Kärkkäinen, Porkka, Toivonen
    1999: TANE (partitions by attributes, refined one by one).

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": list("FFMM"), "age": [1, 2, 1, 2], "town": list("aaab")})
    >>> found = singling_out(MemoryTable(people), share=0.5)
    >>> [(one.columns, one.singled_out) for one in found.sets]
    [(('sex', 'age'), 4), (('sex', 'town'), 2), (('age', 'town'), 2)]

    The two women of town a are the same person, Ann, so their values single her out.

    >>> people["who"] = ["Ann", "Ann", "Ben", "Cem"]
    >>> found = singling_out(MemoryTable(people), ["sex", "town"], share=1, person="who")
    >>> [(one.columns, one.singled_out) for one in found.sets]
    [(('sex', 'town'), 3)]
    """
    columns = tuple(dict.fromkeys(table.columns if columns is None else columns))
    _check_arguments(table, columns, share, size)
    of, n, count_singled_out = _choose_counter(table, columns, k, person)

    most, least = max(most, len(columns)), round_share_up(share, n)
    counts: dict[tuple[int, ...], int] = {}  # every set that was counted, with its records
    smallest: list[tuple[int, ...]] = []
    below: list[tuple[int, ...]] = [()]
    expected = sum(comb(len(columns), level) for level in range(1, min(size, len(columns)) + 1))
    looked_at = together = 0
    for level in range(1, size + 1):
        candidates = list(islice(_generate_sets(below, len(columns)), most - len(counts) + 1))
        if len(counts) + len(candidates) > most:
            break
        below, text = [], f"{count_noun(len(candidates), 'set')} of {count_noun(level, 'column')}"
        for candidate in candidates:
            progress(len(counts) / min(expected, most), text)
            counts[candidate] = count_singled_out(candidate)
            (smallest if counts[candidate] >= least else below).append(candidate)
        looked_at = level
        if level == 1:
            together = count_singled_out([candidate[0] for candidate in below]) if below else 0
        if together < least or not below:  # no set that is left reaches it
            looked_at = size
            break
    progress(1, "")
    smallest.sort(key=lambda candidate: (len(candidate), -counts[candidate], candidate))
    sets = [
        SmallestSet(tuple(columns[j] for j in candidate), counts[candidate])
        for candidate in smallest
    ]
    return SinglingOut(
        columns, of, n, share, k, size, looked_at, tuple(sets),
        _compute_contributions(columns, smallest, counts), together,
    )  # fmt: skip


def round_share_up(share: float, n: int) -> int:
    """The fewest of n that are a share of them; a share of 1/n is one of them.

    >>> round_share_up(0.05, 100), round_share_up(0.05, 101)
    (5, 6)
    >>> round_share_up(0.00003315430011273, 30162)
    1
    """
    return max(1, math.ceil(share * n * (1 - 1e-9)))


def _check_arguments(table: Table, columns: Sequence[str], share: float, size: int) -> None:
    if not columns:
        raise PlanError("Name at least one column to look at.")
    check_columns(table.columns, columns)
    require_records(table.n_records)
    if not 0 < share <= 1:
        raise PlanError(
            f"A share of {100 * share:g} % is not allowed; it must be above 0 % and at most 100 % "
            "of the records or persons."
        )
    if size < 1:
        raise PlanError(f"Sets of {size} columns are not possible; a set has at least 1 column.")


def _check_k(k: int, of: str, n: int) -> None:
    if n < 2:
        person = of.removesuffix("s")
        raise PlanError(f"A table of 1 {person} singles nobody out; it needs at least 2.")
    if not 2 <= k <= n:
        raise PlanError(
            f"k = {k} is not allowed; it must be from 2 to the number of {of}, {write_count(n)}."
        )


def _generate_sets(below: Sequence[tuple[int, ...]], columns: int) -> Iterator[tuple[int, ...]]:
    """The sets with one column more of which no subset reaches the threshold, in order.

    >>> list(_generate_sets([()], 2)), list(_generate_sets([(0, 1), (0, 2), (1, 2), (1, 3)], 4))
    ([(0,), (1,)], [(0, 1, 2)])
    """
    if below == [()]:
        yield from ((j,) for j in range(columns))
        return
    known = {*below}
    for start, alike in groupby(below, key=lambda candidate: candidate[:-1]):
        for pair in combinations([candidate[-1] for candidate in alike], 2):
            candidate = (*start, *pair)
            if all(candidate[:j] + candidate[j + 1 :] in known for j in range(len(start))):
                yield candidate


def _compute_contributions(
    columns: Sequence[str],
    smallest: Sequence[tuple[int, ...]],
    counts: Mapping[tuple[int, ...], int],
) -> tuple[Contribution, ...]:
    sets: Counter[int] = Counter()
    gain: dict[int, int] = {}
    for smallest_set in smallest:
        for place, j in enumerate(smallest_set):
            # By no column: nobody.
            without = counts.get(smallest_set[:place] + smallest_set[place + 1 :], 0)
            sets[j] += 1
            gain[j] = max(gain.get(j, 0), counts[smallest_set] - without)
    order = sorted(gain, key=lambda j: (-gain[j], -sets[j], j))
    return tuple(Contribution(columns[j], sets[j], gain[j]) for j in order)


# --- counting the records or persons that some columns single out ------------------------------
def _choose_counter(
    table: Table, columns: Sequence[str], k: int, person: str | None
) -> tuple[CountedUnit, int, Callable[[Sequence[int]], int]]:
    if person is not None:
        classes = table.build_classes(columns, person=person)
        _check_k(k, "persons", classes.highest_k)
        return "persons", classes.highest_k, _TupleCounter(classes, k).count_singled_out
    n = table.n_records
    _check_k(k, "records", n)
    if isinstance(table, MemoryTable):
        return "records", n, _TupleCounter(table.build_classes(columns), k).count_singled_out

    def count_singled_out(chosen: Sequence[int]) -> int:
        return table.count_class_sizes([columns[j] for j in chosen]).count_rarer_than(k)

    return "records", n, count_singled_out


@dataclass(frozen=True, eq=False)
class _Partition:
    entries: np.ndarray  # positions of the entries that are not singled out
    classes: np.ndarray  # their classes, numbered from 0
    is_singled_out: np.ndarray  # who is singled out


class _TupleCounter:
    """Counts on the distinct tuples of a table; classes are reused where sets begin alike."""

    def __init__(self, classes: EquivalenceClasses, k: int) -> None:
        every_class = np.arange(classes.n_classes)
        self._k = k
        self._values = np.ascontiguousarray(classes.nodes.T)
        if classes.persons is None:
            self._people, self._weights = every_class, classes.counts
        else:
            self._values = self._values[:, classes.persons.of_entry]
            self._people = classes.persons.value.astype(np.int64)
            self._weights = np.ones_like(classes.persons.total)
        self._one_record_each = classes.persons is None or classes.one_record_each
        entries = np.arange(len(self._people))
        none_singled_out = np.zeros(len(self._weights), dtype=bool)
        self._path = [_Partition(entries, np.zeros_like(entries), none_singled_out)]
        self._chosen: tuple[int, ...] = ()

    def count_singled_out(self, chosen: Iterable[int]) -> int:
        chosen = tuple(chosen)
        same = 0
        while chosen[: same + 1] == self._chosen[: same + 1] and same < len(chosen):
            same += 1
        del self._path[same + 1 :]
        for j in chosen[same:]:
            self._path.append(self._split_classes(self._path[-1], self._values[j]))
        self._chosen = chosen
        return int(self._weights[self._path[-1].is_singled_out].sum())

    def _split_classes(self, before: _Partition, values: np.ndarray) -> _Partition:
        """Split classes by one more column and drop the entries that this singles out."""
        here = values[before.entries]
        classes, _ = pd.factorize(before.classes * (here.max(initial=0) + 1) + here)
        people = self._people[before.entries]
        is_large = self._count_sizes(classes, people) >= self._k
        stays = is_large[classes]
        is_singled_out = before.is_singled_out.copy()
        is_singled_out[people[~stays]] = True
        return _Partition(
            before.entries[stays], (np.cumsum(is_large) - 1)[classes[stays]], is_singled_out
        )

    def _count_sizes(self, classes: np.ndarray, people: np.ndarray) -> np.ndarray:
        """The number of records or persons of each class; a person counts once."""
        if not self._one_record_each:
            pairs = classes * len(self._weights) + people
            first = ~pd.Series(pairs).duplicated().to_numpy()
            classes, people = classes[first], people[first]
        return np.bincount(classes, self._weights[people])
