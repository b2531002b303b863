"""Rows of a release, made from rows of the table and their classes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kanon.base.values import MISSING_LABEL, convert_to_text
from kanon.recoding import Recoding
from kanon.schema import SUPPRESSED, Role, Schema
from kanon.sources.arrow_tables import trim_column, trim_index


def build_released_rows(
    rows: pd.DataFrame,
    row_class: np.ndarray,
    recoding: Recoding,
    schema: Schema,
    pseudonyms: Mapping[str, np.ndarray],
    keep_suppressed: bool,
) -> pd.DataFrame:
    is_suppressed = recoding.assigned[row_class] < 0
    identifiers = schema.columns(Role.IDENTIFIER)
    released = rows.drop(columns=[column for column in identifiers if column not in pseudonyms])
    released.index = trim_index(released.index)
    released.attrs = {}  # notes about the table, which pandas would write into a file
    recoded = {*recoding.classes.attributes, *identifiers}
    for column in [name for name in released.columns if name not in recoded]:
        cells = released[column]
        bare = trim_column(_blank_cells(cells, is_suppressed) if is_suppressed.any() else cells)
        if bare is not cells:
            released[column] = bare
    for column, labels in pseudonyms.items():
        released[column] = labels
    nodes = recoding.targets[row_class]
    trees = zip(recoding.classes.attributes, recoding.hierarchies, strict=True)
    for j, (column, tree) in enumerate(trees):
        labels = pd.array(list(tree.labels), dtype="str")
        released[column] = labels.take(nodes[:, j])
    if keep_suppressed:
        released[SUPPRESSED] = is_suppressed.astype(np.int64)
    return released


def name_missing_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """The same rows for display: a missing cell shows that it is missing."""
    named = rows.copy(deep=False)
    gone = rows[SUPPRESSED] == 1 if SUPPRESSED in rows else pd.Series(False, index=rows.index)
    for place, (_, column) in enumerate(rows.items()):
        if column.isna().any():
            cells = [
                ("" if out else MISSING_LABEL) if lacking
                else cell if isinstance(cell, str) else convert_to_text(cell)
                for cell, lacking, out in zip(column, column.isna(), gone, strict=True)
            ]  # fmt: skip
            named.isetitem(place, pd.array(cells, dtype="str"))
    return named


def compute_rise(row_class: np.ndarray, recoding: Recoding) -> np.ndarray:
    """How far each cell of the given rows rose, as a share of the height of its hierarchy."""
    before, after = recoding.classes.nodes[row_class], recoding.targets[row_class]
    rise = np.zeros(before.shape)
    for j, tree in enumerate(recoding.hierarchies):
        if tree.height > 1:
            levels = tree.level[after[:, j]] - tree.level[before[:, j]]
            ranges = after[:, j] > tree.root
            covered = (tree.leaves_covered[after[:, j]] - 1) / max(tree.n_leaves - 1, 1)
            rise[:, j] = np.where(ranges, covered, levels / (tree.height - 1))
    return rise


def _blank_cells(column: pd.Series, gone: np.ndarray) -> pd.Series:
    """Blank the cells of suppressed records, in a type that allows missing cells."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        nullable = pd.array(column.to_numpy())
        column = pd.Series(nullable, index=column.index)
    return column.mask(gone)
