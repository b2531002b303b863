"""Relative distance: by which shares of the hierarchies a full-domain release was raised."""

from kanon.cards import read_card
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding) -> float | None:
    """Σ over quasi-identifiers of d_j / level(root_j), d_j being the level of the released node.

    From 0 to m, the number of quasi-identifiers; None unless the release is full-domain. A tree of
    one node adds 0.
    """
    node = recoding.trace.node
    if node is None:
        return None
    highest = [int(tree.level[tree.root]) for tree in recoding.classes.hierarchies]
    return float(sum(level / most for level, most in zip(node, highest, strict=True) if most))
