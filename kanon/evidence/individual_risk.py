"""The risk of each record from sampling weights, as in µ-Argus and sdcMicro."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from kanon.errors import TableError

_SERIES_FROM = 30  # class size from which 40 terms of the series are exact to the last digits


@dataclass(frozen=True, eq=False)
class Risks:
    """The chances, in [0, 1], that each record or household is re-identified.

    >>> risks = Risks(np.array([0.5, 0.25, 0.0]))
    >>> risks.expected, risks.mean, risks.largest
    (0.75, 0.25, 0.5)
    """

    values: np.ndarray

    @property
    def expected(self) -> float:
        """The expected number of re-identifications."""
        return float(self.values.sum())

    @property
    def mean(self) -> float:
        """The mean risk."""
        return float(self.values.mean())

    @property
    def largest(self) -> float:
        """The largest risk."""
        return float(self.values.max())


def estimate_individual_risk(classes: np.ndarray, weights: np.ndarray) -> Risks:
    """Estimate the risk of each record as 1 / F, F the size of its class in the population.

    F is unknown. Given a class of f records in the sample, F − f follows a negative binomial
    distribution with p = f / Σ weights of the class, and the risk is the expectation of 1 / F:
    Σ_{h ≥ f} C(h−1, f−1) p^f (1−p)^{h−f} / h = (p / f) ₂F₁(1, 1; f+1; 1−p).
    For f = 1 this is p ln(1/p) / (1−p). A risk is between 0 and 1 / f, which it is where the
    weights say that the class is complete.

    Parameters
    ----------
    classes
        The number of each record's class.
    weights
        How many records of the population each record stands for, at least 1 each.

    Raises
    ------
    TableError
        There are no records, or not as many weights, or a weight is missing or below 1.

    References
    ----------
    Benedetti, Franconi 1998: Statistical and technological solutions for controlled data
    dissemination; Franconi, Polettini 2004: Individual risk estimation in µ-Argus: a review.

    The first record is unique in the sample and stands for four people; the others share a class.

    >>> risks = estimate_individual_risk(np.array([0, 1, 1]), np.array([4, 1, 1]))
    >>> risks.values.round(3).tolist(), round(risks.expected, 3)
    ([0.462, 0.5, 0.5], 1.462)
    """
    classes, weights = np.asarray(classes), np.asarray(weights, dtype=float)
    if not len(classes) or classes.shape != weights.shape:
        raise TableError(
            f"{len(classes)} records and {len(weights)} sampling weights do not match; each record "
            "needs one weight, and there has to be a record."
        )
    wrong = int((~(np.isfinite(weights) & (weights >= 1))).sum())
    if wrong:
        raise TableError(
            f"{wrong} of {len(weights)} sampling weights are missing or below 1; a weight says how "
            "many people of the population a record stands for, itself among them."
        )
    _, numbers, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    chances = np.minimum(sizes / np.bincount(numbers, weights), 1.0)
    return Risks(_expect_reciprocal(sizes.astype(float), chances)[numbers])


def _expect_reciprocal(sizes: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """E(1 / F); SciPy's function overflows for large sizes, where the series is short."""
    large = sizes >= _SERIES_FROM
    total = np.empty_like(chances)
    total[~large] = special.hyp2f1(1, 1, sizes[~large] + 1, 1 - chances[~large])
    steps = np.arange(1, 40)[:, None]
    terms = steps * (1 - chances[large]) / (sizes[large] + steps)
    total[large] = 1 + np.cumprod(terms, axis=0).sum(axis=0)
    return chances / sizes * total
