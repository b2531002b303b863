"""A linkage attack: what who knows some quasi-identifiers of a person learns from a table.

The attacker looks for the records that the person's could be, and takes each of them for equally
likely; the best guess of a sensitive value is the most frequent one among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import CoverageError, PlanError, listing, quoted
from kanon.hierarchy import Hierarchy

__all__ = ["Linkage", "Match", "linkage", "matching", "people_below", "projected"]


@dataclass(frozen=True, eq=False)
class Match:
    """The records that a person's could be.

    Attributes
    ----------
    classes : numpy.ndarray, shape (c,), int64
        The positions of the classes that match, rising.
    records
        The number of their records.
    values : tuple of str, length v
        The values of the sensitive attribute; empty if none was asked for.
    counts : numpy.ndarray, shape (v,), int64
        The number of matching records that have each.
    """

    classes: np.ndarray
    records: int
    values: tuple[str, ...]
    counts: np.ndarray

    @property
    def guesses(self) -> tuple[str, ...]:
        """The most frequent values: one best guess, several equally good ones, or none."""
        if not self.records:
            return ()
        return tuple(self.values[place] for place in np.flatnonzero(self.counts == self._most))

    @property
    def sureness(self) -> float | None:
        """How sure a best guess is: its share of the matching records; None without any.

        From 1 / v, all v values are equally frequent, to 1, the attacker is certain.
        """
        return self._most / self.records if self.records and len(self.counts) else None

    @property
    def _most(self) -> int:
        return int(self.counts.max(initial=0))


@dataclass(frozen=True)
class Linkage:
    """What an attack on every person of a table finds on average.

    Attributes
    ----------
    singled_out
        The share of the persons for whom exactly one record matches, in [0, 1].
    matches
        The mean number of matching records.
    right
        The share of the persons of whom the best guess is right, in [0, 1]; between equally
        good guesses a coin is tossed, and who finds no record guesses nothing. None without a
        sensitive attribute.
    """

    singled_out: float
    matches: float
    right: float | None


def matching(
    classes: EquivalenceClasses, known: Mapping[str, str], column: str | None = None
) -> Match:
    """The records of a table that fit what is known of a person.

    A record fits if, for every known attribute, its cell is the known value or an ancestor of it
    in the hierarchy. So the record of a person fits whatever is known of it, in the table and
    in every release that kept it; and who fits in the table fits in such a release.

    Parameters
    ----------
    classes
        The classes of a table: the original, or a release.
    known
        Per known quasi-identifier its value. Who knows nothing finds every record.
    column
        The sensitive attribute to be guessed.

    Raises
    ------
    PlanError
        A column is no quasi-identifier, or ``column`` not sensitive.
    CoverageError
        A value does not stand in the hierarchy of its column.

    Examples
    --------
    A cat, two lions and a dog; in a release that raised the cat and a lion to felids, both could be
    the cat.

    >>> from kanon.hierarchy.build import groups
    >>> race = groups([{"Felid": ["Cat", "Lion"]}, {"*": ["Felid", "Dog"]}])
    >>> sizes = np.array([1, 2, 1])
    >>> table = EquivalenceClasses(("race",), (race,), np.array([[0], [1], [2]]), sizes)
    >>> raised = EquivalenceClasses(("race",), (race,), np.array([[1], [2], [3]]), sizes[[2, 0, 1]])
    >>> [matching(each, {"race": "Cat"}).records for each in (table, raised)]
    [1, 2]
    """
    fits = np.ones(classes.n_classes, dtype=bool)
    for place, name in zip(_places(classes, known), known, strict=True):
        tree = classes.hierarchies[place]
        if known[name] not in tree.node_of:
            raise CoverageError(
                f"Column {quoted(name)}: its hierarchy lacks the known value {{cells}}.",
                [known[name]],
            )
        fits &= _covers(tree, tree.node_of[known[name]])[classes.nodes[:, place]]
    found = np.flatnonzero(fits)
    records = int(classes.counts[found].sum())
    if column is None:
        return Match(found, records, (), np.zeros(0, dtype=np.int64))
    sensitive = classes.sensitive_named(column)
    counts = np.zeros(len(sensitive.values), dtype=np.int64)
    chosen = sensitive.only(found)
    np.add.at(counts, chosen.value, chosen.count)
    return Match(found, records, sensitive.values, counts)


def linkage(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    column: str | None = None,
) -> Linkage | None:
    """Attack every person of a table in turn; exact, counted on classes.

    Of each person the attacker knows the same attributes, as the original table has them, and
    looks for them as :func:`matching` does. In the original table the best guess is right as often
    as any guess from these attributes can be: at least as often as in a release, and as the most
    frequent value of the table is.

    Parameters
    ----------
    persons
        The classes of the original table.
    published
        The classes that the attacker looks at: those of the original table, or of a release.
    known
        The attributes that are known.
    column
        The sensitive attribute to be guessed.

    Returns
    -------
    Linkage or None
        None without persons.

    Raises
    ------
    PlanError
        A column is no quasi-identifier, or ``column`` not sensitive.

    Examples
    --------
    Who knows the race finds one record of the cat and of the dog, and two of each of the two lions.

    >>> from kanon.hierarchy.build import suppression
    >>> race = suppression(["Cat", "Lion", "Dog"])
    >>> sizes = np.array([1, 2, 1])
    >>> table = EquivalenceClasses(("race",), (race,), np.array([[0], [1], [2]]), sizes)
    >>> linkage(table, table, ["race"])
    Linkage(singled_out=0.5, matches=1.5, right=None)
    """
    if not persons.n_records:
        return None
    # Columns of few published nodes first: where they do not fit, many classes are left out.
    places = _places(persons, known)
    few_first = sorted(places, key=lambda place: len(np.unique(published.nodes[:, place])))
    low, high = projected(persons, few_first), projected(published, few_first)
    records, hits, ties = _attacked(
        _ranges(low),
        _ranges(high),
        _next_prefix(high.nodes),
        high.counts,
        _histograms(low, column),
        _histograms(high, column),
        0 if column is None else len(persons.sensitive_named(column).values),
    )
    n = low.n_records
    # Whole numbers as far as possible: the order of the known attributes must not matter.
    of_ties = np.bincount(ties, weights=hits)
    right = math.fsum(float(of_ties[t]) / t for t in range(1, len(of_ties)))
    return Linkage(
        singled_out=int(low.counts[records == 1].sum()) / n,
        matches=int((low.counts * records).sum()) / n,
        right=None if column is None else right / n,
    )


def people_below(released: EquivalenceClasses, population: EquivalenceClasses) -> np.ndarray:
    """F(C): for each released class the people of a population who could be in it.

    Those are the people all of whose values are the nodes of the class or lie below them.

    Parameters
    ----------
    released
        The classes of a release.
    population
        The classes of the population, over the same hierarchies.

    Returns
    -------
    numpy.ndarray, shape (R,), int64
        At least the class's own size, if everybody of the table belongs to the population.
    """
    return _below(
        _ranges(population), _ranges(released), _next_prefix(released.nodes), population.counts
    )


def projected(classes: EquivalenceClasses, places: Sequence[int]) -> EquivalenceClasses:
    """The classes by some quasi-identifiers alone, in the order given.

    Parameters
    ----------
    classes
        The classes.
    places
        The positions of the attributes.
    """
    trees = tuple(classes.hierarchies[place] for place in places)
    nodes, counts, group = group_tuples(
        classes.nodes[:, list(places)], classes.counts, [tree.n_nodes for tree in trees]
    )
    return replace(
        classes,
        attributes=tuple(classes.attributes[place] for place in places),
        hierarchies=trees,
        nodes=nodes,
        counts=counts,
        sensitive=tuple(each.grouped(group, len(counts)) for each in classes.sensitive),
    )


def _covers(tree: Hierarchy, node: int) -> np.ndarray:
    """Which nodes are a given one or its ancestors, or ranges that hold it. Shape (N,), bool."""
    numbers = np.arange(tree.n_nodes)
    within = (tree.first <= tree.first[node]) & (tree.last >= tree.last[node])
    found: np.ndarray = within & (numbers >= node)
    return found


def _places(classes: EquivalenceClasses, known: Mapping[str, str] | Sequence[str]) -> list[int]:
    """The positions of the known attributes."""
    lacking = [name for name in known if name not in classes.attributes]
    if lacking:
        raise PlanError(
            f"{quoted(lacking[0])} is no quasi-identifier; known are "
            f"{listing(classes.attributes, most=12)}."
        )
    return [classes.attributes.index(name) for name in known]


def _histograms(
    classes: EquivalenceClasses, column: str | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the entries of each class start, their values, their counts; none without a column."""
    if column is None:
        none = np.zeros(0, dtype=np.int64)
        return np.zeros(classes.n_classes + 1, dtype=np.int64), none, none
    found = classes.sensitive_named(column)
    return found.start, found.value.astype(np.int64), found.count


def _ranges(classes: EquivalenceClasses) -> np.ndarray:
    """Per cell the node, and the first and last leaf below it. Shape (3, E, m), int32."""
    found = np.empty((3, *classes.nodes.shape), dtype=np.int32)
    found[0] = classes.nodes
    for j, tree in enumerate(classes.hierarchies):
        found[1, :, j] = tree.first[classes.nodes[:, j]]
        found[2, :, j] = tree.last[classes.nodes[:, j]]
    return found


def _next_prefix(nodes: np.ndarray) -> np.ndarray:
    """Per tuple and column j the next tuple that differs in the columns up to j. Shape (Q, m).

    The tuples stand in lexicographic order: where column j of one does not fit, none of those in
    between does.

    >>> _next_prefix(np.array([[0, 0], [0, 1], [2, 0]])).tolist()
    [[2, 1], [2, 2], [3, 3]]
    """
    size, m = nodes.shape
    found = np.empty((size, m), dtype=np.int64)
    starts = np.zeros(size, dtype=bool)
    for j in range(m):
        starts[1:] |= nodes[1:, j] != nodes[:-1, j]
        places = np.append(np.flatnonzero(starts), size)
        found[:, j] = places[np.searchsorted(places, np.arange(size), side="right")]
    return found


@njit(cache=True, nogil=True)
def _misfit(low, high, p, q):  # type: ignore[no-untyped-def]
    """The first column in which tuple q is no ancestor of tuple p; the number of columns if none.

    Chains of single children share a range of leaves; their numbers tell who is above.
    """
    for j in range(low.shape[2]):
        if (
            high[1, q, j] > low[1, p, j]
            or high[2, q, j] < low[2, p, j]
            or high[0, q, j] < low[0, p, j]
        ):
            return j
    return low.shape[2]


@njit(cache=True, nogil=True)
def _attacked(low, high, following, sizes, of_low, of_high, n_values):  # type: ignore[no-untyped-def]
    """Per known tuple the matching records, the persons guessed right, the number of best guesses.

    Parameters
    ----------
    low, high
        The tuples that are known and those that are published; see :func:`_ranges`.
    following
        See :func:`_next_prefix`.
    sizes
        The records of each published tuple.
    of_low, of_high
        See :func:`_histograms`.
    n_values
        v.
    """
    low_start, low_value, low_count = of_low
    high_start, high_value, high_count = of_high
    known, published, m = low.shape[1], high.shape[1], low.shape[2]
    records = np.zeros(known, dtype=np.int64)
    hits = np.zeros(known, dtype=np.int64)
    ties = np.zeros(known, dtype=np.int64)
    seen = np.zeros(n_values, dtype=np.int64)
    touched = np.empty(n_values, dtype=np.int64)
    for p in range(known):
        n_touched = 0
        q = 0
        while q < published:
            j = _misfit(low, high, p, q)
            if j < m:
                q = following[q, j]
                continue
            records[p] += sizes[q]
            for entry in range(high_start[q], high_start[q + 1]):
                value = high_value[entry]
                if seen[value] == 0:
                    touched[n_touched] = value
                    n_touched += 1
                seen[value] += high_count[entry]
            q += 1
        most = 0
        for place in range(n_touched):
            count = seen[touched[place]]
            if count > most:
                most, ties[p] = count, 1
            elif count == most:
                ties[p] += 1
        if most:
            for entry in range(low_start[p], low_start[p + 1]):
                if seen[low_value[entry]] == most:
                    hits[p] += low_count[entry]
        for place in range(n_touched):
            seen[touched[place]] = 0
    return records, hits, ties


@njit(cache=True, nogil=True)
def _below(low, high, following, counts):  # type: ignore[no-untyped-def]
    """Per tuple of ``high`` the records of the tuples of ``low`` that it is an ancestor of."""
    m = low.shape[2]
    found = np.zeros(high.shape[1], dtype=np.int64)
    for p in range(low.shape[1]):
        q = 0
        while q < high.shape[1]:
            j = _misfit(low, high, p, q)
            if j < m:
                q = following[q, j]
                continue
            found[q] += counts[p]
            q += 1
    return found
