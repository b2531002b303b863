"""Which columns single records or persons out together: the smallest sets of them, by counting.

Some columns single a record out if fewer than k records share its values of them: of k = 2, if no
other one does. They single a person out who has a record whose values fewer than k persons have.
One more column parts classes and joins none, so the share of these records or persons never falls.
What matters of all sets of columns are therefore the smallest that reach a threshold.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, islice
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import Counted, counted, percent, thin
from kanon.base.progress import Progress, no_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, quoted
from kanon.schema import Role, check_columns
from kanon.sources.memory import MemoryTable, require_records
from kanon.sources.tables import Table

MOST_SETS = 20_000
"""So many sets are counted at most: some twenty seconds with 30,000 records in memory."""


@dataclass(frozen=True)
class SmallestSet:
    """Columns that single out enough records together, of which none can be spared.

    Attributes
    ----------
    columns
        The columns, in the table's order.
    singled_out
        How many records or persons they single out.
    """

    columns: tuple[str, ...]
    singled_out: int


@dataclass(frozen=True)
class Contribution:
    """What a column contributes to the smallest sets.

    Attributes
    ----------
    column
        The column.
    sets
        How many of the smallest sets it is in.
    singled_out
        The most records or persons that one of them singles out and would not without the column.
    """

    column: str
    sets: int
    singled_out: int


@dataclass(frozen=True)
class SinglingOut:
    """The smallest sets of columns that single out a share of the records, or of the persons.

    Attributes
    ----------
    columns
        The columns that were looked at.
    of
        What is counted: records, or persons where a column tells them apart.
    number
        n, how many of them there are.
    share
        The share of them, above 0 and up to 1, that a set has to single out to be listed.
    k
        A record is singled out if fewer than k records share its values; a person, if fewer than k
        persons share those of one of the person's records.
    asked
        Sets of up to so many columns were asked for.
    size
        All sets of up to so many columns were looked at, or ruled out: less than ``asked`` if
        those that are larger would have been too many.
    sets
        The smallest sets: those of fewer columns first, among them those that single out more.
    contributions
        What each column contributes that is in one of them, those that add more first.
    together
        How many are singled out by all columns together that do not reach the share alone: no set
        of them singles out more.
    """

    columns: tuple[str, ...]
    of: Counted
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
        """Whether no set of the size that was asked for was left out."""
        return self.size == self.asked

    @property
    def found_with_more(self) -> bool:
        """Where there are no sets: whether there are some of more columns than were looked at."""
        return self.together >= least_number(self.share, self.number)

    @property
    def identifier_like(self) -> tuple[str, ...]:
        """The columns that single out everybody alone: numbers of persons, names."""
        return tuple(
            one.columns[0]
            for one in self.sets
            if len(one.columns) == 1 and one.singled_out == self.number
        )

    @property
    def proposed(self) -> tuple[str, ...]:
        """The columns that should be quasi-identifiers by this, in the table's order.

        Those of the smallest sets. One that is like an identifier had better be one.
        """
        found = {column for one in self.sets for column in one.columns}
        found -= {*self.identifier_like}
        return tuple(column for column in self.columns if column in found)

    def contradicted(self, roles: Mapping[str, Role]) -> tuple[str, ...]:
        """The columns of the smallest sets that are called insensitive, in the table's order.

        Parameters
        ----------
        roles
            The role of each column; a column without one is insensitive.
        """
        found = {one.column for one in self.contributions}
        return tuple(
            column
            for column in self.columns
            if column in found and roles.get(column, Role.INSENSITIVE) is Role.INSENSITIVE
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """All that was found, for JSON; shares are of 1.

        The number of what is counted, and of what is singled out, is called ``records`` or
        ``persons``.
        """
        n = self.number
        return {
            self.of: n,
            "share": self.share,
            "k": self.k,
            "size": self.size,
            "complete": self.complete,
            "together": self.together,
            "sets": [
                {"columns": [*one.columns], self.of: one.singled_out, "share": one.singled_out / n}
                for one in self.sets
            ],
            "columns": [
                {"column": one.column, "sets": one.sets, self.of: one.singled_out}
                for one in self.contributions
            ],
            "identifier_like": [*self.identifier_like],
            "proposed": [*self.proposed],
        }

    @property
    def _share(self) -> str:
        if self.share < 0.0005:  # it would read as less than 0.1 %
            return thin(least_number(self.share, self.number))
        return percent(100 * self.share)

    @property
    def said(self) -> tuple[str, ...]:
        """All that was found, in sentences, with the names of columns and no value of the table."""
        alike = "no other one" if self.k == 2 else f"fewer than {self.k - 1} others"
        share = "shares" if self.k == 2 else "share"
        meant = (
            f"A {self._one} is singled out if {alike} of the {self._counted(self.number)} {share}"
        )
        values = (
            "its values" if self.of == "records" else "the values of one of the person's records"
        )
        many = "no set of" if not self.sets else f"{counted(len(self.sets), 'smallest set')} of"
        lines = [
            f"{meant} {values}.",
            f"At least {self._share} of them are singled out by {many} up to "
            f"{counted(self.size, 'column')}{':' if self.sets else '.'}",
            *(
                f"  {self._named(one.columns)}: {self._of_all(one.singled_out)}"
                for one in self.sets
            ),
        ]
        if self.sets:
            lines.append("What each column adds to one of them at most (↓ better):")
        for each in self.contributions:
            sets = counted(each.sets, "set")
            lines.append(f"  {quoted(each.column)}: {self._of_all(each.singled_out)}, in {sets}")
        if self.proposed:
            lines.append(f"Quasi-identifiers by this: {self._named(self.proposed)}.")
        if self.identifier_like:
            names = self._named(self.identifier_like)
            lines.append(
                f"Every {self._one} is singled out by one column alone, as by a name: {names}."
            )
        if not self.complete:
            lines.append(
                f"Larger sets were asked for, up to {counted(self.asked, 'column')}, and not "
                "looked at, as they are too many: look at fewer columns."
            )
        if sum(len(one.columns) == 1 for one in self.sets) < len(self.columns):
            lines.append(
                "All columns that do not reach it alone single out together: "
                f"{self._of_all(self.together)}."
            )
        if not self.sets:
            lines.append(
                "So some set of more columns does."
                if self.found_with_more
                else "So no set of more columns does either."
            )
        return tuple(lines)

    def _named(self, columns: Sequence[str]) -> str:
        return ", ".join(map(quoted, columns))

    @property
    def _one(self) -> str:
        return self.of.removesuffix("s")

    def _counted(self, number: int) -> str:
        return counted(number, self._one)

    def _of_all(self, number: int) -> str:
        return f"{self._counted(number)}, {percent(100 * number / self.number)}"


def singling_out(
    table: Table,
    columns: Sequence[str] | None = None,
    share: float = 0.05,
    k: int = 2,
    size: int = 3,
    most: int = MOST_SETS,
    progress: Progress = no_progress,
    person: str | None = None,
) -> SinglingOut:
    """Find the smallest sets of columns that single out at least a share of records or persons.

    Of a set S of columns, the share is (1/n) Σ |C|, over the classes C of the records by S that
    have |C| < k. Where a column tells persons apart, |C| is the number of persons with records in
    C, and the share that of all persons who have a record in a class of fewer than k: whoever
    knows that record finds them. It is between 0 (every class has k) and 1, and never falls when a
    column is added. A set is *smallest* if it reaches the threshold and no set of some of its
    columns does. A missing cell counts as a value of its own, as in
    :meth:`kanon.sources.tables.Table.classes_of`.

    Sets are looked at by their size. One is counted only if no part of it reaches the threshold
    (Mannila and Toivonen 1997), and in memory only among the records that no part of it singles out
    (partitions without what is decided, Huhtala et al. 1999). An engine groups its rows by each
    set and tells how many groups there are of each size; persons are counted in memory.

    Parameters
    ----------
    columns
        The columns to look at; all by default.
    share
        The threshold, above 0 and up to 1. The default is a round number to begin with and no norm.
    k
        Classes of fewer records or persons are singled out, 2 ≤ k ≤ n; 2 are the unique ones.
    size
        How many columns a set may have, at least 1.
    most
        So many sets are counted at most, and every single column. Before a size of which there
        are more, the search stops and says so: it never looks at some sets of a size alone.
    person
        The column that says which records are of one person, so that persons are counted.

    Raises
    ------
    PlanError
        A number is out of its range, no column is named, the table lacks one, or a record does not
        say whom it is about.
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

    The two who live in town a and have this sex are Ann, once and again, so she is found by it.

    >>> people["who"] = ["Ann", "Ann", "Ben", "Cem"]
    >>> found = singling_out(MemoryTable(people), ["sex", "town"], share=1, person="who")
    >>> [(one.columns, one.singled_out) for one in found.sets]
    [(('sex', 'town'), 3)]
    """
    columns = tuple(dict.fromkeys(table.columns if columns is None else columns))
    _check(table, columns, share, size)
    of, n, singled = _counting(table, columns, k, person)

    most, least = max(most, len(columns)), least_number(share, n)
    found: dict[tuple[int, ...], int] = {}  # every set that was counted, with its records
    smallest: list[tuple[int, ...]] = []
    below: list[tuple[int, ...]] = [()]
    expected = sum(comb(len(columns), level) for level in range(1, min(size, len(columns)) + 1))
    done = together = 0
    for level in range(1, size + 1):
        candidates = list(islice(_candidates(below, len(columns)), most - len(found) + 1))
        if len(found) + len(candidates) > most:
            break
        below, text = [], f"{counted(len(candidates), 'set')} of {counted(level, 'column')}"
        for one in candidates:
            progress(len(found) / min(expected, most), text)
            found[one] = singled(one)
            (smallest if found[one] >= least else below).append(one)
        done = level
        if level == 1:
            together = singled([one[0] for one in below]) if below else 0
        if together < least or not below:  # no set that is left reaches it
            done = size
            break
    progress(1, "")
    smallest.sort(key=lambda one: (len(one), -found[one], one))
    named = [SmallestSet(tuple(columns[j] for j in one), found[one]) for one in smallest]
    return SinglingOut(
        columns, of, n, share, k, size, done, tuple(named),
        _contributions(columns, smallest, found), together,
    )  # fmt: skip


def least_number(share: float, n: int) -> int:
    """The fewest of n that are a share of them; a share of 1/n is one of them.

    >>> least_number(0.05, 100), least_number(0.05, 101), least_number(0.00003315430011273, 30162)
    (5, 6, 1)
    """
    return max(1, math.ceil(share * n * (1 - 1e-9)))


def _check(table: Table, columns: Sequence[str], share: float, size: int) -> None:
    if not columns:
        raise PlanError("Name at least one column to look at.")
    check_columns(table.columns, columns)
    require_records(table.n_records)
    if not 0 < share <= 1:
        raise PlanError(
            f"A share of {100 * share:g} % is not allowed; it is above 0 % and at most 100 % of "
            "the records or persons."
        )
    if size < 1:
        raise PlanError(f"Sets of {size} columns are not possible; a set has at least 1 column.")


def _check_k(k: int, of: str, n: int) -> None:
    if n < 2:
        what = of.removesuffix("s")
        raise PlanError(f"Nobody is singled out from a table of 1 {what}; it takes at least 2.")
    if not 2 <= k <= n:
        raise PlanError(
            f"k = {k} is not allowed; it is at least 2 and at most the number of {of}, {thin(n)}."
        )


def _candidates(below: Sequence[tuple[int, ...]], columns: int) -> Iterator[tuple[int, ...]]:
    """The sets with one column more of which no part reaches the threshold, in their order.

    >>> list(_candidates([()], 2)), list(_candidates([(0, 1), (0, 2), (1, 2), (1, 3)], 4))
    ([(0,), (1,)], [(0, 1, 2)])
    """
    if below == [()]:
        yield from ((j,) for j in range(columns))
        return
    known = {*below}
    for start, alike in groupby(below, key=lambda one: one[:-1]):
        for pair in combinations([one[-1] for one in alike], 2):
            one = (*start, *pair)
            if all(one[:j] + one[j + 1 :] in known for j in range(len(start))):
                yield one


def _contributions(
    columns: Sequence[str],
    smallest: Sequence[tuple[int, ...]],
    found: Mapping[tuple[int, ...], int],
) -> tuple[Contribution, ...]:
    sets: Counter[int] = Counter()
    gain: dict[int, int] = {}
    for one in smallest:
        for place, j in enumerate(one):
            without = found.get(one[:place] + one[place + 1 :], 0)  # by no column: nobody
            sets[j] += 1
            gain[j] = max(gain.get(j, 0), found[one] - without)
    order = sorted(gain, key=lambda j: (-gain[j], -sets[j], j))
    return tuple(Contribution(columns[j], sets[j], gain[j]) for j in order)


# --- counting the records or persons that some columns single out ------------------------------
def _counting(
    table: Table, columns: Sequence[str], k: int, person: str | None
) -> tuple[Counted, int, Callable[[Sequence[int]], int]]:
    if person is not None:
        classes = table.classes_of(columns, person=person)
        _check_k(k, "persons", classes.highest_k)
        return "persons", classes.highest_k, _InMemory(classes, k).singled
    n = table.n_records
    _check_k(k, "records", n)
    if isinstance(table, MemoryTable):
        return "records", n, _InMemory(table.classes_of(columns), k).singled

    def singled(chosen: Sequence[int]) -> int:
        return table.group_sizes([columns[j] for j in chosen]).rarer_than(k)

    return "records", n, singled


@dataclass(frozen=True, eq=False)
class _Parted:
    entries: np.ndarray  # the entries that stay, as positions among all
    classes: np.ndarray  # the class of each, numbered from 0
    singled: np.ndarray  # who is singled out


class _InMemory:
    """Counts on the distinct tuples of a table; what sets begin with in common is parted once."""

    def __init__(self, classes: EquivalenceClasses, k: int) -> None:
        everybody = np.arange(classes.n_classes)
        self._k = k
        self._values = np.ascontiguousarray(classes.nodes.T)
        if classes.persons is None:
            self._who, self._weights = everybody, classes.counts
        else:
            self._values = self._values[:, classes.persons.of_entry]
            self._who = classes.persons.value.astype(np.int64)
            self._weights = np.ones_like(classes.persons.total)
        self._once = classes.persons is None or classes.one_record_each
        entries = np.arange(len(self._who))
        nobody = np.zeros(len(self._weights), dtype=bool)
        self._path = [_Parted(entries, np.zeros_like(entries), nobody)]
        self._chosen: tuple[int, ...] = ()

    def singled(self, chosen: Iterable[int]) -> int:
        chosen = tuple(chosen)
        same = 0
        while chosen[: same + 1] == self._chosen[: same + 1] and same < len(chosen):
            same += 1
        del self._path[same + 1 :]
        for j in chosen[same:]:
            self._path.append(self._parted(self._path[-1], self._values[j]))
        self._chosen = chosen
        return int(self._weights[self._path[-1].singled].sum())

    def _parted(self, before: _Parted, values: np.ndarray) -> _Parted:
        """The classes parted by one more column, without the entries that this singles out."""
        here = values[before.entries]
        classes, _ = pd.factorize(before.classes * (here.max(initial=0) + 1) + here)
        who = self._who[before.entries]
        stay = self._sizes(classes, who) >= self._k
        kept = stay[classes]
        singled = before.singled.copy()
        singled[who[~kept]] = True
        return _Parted(before.entries[kept], (np.cumsum(stay) - 1)[classes[kept]], singled)

    def _sizes(self, classes: np.ndarray, who: np.ndarray) -> np.ndarray:
        """How many records or persons each class has; who is in it twice counts once."""
        if not self._once:
            pairs = classes * len(self._weights) + who
            first = ~pd.Series(pairs).duplicated().to_numpy()
            classes, who = classes[first], who[first]
        return np.bincount(classes, self._weights[who])
