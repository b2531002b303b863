"""The lattice sweep: visit all nodes, release groups that reach k, go on with the rest.

The efforts ``thorough`` and ``closest`` go on from there.
"""

from dataclasses import replace

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card, read_parameter
from kanon.algorithms.distinct_groups import MOST_WORK, can_find_groups
from kanon.algorithms.lattice_size import MOST_NODES, can_search_lattice, count_lattice_nodes
from kanon.algorithms.lattice_sweep_better import improve_release, total_loss
from kanon.algorithms.lattice_sweep_order import sweep_by_groups
from kanon.algorithms.lattice_sweep_rest import with_the_rest
from kanon.algorithms.lattice_sweep_walk import (
    SweepState,
    build_lattice_arrays,
    compute_place_targets,
    walk_lattice,
)
from kanon.algorithms.lattice_sweep_wide import EFFORTS, sweep_wide_lattice
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.lower_bound import least_k
from kanon.algorithms.prices import Prices, find_good_prices
from kanon.algorithms.repair_release import repair_release
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.errors import PlanError
from kanon.kernels.prices import find_best_groups, open_groups
from kanon.recoding import Recoding, Trace

EFFORT = read_parameter(__file__, "effort")
CARD = read_algorithm_card(__file__, (EFFORT,))

_WALK_SHARE = 0.95  # the share of the time of a fast run after the walk

_THOROUGH_SHARE = 0.1  # the share of the time of effort closest that passes with what thorough does


def check(task: Task) -> None:
    """Check that some release can meet the models, and the effort can: 'fast' alone meets others.

    A table may be too large for the effort 'closest'.
    """
    task.check()
    effort = task.option(EFFORT)
    if effort != "fast" and task.others:
        raise PlanError(
            f"With effort '{effort}', the lattice sweep looks only at numbers of records when it "
            f"moves them between classes, so it cannot meet {task.others[0].title}; use effort "
            "'fast', which checks every model before it releases a class."
        )
    if effort == "closest" and not (is_wide(task) or can_find_groups(task.classes)):
        raise PlanError(
            f"Effort 'closest' is for at most {write_count(MOST_WORK)} lattice nodes times "
            f"different records, or for more than {write_count(MOST_NODES)} nodes. Here: "
            f"{count_noun(count_lattice_nodes(task.classes.hierarchies), 'node')}, "
            f"{write_count(task.classes.n_classes)} different records. Use effort 'thorough'."
        )


def is_wide(task: Task) -> bool:
    """Whether the lattice is too large to visit all nodes."""
    return not can_search_lattice(task.classes.hierarchies)


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Sweep the lattice.

    The nodes are visited by the loss of raising the whole table to them (ties: the canonical order
    of levels). At each, every group of the remaining records that reaches k and meets every other
    model is released. Each class left at the end joins, in canonical order, the released class
    that is cheapest to widen and still meets every model; if there is none, it is merged as in
    greedy merging. Models of the whole release are met by merging on.

    With effort ``thorough``, a second sweep releases single groups by their mean loss, the cheapest
    first. The better release is improved: classes are dissolved into others, or merged with their
    nearest ones and split again, where that costs less. With effort ``closest``, :func:`closest`
    goes on from there. Nothing is random. A lattice of more than :data:`MOST_NODES` nodes is swept
    along some of them: see :func:`sweep_wide_lattice`.

    Four women and four men: at level (0, 1) the four male felids are four, at (0, 2) the women.

    >>> import numpy as np
    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy import Hierarchy
    >>> from kanon.metrics import exact_potentials, metric_named
    >>> from kanon.hierarchy.scaled_potentials import scale_potentials
    >>> gender = Hierarchy.from_entries([("*", None, None), ("F", "*", 5), ("M", "*", 5)])
    >>> race = Hierarchy.from_entries([
    ...     ("Mammal", None, None), ("Felid", "Mammal", 3), ("Cat", "Felid", 1),
    ...     ("Lion", "Felid", 1), ("Dog", "Mammal", 4)])
    >>> trees = (gender, race)
    >>> classes = EquivalenceClasses(("gender", "race"), trees,
    ...     np.array([[0, 1], [0, 2], [1, 0], [1, 1]], dtype=np.int32), np.array([2, 2, 2, 2]))
    >>> depths = scale_potentials(exact_potentials(metric_named("custom"), trees), 8)
    >>> release = anonymise(Task(classes, depths, k=4))
    >>> [[tree.labels[v] for tree, v in zip(trees, row)] for row in release.nodes]
    [['F', 'Mammal'], ['M', 'Felid']]
    >>> release.trace.evaluated, release.trace.steps
    (3, 2)
    """
    check(task)
    return repair_release(_sweep(by_least_k(task), progress), task, progress)


def _sweep(task: Task, progress: Progress) -> Recoding:
    if is_wide(task):
        return sweep_wide_lattice(task, EFFORTS[task.option(EFFORT)], progress)
    if task.option(EFFORT) == "fast":
        sweep = walk_lattice(task, scale_progress(progress, 0, _WALK_SHARE))
        return finished(task, sweep, scale_progress(progress, _WALK_SHARE, 1))
    if task.option(EFFORT) == "thorough":
        return _run_thorough(task, progress)
    thorough = _run_thorough(task, scale_progress(progress, 0, _THOROUGH_SHARE))
    return closest(task, thorough, scale_progress(progress, _THOROUGH_SHARE, 1))


def _run_thorough(task: Task, progress: Progress) -> Recoding:
    first, second = 0.05, 0.5  # the shares of the time after the walk, and after the other sweep
    walk = finished(task, walk_lattice(task, scale_progress(progress, 0, first)))
    order = finished(task, sweep_by_groups(task, scale_progress(progress, first, second)))
    best = min(walk, order, key=lambda recoding: total_loss(task, recoding))
    n_grouped = walk.trace.evaluated + order.trace.evaluated
    best = replace(best, trace=replace(best.trace, evaluated=n_grouped))
    return improve_release(best, task, scale_progress(progress, second, 1))


def by_least_k(task: Task) -> Task:
    """The task with the k that every class has to reach: its own, or more if a model says so."""
    return replace(task, k=least_k(task))


def finished(task: Task, sweep: SweepState, progress: Progress = ignore_progress) -> Recoding:
    """The release after a sweep, with what it left over."""
    trace = Trace(evaluated=sweep.visited, steps=sweep.released)
    return with_the_rest(task, sweep.targets, sweep.at < 0, trace, progress)


# --- the effort closest ---------------------------------------------------------------------
_NEAR = 0.3
"""Groups still worth nothing if every price rises by this share of their mean are left out."""

_MOST_MEMBERS = 8_000_000  # the classes that these groups have together, at most

_OPEN_SHARE = 0.05  # the share of the groups still to be opened that are opened at once

_SLACK = 0.2
"""How far below nothing a group may be worth that is opened, as a share of the mean price."""

_LOOKS = 3  # how often prices are raised between two openings

_LEAST_USE = 0.05  # groups that were in use less than this are not opened


def closest(task: Task, start: Recoding, progress: Progress = ignore_progress) -> Recoding:
    """A release from prices, or the start if that loses no more: the surest groups first."""
    second, third = 0.5, 0.95  # the shares of the time after prices, opening
    prices = find_good_prices(task, progress=scale_progress(progress, 0, second))
    near = prices.select_near_groups(_NEAR * prices.mean, _MOST_MEMBERS)
    group_of = _open_groups(near, scale_progress(progress, second, third))
    if (group_of < 0).all():  # at prices at which nothing is to gain
        return start
    at = np.where(group_of >= 0, near.problem.groups.node[group_of], -1)
    _, raised_nodes = build_lattice_arrays(task.classes)
    targets = compute_place_targets(task.classes.nodes, at, raised_nodes, at < 0)
    trace = Trace(evaluated=start.trace.evaluated, steps=len(np.unique(group_of[group_of >= 0])))
    release = with_the_rest(task, targets, at < 0, trace)
    better = improve_release(release, task, scale_progress(progress, third, 1))
    return min(start, better, key=lambda recoding: total_loss(task, recoding))


def _open_groups(prices: Prices, progress: Progress) -> np.ndarray:
    """Per class the group that it goes to, -1 for none. Shape (E,)."""
    problem, slack, size = prices.problem, _SLACK * prices.mean, len(prices.price)
    groups, potentials, n = problem.groups, problem.groups.kept.copy(), problem.counts.sum()
    group_of, best = np.full(size, -1), np.full(size, -1)
    members, values = np.zeros(size, dtype=np.int32), np.zeros(size)
    while True:
        surest = np.argsort(-prices.used, kind="stable")
        surest = surest[: int(np.ceil(_OPEN_SHARE * prices.used.sum(dtype=np.float64)))]
        order = surest[prices.used[surest] > _LEAST_USE]
        if len(order) == 0:
            return np.where(group_of < 0, best, group_of)
        is_open = np.zeros(len(order), dtype=np.bool_)
        open_groups(
            order, groups.begin, groups.members, potentials / prices.scale, problem.counts,
            prices.price - problem.own / prices.scale, problem.k, slack, members, values, group_of,
            is_open,
        )  # fmt: skip
        potentials[order] = -problem.highest.max()  # nothing brings that much: it is not used again
        find_best_groups(order[is_open], groups.begin, groups.members, groups.kept, best)
        waiting = np.where(group_of < 0, problem.counts, 0)
        highest = np.where(best < 0, problem.highest, problem.own - groups.kept[best])
        progress(
            1 - waiting.sum() / n, f"{count_noun(int(waiting.sum()), 'record')} in no group yet"
        )
        prices.used[order] = 0
        prices = prices.copy_for_rest(waiting, highest, potentials)
        for _ in range(_LOOKS):  # all groups are looked at before the next are opened
            prices.raise_prices()
