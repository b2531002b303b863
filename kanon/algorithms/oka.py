"""OKA, the one-pass k-means algorithm: clusters of any size at first, which are then evened out."""

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.clusters import (
    LOOKS,
    build_clustering_input,
    build_meeting,
    draw_class_order,
    finish_clusters,
    join_nearest,
)
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.kernels.cluster_joining import merge_small_some
from kanon.kernels.cluster_shedding import remove_some_members
from kanon.kernels.clusters import ALL, ClusteringInput, Clusters
from kanon.recoding import Recoding, find_merge_ends

CARD = read_algorithm_card(__file__)


def made_clusters(task: Task, progress: Progress = ignore_progress) -> tuple[Clusters, int]:
    """The clusters of the task: the pass, the evening out, and what whole classes need besides.

    Every class has one, and every one that has records, how many is returned too, holds at least k.

    The distance between a class and a cluster is what widening the cluster by the class costs: per
    quasi-identifier ``records of the cluster * (D(x) - D(lca)) + records of the class * (D(y) -
    D(lca))`` with x the centre of the cluster. A member's is that to the cluster of all others: to
    the centre of all it would be the same for nearly every member, since all values at the leaves
    are as far below a group. Ties go to the class that is first in canonical order, of clusters
    to the one that was begun first.

    Source: Lin, Wei 2008, the clustering stage and the adjustment stage.
    """
    table = build_clustering_input(task)
    generator = np.random.default_rng(task.seed)
    clusters = one_pass(table, generator, scale_progress(progress, 0.0, 0.45))
    pool = given_away(table, clusters, scale_progress(progress, 0.45, 0.5))
    pool = pool[draw_class_order(table.counts[pool], generator)]
    join_nearest(table, clusters, pool, table.k, scale_progress(progress, 0.5, 0.6))
    _merge_small(table, clusters, scale_progress(progress, 0.6, 1.0))
    return clusters, int(np.count_nonzero(clusters.records))


def one_pass(
    table: ClusteringInput, generator: np.random.Generator, progress: Progress = ignore_progress
) -> Clusters:
    """Clusters of any size: drawn classes, and every other one joins the nearest of them.

    Records are drawn until ``n // k`` classes have come up, or all.
    """
    seeds = draw_class_order(table.counts, generator)[: int(table.counts.sum()) // table.k]
    of = np.full(len(table.counts), -1, dtype=np.int64)
    of[seeds] = np.arange(len(seeds))
    clusters = Clusters(table.nodes[seeds].copy(), table.counts[seeds].copy(), of)
    join_nearest(table, clusters, np.flatnonzero(of < 0), ALL, progress)
    return clusters


def given_away(
    table: ClusteringInput, clusters: Clusters, progress: Progress = ignore_progress
) -> np.ndarray:
    """Take from every cluster above k the classes furthest from its others, k records stay.

    From the furthest to the nearest, each class leaves without which k records are left. How far
    they are is found once, before the first leaves.

    Returned are the classes that have no cluster now, in canonical order.
    """
    members = np.argsort(clusters.of, kind="stable")
    start = np.searchsorted(clusters.of[members], np.arange(len(clusters.records) + 1))
    state = np.zeros(1, dtype=np.int64)
    while not remove_some_members(table, clusters, members, start, state, LOOKS):
        progress(
            int(state[0]) / len(clusters.records),
            f"{write_count(state[0])} of {write_count(len(clusters.records))} clusters were evened "
            "out",
        )
    return np.flatnonzero(clusters.of < 0)


def _merge_small(table: ClusteringInput, clusters: Clusters, progress: Progress) -> None:
    """Merge every cluster below k, in the order in which they were begun, with the nearest."""
    merged_into = np.arange(len(clusters.records))
    meeting, all_merged = build_meeting(table), False
    while not all_merged:
        all_merged = merge_small_some(table, clusters, meeting, merged_into, LOOKS)
        n_seen = int(meeting.state[0])
        progress(
            n_seen / len(merged_into),
            f"{write_count(n_seen)} of {write_count(len(merged_into))} clusters hold k records or "
            "were merged",
        )
    clusters.of[:] = find_merge_ends(merged_into)[clusters.of]


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The recoding of OKA for ``task.k`` and all the models of the task.

    Whichever of two values begins the only cluster of three, all join it.

    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy.build import suppression
    >>> from kanon.metrics import exact_potentials, metric_named
    >>> from kanon.hierarchy.scaled_potentials import scale_potentials
    >>> trees = (suppression(["a", "b"]),)
    >>> nodes = np.array([[0], [1]], dtype=np.int32)
    >>> classes = EquivalenceClasses(("one",), trees, nodes, np.array([2, 2]))
    >>> depths = scale_potentials(exact_potentials(metric_named("ncp"), trees), 4)
    >>> release = anonymise(Task(classes, depths, k=3))
    >>> [trees[0].labels[node] for node in release.nodes[:, 0]], release.counts.tolist()
    (['*'], [4])
    """

    def build_targets(progress: Progress) -> tuple[np.ndarray, int]:
        clusters, n_clusters = made_clusters(task, progress)
        return clusters.nodes[clusters.of], n_clusters

    return finish_clusters(task, progress, build_targets)
