"""Optimal local recoding: a release with the least loss for these hierarchies, for small tables.

A mixed integer program, made small by prices. For every group G a binary y_G says whether it is
used, and for every class c that may go to it a binary x_cG whether it does::

    minimise    sum of n_c (own_c - kept_G) x_cG
    subject to  sum over groups of x_cG = 1        for every class c
                x_cG <= y_G                        for every class c and group G that holds it
                sum over classes of n_c x_cG >= k y_G          for every group G

*Prices leave most of it out.* They prove a lower bound (see :mod:`kanon.algorithms.prices`), and as
much as G is worth less if it has to be used and to take c, the bound of all releases that do so is
higher. Where that reaches the loss of a release that is known, x_cG need not be looked at.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms import lattice_sweep
from kanon.algorithms.algorithm_card import read_algorithm_card, read_parameter
from kanon.algorithms.distinct_groups import DistinctGroups, find_distinct_groups
from kanon.algorithms.lattice_size import compute_nodes_by_level, count_lattice_nodes
from kanon.algorithms.lattice_sweep import by_least_k
from kanon.algorithms.lattice_sweep_better import improve_release, total_loss
from kanon.algorithms.lattice_sweep_walk import compute_place_targets
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.prices import Assignment, Prices, find_good_prices
from kanon.algorithms.repair_release import refuse_models
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.errors import PlanError
from kanon.recoding import Recoding, Trace

SECONDS = read_parameter(__file__, "seconds")
CARD = read_algorithm_card(__file__, (SECONDS,))

MOST_CLASSES, MOST_WORK = 1_000, 50_000_000
"""The most different records, and the most nodes of the lattice times different records."""

MOST_PLACES = 100_000
"""The most places of classes in groups for which the solver is begun: its root takes a minute."""

_OPTIMAL, _INFEASIBLE = 0, 2  # its codes where nothing better is left


def check(task: Task) -> None:
    """Check that k can be reached, that it is the only model, and that the table is small."""
    task.check()
    models = (*task.others, *task.of_release)
    refuse_models(models, "Optimal local recoding", "only counts records")
    size, nodes = task.classes.n_classes, count_lattice_nodes(task.classes.hierarchies)
    if size > MOST_CLASSES or size * nodes > MOST_WORK:
        raise PlanError(
            f"Optimal local recoding is for small tables: at most {write_count(MOST_CLASSES)} "
            f"different records, and at most {write_count(MOST_WORK)} for this number times the "
            f"number of lattice nodes. Here: {write_count(size)} different records, "
            f"{count_noun(nodes, 'node')}. Use 'lattice-sweep' with effort 'closest', or choose "
            "fewer quasi-identifiers."
        )


@dataclass(frozen=True, eq=False)
class Places:
    """Which classes may go to which groups."""

    who: np.ndarray  # the classes, group after group
    group: np.ndarray  # for each the place of its group among those that are left
    groups: np.ndarray  # the groups that are left, as numbers of the problem's


@dataclass(frozen=True, eq=False)
class Solved:
    """What the solver found."""

    into: np.ndarray | None  # per class the group of the problem that it goes to
    bound: float  # what no choice of these places loses less than
    done: bool  # whether nothing better is left to be found


@dataclass(frozen=True, eq=False)
class _Best:
    """The best release so far, what it loses, and what is proved that none loses less than."""

    release: Recoding
    loss: int
    bound: int

    @property
    def gap(self) -> float:
        """At most how many percent more than the least possible loss it loses."""
        if self.bound >= self.loss:
            return 0.0
        return 100 * (self.loss / self.bound - 1) if self.bound > 0 else np.inf


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Find a release with the least loss.

    Among all releases in which every class goes, whole, to one tuple of nodes above its values and
    every tuple gets at least k records. That groups of the lattice suffice is proved in
    :mod:`kanon.algorithms.lower_bound`. The solver counts in floats: a release that loses less by
    no more than a millionth of a percent or so may be missed.

    It never loses more than that of the lattice sweep with effort ``thorough``. ``trace.gap`` says
    at most how many percent more than the least possible it loses: 0 if it is proved to lose the
    least. ``trace.evaluated`` counts the groups, ``trace.steps`` the places of classes in them that
    were left to the solver.

    Records aa, ab twice, ba and bb; to hide the first letter costs 4, the second 3. The two ab
    could stay as they are, but then the others lose 7 each, 21 in all. To hide the first letter of
    aa and ba costs 8, and of ab and bb 12. To hide all second letters costs 15, which is the least.

    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_entries([("*", None, None), ("a", "*", 1), ("b", "*", 1)])
    >>> classes = EquivalenceClasses(
    ...     ("x", "y"), (tree, tree),
    ...     np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32), np.array([1, 2, 1, 1]))
    >>> release = anonymise(Task(classes, (np.array([4, 4, 0]), np.array([3, 3, 0])), k=2))
    >>> [[tree.labels[v] for v in row] for row in release.nodes], release.trace.gap
    ([['a', '*'], ['b', '*']], 0.0)
    """
    check(task)
    task = by_least_k(task)
    first, second, third = 0.1, 0.2, 0.25  # the shares of the time after release, prices, search
    sweep = replace(task, options={"effort": "thorough"})
    start = lattice_sweep.anonymise(sweep, scale_progress(progress, 0, first))
    groups = find_distinct_groups(task)
    prices = find_good_prices(task, groups, scale_progress(progress, first, second))
    bound = prices.bound()
    best = _Best(start, total_loss(task, start), bound)
    end, many = time.monotonic() + float(task.option(SECONDS)), 0
    for part, is_first in ((second, True), (third, False)):
        seconds = (end - time.monotonic()) / (2 if is_first else 1)
        if best.gap == 0 or seconds <= 0:
            break
        # At first up to a multiple of the bound: few groups can be in such releases.
        below = min(int(1.01 * bound), best.loss) if is_first else best.loss
        places = places_below(prices, below)
        many = len(places.who)
        if many > MOST_PLACES:
            break
        progress(
            part,
            f"HiGHS assigns {count_noun(task.classes.n_classes, 'class', 'classes')} to "
            f"{count_noun(len(places.groups), 'group')}, for at most "
            f"{count_noun(round(seconds), 'second')}",
        )
        best = _improve(best, task, groups, least(prices.problem, places, seconds), below)
    return replace(best.release, trace=Trace(evaluated=len(groups.kept), steps=many, gap=best.gap))


def _improve(best: _Best, task: Task, groups: DistinctGroups, result: Solved, below: int) -> _Best:
    release, loss, bound = best.release, best.loss, result.bound
    if result.into is not None:
        candidate = improve_release(_build_release(task, groups, result.into), task)
        candidate_loss = total_loss(task, candidate)
        if result.done:
            bound = candidate_loss
        if candidate_loss < loss and candidate.counts.min() >= task.k:
            release, loss = candidate, candidate_loss
    return _Best(release, loss, max(best.bound, int(min(below, bound))))


def _build_release(task: Task, groups: DistinctGroups, into: np.ndarray) -> Recoding:
    nodes = task.classes.nodes
    raised = [compute_nodes_by_level(tree) for tree in task.classes.hierarchies]
    own = np.zeros(len(nodes), dtype=np.bool_)
    return Recoding.from_targets(
        task.classes, compute_place_targets(nodes, groups.node[into], raised, own)
    )


# --- the program ----------------------------------------------------------------------------
def places_below(prices: Prices, loss: float) -> Places:
    """The places that releases can have that lose less."""
    problem, gain = prices.problem, prices.price * prices.scale - prices.problem.own
    groups, counts = problem.groups, problem.counts
    room = (1 + 1e-9) * loss - prices.bound()  # more, for what rounding does to the bound
    members_left, sizes = [], np.zeros(len(groups.kept), dtype=np.int64)
    for group, potential in enumerate(groups.kept):
        members = groups.members[groups.begin[group] : groups.begin[group + 1]]
        rises = rise_of_bound(gain[members] + potential, counts[members], problem.k)
        possible = members[rises < room]
        if counts[possible].sum() >= problem.k:
            members_left.append(possible)
            sizes[group] = len(possible)
    used_groups = np.flatnonzero(sizes)
    places = np.concatenate([np.zeros(0, dtype=np.int32), *members_left])
    return Places(places, np.repeat(np.arange(len(used_groups)), sizes[used_groups]), used_groups)


def rise_of_bound(brings: np.ndarray, counts: np.ndarray, k: int) -> np.ndarray:
    """By how much the bound rises if a group has to be used and to take one of its classes."""
    whole = (brings * counts).astype(np.float64)
    good = brings > 0
    most_worth, lacking = whole[good].sum(), max(0, k - int(counts[good].sum()))
    others = np.flatnonzero(~good)
    others = others[np.argsort(-brings[others], kind="stable")]
    records = np.concatenate([[0], np.cumsum(counts[others])])
    costs = np.concatenate([[0.0], np.cumsum(-whole[others])])
    worth = most_worth - np.interp(lacking, records, costs)
    with_it = np.full(len(brings), worth)
    dear = others[records[1:] > lacking]  # the cheaper ones are taken anyway
    with_it[dear] = (
        most_worth + whole[dear] - np.interp(np.maximum(lacking - counts[dear], 0), records, costs)
    )
    return max(worth, 0.0) - np.minimum(with_it, worth)


def least(problem: Assignment, places: Places, seconds: float) -> Solved:
    """Solve the program for some places with HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    counts, members, group = problem.counts, places.who, places.group
    size, many, few = len(counts), len(members), len(places.groups)
    if len(np.unique(members)) < size:
        return Solved(None, np.inf, done=True)
    record_losses = problem.own[members] - problem.groups.kept[places.groups][group]
    losses = (counts[members] * record_losses).astype(np.float64)
    unit = max(losses.max(), 1.0) / 1e4  # as the solver counts: it ends at a gap of a millionth
    x, y, ones = np.arange(many), many + np.arange(few), np.ones(many)
    rows = np.concatenate(
        [members, size + x, size + x, size + many + group, size + many + y - many]
    )
    columns = np.concatenate([x, x, many + group, x, y])
    values = np.concatenate([ones, -ones, ones, counts[members], np.full(few, -problem.k)])
    matrix = csr_array((values, (rows, columns)), shape=(size + many + few, many + few))
    result = milp(
        np.concatenate([losses / unit, np.zeros(few)]),
        integrality=np.ones(many + few),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(
            matrix,
            np.repeat([1.0, 0.0], [size, many + few]),
            np.repeat([1.0, np.inf], [size, many + few]),
        ),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    group_of = None
    if result.x is not None:
        is_chosen = result.x[:many] > 0.5
        group_of = np.empty(size, dtype=np.int64)
        group_of[members[is_chosen]] = places.groups[group[is_chosen]]
    bound = np.inf if result.status == _INFEASIBLE else (result.mip_dual_bound or 0.0) * unit
    return Solved(group_of, bound, result.status in (_OPTIMAL, _INFEASIBLE))
