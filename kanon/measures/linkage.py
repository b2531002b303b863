"""A linkage attack: what someone who knows quasi-identifiers of a person learns from a table.

The attacker finds the records that could be the person's and treats them as equally likely; the
best guess of a sensitive value is the most frequent one among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kanon.base.formatting import CountedUnit
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import CoverageError, PlanError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import covers
from kanon.kernels.linkage import match_known_tuples
from kanon.privacy.population_matches import NOTHING, find_next, get_ranges
from kanon.sensitive import Sensitive

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NO_ROWS = (np.zeros((2, 0), dtype=np.int64), NOTHING, NOTHING)
"""For tables without published rows; see :func:`_sort_with_rows`."""


@dataclass(frozen=True, eq=False)
class Match:
    classes: np.ndarray  # the positions of the classes that match, rising
    records: int  # the number of their records
    values: tuple[str, ...]  # the values of the sensitive column
    counts: np.ndarray  # the number of matching records with each value
    persons: int | None = None  # the number of their persons

    @property
    def guesses(self) -> tuple[str, ...]:
        """The most frequent values: one best guess, several equally good ones, or none."""
        if not self.records:
            return ()
        return tuple(self.values[place] for place in np.flatnonzero(self.counts == self._most))

    @property
    def sureness(self) -> float | None:
        """The share of the best guess among the matching records; None without any."""
        return self._most / self.records if self.records and len(self.counts) else None

    @property
    def _most(self) -> int:
        return int(self.counts.max(initial=0))


@dataclass(frozen=True)
class Linkage:
    # what the attacker looks for and what is counted: records, each as if it were one person, or
    # persons where a column identifies them
    of: CountedUnit
    # the share of the records, or persons, for which exactly one matches, in [0, 1]
    singled_out: float
    matches: float  # the mean number of matching records, or persons
    # the share of the records for which the best guess is right, in [0, 1]
    right: float | None


@dataclass(frozen=True, eq=False)
class Attack:
    # the P tuples of known values, with the records that have them
    known: EquivalenceClasses
    records: np.ndarray  # the records that match
    different: np.ndarray  # the number of different values that they have
    most: np.ndarray  # the number of them with the most frequent sensitive value
    ties: np.ndarray  # the number of equally frequent values
    hits: np.ndarray  # the attacked records with one of these values

    @property
    def sizes(self) -> np.ndarray:
        """The number of records of each known tuple. Shape (P,), int64."""
        return self.known.counts

    @property
    def n_records(self) -> int:
        """n, the number of attacked records, to which all shares refer."""
        return self.known.n_records

    @property
    def right(self) -> float:
        """How often the best guess is right, in [0, 1]; chance decides between equal ones."""
        # Whole numbers as far as possible, so that the order of attributes does not matter.
        of_ties = np.bincount(self.ties, weights=self.hits)
        expected_hits = math.fsum(float(of_ties[t]) / t for t in range(1, len(of_ties)))
        return expected_hits / self.n_records

    @property
    def sureness(self) -> float:
        """The mean certainty of the best guess, in [0, 1]; 0 where no record matches."""
        share = self.most / np.maximum(self.records, 1)
        return math.fsum((self.sizes * share).tolist()) / self.n_records

    @property
    def certain_share(self) -> float:
        """The share of the records whose matching records all have one value, in [0, 1]."""
        alike = (self.records > 0) & (self.most == self.records)
        return int(self.sizes[alike].sum()) / self.n_records


def find_matches(
    classes: EquivalenceClasses, known: Mapping[str, str], column: str | None = None
) -> Match:
    """Find the records of a table that fit what is known about a person."""
    fits = np.ones(classes.n_classes, dtype=bool)
    for place, name in zip(_get_places(classes, known), known, strict=True):
        tree = classes.hierarchies[place]
        if known[name] not in tree.node_of:
            raise CoverageError(
                f"Column {quote(name)}: its hierarchy lacks the known value {{cells}}.",
                [known[name]],
            )
        fits &= _find_covering(tree, tree.node_of[known[name]])[classes.nodes[:, place]]
    places = np.flatnonzero(fits)
    records = int(classes.counts[places].sum())
    persons_of = classes.persons
    persons = None if persons_of is None else len(np.unique(persons_of.only(places).value))
    if column is None:
        return Match(places, records, (), np.zeros(0, dtype=np.int64), persons)
    sensitive = classes.sensitive_named(column)
    counts = np.zeros(len(sensitive.values), dtype=np.int64)
    matching_values = sensitive.only(places)
    np.add.at(counts, matching_values.value, matching_values.count)
    return Match(places, records, sensitive.values, counts, persons)


def measure_linkage(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    column: str | None = None,
) -> Linkage | None:
    """Attack every person in a table in turn; exact, counted on classes."""
    if not persons.n_records:
        return None
    if persons.persons is not None:
        fewest = _find_fewest_persons(_run_attack(persons, published, known, _get_persons))
        n = len(fewest)
        right = (
            None if column is None else run_linkage_attack(persons, published, known, column).right
        )
        return Linkage("persons", int((fewest == 1).sum()) / n, int(fewest.sum()) / n, right)
    result, n = run_linkage_attack(persons, published, known, column), persons.n_records
    right = None if column is None else result.right
    alone = int(result.sizes[result.records == 1].sum())
    return Linkage("records", alone / n, int((result.sizes * result.records).sum()) / n, right)


def run_linkage_attack(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    column: str | None = None,
    admitted: csr_array | None = None,
) -> Attack:
    pick = None if column is None else partial(EquivalenceClasses.sensitive_named, column=column)
    return _run_attack(persons, published, known, pick, admitted)


def _get_persons(classes: EquivalenceClasses) -> Sensitive:
    assert classes.persons is not None
    return classes.persons


def _find_fewest_persons(result: Attack) -> np.ndarray:
    """Find per person the fewest persons that match one of their records; 0 if none does."""
    persons = _get_persons(result.known)
    matches = result.different[persons.of_entry]
    _, number = np.unique(persons.value, return_inverse=True)
    far = np.iinfo(np.int64).max
    fewest = np.full(number.max() + 1, far)
    np.minimum.at(fewest, number[matches > 0], matches[matches > 0])
    return np.where(fewest == far, 0, fewest)


def _run_attack(
    persons: EquivalenceClasses,
    published: EquivalenceClasses,
    known: Sequence[str],
    pick: Callable[[EquivalenceClasses], Sensitive] | None,
    admitted: csr_array | None = None,
) -> Attack:
    """Run the attack; ``pick`` gets the histogram to guess, None for nothing."""
    # Columns of few published nodes first, as a misfit there excludes many classes.
    places = _get_places(persons, known)
    few_first = sorted(places, key=lambda place: len(np.unique(published.nodes[:, place])))
    low = project_classes(persons, few_first)
    if admitted is None:
        high, rows = project_classes(published, few_first), _NO_ROWS
    else:
        high, rows = _sort_with_rows(published, few_first, admitted)
    counts = match_known_tuples(
        get_ranges(low)[0],
        *get_ranges(high),
        find_next(high.nodes),
        high.counts,
        _get_histograms(low, pick),
        _get_histograms(high, pick),
        0 if pick is None else len(pick(persons).values),
        rows,
    )
    return Attack(low, *counts)


def project_classes(classes: EquivalenceClasses, places: Sequence[int]) -> EquivalenceClasses:
    trees = tuple(classes.hierarchies[place] for place in places)
    nodes, counts, group = group_tuples(
        classes.nodes[:, list(places)], classes.counts, [tree.n_nodes for tree in trees]
    )
    names = tuple(classes.attributes[place] for place in places)
    narrowed = replace(classes, attributes=names, hierarchies=trees)
    histograms = (histogram.grouped(group, len(counts)) for histogram in classes.histograms)
    return narrowed.regrouped(nodes, counts, histograms)


def _find_covering(tree: Hierarchy, node: int) -> np.ndarray:
    """Find the nodes that cover one: itself, its ancestors and ranges. Shape (N,), bool."""
    nodes = np.arange(tree.n_nodes)
    return covers(tree, nodes, node) & (nodes >= node)


def _get_places(classes: EquivalenceClasses, known: Mapping[str, str] | Sequence[str]) -> list[int]:
    lacking = [name for name in known if name not in classes.attributes]
    if lacking:
        raise PlanError(
            f"{quote(lacking[0])} is not a quasi-identifier; choose from "
            f"{list_names(classes.attributes, most=12)}."
        )
    return [classes.attributes.index(name) for name in known]


def _get_histograms(
    classes: EquivalenceClasses, pick: Callable[[EquivalenceClasses], Sensitive] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if pick is None:
        return np.zeros(classes.n_classes + 1, dtype=np.int64), NOTHING, NOTHING
    target = pick(classes)
    return target.start, target.value.astype(np.int64), target.count


def _sort_with_rows(
    published: EquivalenceClasses, places: Sequence[int], admitted: csr_array
) -> tuple[EquivalenceClasses, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    order = np.lexsort([published.nodes[:, place] for place in reversed(places)])
    trees = tuple(published.hierarchies[place] for place in places)
    names = tuple(published.attributes[place] for place in places)
    narrowed = replace(published, attributes=names, hierarchies=trees)
    classes = narrowed.regrouped(
        published.nodes[order][:, list(places)],
        published.counts[order],
        (histogram.only(order) for histogram in published.histograms),
    )
    widths = [tree.root + 1 for tree in published.hierarchies]
    first = np.concatenate([[0], np.cumsum(widths[:-1])]).astype(np.int64)[list(places)]
    start = admitted.indptr.astype(np.int64)
    ends = np.stack([start[:-1][order], start[1:][order]])
    return classes, (ends, admitted.indices.astype(np.int64), first)
