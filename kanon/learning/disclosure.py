"""What the proportional representation reveals beyond its release.

It states for every class how often each original value occurs in it. The k, l and t of a class do
not change: its records still share one row, and its sensitive values are the same. But its row may
reveal a generalised value, and anyone who knows a person's original values can exclude the classes
in which one of them never occurs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kanon.cards import Card, read_cards
from kanon.learning.representations import represent
from kanon.measures.cells import is_value
from kanon.measures.linkage import run_linkage_attack
from kanon.recoding import Recoding, is_unchanged

CARDS: Mapping[str, Card] = read_cards(__file__)
"""What each number means, by the name of its field."""


@dataclass(frozen=True)
class Guess:
    """The result of an attack on every record by itself; shares of all n records, in [0, 1]."""

    sureness: float  # the mean certainty of the best guess
    certain: float  # the share of records whose matching records have one sensitive value
    right: float  # how often the best guess is right


@dataclass(frozen=True)
class ShareDisclosure:
    cells: int  # the number of quasi-identifier cells of the release: released records × attributes
    # those that :func:`count_revealed_cells` counts
    exact: int
    alone: int
    release: Guess | None  # the attack with the release alone
    # the attack with the shares: only classes count with a share above 0 for the person's value in
    # every attribute
    shares: Guess | None

    @property
    def exact_share(self) -> float:
        return self.exact / self.cells if self.cells else 0.0

    @property
    def alone_share(self) -> float:
        return self.alone / self.cells if self.cells else 0.0


def count_revealed_cells(recoding: Recoding) -> tuple[int, int]:
    """The generalised cells whose original value all, and exactly one, of their class have."""
    is_released = recoding.assigned >= 0
    group, size = recoding.assigned[is_released], recoding.classes.counts[is_released]
    exact = alone = 0
    for j, tree in enumerate(recoding.hierarchies):
        original = recoding.classes.nodes[is_released, j]
        pairs, place = np.unique(group * tree.n_nodes + original, return_inverse=True)
        records = np.bincount(place, size)
        of_class, value = pairs // tree.n_nodes, pairs % tree.n_nodes
        generalised = ~is_unchanged(tree, recoding.nodes[of_class, j], value) & is_value(
            tree, value
        )
        exact += int(records[generalised & (records == recoding.counts[of_class])].sum())
        alone += int((generalised & (records == 1)).sum())
    return exact, alone


def measure_share_disclosure(recoding: Recoding, column: str | None = None) -> ShareDisclosure:
    cells = int(recoding.counts.sum()) * len(recoding.classes.attributes)
    exact, single = count_revealed_cells(recoding)
    if column is None:
        return ShareDisclosure(cells, exact, single, None, None)
    persons, released = recoding.classes, recoding.released
    rows = represent("proportional", recoding).rows
    attacks = [
        run_linkage_attack(persons, released, persons.attributes, column, admitted)
        for admitted in (None, rows)
    ]
    alone, beside = (
        Guess(result.sureness, result.certain_share, result.right) for result in attacks
    )
    return ShareDisclosure(cells, exact, single, alone, beside)
