"""k-member clustering: one cluster after the other, each of the records that cost it least."""

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.clusters import (
    LOOKS,
    build_clustering_input,
    draw_class,
    draw_class_order,
    finish_clusters,
    join_nearest,
)
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.kernels.cluster_growth import CLUSTERS, LEFT, Unclustered, build_some_clusters
from kanon.kernels.clusters import ALL, ClusteringInput, Clusters
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__)


def made_clusters(task: Task, progress: Progress = ignore_progress) -> Clusters:
    """The clusters of the task, in the order in which they were made.

    Every class has one, and every one holds at least k records.

    A class joins the cluster with centre x (the tuple of lowest common ancestors) that costs least
    to widen: per quasi-identifier ``records of the cluster * (D(x) - D(lca)) + records of the class
    * (D(y) - D(lca))``. That is by how much the loss of the cluster grows, measured from the
    original values. The distance of two records is the same for one record each. Ties go to the
    first in canonical order, of clusters to the first made.

    The first cluster begins with the record furthest from the one that was drawn, not with that
    one itself: the published listing draws a record and then, for every cluster, moves to the
    furthest.

    Source: Byun, Kamra, Bertino, Li 2007, the greedy k-member clustering algorithm.
    """
    table = build_clustering_input(task)
    generator = np.random.default_rng(task.seed)
    start = draw_class(table.counts, generator)
    clusters = _grow_clusters(table, start, scale_progress(progress, 0.0, 0.95))
    leftovers = np.flatnonzero(clusters.of < 0)
    leftovers = leftovers[draw_class_order(table.counts[leftovers], generator)]
    join_nearest(table, clusters, leftovers, ALL, scale_progress(progress, 0.95, 1.0))
    return clusters


def _grow_clusters(table: ClusteringInput, start: int, progress: Progress) -> Clusters:
    """All clusters before the leftovers join them."""
    size, m = table.nodes.shape
    n = int(table.counts.sum())

    def fill_zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    unclustered = Unclustered(
        values=np.array(table.nodes.T, order="C"),
        number=np.arange(size, dtype=np.int64),
        records=table.counts.copy(),
        up=fill_zeros(size),
        down=fill_zeros(size),
        apart=fill_zeros(size),
        up_of=fill_zeros(*table.depths.shape),
        down_of=fill_zeros(*table.depths.shape),
        change=fill_zeros(2, table.depths.shape[1]),
        state=np.array([size, 0, 0, n, start], dtype=np.int64),
    )
    limit = min(size, n // table.k) + 1  # and one that stays empty
    room = Clusters(np.zeros((limit, m), dtype=np.int32), fill_zeros(limit), fill_zeros(size) - 1)
    all_grown = False
    while not all_grown:
        all_grown = build_some_clusters(table, unclustered, room, LOOKS)
        n_clustered = n - int(unclustered.state[LEFT])
        progress(
            n_clustered / n,
            f"{write_count(n_clustered)} of {write_count(n)} records have a cluster",
        )
    n_clusters = int(unclustered.state[CLUSTERS])
    return Clusters(room.nodes[:n_clusters], room.records[:n_clusters], room.of)


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The recoding of k-member clustering for ``task.k`` and all the models of the task.

    Ages 1, 2 and 3 below 1-3, ages 7, 8 and 9 below 7-9: whatever is drawn, two clusters.

    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy.build import groups
    >>> from kanon.metrics import exact_potentials, metric_named
    >>> from kanon.hierarchy.scaled_potentials import scale_potentials
    >>> age = groups([{"1-3": ["1", "2", "3"], "7-9": ["7", "8", "9"]}, {"*": ["1-3", "7-9"]}])
    >>> classes = EquivalenceClasses(("age",), (age,), np.arange(6, dtype=np.int32)[:, None],
    ...                              np.ones(6, dtype=np.int64))
    >>> depths = scale_potentials(exact_potentials(metric_named("ncp"), (age,)), 6)
    >>> release = anonymise(Task(classes, depths, k=3))
    >>> [age.labels[node] for node in release.nodes[:, 0]], release.counts.tolist()
    (['1-3', '7-9'], [3, 3])
    """

    def build_targets(progress: Progress) -> tuple[np.ndarray, int]:
        clusters = made_clusters(task, progress)
        return clusters.nodes[clusters.of], len(clusters.records)

    return finish_clusters(task, progress, build_targets)
