"""The order of :mod:`kanon.sources.row_order`, as keys by which an engine sorts released rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from kanon.hierarchy import Hierarchy
from kanon.sources.row_order import NUMBER, rank_texts
from kanon.sources.stored_values import QUERY_PREFIX

KEY = f"{QUERY_PREFIX} order"  # prefix of sort keys, which are not released
_NUMBER = NUMBER.replace("$", r"\z")  # a "$" may stand before a last line break


def rank_nodes(tree: Hierarchy, nodes: np.ndarray) -> np.ndarray:
    """Rank each node of a hierarchy by its label, among the labels of the given nodes."""
    nodes = np.unique(nodes)
    labels = np.array([tree.labels[node] for node in nodes.tolist()], dtype=object)
    codes, texts = pd.factorize(labels)  # a range may have the label of another node
    ranks = np.zeros(tree.n_nodes, dtype=np.int16 if len(texts) < 2**15 else np.int32)
    ranks[nodes] = rank_texts(list(texts))[codes]
    return ranks


def sort_rows(rows: Any, by: Sequence[str]) -> Any:
    import ibis

    keys = [ibis.asc(key, nulls_first=True) for name in by for key in _sort_keys(rows[name])]
    rows = rows.order_by(keys) if keys else rows
    return rows.drop(*(name for name in rows.columns if name.startswith(QUERY_PREFIX)))


def _sort_keys(cells: Any) -> list[Any]:
    """The keys of a column, missing cells first."""
    import ibis

    if cells.type().is_floating():  # 0.0 and -0.0 are written differently
        negative = cells.cast("string").startswith("-")
        present = cells.isnan().ifelse(None, cells)
        return [present, (present == 0).ifelse(~negative, None)]
    cells = cells.cast("string") if cells.type().is_nested() else cells
    if not cells.type().is_string():
        return [cells]
    last = ibis.literal(float("inf"))
    number = ibis.cases(
        ((cells < "+") | (cells >= ":"), last),  # no number begins so: few reach the slow pattern
        (cells.re_search(_NUMBER), cells.cast("float64")),
        (cells.notnull(), last),
    )
    return [number, cells]
