"""Special uniques: records that few columns suffice to single out, and their SUDA scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.evidence.population_uniqueness import check_fraction
from kanon.sources.singling_out import MOST_SETS


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques (MSUs) of a table, and the scores that follow from them."""

    columns: tuple[str, ...]  # the m columns that were examined
    minimal_sets: np.ndarray  # per class and size s = 1, …, M its number of MSUs; shape (E, M)
    scores: np.ndarray  # per class Σ (m − s)! over its MSUs, ↓ better, 0 without any; shape (E,)
    contributions: Mapping[str, float]  # per column the share of Σ scores by MSUs that contain it
    uniques: int  # records that are alone in their class
    pairs: int  # records that share their class with one other record

    def compute_dis_scores(self, fraction: float) -> np.ndarray:
        """The DIS-SUDA scores, in [0, 1], of the classes in a sample of this fraction π.

        DIS = U π / (U π + P (1 − π)) estimates the chance that a match with one of the U unique
        records is right, P being the records in pairs (Skinner and Elliot 2002). A class with
        score x > 0 gets 1 / (1 + U (1 / DIS − 1) / (x^q Σ x^−q)), q = 1 + (8 − m) / 20, as in
        sdcMicro.

        Raises
        ------
        PlanError
            The fraction is not above 0 and up to 1.
        """
        check_fraction(fraction)
        dis_scores, scored = np.zeros_like(self.scores), self.scores > 0
        powers = self.scores[scored] ** (1 + (8 - len(self.columns)) / 20)
        wrong = self.pairs * (1 - fraction) / fraction  # U (1 / DIS − 1)
        dis_scores[scored] = 1 / (1 + wrong / (powers * (1 / powers).sum()))
        return dis_scores


def find_special_uniques(
    classes: EquivalenceClasses, size: int = 3, progress: Progress = ignore_progress
) -> SpecialUniques:
    """Find the minimal sample uniques of up to ``size`` columns, and score records by them.

    A set of columns is a minimal sample unique of a record if no other record shares its values in
    these columns, and one does in every proper subset. A record that has many, of few columns, is
    special: it stays unique when the population is larger or columns are dropped. A set of s of the
    m columns adds (m − s)! to the score, as in sdcMicro; in the paper's product over s, …, M each
    factor is the same but for a constant. A missing cell counts as a value of its own.

    Scores belong to the classes of the table (``table.build_classes(columns)``); only classes of
    one record have some, so a class's score is that record's. Records are counted, not persons.

    Parameters
    ----------
    size
        M, the most columns of a set, from 1 to m.

    Raises
    ------
    PlanError
        The size is out of its range, or there are more than 20,000 sets of columns.

    References
    ----------
    Elliot, Manning, Ford 2002: A computational algorithm for handling the special uniques problem;
    Manning, Haglin, Keane 2008: A recursive search algorithm for statistical disclosure assessment.

    One woman and two men, all of different ages: each is unique by age, the woman also by sex.

    >>> from kanon.sources.memory import MemoryTable
    >>> people = pd.DataFrame({"sex": list("FMM"), "age": [30, 31, 32]})
    >>> found = find_special_uniques(MemoryTable(people).build_classes(["sex", "age"]), size=2)
    >>> found.minimal_sets.tolist(), found.scores.tolist()
    ([[2, 0], [1, 0], [1, 0]], [2.0, 1.0, 1.0])
    >>> found.contributions
    {'sex': 0.25, 'age': 0.75}
    """
    columns, n_columns = classes.attributes, len(classes.attributes)
    if not 1 <= size <= n_columns:
        raise PlanError(
            f"Sets of {count_noun(size, 'column')} are not possible; of {n_columns} a set has at "
            "least 1 and at most all."
        )
    n_sets = sum(comb(n_columns, level) for level in range(1, size + 1))
    if n_sets > MOST_SETS:
        raise PlanError(
            f"There are {write_count(n_sets)} sets of up to {count_noun(size, 'column')}; at most "
            f"{write_count(MOST_SETS)} can be examined. Choose fewer columns or a smaller size."
        )
    values = [pd.factorize(column)[0].astype(np.int64) for column in classes.nodes.T]
    alone = classes.counts == 1
    minimal_sets = np.zeros((classes.n_classes, size), dtype=np.int64)
    of_columns, counted = np.zeros(n_columns), 0
    uniques: dict[tuple[int, ...], np.ndarray] = {(): np.packbits(np.zeros_like(alone))}
    for level in range(1, size + 1):
        smaller, uniques = uniques, {}
        for chosen in combinations(range(n_columns), level):
            progress(counted / n_sets, f"{count_noun(level, 'column')} at a time")
            unique = np.packbits(alone & _find_unique([values[j] for j in chosen]))
            parts = [smaller[chosen[:j] + chosen[j + 1 :]] for j in range(level)]
            minimal = np.unpackbits(unique & ~np.bitwise_or.reduce(parts), count=len(alone))
            minimal_sets[:, level - 1] += minimal
            of_columns[list(chosen)] += int(minimal.sum()) * factorial(n_columns - level)
            uniques[chosen] = unique
            counted += 1
    progress(1, "")
    weights = np.array([factorial(n_columns - level) for level in range(1, size + 1)], dtype=float)
    scores = minimal_sets @ weights
    shares = of_columns / max(float(scores.sum()), 1.0)
    return SpecialUniques(
        columns, minimal_sets, scores, dict(zip(columns, shares.tolist(), strict=True)),
        int(alone.sum()), 2 * int((classes.counts == 2).sum()),
    )  # fmt: skip


def _find_unique(values: list[np.ndarray]) -> np.ndarray:
    """Which entries share all these values with no other."""
    codes = np.zeros_like(values[0])
    for column in values:
        codes = pd.factorize(codes * (column.max(initial=0) + 1) + column)[0]
    return ~pd.Series(codes).duplicated(keep=False).to_numpy()
