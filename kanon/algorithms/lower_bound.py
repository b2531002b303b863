"""A loss that no release with these hierarchies can go below, for a table, its costs and k.

One level per quasi-identifier makes a node of the lattice; g raises a value v to its highest
ancestor-or-self of at most that level. A *group* is what a node makes alike, of k records at least.

*Every release consists of groups.* Take any release in which every record is raised to a tuple t of
nodes above its values, at least k records to each t. Choose the node of the lattice with the levels
of t: l_j = level(t_j). Levels rise strictly along a path, so for every value v at or below t_j the
highest ancestor of level at most l_j is t_j itself: g(v) = t_j. So all records that the release
raised to t are in one group at that node, which is raised to t too; it has at least k records, and
costs each of them what the release costs it. Classes may stand at different nodes, and records of
one tuple may be parted.

So the least loss of any group that holds a record is a bound for that record, and the sum over all
records one for the table: it is found quickly, and far from the truth, as the best groups of two
records mostly exclude each other. Prices prove a higher one: see :mod:`kanon.algorithms.prices`.

A record that is suppressed loses as much as one whose every value is raised to the root. Releases
that suppress records have a bound of their own: without a record that is like no other, the rest
may lose much less. Further models, and a k that counts persons, only leave fewer releases.
"""

from dataclasses import dataclass, replace

from kanon.algorithms.distinct_groups import GroupFinder, can_find_groups
from kanon.algorithms.lattice_size import check_size
from kanon.algorithms.prices import find_good_prices
from kanon.algorithms.task import Task, own_potentials
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import Unsatisfiable
from kanon.measures.cells import compute_percent
from kanon.privacy.k_anonymity import KAnonymity, too_few_records


@dataclass(frozen=True)
class LowerBound:
    """A loss that no release can go below, in units of the task's potentials over all cells."""

    loss: int  # of a release that shows every record
    suppressing: int  # of one that may suppress records
    possible: int  # of one that shows nothing
    closely: bool  # whether prices were sought; otherwise only a much lower bound is known

    def percent(self, suppressing: bool = False) -> float:
        """In percent of all that could be lost, as the alteration by that metric is."""
        return compute_percent(
            float(self.suppressing if suppressing else self.loss), float(self.possible)
        )


def lower_bound(
    task: Task, progress: Progress = ignore_progress, closely: bool = True
) -> LowerBound:
    """A loss that no release can go below, whatever the algorithm.

    At least 0: some release might leave everything as it is. At most the loss of any release.

    Parameters
    ----------
    closely
        Whether prices are to be sought: that takes much longer, and finds a higher bound. They are
        not if that would take hours; the result says so.

    Raises
    ------
    Unsatisfiable
        The table has fewer than k records.
    PlanError
        The lattice is too large.

    Examples
    --------
    Of the records aa, ab and ba each could lose one of its two values, in a pair with another: so
    no release loses less than half of all. But aa cannot be in both pairs, and prices prove up to
    two thirds. In the only release there is all three are alike.

    >>> import numpy as np
    >>> from kanon.classes import EquivalenceClasses
    >>> from kanon.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_entries([("*", None, None), ("a", "*", 1), ("b", "*", 1)])
    >>> classes = EquivalenceClasses(
    ...     ("x", "y"), (tree, tree),
    ...     np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32), np.array([1, 1, 1]))
    >>> task = Task(classes, (np.array([9000, 9000, 0]),) * 2, k=2)
    >>> lower_bound(task, closely=False).percent(), 65 < lower_bound(task).percent() < 67
    (50.0, True)
    """
    k = least_k(task)
    if k > task.classes.n_records:
        raise Unsatisfiable(too_few_records(k, task.classes.n_records))
    check_size(task.classes.hierarchies, "the lower bound")
    task = replace(task, k=k)
    counts, own = task.classes.counts, own_potentials(task)
    possible = int(counts @ own)
    if not closely or not can_find_groups(task.classes):
        quick = int(counts @ GroupFinder(task).find_least_losses(own, progress))
        return LowerBound(quick, quick, possible, closely=False)
    prices = find_good_prices(task, progress=progress)
    quick = int(counts @ prices.least_losses)
    loss, suppressing = (max(quick, prices.bound(suppressing)) for suppressing in (False, True))
    return LowerBound(loss, suppressing, possible, closely=True)


def least_k(task: Task) -> int:
    """The records that every class has to hold: ``task.k``, or more if a model says so."""
    return max([task.k, *(model.k for model in task.models if isinstance(model, KAnonymity))])
