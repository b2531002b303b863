"""What the lessons of clustering share: what a step shows, and what its ties are broken by."""

from __future__ import annotations

from dataclasses import dataclass

from kanon.teaching.cuts import Regions
from kanon.teaching.lesson import Choice, ClassState

CANONICAL = "in the order of the hierarchies"
MADE = "that was begun"
"""What "first" means among ties: of classes, and of clusters."""


@dataclass(frozen=True)
class ClusterView:
    """What a step of clustering shows beside its choices.

    Attributes
    ----------
    cluster
        The number of the cluster that is looked at, from 1.
    joined
        The classes that joined or left it in this step.
    clusters
        All clusters after the step, in the order in which they were begun; one that was merged
        into another holds no records.
    open
        The classes that are in no cluster, as positions.
    met
        The two whose meeting is what was paid: a cluster and what joins it, say, as both were
        before; None where nothing was compared, or distances and not costs.
    regions
        The clusters as rectangles, where distances are compared; None elsewhere.
    """

    cluster: int
    joined: tuple[int, ...]
    clusters: tuple[ClassState, ...]
    open: tuple[int, ...]
    met: tuple[ClassState, ClassState] | None = None
    regions: Regions | None = None


def tied(choice: Choice, first: str) -> str:
    """The tie-break, where another candidate is as good but for the order."""
    equal = sum(each.key[:-1] == choice.chosen.key[:-1] for each in choice.candidates)
    return f"; of {equal} that tie, it is the first {first}" if equal > 1 else ""
