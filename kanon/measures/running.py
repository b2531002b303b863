"""Sums over the cells or the classes of every release on a merge path, from running sums.

Such a measure has these functions, so that its curve takes one pass over the merges:

- ``losses(classes)``: per quasi-identifier a number per node, summed over cells; or
- ``per_class(sizes)``: a whole number per class, summed over classes; and
- ``of_sum(total, before, classes)``: the measure, from the sum over a release without suppression
  and the same sum over the original table.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from kanon.kernels.along import add_up
from kanon.recoding import MergePath

T = TypeVar("T", float, np.ndarray)  # one number, or one per release


def sum_nodes_along(path: MergePath, values: Sequence[np.ndarray]) -> np.ndarray:
    """The sum over all cells of a whole number per node, after 0, 1, … merges. Shape (M + 1,).

    Exact, so that equal releases have equal numbers, and total loss is 100 %.
    """
    starts = np.cumsum([0, *(len(value) for value in values[:-1])])
    every = np.concatenate([np.asarray(value, dtype=np.int64) for value in values])
    per_class = np.empty(len(path.counts), dtype=np.int64)
    add_up(path.nodes, path.counts, starts, every, per_class)
    return sum_classes_along(path, per_class)


def sum_cells_along(path: MergePath, values: Sequence[np.ndarray]) -> np.ndarray:
    most = max((float(value.max()) for value in values), default=0.0) * path.classes.n_cells
    if not most:
        return np.zeros(len(path.parts) + 1)
    scale = 2.0 ** min(61 - math.ceil(math.log2(most)), 1023)  # 1023 is the largest exponent
    sums = sum_nodes_along(path, [np.rint(value * scale) for value in values])
    return sums / scale


def sum_classes_along(path: MergePath, per_class: np.ndarray) -> np.ndarray:
    """The sum over all classes of a whole number per class, after 0, 1, … merges: (M + 1,)."""
    size = path.classes.n_classes
    merged = np.where(path.parts >= 0, per_class[path.parts], 0).sum(axis=1)
    whole: np.ndarray = np.concatenate([[0], np.cumsum(per_class[size:] - merged)])
    return whole + per_class[:size].sum()
