"""What the lessons of clustering share: what a step shows, and what its ties are broken by."""

from dataclasses import dataclass

from kanon.teaching.cuts import Regions
from kanon.teaching.lesson import ClassState, Rule

MADE = Rule("the first that was begun")  # what decides among clusters that tie


@dataclass(frozen=True)
class ClusterView:
    cluster: int  # the number of the cluster that is looked at, from 1
    joined: tuple[int, ...]  # the classes that joined or left it in this step
    # all clusters after the step, in the order in which they were begun
    clusters: tuple[ClassState, ...]
    open: tuple[int, ...]  # the classes that are in no cluster, as positions
    # the two whose meeting is what was paid: a cluster and what joins it, say, as both were
    # before
    met: tuple[ClassState, ClassState] | None = None
    regions: Regions | None = None  # the clusters as rectangles, where distances are compared
