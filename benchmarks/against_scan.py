"""The prefix tree against the plain scan, which has to take the same merges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.case import CaseError
from benchmarks.markdown import spread
from benchmarks.reference import scan
from benchmarks.timing import Timed, alternately
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.task import Task
from kanon.recoding import MergePath

__all__ = ["HEADER", "Against", "against_scan", "check_same"]

HEADER = ("prefix tree, s", "plain scan, s", "ratio", "of medians")
"""The columns of :meth:`Against.cells`."""


@dataclass(frozen=True)
class Against:
    """How long both took for one task.

    Attributes
    ----------
    tree, scan
        The seconds of the prefix tree and of the plain scan.
    merges
        How many merges both took, the same ones.
    """

    tree: Timed
    scan: Timed
    merges: int

    @property
    def ratio(self) -> float:
        """How many times faster the tree is, best against best."""
        return self.scan.best / self.tree.best

    @property
    def cells(self) -> list[str]:
        """The seconds of both, and the ratio of the best and of the median ones."""
        medians = self.scan.median / self.tree.median
        return [spread(self.tree), spread(self.scan), f"{self.ratio:.1f}", f"{medians:.1f}"]


def against_scan(task: Task, first_below_k: bool = False, repetitions: int = 5) -> Against:
    """Time both on a task, alternately, and check that they take the same merges.

    Parameters
    ----------
    task
        What to run.
    first_below_k
        Whether to run gaa-small instead of GAA.
    repetitions
        How often each is timed.

    Raises
    ------
    CaseError
        They do not.
    """
    (tree, plain), (found, expected) = alternately(
        lambda: merge_greedily(task, first_below_k),
        lambda: scan(task, first_below_k),
        repetitions=repetitions,
    )
    check_same(found, expected)
    return Against(tree, plain, len(found.parts))


def check_same(found: MergePath, expected: MergePath) -> None:
    """Check that two runs took the same merges.

    Raises
    ------
    CaseError
        They did not.
    """
    for field in ("parts", "smallest", "nodes", "counts"):
        if not np.array_equal(getattr(found, field), getattr(expected, field)):
            raise CaseError(f"The prefix tree and the plain scan differ in their {field}.")
