"""The order of :mod:`kanon.sources.row_order`, as what an engine sorts released rows by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from kanon.hierarchy import Hierarchy
from kanon.sources.row_order import NUMBER, rank_texts
from kanon.sources.stored_values import OURS
from kanon.stored_classes import TupleNumbers

KEY = f"{OURS} order"
"""How columns are called that rows are sorted by and that do not leave."""

_NUMBER = NUMBER.replace("$", r"\z")  # a "$" may stand before a last line break


def rank_nodes(tree: Hierarchy, nodes: np.ndarray) -> np.ndarray:
    """Per node of a hierarchy the place of its label among those of the given nodes."""
    nodes = np.unique(nodes)
    labels = pd.Series([tree.labels[node] for node in nodes.tolist()], dtype="str")
    codes, texts = pd.factorize(labels)  # a range may be called as another node is
    ranks = np.zeros(tree.n_nodes, dtype=np.int64)
    ranks[nodes] = rank_texts(list(texts))[codes]
    return ranks


def pack_ranks(
    columns: Sequence[str], attributes: Sequence[str], ranks: Sequence[np.ndarray]
) -> tuple[list[str], dict[str, dict[int, np.ndarray]]]:
    """Few keys to sort by: quasi-identifiers that stand side by side become one whole number.

    Parameters
    ----------
    columns
        Those of the release.
    attributes, ranks
        The quasi-identifiers among them, and of each its :func:`rank_nodes`.

    Returns
    -------
    by
        The columns that rows are sorted by, in order.
    parts
        Per key the quasi-identifiers in it, by their places, and what each of their nodes adds.

    >>> ages, zips = np.array([0, 1]), np.array([2, 0, 1])
    >>> by, parts = pack_ranks(["zip", "age", "ill"], ["age", "zip"], [ages, zips])
    >>> by, {key: {j: adds.tolist() for j, adds in its.items()} for key, its in parts.items()}
    (['kanon: order 0', 'ill'], {'kanon: order 0': {1: [4, 0, 2], 0: [0, 1]}})
    """
    by: list[str] = []
    parts: dict[str, dict[int, np.ndarray]] = {}
    for packed, names in groupby(columns, lambda column: column in attributes):
        if not packed:
            by.extend(names)
            continue
        places = [attributes.index(name) for name in names]
        for number in TupleNumbers([int(ranks[j].max()) + 1 for j in places]).numbers:
            by.append(f"{KEY} {len(parts)}")
            parts[by[-1]] = {places[i]: ranks[places[i]] * factor for i, factor in number.items()}
    return by, parts


def sort_rows(rows: Any, by: Sequence[str]) -> Any:
    """Rows in the order of some columns, as they come if there are none; without kanon's own."""
    import ibis

    keys = [ibis.asc(key, nulls_first=True) for name in by for key in _sort_keys(rows[name])]
    rows = rows.order_by(keys) if keys else rows
    return rows.drop(*(name for name in rows.columns if name.startswith(OURS)))


def _sort_keys(cells: Any) -> list[Any]:
    """What a column is sorted by, missing cells first."""
    import ibis

    kind = cells.type()
    if kind.is_floating():  # 0.0 and -0.0 are written differently
        negative = cells.cast("string").startswith("-")
        present = cells.isnan().ifelse(None, cells)
        return [present, (present == 0).ifelse(~negative, None)]
    if kind.is_nested():
        cells = cells.cast("string")
    if not cells.type().is_string():
        return [cells]
    last = ibis.literal(float("inf"))
    number = ibis.cases(
        ((cells < "+") | (cells >= ":"), last),  # no number begins so: few are looked at closely
        (cells.re_search(_NUMBER), cells.cast("float64")),
        (cells.notnull(), last),
    )
    return [number, cells]
