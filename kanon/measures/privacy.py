"""How well a table protects: the sensitive attributes and the risk of being found, in numbers."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

import kanon.privacy
from kanon.cards import parts_of
from kanon.classes import EquivalenceClasses
from kanon.privacy import reidentification
from kanon.privacy.model import ClassMeasure
from kanon.sensitive import Sensitive


@cache
def class_measures() -> tuple[ClassMeasure, ...]:
    """What every class has of a sensitive column, as the files of models and measures name it.

    >>> [measure.name for measure in class_measures()][:3]
    ['entropy_l', 'distinct_l', 't_norm1']
    """
    modules = parts_of(kanon.privacy).values()
    measures = [each for module in modules for each in getattr(module, "MEASURES", ())]
    return tuple(sorted(measures, key=lambda measure: measure.place))


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
    return {
        measure.name: _worst(measure, measure.each(sensitive))
        for measure in class_measures()
        if sensitive.numeric or not measure.for_numbers
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


def _worst(measure: ClassMeasure, levels: np.ndarray) -> float | int | None:
    """The worst level as a number of JSON, which has no infinite ones."""
    if not len(levels):
        return None
    worst = levels.min() if measure.card.direction == "higher" else levels.max()
    found: float | int = worst.item()
    return found if math.isfinite(found) else None
