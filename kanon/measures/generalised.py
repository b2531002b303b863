"""Generalised values: how many cells were raised at all."""

from kanon.cards import Card
from kanon.measures.cells import compute_percent, count_cells_raised
from kanon.recoding import Recoding

CARD = Card(
    name="generalised_percent",
    title="Generalised",
    summary="Quasi-identifier cells that no longer have their original value.",
    source="Mauger, Le Mahec, Dequen 2020",
    unit="%",
    direction="lower",
    lowest="0 %: every cell is unchanged",
    highest="100 %: every cell was changed",
)


def value(recoding: Recoding) -> float:
    """100 * (cells whose level rose) / (n * m), in percent."""
    return compute_percent(count_cells_raised(recoding), recoding.classes.n_cells)
