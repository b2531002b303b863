"""Relative distance: by which shares of the hierarchies a full-domain release was raised."""

from kanon.cards import Card
from kanon.recoding import Recoding

CARD = Card(
    name="relative_distance",
    title="Relative distance",
    summary="The sum of the levels to which the quasi-identifiers were raised, each as a share of "
    "the height of its hierarchy. Defined only if all records were raised to the same levels.",
    source="de Spoelberch, interim report, Imperial College London",
    unit="hierarchies",
    direction="lower",
    lowest="0: nothing was raised",
    highest="m: every quasi-identifier is at its root",
)


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
