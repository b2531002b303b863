"""Cells at the root: how many cells no longer reveal anything."""

from kanon.cards import read_card
from kanon.measures.cells import compute_percent, count_cells_at_root
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding) -> float:
    """100 * (cells at the root) / (n * m), in percent."""
    return compute_percent(count_cells_at_root(recoding), recoding.classes.n_cells)
