"""Level of generalisation: by how many levels a full-domain release was raised."""

from kanon.cards import read_card
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding) -> int | None:
    """Σ over quasi-identifiers of the level d_j of the released node.

    From 0 to Σ level(root_j); None unless the release is full-domain. The absolute distance
    between the original table and the release is the same sum.
    """
    node = recoding.trace.node
    return None if node is None else int(sum(node))
