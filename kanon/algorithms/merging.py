"""Greedy merging on the compiled kernel, shared by GAA and its variant."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon.algorithms.task import Task, digits_of, in_one_width
from kanon.base.formatting import thin
from kanon.base.progress import Progress, no_progress
from kanon.classes import EquivalenceClasses
from kanon.kernels.hashing import tuple_hashes
from kanon.kernels.merging import let_live_first, merge_some
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
from kanon.kernels.prefix_tree import plant
from kanon.measures.histograms import empty_histograms, histograms_of
from kanon.recoding import MergePath
from kanon.strategies import LOOKS_AT, needs_sensitive

_CHUNK = 256  # merges between two reports of progress

_BUCKETS = 12
"""As many sensitive values are told apart by the fastest bound; more of them share buckets."""

_BY = {
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

_AT = {"l": LOOKS_AT_L, "t": LOOKS_AT_T, "k": LOOKS_AT_K}


def merge_greedily(
    task: Task, first_below_k: bool = False, progress: Progress = no_progress
) -> MergePath:
    task.check()
    classes = task.classes
    size = classes.n_classes
    work, rules, looking = begin(task, classes, first_below_k)
    state, done = work.state, False
    planted = size
    while not done:
        done = merge_some(work, rules, looking, _CHUNK)
        if 2 * state[LIVE] < planted:  # made anew, so that siblings are neighbours in memory again
            planted = state[LIVE]
            _planted(work, rules, np.flatnonzero(work.alive))
        progress(1.0 - state[LIVE] / size, f"{thin(state[LIVE])} classes left of {thin(size)}")
    progress(1.0, f"{thin(state[LIVE])} classes left of {thin(size)}")
    merges = int(state[MERGES])
    return MergePath(
        classes,
        work.parts[:merges].copy(),
        work.smallest[:merges].copy(),
        work.nodes[: size + merges].copy(),
        work.counts[: size + merges].copy(),
        k_max=task.k,
    )


def begin(
    task: Task, classes: EquivalenceClasses, first_below_k: bool = False, any_size: bool = False
) -> tuple[Merging, Rules, StrategyView | None]:
    rules = _rules(task, classes, first_below_k, any_size)
    work = _begun(classes, rules)
    looking = _looking(task, classes) if LOOKS_AT[task.strategy] else None
    let_live_first(work, rules, looking, _planted(work, rules, np.arange(classes.n_classes)))
    return work, rules, looking


def _planted(work: Merging, rules: Rules, living: np.ndarray) -> np.ndarray:
    """Make the prefix tree anew, of the classes that live. Returns them as they stand there."""
    aside = work.counts[living] >= rules.k if rules.first_below_k else np.zeros(len(living), bool)
    order = np.lexsort((*work.nodes[living][:, rules.order[::-1]].T, aside))
    plant(work, rules, living[order])
    return living[order]


def search_order(classes: EquivalenceClasses, potentials: Sequence[np.ndarray]) -> np.ndarray:
    """The order of the quasi-identifiers in which the search cuts most branches.

    >>> from kanon.hierarchy.build import suppression
    >>> trees = (suppression(["a", "b"]), suppression(["x", "y"]))
    >>> nodes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    >>> classes = EquivalenceClasses(("one", "two"), trees, nodes, np.ones(3, dtype=np.int64))
    >>> search_order(classes, [np.array([1, 1, 0]), np.array([5, 5, 0])]).tolist()
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


def _rules(task: Task, classes: EquivalenceClasses, first_below_k: bool, any_size: bool) -> Rules:
    parents, depths = in_one_width(replace(task, classes=classes))
    nearest = np.full(depths.shape, NONE, dtype=np.int64)
    for row, tree, depth in zip(nearest, classes.hierarchies, depths, strict=True):
        above = tree.parent[: tree.root]
        np.minimum.at(row, above, depth[: tree.root] - depth[above])
    return Rules(
        search_order(classes, task.potentials),
        parents,
        depths,
        nearest,
        k=int(task.k),
        weighted=task.weighted,
        seed=-1 if task.tie_seed is None else int(task.tie_seed),
        first_below_k=first_below_k,
        least=int(classes.counts.min()) if first_below_k or any_size else -1,
        by=_BY[task.strategy],
        digits=digits_of(task),
    )


def _looking(task: Task, classes: EquivalenceClasses) -> StrategyView:
    at = _AT[LOOKS_AT[task.strategy]]
    whole = task.scope == "table"
    seen = classes.n_classes
    if needs_sensitive(task.strategy):
        assert task.sensitive is not None, "checked with the plan"
        sensitive = classes.sensitive_named(task.sensitive)
        histograms = histograms_of(sensitive.folded if at == LOOKS_AT_L else sensitive, 2 * seen)
    else:
        histograms = empty_histograms(2 * seen)
    bucket, shares = _buckets(histograms.total)
    leaves = 1 << max(1, (2 * seen - 1).bit_length()) if whole else 0
    by_ties = whole and _BY[task.strategy] == LEAST_BAD

    return StrategyView(
        at,
        whole,
        histograms,
        bad=np.zeros(2 * seen),
        mass=np.zeros(2 * seen),
        reach=np.zeros(2 * seen),
        mask=_places(2 * seen),
        bucket=bucket,
        shares=shares,
        groups=_no_groups(seen),
        worst=np.full(2 * leaves, -np.inf),
        ends=_candidates(3),
        ends_bad=np.zeros(3),
        first=_places(2 * seen if by_ties else 0),
        near=_candidates(2 * seen + 2),
        near_value=np.zeros(2 * seen + 2),
        marks=np.zeros(len(histograms.total), dtype=np.int64),
        third=_candidates(2 * seen),
        stamp=np.zeros(2 * seen, dtype=np.int64),
        marked=_candidates(seen),
        state=np.array([len(histograms.value) // 2, 0, 0, 0, 0, 0], dtype=np.int64),
    )


def _no_groups(seen: int) -> Groups:
    return Groups(
        of=_places(2 * seen),
        following=_candidates(2 * seen),
        previous=_places(2 * seen),
        head=_candidates(2 * seen),
        members=_places(2 * seen),
        slots=np.full(1 << seen.bit_length(), -1, dtype=np.int32),
        chain=_places(2 * seen),
        live=_places(seen),
        place=_places(2 * seen),
        sizes=np.zeros(seen, dtype=np.int64),
        masses=np.zeros(seen),
        reaches=np.zeros(seen),
        masks=_places(seen),
        bounds=np.zeros(seen),
        alike=_places(seen),
        alike_value=np.zeros(seen),
        met=np.zeros(2 * seen, dtype=np.int64),
        met_bad=np.zeros(2 * seen),
    )


def _places(size: int) -> np.ndarray:
    return np.zeros(size, dtype=np.int32)


def _candidates(size: int) -> np.ndarray:
    """Room for classes that functions are called with: of one type (kanon/kernels/merging.py)."""
    return np.zeros(size, dtype=np.int64)


def _buckets(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    bucket = np.zeros(len(total), dtype=np.int32)
    filled = np.zeros(_BUCKETS)
    for value in np.argsort(-total, kind="stable"):
        bucket[value] = int(filled.argmin())
        filled[bucket[value]] += total[value] / total.sum()
    sets = np.arange(1 << _BUCKETS)
    return bucket, ((sets[:, None] >> np.arange(_BUCKETS)) & 1) @ filled


def _begun(classes: EquivalenceClasses, rules: Rules) -> Merging:
    size, m = classes.nodes.shape
    seed, values = rules.seed, rules.depths.shape
    nodes = np.zeros((2 * size, m), dtype=np.int32)
    nodes[:size] = classes.nodes
    counts = np.zeros(2 * size, dtype=np.int64)
    counts[:size] = classes.counts
    ranks = np.zeros(2 * size, dtype=np.uint64)
    if seed >= 0:
        ranks[:size] = tuple_hashes(classes.nodes, seed)
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
