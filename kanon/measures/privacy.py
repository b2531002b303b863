"""How well a table protects: the sensitive attributes and the risk of being found, in numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.privacy import (
    alpha_k_anonymity,
    basic_beta_likeness,
    delta_disclosure,
    distinct_l_diversity,
    enhanced_beta_likeness,
    entropy_l_diversity,
    recursive_cl_diversity,
    reidentification,
    t_closeness,
)
from kanon.sensitive import Sensitive


def privacy_summary(
    classes: EquivalenceClasses, more: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The measures of the sensitive attributes of a table, under their names in ``M.json``.

    Parameters
    ----------
    classes
        The classes of the table, with the histograms of its sensitive attributes.
    more
        Further measures of a sensitive attribute, by its name.

    Returns
    -------
    dict
        Of one sensitive attribute its measures; of several, under ``sensitive``, those of each;
        of none nothing.
    """
    found = {
        each.name: {**sensitive_measures(each), **(more or {}).get(each.name, {})}
        for each in classes.sensitive
    }
    if len(found) == 1:
        return next(iter(found.values()))
    return {"sensitive": found} if found else {}


def sensitive_measures(sensitive: Sensitive) -> dict[str, float | int | None]:
    """What the worst class of a table says about a sensitive attribute, by every measure.

    Returns
    -------
    dict
        Lowest over the classes: ``entropy_l``, ``distinct_l``. Highest: ``t_norm1``,
        ``t_variational`` and ``t_emd_equal`` (one number), ``t_emd_ordered`` (where the values are
        numbers), ``alpha``, ``recursive_c`` (for l = 2), ``delta``, ``delta_present`` (over the
        values that a class has), ``basic_beta``, ``enhanced_beta``. None for what is infinite, and
        without classes.

    Examples
    --------
    Twice a cold; a cold and a flu.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> found = sensitive_measures(ill)
    >>> found["entropy_l"], found["t_norm1"], found["alpha"], found["delta"]
    (1.0, 0.5, 1.0, None)
    """
    lowest = {
        "entropy_l": entropy_l_diversity.each(sensitive),
        "distinct_l": distinct_l_diversity.each(sensitive),
    }
    variational = t_closeness.each(sensitive, "variational")
    ordered = {}
    if sensitive.numeric:
        ordered["t_emd_ordered"] = t_closeness.each(sensitive, "emd-ordered")
    highest = {
        "t_norm1": t_closeness.each(sensitive),
        "t_variational": variational,
        "t_emd_equal": variational,
        **ordered,
        "alpha": alpha_k_anonymity.each(sensitive),
        "recursive_c": recursive_cl_diversity.each(sensitive, 2),
        "delta": delta_disclosure.each(sensitive),
        "delta_present": delta_disclosure.each(sensitive, present_only=True),
        "basic_beta": basic_beta_likeness.each(sensitive),
        "enhanced_beta": enhanced_beta_likeness.each(sensitive),
    }
    return {name: _worst(np.min, levels) for name, levels in lowest.items()} | {
        name: _worst(np.max, levels) for name, levels in highest.items()
    }


def risk_summary(
    classes: EquivalenceClasses, population: np.ndarray | None = None
) -> dict[str, Any]:
    """The risk of being found, under its names in ``M.json``.

    Parameters
    ----------
    population : numpy.ndarray, shape (R,), optional
        The number of people of the population who would be in each class.

    Returns
    -------
    dict
        ``prosecutor`` and, with a population, ``journalist``: each with ``highest``, ``mean``,
        ``threshold`` and ``share_above``; ``marketer``: the mean. None without classes.

    Raises
    ------
    TableError
        The population does not contain everybody in the table.

    Examples
    --------
    >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
    >>> risk_summary(five)["prosecutor"]["highest"]
    1.0
    """
    prosecutor = reidentification.prosecutor(classes)
    found: dict[str, Any] = {"prosecutor": prosecutor and asdict(prosecutor)}
    if population is not None:
        journalist = reidentification.journalist(classes, population)
        found["journalist"] = journalist and asdict(journalist)
        found["marketer"] = reidentification.marketer(classes, population)
    return found


def _worst(extreme: Any, levels: np.ndarray) -> float | int | None:
    """The worst level as a number of JSON, which has no infinite ones."""
    if not len(levels):
        return None
    found: float | int = extreme(levels).item()
    return found if math.isfinite(found) else None
