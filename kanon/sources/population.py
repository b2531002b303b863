"""The population that the people of a table come from, counted by the table's hierarchies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon.base.values import MISSING_LABEL, convert_to_text, encode_texts
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import TableError, list_names
from kanon.schema import check_columns
from kanon.sources.limits import require_records
from kanon.sources.memory import MemoryTable, build_column_classes
from kanon.sources.repairs import Repair
from kanon.sources.stored import StoredTable
from kanon.sources.tables import Table


@dataclass(frozen=True, eq=False)
class Population:
    classes: EquivalenceClasses  # its classes, over the hierarchies of the table
    # people with a missing value or one that a hierarchy lacks; it counts as the root, so they
    # only match where a release has the root of that column
    unplaced: int


def count_population(
    table: EquivalenceClasses,
    people: pd.DataFrame | Table,
    repairs: Iterable[Repair] | None = None,
) -> Population:
    """Count the people of a population by the hierarchies of a table; an engine counts its own.

    The repairs of the table replace values of the population too; they drop nobody.
    """
    people = MemoryTable(people) if isinstance(people, pd.DataFrame) else people
    replacements = _list_replacements(table, people.columns, repairs)
    if isinstance(people, StoredTable):
        tuples, counts = people.count_code_tuples(table.attributes)
        texts = [people.values(name).texts for name in table.attributes]
        return _place_people(table, tuples - 1, counts, texts, replacements)
    assert isinstance(people, MemoryTable)
    require_records(people.n_records)
    coded = [encode_texts(people.frame[name]) for name in table.attributes]
    tuples = np.stack([codes for codes, _ in coded], axis=1)
    once = np.ones(people.n_records, dtype=np.int64)
    return _place_people(table, tuples, once, [texts for _, texts in coded], replacements)


def _place_people(
    table: EquivalenceClasses,
    tuples: np.ndarray,
    counts: np.ndarray,
    texts_of_columns: Sequence[Sequence[str]],
    replacements: Sequence[tuple[str, Mapping[str, str | None]]],
) -> Population:
    """Count people by nodes, given their codes in the texts of each column; -1 where missing."""
    unplaced = np.zeros(len(tuples), dtype=bool)
    nodes = np.empty(tuples.shape, dtype=np.int32)
    for j, (name, tree) in enumerate(zip(table.attributes, table.hierarchies, strict=True)):
        codes, texts = tuples[:, j], texts_of_columns[j]
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
    distinct, grouped, _ = group_tuples(nodes, counts, [tree.n_nodes for tree in table.hierarchies])
    classes = EquivalenceClasses(table.attributes, table.hierarchies, distinct, grouped)
    return Population(classes, int(counts[unplaced].sum()))


def _list_replacements(
    table: EquivalenceClasses, columns: Sequence[str], repairs: Iterable[Repair] | None
) -> list[tuple[str, Mapping[str, str | None]]]:
    """What the repairs replace by column, for people who have every quasi-identifier."""
    lacking = [name for name in table.attributes if name not in columns]
    if lacking:
        raise TableError(
            f"The population lacks {list_names(lacking)}: it needs a column of the same name for "
            "every quasi-identifier."
        )
    return [(step.column, step.replace) for step in repairs or () if step.replace]


def count_people_in_classes(
    table: pd.DataFrame, population: pd.DataFrame, columns: Sequence[str]
) -> np.ndarray:
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
