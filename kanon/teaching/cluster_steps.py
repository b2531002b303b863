"""What the lessons of clustering share: what a step shows, and what its ties are broken by."""

from __future__ import annotations

from dataclasses import dataclass

from kanon.teaching.cuts import Regions
from kanon.teaching.lesson import ClassState, Rule

MADE = Rule("the first that was begun")
"""What decides among clusters that tie."""


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
