"""The rows of a release as its check counts them, independently of the code that made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kanon.classes import EquivalenceClasses

PlainTree = dict[str, tuple[str, int]]  # per value or group the group above it, and its level
TOLERANCE = 1e-12  # the relative difference up to which levels count as equal, as both are rounded


@dataclass(frozen=True)
class ClassMix:
    """How often each value occurs in each class: ``count`` records of class ``of`` have ``value``.

    ``p`` is that as a share of the class, ``q`` the share of the value in the whole release.
    """

    of: np.ndarray
    value: np.ndarray
    count: np.ndarray
    sizes: np.ndarray
    total: np.ndarray

    @classmethod
    def count_groups(cls, classes: np.ndarray, values: np.ndarray, records: np.ndarray) -> ClassMix:
        """Sum groups of records, each of one class and one value; groups may repeat."""
        width = int(values.max()) + 1
        pairs, at = np.unique(classes * width + values, return_inverse=True)
        count, sizes, total = (_sum_by(by, records) for by in (at, classes, values))
        return cls(pairs // width, pairs % width, count, sizes, total)

    @property
    def p(self) -> np.ndarray:
        """The share of its class."""
        return self.count / self.sizes[self.of]

    @property
    def q(self) -> np.ndarray:
        """The share of its value in the release."""
        return (self.total / self.total.sum())[self.value]

    def sums(self, terms: np.ndarray) -> np.ndarray:
        """Per class the sum over its values."""
        return np.bincount(self.of, terms, minlength=len(self.sizes))

    def values(self) -> np.ndarray:
        """Per class the number of its values."""
        return np.bincount(self.of, minlength=len(self.sizes))


@dataclass(frozen=True)
class PopulationRows:
    """The people of a population, as paths of labels from the root of each hierarchy down."""

    paths: Sequence[Sequence[Sequence[str]]]  # per quasi-identifier those that occur
    tuples: np.ndarray  # per different person and quasi-identifier the number of the path, (P, d)
    counts: np.ndarray  # how many people each stands for


@dataclass(frozen=True)
class CheckedClasses:
    """The classes of a release, by their released cells."""

    tuples: np.ndarray  # per class and quasi-identifier the number of its cell, (R, d)
    cells: Sequence[Sequence[str]]  # per quasi-identifier its different cells
    sizes: np.ndarray  # the records of each class
    hiding: np.ndarray  # its persons where they count, else its records
    people: PopulationRows | None = None

    def match_people(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of a class and a person who could be in it, by labels alone.

        Classes whose cells lie at the same depths are looked up together: at given depths a person
        has one label per hierarchy.
        """
        assert self.people is not None
        depths, labels = np.zeros_like(self.tuples), []
        for j, (paths, cells) in enumerate(zip(self.people.paths, self.cells, strict=True)):
            depth = {label: place for path in paths for place, label in enumerate(path)}
            depths[:, j] = np.array([depth.get(cell, -1) for cell in cells])[self.tuples[:, j]]
            labels.append({cell: number for number, cell in enumerate(cells)})
        kinds, kind = np.unique(depths, axis=0, return_inverse=True)
        for number, at in enumerate(kinds.tolist()):
            if min(at) < 0:  # no path of a person has such a label
                continue
            members = np.flatnonzero(kind.ravel() == number)
            seen = np.empty_like(self.people.tuples)
            for j, paths in enumerate(self.people.paths):
                cut = [
                    labels[j].get(path[at[j]], -1) if len(path) > at[j] else -1 for path in paths
                ]
                seen[:, j] = np.array(cut)[self.people.tuples[:, j]]
            both = np.concatenate([self.tuples[members], seen])
            _, same = np.unique(both, axis=0, return_inverse=True)
            of_class, of_person = same.ravel()[: len(members)], same.ravel()[len(members) :]
            place = np.full(len(both), -1)
            place[of_class] = members
            persons = np.flatnonzero(place[of_person] >= 0)
            yield place[of_person[persons]], persons


def list_people(people: EquivalenceClasses) -> PopulationRows:
    """Write the people of a population as paths of labels."""
    paths, tuples = [], np.empty(people.nodes.shape, dtype=np.int64)
    for j, tree in enumerate(people.hierarchies):
        nodes, tuples[:, j] = np.unique(people.nodes[:, j], return_inverse=True)
        paths.append([[tree.labels[at] for at in reversed(tree.path(int(v)))] for v in nodes])
    return PopulationRows(paths, tuples, people.counts)


def _sum_by(by: np.ndarray, records: np.ndarray) -> np.ndarray:
    sums = np.zeros(int(by.max()) + 1, np.int64)
    np.add.at(sums, by, records)
    return sums


def check_at_least(levels: np.ndarray, limit: float) -> tuple[float, bool]:
    """The least level, and whether it is enough."""
    return levels.min().item(), levels.min() >= limit * (1 - TOLERANCE)


def check_at_most(levels: np.ndarray, limit: float) -> tuple[float, bool]:
    """The largest level, and whether it is low enough."""
    return levels.max().item(), levels.max() <= limit * (1 + TOLERANCE) + 1e-12
