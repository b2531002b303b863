"""What holds for every algorithm that releases ranges."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource


def check_moves_up(task: Task, recoding: Recoding) -> None:
    """Every range covers the value that it stands for, and a node is above it."""
    for row, target in zip(task.classes.nodes, recoding.targets, strict=True):
        for j, tree in enumerate(task.classes.hierarchies):
            ranged = recoding.hierarchies[j]
            assert ranged.first[target[j]] <= tree.first[row[j]]
            assert ranged.last[target[j]] >= tree.last[row[j]]
            if target[j] < tree.n_nodes:
                assert tree.is_ancestor(int(target[j]), int(row[j]))


def check_order_of_rows(
    anonymise: Callable[[Task], Recoding], task: Task, data: st.DataObject
) -> None:
    """Rows in another order have the same release, and nothing given is changed."""
    classes = task.classes
    cells = [
        [tree.labels[v] for tree, v in zip(classes.hierarchies, row, strict=True)]
        for row, count in zip(classes.nodes, classes.counts, strict=True)
        for _ in range(count)
    ]
    frame = pd.DataFrame(cells, columns=list(classes.attributes), dtype="str")
    before = frame.copy(deep=True)
    order = data.draw(st.permutations(range(len(frame))))
    schema = Schema(dict.fromkeys(classes.attributes, Role.QUASI_IDENTIFIER))
    columns = dict(zip(classes.attributes, classes.hierarchies, strict=True))
    found = []
    for given in (frame, frame.iloc[list(order)]):
        source = MemorySource(given, schema, columns)
        arrays = [source.classes.nodes, source.classes.counts]
        copies = [array.copy() for array in arrays]
        found.append(source.release(anonymise(replace(task, classes=source.classes))))
        assert all(np.array_equal(a, b) for a, b in zip(arrays, copies, strict=True))
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(found[0].iloc[list(order)], found[1])
