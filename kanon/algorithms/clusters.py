"""What the clustering algorithms share: input of the compiled loops, draws, joining."""

from collections.abc import Callable

import numpy as np

from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.merging import choose_search_order
from kanon.algorithms.repair_release import repair_release
from kanon.algorithms.task import Task, digits_of, in_one_width
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, scale_progress
from kanon.kernels.cluster_joining import Meeting, join_some
from kanon.kernels.clusters import ClusteringInput, Clusters
from kanon.recoding import Recoding, Trace

LOOKS = 1_000_000  # classes or clusters looked at between two progress reports: 0.1 s at most


def build_clustering_input(task: Task) -> ClusteringInput:
    classes = task.classes
    trees = classes.hierarchies
    parents, depths = in_one_width(task)
    return ClusteringInput(
        np.array(classes.nodes, dtype=np.int32, order="C"),
        np.array(classes.counts, dtype=np.int64),
        parents,
        depths,
        digits_of(task),
        sizes=np.array([tree.n_nodes for tree in trees], dtype=np.int64),
        order=choose_search_order(classes, task.potentials),
        k=int(task.k),
        weighted=task.weighted,
    )


def build_meeting(table: ClusteringInput) -> Meeting:
    m = len(table.sizes)
    return Meeting(
        values=np.full(m, -1, dtype=np.int64),
        up_of=np.zeros(table.depths.shape, dtype=np.int64),
        down_of=np.zeros(table.depths.shape, dtype=np.int64),
        state=np.zeros(1, dtype=np.int64),
    )


def draw_class(counts: np.ndarray, generator: np.random.Generator) -> int:
    """The class of a record drawn at random, every record alike.

    >>> draw_class(np.array([0, 3, 0]), np.random.default_rng(0))
    1
    """
    record = generator.integers(counts.sum())
    return int(np.searchsorted(np.cumsum(counts), record, side="right"))


def draw_class_order(counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The order in which classes come up when all records are drawn, one after the other.

    >>> draw_class_order(np.array([1, 1000, 1]), np.random.default_rng(0)).tolist()[0]
    1
    """
    records = generator.permutation(np.repeat(np.arange(len(counts)), counts))
    _, first = np.unique(records, return_index=True)
    return np.argsort(first).astype(np.int64)


def join_nearest(
    table: ClusteringInput, clusters: Clusters, queue: np.ndarray, below: int, progress: Progress
) -> None:
    meeting, all_joined = build_meeting(table), False
    while not all_joined:
        all_joined = join_some(table, clusters, meeting, queue, below, LOOKS)
        n_joined = int(meeting.state[0])
        progress(
            n_joined / max(1, len(queue)),
            f"{write_count(n_joined)} of {write_count(len(queue))} classes joined the nearest "
            "cluster",
        )


def finish_clusters(
    task: Task, progress: Progress, find_clusters: Callable[[Progress], tuple[np.ndarray, int]]
) -> Recoding:
    task.check()
    cluster_share = 0.5 if task.others else 1.0  # then clusters are merged on for them
    targets, steps = find_clusters(scale_progress(progress, 0.0, cluster_share))
    recoding = Recoding.from_targets(task.classes, targets, trace=Trace(steps=steps))
    recoding = merge_breaking_classes(recoding, task, scale_progress(progress, cluster_share, 1.0))
    return repair_release(recoding, task, progress)
