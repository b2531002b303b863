"""How many people of a population would be in each class of a table as it is, label by label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kanon.base.values import canonical_texts
from kanon.schema import check_columns
from kanon.sources.memory import classes_of_columns, require_records


def people_in_classes(
    table: pd.DataFrame, population: pd.DataFrame, columns: Sequence[str]
) -> np.ndarray:
    """The number of people of a population in each class of a table.

    >>> people = pd.DataFrame({"sex": ["F", "F", "F", "M", "X"]})
    >>> people_in_classes(people.iloc[2:4], people, ["sex"]).tolist()
    [3, 1]
    """
    for each in (table, population):
        check_columns(list(each.columns), columns)
        require_records(len(each))
    # Columns by place, since they may be called anything.
    both = {
        str(place): np.concatenate([_texts(table[column]), _texts(population[column])])
        for place, column in enumerate(columns)
    }
    here = np.repeat(["0 table", "1 population"], [len(table), len(population)])
    frame = pd.DataFrame(both, dtype=object).assign(where=here)
    found = classes_of_columns(frame, list(both), ["where"]).sensitive[0].dense()
    return found[found[:, 0] > 0, 1]


def _texts(column: pd.Series) -> np.ndarray:
    """The text of each cell, None where it is missing."""
    codes, texts = canonical_texts(column)
    return np.array([*texts, None], dtype=object)[codes]
