"""Deleted among modified: of the cells that were changed, how many were lost."""

from kanon.cards import Card
from kanon.measures.cells import compute_percent, count_cells_raised, count_cells_raised_to_root
from kanon.recoding import Recoding

CARD = Card(
    name="deleted_among_modified_percent",
    title="Deleted among modified",
    summary="The share of the changed cells that were raised to the root.",
    source="Mauger, Le Mahec, Dequen 2020",
    unit="%",
    direction="lower",
    lowest="0 %: no changed cell lost everything",
    highest="100 %: every changed cell lost everything",
)


def value(recoding: Recoding) -> float:
    """100 * (cells raised to the root) / (cells raised), in percent; 0 if none was raised."""
    return compute_percent(count_cells_raised_to_root(recoding), count_cells_raised(recoding))
