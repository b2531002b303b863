"""The risk of a household: that any of its members is re-identified."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kanon.errors import TableError, quote
from kanon.evidence.individual_risk import Risks


def compute_household_risks(risks: Risks, households: Sequence[object], column: str) -> Risks:
    """The risk 1 − Π (1 − r_i) of each household, over the risks r_i of its records.

    Members count as independent, as in sdcMicro. The risks of records are 1 / size(C), or those of
    :mod:`kanon.evidence.individual_risk`.

    Parameters
    ----------
    households
        The household of each record; risks are in the order in which they appear first.
    column
        The name of the column that they are from, for the error.

    Raises
    ------
    TableError
        A record lacks its household.

    References
    ----------
    Templ, Kowarik, Meindl 2015: Statistical disclosure control for micro-data using the R package
    sdcMicro.

    >>> compute_household_risks(Risks(np.array([0.5, 0.2, 0.5])), ["a", "b", "a"], "home").values
    array([0.75, 0.2 ])
    """
    if len(households) != len(risks.values):
        raise ValueError("each record needs one household")
    numbers, names = pd.factorize(pd.Series(households, dtype=object))
    lacking = int((numbers < 0).sum())
    if lacking:
        raise TableError(
            f"{lacking} of {len(risks.values)} records lack a household; each needs a value in the "
            f"column {quote(column)}."
        )
    safe = np.ones(len(names))
    np.multiply.at(safe, numbers, 1 - risks.values)
    return Risks(1 - safe)
