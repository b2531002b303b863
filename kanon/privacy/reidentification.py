"""Re-identification risk: how likely an attacker who looks for a person finds the right record.

An attacker who finds a person's class can only guess within it. There are three [1]_: the
*prosecutor* knows that the person is in the table, so only the class in the table hides the
person; the *journalist* does not, so everyone of the population in that class hides the person;
the *marketer* wants to recognise as many records as possible and accepts mistakes.

.. [1] El Emam, Dankar 2008, "Protecting privacy using k-anonymity", JAMIA 15(5) (prosecutor,
   journalist); Dankar, El Emam 2010, "A method for evaluating marketer re-identification risk"
   (marketer); formulas and names as in El Emam 2013, "Guide to the de-identification of personal
   health information", and in the tool ARX.
"""

from dataclasses import dataclass

import numpy as np

from kanon.base.formatting import count_noun
from kanon.classes import EquivalenceClasses
from kanon.errors import TableError
from kanon.privacy.model import Range

THRESHOLD = 0.2
"""The default above which a risk counts as high: a class of fewer than five. A round number, not a
standard: the publisher of the table decides what is acceptable."""


@dataclass(frozen=True)
class Risk:
    """The risk by one attacker, as shares of 1; lower is better."""

    highest: float  #: of the person who is easiest to find; 1 means certainty
    mean: float  #: the share of the records that are recognised on average
    threshold: float  #: above which a risk counts as high
    share_above: float  #: the share of the records whose risk is above it


def check_threshold(threshold: float) -> None:
    """Check that a threshold is within [0, 1]; a PlanError says so where it is not."""
    Range(0, 1).check("threshold", threshold)


def prosecutor(classes: EquivalenceClasses, threshold: float = THRESHOLD) -> Risk | None:
    """The risk of a person who is known to be in the table: 1 / f for a class of f records.

    Highest 1 / min f; on average classes / records, since each class gives one right guess. Where
    the persons of each class are known, f is their number: a person's records do not hide them.

    Four records that look the same, and one that is unique.

    >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
    >>> prosecutor(five)
    Risk(highest=1.0, mean=0.4, threshold=0.2, share_above=1.0)

    It is None without records. See :func:`check_threshold`.
    """
    check_threshold(threshold)
    if not classes.n_classes:
        return None
    mean = float((classes.counts / classes.hiding).sum()) / classes.n_records
    return _build_risk(classes, classes.hiding, mean, threshold)


def journalist(
    classes: EquivalenceClasses, population: np.ndarray, threshold: float = THRESHOLD
) -> Risk | None:
    """The risk of a person who may or may not be in the table: 1 / F for a class of F people.

    Highest 1 / min F over the classes of the table; on average the larger of the shares recognised
    when starting from the population, classes / sum of F, and from the table,
    (sum of f / F) / records.

    >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
    >>> journalist(five, np.array([8, 2]))
    Risk(highest=0.5, mean=0.2, threshold=0.2, share_above=0.2)

    It is None without records, and never above the prosecutor's. See :func:`check_threshold` and,
    for the ``population``, :func:`marketer`.
    """
    check_threshold(threshold)
    share = marketer(classes, population)
    if share is None:
        return None
    mean = max(classes.n_classes / int(population.sum()), share)
    return _build_risk(classes, population, mean, threshold)


def marketer(classes: EquivalenceClasses, population: np.ndarray) -> float | None:
    """The share of the records that are recognised on average: (sum of f / F) / records.

    >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
    >>> marketer(five, np.array([8, 2]))
    0.2

    From 1 / largest F to 1 (everyone is recognised); None without records.

    Parameters
    ----------
    population : numpy.ndarray, shape (R,)
        For each class F, the number of people of the population in it.

    Raises
    ------
    TableError
        A class has fewer people in the population than records in the table.
    """
    lacking = int((population < classes.hiding).sum())
    if lacking:
        unit = "records" if classes.persons is None else "persons"
        raise TableError(
            f"{count_noun(lacking, 'class', 'classes')} of the table "
            f"{'has' if lacking == 1 else 'have'} fewer people in the population than {unit} in "
            "the table. The population has to contain everyone in the table, with the same labels."
        )
    if not classes.n_classes:
        return None
    return float((classes.counts / population).sum() / classes.n_records)


def _build_risk(
    classes: EquivalenceClasses, hiding: np.ndarray, mean: float, threshold: float
) -> Risk:
    of_class = 1.0 / hiding
    above = int(classes.counts[of_class > threshold].sum()) / classes.n_records
    return Risk(float(of_class.max()), mean, threshold, above)
