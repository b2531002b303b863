"""What the proportional representation tells beyond the release that it goes with.

It says of every class how often each original value occurs in it. Neither k nor the l and t of a
class change: its records still have one row, and its sensitive values are the same. But a value
that was generalised may be read off its row, and whoever knows a person's original values can leave
out the classes in which one of them never occurs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kanon.cards import Card
from kanon.learning.representations import represent
from kanon.measures.cells import is_value
from kanon.measures.linkage import attack
from kanon.recoding import Recoding, as_it_was

_SETTLED = (
    "kanon, for the representation of Viton, Mauger, Dequen, Guérin, Le Mahec 2021 (which does not "
    "measure what it discloses)"
)

CARDS: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "exact_share",
            "Cells read off",
            "The share of the released cells that were generalised although all records of "
            "their class have one original value: its share is 1, so it is published again.",
            _SETTLED, "share", "lower",
            "no generalised value can be read off", "every cell can",
        ),
        Card(
            "alone_share",
            "Alone in class",
            "The share of the released cells that were generalised, and whose original value "
            "exactly one record of the class has: share times class size is 1.",
            _SETTLED, "share", "lower",
            "no generalised value is told of exactly one record", "every one is",
        ),
        Card(
            "sureness",
            "Mean sureness",
            "How sure the best guess of a record's sensitive value is, for who knows all of "
            "its quasi-identifiers: its share among the matching records, on average.",
            _SETTLED, "share", "lower",
            "no record matches", "every guess is certain",
        ),
        Card(
            "certain",
            "Certain guesses",
            "The share of the records for which all that match have one sensitive value.",
            _SETTLED, "share", "lower",
            "of no record is a guess certain", "of every one",
        ),
        Card(
            "right",
            "Right guesses",
            "The share of the records of which the best guess is right; between equally good "
            "guesses a coin is tossed.",
            _SETTLED, "share", "lower",
            "no guess is right", "every guess is",
        ),
    )
}  # fmt: skip
"""What each number says, by the name of its field."""


@dataclass(frozen=True)
class Guess:
    """What an attack on every record, each by itself, finds; shares of all n records, in [0, 1]."""

    sureness: float  # the mean over records of how sure the best guess is
    certain: float  # the share of the records for which all that match have one sensitive value
    right: float  # how often the best guess is right


@dataclass(frozen=True)
class ShareDisclosure:
    cells: int  # the number of quasi-identifier cells of the release: released records × attributes
    exact: int  # those of them that :func:`exact_cells` counts
    alone: int  # those of them that :func:`alone_cells` counts
    release: Guess | None  # the attack on who looks at the release alone
    # the same attack with the shares: only classes count that have a share above 0 at the
    # person's value in every attribute
    shares: Guess | None

    @property
    def exact_share(self) -> float:
        """The share of the released cells that :func:`exact_cells` counts, in [0, 1]."""
        return self.exact / self.cells if self.cells else 0.0

    @property
    def alone_share(self) -> float:
        """The share of the released cells that :func:`alone_cells` counts, in [0, 1]."""
        return self.alone / self.cells if self.cells else 0.0


def alone_cells(recoding: Recoding) -> int:
    """The generalised cells whose original value exactly one record of their class has."""
    return _count_told(recoding, lambda records, of_class: records == 1)


def exact_cells(recoding: Recoding) -> int:
    """The cells that were generalised, and whose value the representation tells all the same."""
    return _count_told(recoding, lambda records, of_class: records == of_class)


def _count_told(recoding: Recoding, tells: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> int:
    """Count the generalised cells whose value is told by how many records of its class have it."""
    kept = recoding.assigned >= 0
    group, size = recoding.assigned[kept], recoding.classes.counts[kept]
    found = 0
    for j, tree in enumerate(recoding.hierarchies):
        original = recoding.classes.nodes[kept, j]
        pairs, place = np.unique(group * tree.n_nodes + original, return_inverse=True)
        records = np.bincount(place, size)
        of_class, value = pairs // tree.n_nodes, pairs % tree.n_nodes
        told = ~as_it_was(tree, recoding.nodes[of_class, j], value) & is_value(tree, value)
        found += int(records[told & tells(records, recoding.counts[of_class])].sum())
    return found


def disclosed(recoding: Recoding, column: str | None = None) -> ShareDisclosure:
    """What the proportional representation of a release tells beyond the release."""
    cells = int(recoding.counts.sum()) * len(recoding.classes.attributes)
    exact, single = exact_cells(recoding), alone_cells(recoding)
    if column is None:
        return ShareDisclosure(cells, exact, single, None, None)
    persons, released = recoding.classes, recoding.released
    rows = represent("proportional", recoding).rows
    found = [
        attack(persons, released, persons.attributes, column, admitted) for admitted in (None, rows)
    ]
    alone, beside = (Guess(each.sureness, each.certain, each.right) for each in found)
    return ShareDisclosure(cells, exact, single, alone, beside)
