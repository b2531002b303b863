"""The classes of a release that reveal most about a sensitive column, worst first."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kanon.base.rounding import round_apart
from kanon.classes import EquivalenceClasses
from kanon.measures.privacy import class_measures
from kanon.privacy.model import ClassMeasure, rounded
from kanon.sensitive import Sensitive

MOST_CLASSES = 500  # so many classes are listed

LEVELS: Mapping[str, ClassMeasure] = {
    measure.name: measure for measure in class_measures() if measure.heading
}
"""The measures that sort classes; t is the total variation distance, half of norm 1."""


def list_class_measures(sensitive: Sensitive) -> list[str]:
    """The measures by which classes of a sensitive column can be sorted, the usual ones first."""
    first = ["entropy_l", "t_variational", "alpha"]
    return [name for name in dict.fromkeys([*first, *LEVELS]) if LEVELS[name].fits(sensitive)]


def round_levels(measure: ClassMeasure, sensitive: Sensitive) -> np.ndarray:
    """The values of a measure for a list, never rounded to the better side."""
    levels = measure.each(sensitive)
    if measure.unit == "%":  # nearly certain must not look certain
        return round_apart(100 * levels, 1)
    if measure.whole:
        return levels
    up = measure.card.direction == "lower"
    return np.array(
        [float(rounded(level, up)) if np.isfinite(level) else level for level in levels]
    )


def find_worst_classes(
    released: EquivalenceClasses, column: str, by: str, extra: tuple[str, ...] = ()
) -> tuple[np.ndarray, pd.DataFrame]:
    """The positions of the worst classes, at most :data:`MOST_CLASSES`, and a table of them."""
    sensitive = released.sensitive_named(column)
    level = LEVELS[by]
    levels = level.each(sensitive).round(9)  # so that rounding errors decide nothing
    worst_first = -levels if level.card.direction == "lower" else levels
    surprising = LEVELS["t_variational"].each(sensitive).round(9)
    order = np.lexsort((-released.counts, -surprising, worst_first))[:MOST_CLASSES]
    listed = sensitive.only(order)
    columns: dict[str, object] = {"records": released.counts[order]}
    for name in dict.fromkeys(["entropy_l", "t_variational", by, *extra]):
        columns[LEVELS[name].heading] = round_levels(LEVELS[name], listed)
    columns["most frequent"] = pd.array(_find_most_frequent(listed.folded), dtype="str")
    columns[LEVELS["alpha"].heading] = round_levels(LEVELS["alpha"], listed)
    trees = zip(released.attributes, released.hierarchies, strict=True)
    for j, (name, tree) in enumerate(trees):
        title = name
        while title in columns:  # a column of the table may have the same name
            title += " "
        columns[title] = pd.array(tree.labels, dtype="str").take(released.nodes[order, j])
    return order, pd.DataFrame(columns)


def _find_most_frequent(sensitive: Sensitive) -> list[str]:
    """The most frequent value of each class, the first among equals."""
    most_first = np.lexsort((sensitive.value, -sensitive.count, sensitive.of_entry))
    return [sensitive.values[place] for place in sensitive.value[most_first[sensitive.start[:-1]]]]
