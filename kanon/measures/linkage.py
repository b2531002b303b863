"""A linkage attack: what who knows some quasi-identifiers of a person learns from a table.

The attacker looks for the records that the person's could be, and takes each of them for equally
likely; the best guess of a sensitive value is the most frequent one among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kanon.base.formatting import Counted
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import CoverageError, PlanError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.kernels.linkage import attacked, below
from kanon.sensitive import Sensitive

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NOTHING = np.zeros(0, dtype=np.int64)
_NO_ROWS = (np.zeros((2, 0), dtype=np.int64), _NOTHING, _NOTHING)
"""Where nothing is published beside the classes; see :func:`_with_rows`."""


@dataclass(frozen=True, eq=False)
class Match:
    classes: np.ndarray  # the positions of the classes that match, rising
    records: int  # the number of their records
    values: tuple[str, ...]  # the values of the sensitive attribute
    counts: np.ndarray  # the number of matching records that have each
    persons: int | None = None  # of how many persons they are

    @property
    def guesses(self) -> tuple[str, ...]:
        """The most frequent values: one best guess, several equally good ones, or none."""
        if not self.records:
            return ()
        return tuple(self.values[place] for place in np.flatnonzero(self.counts == self._most))

    @property
    def sureness(self) -> float | None:
        """How sure a best guess is: its share of the matching records; None without any."""
        return self._most / self.records if self.records and len(self.counts) else None

    @property
    def _most(self) -> int:
        return int(self.counts.max(initial=0))


@dataclass(frozen=True)
class Linkage:
    # whom the attacker looks for and what is counted: records, each as if it were one person, or
    # persons where a column tells them apart
    of: Counted
    # the share of the records for which exactly one matches, or of the persons for whom the
    # records of exactly one do, in [0, 1]
    singled_out: float
    matches: float  # the mean number of records, or persons, that match
    # the share of the records whose sensitive value the best guess is, in [0, 1]
    right: float | None


@dataclass(frozen=True, eq=False)
class Attack:
    # the P tuples of values that are known, with the records that they are known of
    known: EquivalenceClasses
    records: np.ndarray  # the records that match
    different: np.ndarray  # how many different values they have
    most: np.ndarray  # those of them that have the most frequent sensitive value
    ties: np.ndarray  # the number of values that are as frequent
    hits: np.ndarray  # the records looked for that have one of these values

    @property
    def sizes(self) -> np.ndarray:
        """The records of which the same is known. Shape (P,), int64."""
        return self.known.counts

    @property
    def n_records(self) -> int:
        """n, the number of records looked for; all shares are shares of them."""
        return self.known.n_records

    @property
    def right(self) -> float:
        """How often the best guess is right, in [0, 1]; a coin is tossed between equal ones."""
        # Whole numbers as far as possible: the order of the known attributes must not matter.
        of_ties = np.bincount(self.ties, weights=self.hits)
        found = math.fsum(float(of_ties[t]) / t for t in range(1, len(of_ties)))
        return found / self.n_records

    @property
    def sureness(self) -> float:
        """The mean of how sure the best guess is, in [0, 1]; 0 for whom no record matches."""
        share = self.most / np.maximum(self.records, 1)
        return math.fsum((self.sizes * share).tolist()) / self.n_records

    @property
    def certain(self) -> float:
        """The share of the records whose matching records all have one value, in [0, 1]."""
        alike = (self.records > 0) & (self.most == self.records)
        return int(self.sizes[alike].sum()) / self.n_records


def matching(
    classes: EquivalenceClasses, known: Mapping[str, str], column: str | None = None
) -> Match:
    """The records of a table that fit what is known of a person."""
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
    who = classes.persons
    persons = None if who is None else len(np.unique(who.only(found).value))
    if column is None:
        return Match(found, records, (), np.zeros(0, dtype=np.int64), persons)
    sensitive = classes.sensitive_named(column)
    counts = np.zeros(len(sensitive.values), dtype=np.int64)
    chosen = sensitive.only(found)
    np.add.at(counts, chosen.value, chosen.count)
    return Match(found, records, sensitive.values, counts, persons)


def linkage(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    column: str | None = None,
) -> Linkage | None:
    """Attack everybody in a table in turn; exact, counted on classes."""
    if not persons.n_records:
        return None
    if persons.persons is not None:
        fewest = _fewest_persons(_attack(persons, published, known, _persons))
        n = len(fewest)
        right = None if column is None else attack(persons, published, known, column).right
        return Linkage("persons", int((fewest == 1).sum()) / n, int(fewest.sum()) / n, right)
    found, n = attack(persons, published, known, column), persons.n_records
    right = None if column is None else found.right
    alone = int(found.sizes[found.records == 1].sum())
    return Linkage("records", alone / n, int((found.sizes * found.records).sum()) / n, right)


def attack(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    column: str | None = None,
    admitted: csr_array | None = None,
) -> Attack:
    of = None if column is None else partial(EquivalenceClasses.sensitive_named, column=column)
    return _attack(persons, published, known, of, admitted)


def _persons(classes: EquivalenceClasses) -> Sensitive:
    assert classes.persons is not None
    return classes.persons


def _fewest_persons(found: Attack) -> np.ndarray:
    """Per person the fewest persons that match a record of theirs; 0 if none ever does."""
    who = _persons(found.known)
    matches = found.different[who.of_entry]
    _, number = np.unique(who.value, return_inverse=True)
    far = np.iinfo(np.int64).max
    fewest = np.full(number.max() + 1, far)
    np.minimum.at(fewest, number[matches > 0], matches[matches > 0])
    return np.where(fewest == far, 0, fewest)


def _attack(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    of: Callable[[EquivalenceClasses], Sensitive] | None,
    admitted: csr_array | None = None,
) -> Attack:
    """The attack, with what is guessed as a histogram of each class; None for nothing."""
    # Columns of few published nodes first: where they do not fit, many classes are left out.
    places = _places(persons, known)
    few_first = sorted(places, key=lambda place: len(np.unique(published.nodes[:, place])))
    low = projected(persons, few_first)
    if admitted is None:
        high, rows = projected(published, few_first), _NO_ROWS
    else:
        high, rows = _with_rows(published, few_first, admitted)
    found = attacked(
        _ranges(low),
        _ranges(high),
        _next_prefix(high.nodes),
        high.counts,
        _histograms(low, of),
        _histograms(high, of),
        0 if of is None else len(of(persons).values),
        rows,
    )
    return Attack(low, *found)


def people_below(released: EquivalenceClasses, population: EquivalenceClasses) -> np.ndarray:
    """F(C): for each released class the people of a population who could be in it."""
    return below(
        _ranges(population), _ranges(released), _next_prefix(released.nodes), population.counts
    )


def projected(classes: EquivalenceClasses, places: Sequence[int]) -> EquivalenceClasses:
    trees = tuple(classes.hierarchies[place] for place in places)
    nodes, counts, group = group_tuples(
        classes.nodes[:, list(places)], classes.counts, [tree.n_nodes for tree in trees]
    )
    named = tuple(classes.attributes[place] for place in places)
    found = replace(classes, attributes=named, hierarchies=trees)
    histograms = (each.grouped(group, len(counts)) for each in classes.histograms)
    return found.regrouped(nodes, counts, histograms)


def _covers(tree: Hierarchy, node: int) -> np.ndarray:
    """Which nodes are a given one or its ancestors, or ranges that hold it. Shape (N,), bool."""
    within = (tree.first <= tree.first[node]) & (tree.last >= tree.last[node])
    return np.asarray(within & (np.arange(tree.n_nodes) >= node))


def _places(classes: EquivalenceClasses, known: Mapping[str, str] | Sequence[str]) -> list[int]:
    lacking = [name for name in known if name not in classes.attributes]
    if lacking:
        raise PlanError(
            f"{quoted(lacking[0])} is no quasi-identifier; known are "
            f"{listing(classes.attributes, most=12)}."
        )
    return [classes.attributes.index(name) for name in known]


def _histograms(
    classes: EquivalenceClasses, of: Callable[[EquivalenceClasses], Sensitive] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the entries of each class start, their values, their counts; none of nothing."""
    if of is None:
        return np.zeros(classes.n_classes + 1, dtype=np.int64), _NOTHING, _NOTHING
    found = of(classes)
    return found.start, found.value.astype(np.int64), found.count


def _ranges(classes: EquivalenceClasses) -> np.ndarray:
    """Per cell the node, and the first and last leaf below it. Shape (3, E, m), int32."""
    found = np.empty((3, *classes.nodes.shape), dtype=np.int32)
    found[0] = classes.nodes
    for j, tree in enumerate(classes.hierarchies):
        found[1, :, j] = tree.first[classes.nodes[:, j]]
        found[2, :, j] = tree.last[classes.nodes[:, j]]
    return found


def _with_rows(
    published: EquivalenceClasses, places: Sequence[int], admitted: csr_array
) -> tuple[EquivalenceClasses, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    order = np.lexsort([published.nodes[:, place] for place in reversed(places)])
    trees = tuple(published.hierarchies[place] for place in places)
    named = tuple(published.attributes[place] for place in places)
    found = replace(published, attributes=named, hierarchies=trees)
    classes = found.regrouped(
        published.nodes[order][:, list(places)],
        published.counts[order],
        (each.only(order) for each in published.histograms),
    )
    widths = [tree.root + 1 for tree in published.hierarchies]
    first = np.concatenate([[0], np.cumsum(widths[:-1])]).astype(np.int64)[list(places)]
    start = admitted.indptr.astype(np.int64)
    ends = np.stack([start[:-1][order], start[1:][order]])
    return classes, (ends, admitted.indices.astype(np.int64), first)


def _next_prefix(nodes: np.ndarray) -> np.ndarray:
    """Per tuple and column j the next tuple that differs in the columns up to j. Shape (Q, m)."""
    size, m = nodes.shape
    found = np.empty((size, m), dtype=np.int64)
    starts = np.zeros(size, dtype=bool)
    for j in range(m):
        starts[1:] |= nodes[1:, j] != nodes[:-1, j]
        places = np.append(np.flatnonzero(starts), size)
        found[:, j] = places[np.searchsorted(places, np.arange(size), side="right")]
    return found
