"""Level of generalisation: by how many levels a full-domain release was raised."""

from kanon.cards import Card
from kanon.recoding import Recoding

CARD = Card(
    name="level_of_generalisation",
    title="Level of generalisation",
    summary="The sum of the levels to which the quasi-identifiers were raised, also called "
    "absolute distance. Defined only if all records were raised to the same levels.",
    source="Babu, Reddy, Kumar, Elliot, Jena 2013; de Spoelberch, interim report, "
    "Imperial College London",
    unit="levels",
    direction="lower",
    lowest="0: nothing was raised",
    highest="all levels of all hierarchies",
)


def value(recoding: Recoding) -> int | None:
    """Σ over quasi-identifiers of the level d_j of the released node.

    From 0 to Σ level(root_j); None unless the release is full-domain. The absolute distance
    between the original table and the release is the same sum.
    """
    node = recoding.trace.node
    return None if node is None else int(sum(node))
