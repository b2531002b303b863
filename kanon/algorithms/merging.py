"""Greedy merging on the compiled kernel, shared by GAA and its variant."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon.algorithms.task import Task, digits_of, in_one_width
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.kernels.hashing import hash_tuples
from kanon.kernels.merging import add_first_classes, merge_some
from kanon.kernels.merging_state import (
    CHEAPEST,
    CHEAPEST_THEN_LEAST_BAD,
    LEAST_BAD,
    LEAST_BAD_THEN_CHEAPEST,
    LEAST_PRODUCT,
    LIVE,
    LOOKS_AT_K,
    LOOKS_AT_L,
    LOOKS_AT_T,
    MERGES,
    NONE,
    Groups,
    Merging,
    PrefixTree,
    Rules,
    StrategyView,
)
from kanon.kernels.prefix_tree import build_prefix_tree
from kanon.measures.histograms import build_empty_histograms, build_histograms
from kanon.recoding import MergePath
from kanon.strategies import LOOKS_AT, needs_sensitive

_CHUNK = 256  # merges between two reports of progress

_BUCKETS = 12
"""As many sensitive values are told apart by the fastest bound; more of them share buckets."""

_CHOICE_BY_STRATEGY = {
    "s1": CHEAPEST,
    "s2": CHEAPEST_THEN_LEAST_BAD,
    "s3": LEAST_BAD_THEN_CHEAPEST,
    "s4": LEAST_PRODUCT,
    "s5": CHEAPEST_THEN_LEAST_BAD,
    "s6": LEAST_BAD_THEN_CHEAPEST,
    "s7": LEAST_PRODUCT,
    "l": LEAST_BAD,
    "t": LEAST_BAD,
    "k": LEAST_BAD_THEN_CHEAPEST,
}
"""What each strategy chooses a partner by, as the kernel knows it."""

_VIEW_OF = {"l": LOOKS_AT_L, "t": LOOKS_AT_T, "k": LOOKS_AT_K}


def merge_greedily(
    task: Task, first_below_k: bool = False, progress: Progress = ignore_progress
) -> MergePath:
    task.check()
    if task.level_bounds:  # they are kept by runs for one k
        raise PlanError(
            "One run of greedy merging serves every k only from the values as they came, so here "
            "it cannot keep level bounds; leave out the key 'levels' of the columns."
        )
    classes = task.classes
    size = classes.n_classes
    work, rules, view = begin_merging(task, classes, first_below_k)
    state, all_hold_k = work.state, False
    n_planted = size
    while not all_hold_k:
        all_hold_k = merge_some(work, rules, view, _CHUNK)
        if (
            2 * state[LIVE] < n_planted
        ):  # made anew, so that siblings are neighbours in memory again
            n_planted = state[LIVE]
            _plant_tree(work, rules, np.flatnonzero(work.alive))
        progress(
            1.0 - state[LIVE] / size,
            f"{write_count(state[LIVE])} classes left of {write_count(size)}",
        )
    progress(1.0, f"{write_count(state[LIVE])} classes left of {write_count(size)}")
    merges = int(state[MERGES])
    return MergePath(
        classes,
        work.parts[:merges].copy(),
        work.smallest[:merges].copy(),
        work.nodes[: size + merges].copy(),
        work.counts[: size + merges].copy(),
        k_max=task.k,
    )


def begin_merging(
    task: Task, classes: EquivalenceClasses, first_below_k: bool = False, any_size: bool = False
) -> tuple[Merging, Rules, StrategyView | None]:
    rules = _build_rules(task, classes, first_below_k, any_size)
    work = _build_merging(classes, rules)
    view = _build_view(task, classes) if LOOKS_AT[task.strategy] else None
    add_first_classes(work, rules, view, _plant_tree(work, rules, np.arange(classes.n_classes)))
    return work, rules, view


def _plant_tree(work: Merging, rules: Rules, living: np.ndarray) -> np.ndarray:
    """Build the prefix tree of live classes; returns them in its order."""
    aside = work.counts[living] >= rules.k if rules.first_below_k else np.zeros(len(living), bool)
    order = np.lexsort((*work.nodes[living][:, rules.order[::-1]].T, aside))
    build_prefix_tree(work, rules, living[order])
    return living[order]


def choose_search_order(
    classes: EquivalenceClasses, potentials: Sequence[np.ndarray]
) -> np.ndarray:
    """The order of the quasi-identifiers in which the search cuts most branches.

    >>> from kanon.hierarchy.build import suppression
    >>> trees = (suppression(["a", "b"]), suppression(["x", "y"]))
    >>> nodes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    >>> classes = EquivalenceClasses(("one", "two"), trees, nodes, np.ones(3, dtype=np.int64))
    >>> choose_search_order(classes, [np.array([1, 1, 0]), np.array([5, 5, 0])]).tolist()
    [1, 0]
    """
    promise = []
    for j, (tree, depth) in enumerate(zip(classes.hierarchies, potentials, strict=True)):
        below = np.bincount(classes.nodes[:, j], minlength=tree.n_nodes) / classes.n_classes
        entropy = -float(below[below > 0] @ np.log(below[below > 0]))
        for node in range(tree.root):  # parents have larger numbers: leaves upwards
            below[tree.parent[node]] += below[node]
        weights = (depth - depth[tree.parent])[: tree.root]
        expected = float(weights @ (below * (1 - below))[: tree.root])
        # A column with one value opens no branch: at the top it is passed once.
        promise.append(expected / entropy if entropy > 0 else np.inf)
    return np.argsort(-np.array(promise), kind="stable").astype(np.int64)


def _build_rules(
    task: Task, classes: EquivalenceClasses, first_below_k: bool, any_size: bool
) -> Rules:
    parents, depths = in_one_width(replace(task, classes=classes))
    nearest = np.full(depths.shape, NONE, dtype=np.int64)
    for row, tree, depth in zip(nearest, classes.hierarchies, depths, strict=True):
        above = tree.parent[: tree.root]
        np.minimum.at(row, above, depth[: tree.root] - depth[above])
    return Rules(
        choose_search_order(classes, task.potentials),
        parents,
        depths,
        nearest,
        k=int(task.k),
        weighted=task.weighted,
        seed=-1 if task.tie_seed is None else int(task.tie_seed),
        first_below_k=first_below_k,
        least=int(classes.counts.min()) if first_below_k or any_size else -1,
        by=_CHOICE_BY_STRATEGY[task.strategy],
        digits=digits_of(task),
    )


def _build_view(task: Task, classes: EquivalenceClasses) -> StrategyView:
    at = _VIEW_OF[LOOKS_AT[task.strategy]]
    whole = task.scope == "table"
    size = classes.n_classes
    if needs_sensitive(task.strategy):
        assert task.sensitive is not None, "checked with the plan"
        sensitive = classes.sensitive_named(task.sensitive)
        histograms = build_histograms(sensitive.folded if at == LOOKS_AT_L else sensitive, 2 * size)
    else:
        histograms = build_empty_histograms(2 * size)
    bucket, shares = _fill_buckets(histograms.total)
    leaves = 1 << max(1, (2 * size - 1).bit_length()) if whole else 0
    by_ties = whole and _CHOICE_BY_STRATEGY[task.strategy] == LEAST_BAD

    return StrategyView(
        at,
        whole,
        histograms,
        bad=np.zeros(2 * size),
        mass=np.zeros(2 * size),
        reach=np.zeros(2 * size),
        mask=_create_places(2 * size),
        bucket=bucket,
        shares=shares,
        groups=_build_empty_groups(size),
        worst=np.full(2 * leaves, -np.inf),
        ends=_create_candidates(3),
        ends_bad=np.zeros(3),
        first=_create_places(2 * size if by_ties else 0),
        near=_create_candidates(2 * size + 2),
        near_value=np.zeros(2 * size + 2),
        marks=np.zeros(len(histograms.total), dtype=np.int64),
        third=_create_candidates(2 * size),
        stamp=np.zeros(2 * size, dtype=np.int64),
        marked=_create_candidates(size),
        state=np.array([len(histograms.value) // 2, 0, 0, 0, 0, 0], dtype=np.int64),
    )


def _build_empty_groups(size: int) -> Groups:
    return Groups(
        of=_create_places(2 * size),
        following=_create_candidates(2 * size),
        previous=_create_places(2 * size),
        head=_create_candidates(2 * size),
        members=_create_places(2 * size),
        slots=np.full(1 << size.bit_length(), -1, dtype=np.int32),
        chain=_create_places(2 * size),
        live=_create_places(size),
        place=_create_places(2 * size),
        sizes=np.zeros(size, dtype=np.int64),
        masses=np.zeros(size),
        reaches=np.zeros(size),
        masks=_create_places(size),
        bounds=np.zeros(size),
        alike=_create_places(size),
        alike_value=np.zeros(size),
        met=np.zeros(2 * size, dtype=np.int64),
        met_bad=np.zeros(2 * size),
    )


def _create_places(size: int) -> np.ndarray:
    return np.zeros(size, dtype=np.int32)


def _create_candidates(size: int) -> np.ndarray:
    """int64, as every candidate of the kernels (see kanon/kernels/merging.py)."""
    return np.zeros(size, dtype=np.int64)


def _fill_buckets(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    bucket = np.zeros(len(total), dtype=np.int32)
    fill = np.zeros(_BUCKETS)
    for value in np.argsort(-total, kind="stable"):
        bucket[value] = int(fill.argmin())
        fill[bucket[value]] += total[value] / total.sum()
    sets = np.arange(1 << _BUCKETS)
    return bucket, ((sets[:, None] >> np.arange(_BUCKETS)) & 1) @ fill


def _build_merging(classes: EquivalenceClasses, rules: Rules) -> Merging:
    size, m = classes.nodes.shape
    seed, values = rules.seed, rules.depths.shape
    nodes = np.zeros((2 * size, m), dtype=np.int32)
    nodes[:size] = classes.nodes
    counts = np.zeros(2 * size, dtype=np.int64)
    counts[:size] = classes.counts
    ranks = np.zeros(2 * size, dtype=np.uint64)
    if seed >= 0:
        ranks[:size] = hash_tuples(classes.nodes, seed)
    entries = size * m + 2  # at most a path per original class, and the two roots
    branches = 1 + sum(tree.n_nodes for tree in classes.hierarchies)
    return Merging(
        nodes,
        counts,
        ranks,
        alive=np.zeros(2 * size, dtype=np.bool_),
        leaf=np.zeros(2 * size, dtype=np.int32),
        heap=np.zeros(2 * size, dtype=np.int32),
        tree=PrefixTree(
            *np.zeros((entries, 4), dtype=np.int32).T, *np.zeros((2, entries), dtype=np.int32)
        ),
        parts=np.zeros((size, 3), dtype=np.int32),
        smallest=np.zeros(size, dtype=np.int64),
        bound=np.zeros(values, dtype=np.int64),
        down=np.zeros(values, dtype=np.int64),
        known=np.zeros(values, dtype=np.int64),
        path=np.zeros((4, max(3, m)), dtype=np.int64),
        branches=np.zeros((4, branches), dtype=np.int64),
        state=np.zeros(5, dtype=np.int64),
    )
