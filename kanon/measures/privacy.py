"""How well a table protects people: sensitive columns and the risk of being found, in numbers."""

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
    """The measures of a sensitive column in each class, from the modules of the privacy models.

    >>> [measure.name for measure in class_measures()][:3]
    ['entropy_l', 'distinct_l', 't_norm1']
    """
    modules = parts_of(kanon.privacy).values()
    measures = [part for module in modules for part in getattr(module, "MEASURES", ())]
    return tuple(sorted(measures, key=lambda measure: measure.place))


def privacy_summary(
    classes: EquivalenceClasses, more: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The measures of the sensitive attributes of a table, under their names in ``M.json``.

    Those of the only sensitive column; with several, under ``sensitive``, those of each; empty
    without any. Where combinations are counted, also ``others_known``: of each column where its
    classes are split by all others, and ``combined``: of all as one value. ``more`` has further
    measures by column.
    """
    summaries = {
        sensitive.name: {**sensitive_measures(sensitive), **(more or {}).get(sensitive.name, {})}
        for sensitive in classes.sensitive
    }
    if len(summaries) == 1:
        return next(iter(summaries.values()))
    if classes.combined is None:
        return {"sensitive": summaries} if summaries else {}
    values, _ = classes.split_sensitive([*summaries], others_known=False)
    return {
        "sensitive": summaries,
        "others_known": {
            name: sensitive_measures(classes.split_sensitive([name], others_known=True)[0])
            for name in summaries
        },
        "combined": sensitive_measures(values),
    }


def sensitive_measures(sensitive: Sensitive) -> dict[str, float | int | None]:
    """What the worst class of a table reveals about a sensitive column, by every measure.

    A class with two colds, and one with a cold and a flu.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> measures = sensitive_measures(ill)
    >>> measures["entropy_l"], measures["t_norm1"], measures["alpha"], measures["delta"]
    (1.0, 0.5, 1.0, None)

    Lowest over the classes: ``entropy_l``, ``distinct_l``. Highest: ``t_norm1``, ``t_variational``
    and ``t_emd_equal`` (one number), ``t_emd_ordered`` (where the values are numbers), ``alpha``,
    ``recursive_c`` (for l = 2), ``delta``, ``delta_present`` (over the values that a class has),
    ``basic_beta``, ``enhanced_beta``. None if infinite, or without classes.
    """
    return {
        measure.name: _find_worst_level(measure, measure.each(sensitive))
        for measure in class_measures()
        if measure.fits(sensitive)
    }


def risk_summary(
    classes: EquivalenceClasses, population: np.ndarray | None = None
) -> dict[str, Any]:
    """The risk of being found, under its names in ``M.json``.

    >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
    >>> risk_summary(five)["prosecutor"]["highest"]
    1.0

    ``prosecutor`` and, with a population, ``journalist``: each with ``highest``, ``mean``,
    ``threshold`` and ``share_above``; ``marketer``: the mean. None without classes.

    Parameters
    ----------
    population : numpy.ndarray, shape (R,), optional
        The number of people of the population in each class.

    Raises
    ------
    TableError
        The population does not contain every person in the table.
    """
    prosecutor = reidentification.prosecutor(classes)
    risks: dict[str, Any] = {"prosecutor": prosecutor and asdict(prosecutor)}
    if population is not None:
        journalist = reidentification.journalist(classes, population)
        risks["journalist"] = journalist and asdict(journalist)
        risks["marketer"] = reidentification.marketer(classes, population)
    return risks


def _find_worst_level(measure: ClassMeasure, levels: np.ndarray) -> float | int | None:
    """Find the worst level; None if infinite, as JSON has no such number."""
    if not len(levels):
        return None
    worst = levels.min() if measure.card.direction == "higher" else levels.max()
    level: float | int = worst.item()
    return level if math.isfinite(level) else None
