"""Greedy merging of classes that an engine keeps: part by part, where the engine does its work."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from kanon.algorithms.merge_until_models_hold import repaired
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.partition import cuts_along
from kanon.algorithms.partitioned_merging import SAMPLE, SEED, apart_up_to, loss_on_sample
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, no_progress, stretch
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.kernels.hashing import tuple_hashes
from kanon.recoding import Recoding
from kanon.settings import settings
from kanon.stored_classes import StoredClasses, TupleNumbers
from kanon.strategies import LOOKS_AT

_APART, _TOGETHER = 0.9, 0.95
"""After which shares of the time the parts are done, and what is left of them, about."""


@dataclass(frozen=True, eq=False)
class MergePart:
    """Merges the classes of a part until every one of them holds k records."""

    task: Task

    def __call__(self, table: pa.Table, progress: Progress) -> pa.Table:
        keys = np.stack([table[f"key {place}"].to_numpy() for place in self._places], axis=1)
        nodes, counts = self._numbers.unpacked(keys), table["records"].to_numpy()
        order = np.lexsort(nodes.T[::-1])
        classes = replace(self.task.classes, nodes=nodes[order], counts=counts[order])
        path = merge_greedily(replace(self.task, classes=classes), progress=progress)
        found = path.after(len(path.parts))
        released = self._numbers.packed(found.nodes)[found.assigned]
        steps = np.zeros(len(order), dtype=np.int32)
        steps[0] = len(path.parts)
        made = [keys[order].T, [counts[order]], released.T, [_signed(nodes[order]), steps]]
        return pa.Table.from_arrays(
            [pa.array(column) for columns in made for column in columns], schema=self.schema
        )

    @property
    def schema(self) -> pa.Schema:
        keys = [f"key {place}" for place in self._places]
        released = [f"released {place}" for place in self._places]
        whole = dict.fromkeys([*keys, "records", *released, "hash"], pa.int64())
        return pa.schema({**whole, "steps": pa.int32()})

    @property
    def _places(self) -> range:
        return range(len(self._numbers.numbers))

    @property
    def _numbers(self) -> TupleNumbers:
        return TupleNumbers([tree.n_nodes for tree in self.task.classes.hierarchies])


def _signed(nodes: np.ndarray) -> np.ndarray:
    """The hashes of tuples as whole numbers with a sign, in the same order: engines know those."""
    return (tuple_hashes(nodes, SEED) ^ np.uint64(1 << 63)).view(np.int64)


def merge_stored(task: Task, number: int, progress: Progress = no_progress) -> Recoding:
    """The release for the task's k: that of :func:`merge_apart`, made where the classes are."""
    task.check()
    if LOOKS_AT[task.strategy]:
        raise PlanError(
            f"Strategy {task.strategy!r} looks at more than the cost of a merge, and so needs all "
            "classes in memory, of which this table has too many; choose strategy 's1', or set "
            "classes higher (see docs/operate/limits.md)."
        )
    classes = task.classes
    assert isinstance(classes, StoredClasses)
    up_to = apart_up_to(classes, number)
    cuts, sizes = cuts_along(
        classes.hierarchies, task.potentials, number, up_to, classes.cells_of_part
    )
    if max(sizes) > settings().classes:
        raise classes.refusal
    k = min(task.k, up_to)
    work = MergePart(replace(task, classes=_empty(classes), k=k, models=()))
    found = classes.merged(cuts, sizes, work, stretch(progress, 0, _APART))
    if task.k > up_to:
        left = replace(task, classes=found.fetched(), models=())
        path = merge_greedily(left, progress=stretch(progress, _APART, _TOGETHER))
        found = found.followed_by(path.at(task.k))
    nodes, counts, part_of = found.lowest_hashes(SAMPLE)
    some = replace(_empty(classes), nodes=nodes, counts=counts)
    sampling = stretch(progress, _TOGETHER, 1)
    sample = loss_on_sample(task, some, part_of, len(cuts) + 1, up_to, sampling)
    if task.others:
        released = found.released
        whole = Recoding.from_targets(released, released.nodes)
        found = found.followed_by(repaired(whole, replace(task, classes=released)))
    trace = replace(
        found.trace, parts=sample.parts, sampled=sample.sampled,
        loss_ratio=sample.ratio_at(task.k),
    )  # fmt: skip
    return found.with_trace(trace)


def _empty(classes: EquivalenceClasses) -> EquivalenceClasses:
    nodes = np.zeros((0, len(classes.attributes)), dtype=np.int32)
    return EquivalenceClasses(
        classes.attributes, classes.hierarchies, nodes, np.zeros(0, dtype=np.int64)
    )
