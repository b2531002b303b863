"""A loss that no release by the hierarchies can go below, for a table, its costs and k."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon.algorithms.lattice_size import check_size
from kanon.algorithms.lattice_sweep_order import least_loss
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, no_progress
from kanon.errors import Unsatisfiable
from kanon.measures.cells import share
from kanon.privacy.k_anonymity import KAnonymity, too_few_records


@dataclass(frozen=True)
class LowerBound:
    """A loss that no release can go below.

    Attributes
    ----------
    loss
        In units of the task's potentials, summed over all cells.
    possible
        The loss of a release that shows nothing, in the same units.
    """

    loss: int
    possible: int

    @property
    def percent(self) -> float:
        """The loss in percent of all that could be lost, as the alteration by that metric is."""
        return share(float(self.loss), float(self.possible))


def lower_bound(task: Task, progress: Progress = no_progress, closely: bool = True) -> LowerBound:
    """A loss that no release can go below: of no algorithm, with records suppressed or not.

    Parameters
    ----------
    closely
        Whether prices are sought, which takes much longer and finds a higher bound.

    Raises
    ------
    Unsatisfiable
        The table has fewer than k records.
    PlanError
        The lattice is too large.
    """
    wanted = least_k(task)
    if wanted > task.classes.n_records:
        raise Unsatisfiable(too_few_records(wanted, task.classes.n_records))
    check_size(task.classes.hierarchies, "the lower bound")
    tuples, counts = task.classes.nodes, task.classes.counts
    possible = sum(int(depth[tuples[:, j]] @ counts) for j, depth in enumerate(task.potentials))
    return LowerBound(least_loss(replace(task, k=wanted), progress), possible)


def least_k(task: Task) -> int:
    """The records that every class has to hold: ``task.k``, or more if a model says so."""
    return max([task.k, *(model.k for model in task.models if isinstance(model, KAnonymity))])
