"""The population that the people of a table come from, counted by the table's hierarchies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon.base.values import MISSING_LABEL, convert_to_text, encode_texts
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import TableError, list_names
from kanon.schema import check_columns
from kanon.sources.memory import build_column_classes, require_records
from kanon.sources.repairs import Repair


@dataclass(frozen=True, eq=False)
class Population:
    classes: EquivalenceClasses  # its classes, over the hierarchies of the table
    # people with a missing value or one that a hierarchy lacks; it counts as the root, so they
    # only match where a release has the root of that column
    unplaced: int


def count_population(
    table: EquivalenceClasses, people: pd.DataFrame, repairs: Iterable[Repair] | None = None
) -> Population:
    """Count the people of a population by the hierarchies of a table.

    The repairs of the table replace values of the population too; they drop nobody.
    """
    replacements = [(step.column, step.replace) for step in repairs or () if step.replace]
    lacking = [name for name in table.attributes if name not in people.columns]
    if lacking:
        raise TableError(
            f"The population lacks {list_names(lacking)}: it needs a column of the same name for "
            "every quasi-identifier."
        )
    require_records(len(people))
    unplaced = np.zeros(len(people), dtype=bool)
    nodes = np.empty((len(people), len(table.attributes)), dtype=np.int32)
    for j, (name, tree) in enumerate(zip(table.attributes, table.hierarchies, strict=True)):
        codes, texts = encode_texts(people[name])
        for pairs in (pairs for column, pairs in replacements if column == name):
            targets = {
                convert_to_text(value): MISSING_LABEL if new is None else convert_to_text(new)
                for value, new in pairs.items()
            }
            texts = [targets.get(text, text) for text in texts]
        texts = [*texts, MISSING_LABEL]  # a missing cell has the code -1
        of_code = np.array([tree.node_of.get(text, tree.root) for text in texts], dtype=np.int32)
        unknown = np.array([text not in tree.node_of for text in texts])
        nodes[:, j] = of_code[codes]
        unplaced |= unknown[codes]
    distinct, counts, _ = group_tuples(
        nodes, np.ones(len(people), dtype=np.int64), [tree.n_nodes for tree in table.hierarchies]
    )
    classes = EquivalenceClasses(table.attributes, table.hierarchies, distinct, counts)
    return Population(classes, int(unplaced.sum()))


def count_people_in_classes(
    table: pd.DataFrame, population: pd.DataFrame, columns: Sequence[str]
) -> np.ndarray:
    """The number of people of a population in each class of a table."""
    for records in (table, population):
        check_columns(list(records.columns), columns)
        require_records(len(records))
    # Columns by place, since they may have any name.
    both = {
        str(place): np.concatenate([_get_texts(table[column]), _get_texts(population[column])])
        for place, column in enumerate(columns)
    }
    here = np.repeat(["0 table", "1 population"], [len(table), len(population)])
    frame = pd.DataFrame(both, dtype=object).assign(where=here)
    people = build_column_classes(frame, list(both), ["where"]).sensitive[0].dense()
    return people[people[:, 0] > 0, 1]


def _get_texts(column: pd.Series) -> np.ndarray:
    codes, texts = encode_texts(column)
    return np.array([*texts, None], dtype=object)[codes]
