"""Cells at the root: how many cells no longer reveal anything."""

from kanon.cards import Card
from kanon.measures.cells import compute_percent, count_cells_at_root
from kanon.recoding import Recoding

CARD = Card(
    name="root_percent",
    title="At root",
    summary="Quasi-identifier cells at the root, where they no longer reveal anything.",
    source="Mauger, Le Mahec, Dequen 2020, there called deleted",
    unit="%",
    direction="lower",
    lowest="0 %: every cell still reveals something",
    highest="100 %: all quasi-identifiers are lost",
)


def value(recoding: Recoding) -> float:
    """100 * (cells at the root) / (n * m), in percent."""
    return compute_percent(count_cells_at_root(recoding), recoding.classes.n_cells)
