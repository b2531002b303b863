"""Deleted among modified: of the cells that were changed, how many were lost."""

from kanon.cards import read_card
from kanon.measures.cells import compute_percent, count_cells_raised, count_cells_raised_to_root
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding) -> float:
    """100 * (cells raised to the root) / (cells raised), in percent; 0 if none was raised."""
    return compute_percent(count_cells_raised_to_root(recoding), count_cells_raised(recoding))
