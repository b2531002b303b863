"""The lattice sweep where the lattice is too large to walk, against slow versions, and its laws."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from benchmarks.plans import adult_task, voters
from kanon.algorithms import lattice_candidates, lattice_sweep
from kanon.algorithms.lattice_candidates import WideLattice, form_clusters, walk_candidates
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lattice_sweep_wide import EFFORTS, sweep_wide_lattice
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from support import model_tables
from support.random_tables import PlainTree, Problem, algorithms, examples
from support.reference_tables import cases, chosen_task, result


def sweep(task: Task, effort: str = "fast"):
    return sweep_wide_lattice(lattice_sweep.by_least_k(task), EFFORTS[effort], ignore_progress)


def meet(task: Task, members: list[int]) -> list[int]:
    """The lowest common ancestors of some classes."""
    nodes = task.classes.nodes
    return [
        reduce(tree.lca, (int(nodes[c, j]) for c in members))
        for j, tree in enumerate(task.classes.hierarchies)
    ]


def cost_of_meeting(task: Task, members: list[int]) -> int:
    """What the first of some classes loses where all of them meet."""
    own = task.classes.nodes[members[0]]
    return sum(
        int(depth[low] - depth[high])
        for depth, low, high in zip(task.potentials, own, meet(task, members), strict=True)
    )


def slow_clusters(task: Task, k: int) -> list[list[int]]:
    """Clusters as :func:`form_clusters` forms them of a table that is one part."""
    counts = task.classes.counts
    everything = range(len(counts))
    costs = [sorted(cost_of_meeting(task, [c, x]) for x in everything) for c in everything]
    seeds = sorted(everything, key=lambda c: (costs[c][:3][-1], c))
    waiting, clusters = list(seeds), []

    def take(c: int) -> None:
        place = waiting.index(c)
        waiting[place] = waiting[-1]
        waiting.pop()

    for seed in seeds:
        if seed not in waiting or sum(counts[c] for c in waiting) < k:
            continue
        take(seed)
        cluster = [seed]
        near = sorted(waiting, key=lambda c: cost_of_meeting(task, [seed, c]))[: 2 * k + 10]
        while sum(counts[c] for c in cluster) < k:
            best = min(near, key=lambda c: cost_of_meeting(task, [*cluster, c]))
            near.remove(best)
            take(best)
            cluster.append(best)
        clusters.append(cluster)
    return clusters


def slow_walk(task: Task, levels: list[tuple[int, ...]], k: int) -> list[set[int]]:
    """The groups that are released along some nodes, in this order."""
    classes = task.classes
    raised = WideLattice(task).raised
    left, released = set(range(classes.n_classes)), []
    for node in levels:
        groups: dict[tuple, set[int]] = {}
        for c in sorted(left):
            low = classes.nodes[c]
            seen = tuple(int(raised[j][level, low[j]]) for j, level in enumerate(node))
            groups.setdefault(seen, set()).add(c)
        for group in groups.values():
            if classes.counts[list(group)].sum() >= k:
                released.append(group)
                left -= group
    return released


def sets_of(group_of: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(group_of == g).tolist()) for g in range(group_of.max() + 1)]


@pytest.mark.nightly
@examples(40)
@given(cases(max_records=24), st.data())
def test_clusters_equal_those_of_the_slow_version(case, data):
    problem, chosen = case
    k = data.draw(st.integers(1, len(problem.rows)))
    task = chosen_task(problem, chosen, k)
    wide = WideLattice(task)
    found = form_clusters(wide, np.arange(task.classes.n_classes), wide.measure_distances(), k, 1e9)
    expected = slow_clusters(task, k)
    assert sets_of(found) == [set(cluster) for cluster in expected]
    targets = wide.find_targets(found).tolist()
    assert all(targets[c] == meet(task, cluster) for cluster in expected for c in cluster)


@pytest.mark.nightly
@examples(40)
@given(cases(max_records=24), st.data())
def test_the_walk_equals_the_slow_version(case, data):
    problem, chosen = case
    k = data.draw(st.integers(1, len(problem.rows)))
    task = chosen_task(problem, chosen, k)
    wide = WideLattice(task)
    tops = [len(rows) - 1 for rows in wide.raised]
    node = st.tuples(*(st.integers(0, top) for top in tops))
    levels = np.array(sorted(data.draw(st.sets(node, min_size=1, max_size=12))))
    found = walk_candidates(wide, levels)
    expected = slow_walk(task, wide.sort_by_loss(levels).tolist(), k)
    assert sets_of(found.group_of) == expected if expected else (found.group_of < 0).all()
    assert found.released == len(expected)
    targets = wide.find_targets(found.group_of)
    for group in expected:
        for c in group:
            assert targets[c].tolist() == meet(task, sorted(group))


@examples(25)
@given(cases(max_records=30), st.sampled_from(sorted(EFFORTS)), st.data())
def test_every_class_holds_k_records_and_values_only_move_up(case, effort, data):
    problem, chosen = case
    task = chosen_task(problem, chosen, data.draw(st.integers(1, len(problem.rows))))
    before = task.classes.nodes.copy(), task.classes.counts.copy()
    found = sweep(task, effort)
    assert found.counts.min() >= task.k
    assert found.suppressed_records == 0
    for low, high in zip(task.classes.nodes.tolist(), found.targets.tolist(), strict=True):
        for tree, v, w in zip(task.classes.hierarchies, low, high, strict=True):
            assert v == w or tree.is_ancestor(w, v)
    assert all(map(np.array_equal, before, (task.classes.nodes, task.classes.counts)))
    assert np.array_equal(found.targets, sweep(task, effort).targets)
    fast = total_loss(task, sweep(task))
    if effort != "fast":
        event("loses less" if total_loss(task, found) < fast else "loses the same")
        assert total_loss(task, found) <= fast * 1.5


@examples(15)
@given(model_tables.tables(max_records=16), model_tables.models(), st.data())
def test_other_models_hold(table, wanted, data):
    problem, columns = table
    if model_tables.breaks(columns, wanted, range(len(problem.rows))):
        return
    guide = {**data.draw(algorithms(problem, ["custom"])), **model_tables.BY_COST}
    source = model_tables.source_of(problem, columns)
    released = source.release(sweep(model_tables.task_of(source, guide, wanted)))
    assert model_tables.released_breaks(released, problem.columns, wanted) == []


def test_worked_by_hand():
    """Nine columns of four values that only meet at the root: every raised column costs 1.

    Records 0 and 1 differ in one column, 2 and 3 in two others; all others differ in all columns.
    For k = 2 the pairs are near: their nodes raise one column and two, 6 in all, where a walk
    through all 512 nodes comes to the same.
    """
    tree = PlainTree({"*": None, **dict.fromkeys("abcd", "*")}, dict.fromkeys("abcd", 1))
    rows = ["aaaaaaaaa", "aaaaaaaab", "bbbbbbbbb", "ccbbbbbbb"]
    problem = Problem((tree,) * 9, tuple(map(tuple, rows)))
    task = chosen_task(problem, {"metric": "custom", "cost": "weighted", "tie_seed": None}, 2)
    found = sweep(task)
    shown = {"".join(low): "".join(high) for low, high in result(problem, found).items()}
    assert shown == {
        "aaaaaaaaa": "aaaaaaaa*", "aaaaaaaab": "aaaaaaaa*",
        "bbbbbbbbb": "**bbbbbbb", "ccbbbbbbb": "**bbbbbbb",
    }  # fmt: skip
    assert np.array_equal(found.targets, lattice_sweep.anonymise(task).targets)


def table_of_many_columns(seed: int, size: int, m: int) -> Problem:
    """Records near one of a few patterns; the lattice has 3 to the number of columns nodes."""
    draw = np.random.default_rng(seed)
    leaves = [f"v{i}" for i in range(9)]
    tree = PlainTree({"*": None, **{f"g{i}": "*" for i in range(3)},
                      **{leaf: f"g{i // 3}" for i, leaf in enumerate(leaves)}})  # fmt: skip
    patterns = draw.integers(0, 9, (12, m))
    codes = patterns[draw.integers(0, 12, size)]
    codes = np.where(draw.random((size, m)) < 0.15, draw.integers(0, 9, (size, m)), codes)
    return Problem((tree,) * m, tuple(tuple(leaves[v] for v in row) for row in codes.tolist()))


def test_lattices_without_limit_are_swept():
    """3 ** 45 nodes: more than a number of 64 bits counts."""
    task = chosen_task(table_of_many_columns(1, 300, 45), {"metric": "ncp"}, 5)
    told = []
    found = lattice_sweep.anonymise(task, lambda part, text: told.append(part))
    thorough = lattice_sweep.anonymise(replace(task, options={"effort": "thorough"}))
    assert found.counts.min() >= 5 <= thorough.counts.min()
    assert total_loss(task, thorough) <= total_loss(task, found)
    assert told == sorted(told) and told[-1] <= 1

    def cancel(part: float, text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lattice_sweep.anonymise(task, cancel)


def test_parts_and_few_visits_still_release_everything(monkeypatch):
    """Where a table is large, clusters are formed in parts, and some nodes are left out."""
    task = lattice_sweep.by_least_k(
        chosen_task(table_of_many_columns(2, 400, 15), {"metric": "ncp"}, 3)
    )
    few = replace(EFFORTS["fast"], pairs=1, visits=4 * task.classes.n_classes)
    monkeypatch.setattr(lattice_candidates, "_CHUNK", 1)
    found = sweep_wide_lattice(task, few, ignore_progress)
    assert found.trace.evaluated <= 5
    assert found.counts.min() >= 3
    assert found.suppressed_records == 0


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [5, 100])
def test_the_nodes_of_clusters_lose_as_little_as_all_nodes(k):
    task = replace(voters("ncp", k).task(), models=())
    assert total_loss(task, sweep(task)) <= 1.01 * total_loss(task, lattice_sweep.anonymise(task))


@pytest.mark.adult
@pytest.mark.nightly
@pytest.mark.usefixtures("adult_path")
@pytest.mark.parametrize("k", [2, 5, 100])
def test_the_nodes_of_clusters_lose_as_little_as_all_nodes_of_adult(k):
    task = replace(adult_task("general-loss"), k=k)
    assert total_loss(task, sweep(task)) <= 1.01 * total_loss(task, lattice_sweep.anonymise(task))
