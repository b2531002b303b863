"""Generalised values: how many cells were raised at all."""

from kanon.cards import read_card
from kanon.measures.cells import compute_percent, count_cells_raised
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding) -> float:
    """100 * (cells whose level rose) / (n * m), in percent."""
    return compute_percent(count_cells_raised(recoding), recoding.classes.n_cells)
