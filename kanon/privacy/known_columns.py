"""k-anonymity for anyone who knows only some of the quasi-identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses, number_tuples
from kanon.privacy.k_anonymity import too_few_records
from kanon.privacy.model import Range
from kanon.privacy.release_model import ReleaseModel
from kanon.privacy.row_checks import CheckedClasses, check_at_least

# Not a model of its own in plans: k-anonymity becomes this where it names how many are known.
KNOWN = read_card(__file__, "k-known")


@dataclass(frozen=True)
class KAmongKnown(ReleaseModel):
    """The model "every combination of released values of ``known`` columns occurs k times".

    It is about every set of so many quasi-identifiers, or of all if there are fewer; smaller sets
    meet it too. Raising all records together never breaks it, but merging two classes can: of
    (a, x), (a, y), (b, x), (b, y), each value occurs twice; merging (a, x) and (b, x) leaves a
    and b once each.
    """

    k: Annotated[int, Range(2, whole=True)]
    known: Annotated[int, Range(1, whole=True)]
    card: ClassVar[Card] = KNOWN

    def compute_level(self, classes: EquivalenceClasses) -> int:
        """The fewest records that share a combination, of the whole release."""
        return min(int(records.min()) for records in self._count_alike(classes))

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """The classes whose combinations all occur in k records. Shape (R,), bool."""
        holds = np.ones(classes.n_classes, dtype=bool)
        for records in self._count_alike(classes):
            holds &= records >= self.k
        return holds

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model: the table has fewer than k records."""
        return too_few_records(self.k, whole.n_records)

    def replace_k(self, k: int) -> KAmongKnown:
        """The model with another k, of at least 2."""
        return replace(self, k=max(k, 2))

    def _count_alike(self, classes: EquivalenceClasses) -> Iterator[np.ndarray]:
        """Per set of columns, the records that share each class's values in them. Shape (R,)."""
        sizes = [int(column.max(initial=0)) + 1 for column in classes.nodes.T]
        known = min(self.known, len(sizes))
        for places in combinations(range(len(sizes)), known):
            columns = list(places)
            numbers = number_tuples(classes.nodes[:, columns], [sizes[j] for j in columns])
            _, group = np.unique(numbers, return_inverse=True)
            yield np.bincount(group, classes.counts).astype(np.int64)[group]


def check_classes(classes: CheckedClasses, k: int, known: int) -> tuple[float, bool]:
    """The fewest records that share a combination, for the check of a release."""
    width = classes.tuples.shape[1]
    fewest = []
    for places in combinations(range(width), min(known, width)):
        _, at = np.unique(classes.tuples[:, places], axis=0, return_inverse=True)
        fewest.append(np.bincount(at.ravel(), classes.sizes).min())
    return check_at_least(np.array(fewest, dtype=np.int64), k)


def recount(
    classes: dict[tuple[str, ...], tuple[int, int]], k: int, known: int
) -> tuple[float, bool]:
    """The fewest records that share the values of so many quasi-identifiers."""
    records: Counter[tuple[tuple[int, str], ...]] = Counter()
    for cells, (size, _) in classes.items():
        for part in combinations(enumerate(cells), min(known, len(cells))):
            records[part] += size
    level = min(records.values())
    return level, level >= k
