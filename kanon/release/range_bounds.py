"""Remarks on what the bounds of released ranges tell: extremes of the table, values of a class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanon.base.formatting import counted, percent
from kanon.base.kinds import sizes
from kanon.errors import quoted
from kanon.hierarchy.ranges import RangedHierarchy
from kanon.measures.cells import is_value, original_cells
from kanon.recoding import Recoding
from kanon.release.remark_kinds import Remark


def remark_on_bounds(recoding: Recoding, k: int) -> Iterator[Remark]:
    """The remarks on columns of ranges: *means-beside* of small classes, and *extremes*."""
    for j, tree in enumerate(recoding.ranged):
        if not isinstance(tree, RangedHierarchy):
            continue
        column = recoding.classes.attributes[j]
        if tree.shows_means:
            counts = recoding.counts
            small = float(counts[counts <= 3].sum() / max(counts.sum(), 1))
            said = (
                f"{quoted(column)} shows the least and the greatest value of a class beside its "
                f"mean. In classes of at most 3 records, {percent(100 * small)} of the release, "
                "these are all values, or nearly."
            )
            yield Remark("means-beside", column, small, said)
        rare = dict(_rare_extremes(tree, original_cells(recoding)[j], k))
        if rare:
            said = (
                f"The ranges of {quoted(column)} show the {' and the '.join(rare)} value of the "
                f"table, and fewer than {counted(k, 'record')} {'have' if k > 1 else 'has'} it."
            )
            share = sum(rare.values()) / recoding.classes.n_records
            yield Remark("extremes", column, share, said)


def _rare_extremes(tree: RangedHierarchy, cells: np.ndarray, k: int) -> Iterator[tuple[str, int]]:
    """Which extreme values a range names as a bound although fewer than k records have them."""
    leaves = np.flatnonzero(cells[: tree.n_leaves] * is_value(tree, np.arange(tree.n_leaves)))
    places = sizes([tree.labels[leaf] for leaf in leaves]) or []
    for name, extreme in (("least", min), ("greatest", max)) if places else ():
        at = leaves[np.array(places) == extreme(places)]
        records = int(cells[at].sum())
        if records < k and not tree.bounds.isdisjoint(at.tolist()):
            yield name, records
