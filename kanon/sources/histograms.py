"""The histograms of a sensitive column, and of the persons, in each class."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun
from kanon.base.kinds import ColumnKind
from kanon.base.values import MISSING_LABEL, ValueCounts, encode_texts
from kanon.classes import group_tuples
from kanon.errors import PlanError, TableError, quote
from kanon.hierarchy import Hierarchy
from kanon.sensitive import Sensitive, ValueTree, order_of_values


def build_histogram(
    column: str, values: pd.Series, row_class: np.ndarray, size: int, kind: ColumnKind | None = None
) -> Sensitive:
    """The histograms of a sensitive column; missing cells form one value of their own."""
    codes, texts = encode_texts(values)
    ordered, numeric, place = sort_sensitive_values(column, texts, bool((codes < 0).any()), kind)
    return Sensitive.from_records(column, ordered, numeric, row_class, place[codes], size)


def build_combined_histogram(
    table: pd.DataFrame,
    columns: Sequence[Sensitive],
    row_class: np.ndarray,
    kinds: Mapping[str, ColumnKind],
) -> Sensitive:
    """The histograms of the combinations of the values of some columns, given their own."""
    rows = []
    for column in columns:
        kind = kinds.get(column.name)
        each_row = build_histogram(
            column.name, table[column.name], np.arange(len(table)), len(table), kind
        )
        rows.append(each_row.value)
    once, sizes = np.ones(len(table), dtype=np.int64), [len(column.values) for column in columns]
    codes, _, group = group_tuples(np.stack(rows, axis=1), once, sizes)
    numbers = tuple(map(str, range(len(codes))))
    combined = Sensitive.from_records("", numbers, False, row_class, group, columns[0].n_classes)
    return replace(combined, codes=codes)


def build_value_tree(values: Sequence[str], tree: Hierarchy) -> ValueTree:
    """The groups above each value; missing cells lie below the root alone.

    >>> from kanon.hierarchy.build import intervals
    >>> tens = build_value_tree(["5", "18", "(missing)"], intervals(["5", "12", "18"], [10]))
    >>> tens.rise[tens.chain].tolist()
    [[1, 1, 0], [1, 1, 0], [2, 0, 0]]
    """
    v, level = len(values), np.maximum(tree.level, np.arange(tree.n_nodes) == tree.root)
    nodes = [tree.root if text == MISSING_LABEL else tree.node_of[text] for text in values]
    chains = [[v + above for above in tree.path(node) if level[above]] for node in nodes]
    depth = max(map(len, chains))
    chain = np.array([
        [value, *above, *[v + tree.root] * (depth - len(above))]
        for value, above in enumerate(chains)
    ])  # fmt: skip
    return ValueTree(chain, np.append(level[chain[:, 1] - v], level[tree.parent] - level))


def build_person_histogram(
    column: str, values: pd.Series, row_class: np.ndarray, size: int
) -> Sensitive:
    """The records of each person in each class; persons are numbered, not named."""
    codes, texts = encode_texts(values)
    check_persons(column, int((codes < 0).sum()))
    numbers = tuple(map(str, range(len(texts))))
    return Sensitive.from_records(column, numbers, False, row_class, codes, size)


def check_persons(column: str, lacking: int) -> None:
    if lacking:
        raise PlanError(
            f"{count_noun(lacking, 'record has', 'records have')} no value in {quote(column)}, the "
            "column that identifies the person: fill it in, or leave those records out."
        )


def sort_sensitive_values(
    column: str, texts: Sequence[str], missing: bool, kind: ColumnKind | None = None
) -> tuple[list[str], bool, np.ndarray]:
    """The values of a sensitive column in order; missing cells form one value of their own."""
    if missing and MISSING_LABEL in texts:
        raise TableError(
            f"Column {quote(column)} has missing cells, and cells that hold '{MISSING_LABEL}'. "
            "Rename the latter."
        )
    ordered, numeric = order_of_values([*texts, MISSING_LABEL] if missing else texts, kind)
    position = {text: place for place, text in enumerate(ordered)}
    last = position[MISSING_LABEL] if missing else -1
    return ordered, numeric, np.array([*(position[text] for text in texts), last], dtype=np.int64)


def build_table_histogram(column: str, counted: ValueCounts) -> Sensitive:
    ordered, numeric, place = sort_sensitive_values(
        column, counted.texts, counted.missing > 0, counted.chosen
    )
    records = np.array([*counted.counts.values(), counted.missing], dtype=np.int64)
    filled = records > 0
    zeros = np.zeros(int(filled.sum()), dtype=np.int64)
    return Sensitive.from_counts(column, ordered, numeric, zeros, place[filled], records[filled], 1)
