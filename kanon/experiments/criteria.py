"""The criteria of a comparison: what is shown over k."""

from collections.abc import Mapping
from dataclasses import replace

from kanon.cards import Card, read_cards
from kanon.measures import at_root, deleted_among_modified, generalised, minimum_k
from kanon.measures.alteration import MEAN_CARD

CRITERIA: Mapping[str, Card] = {
    card.name: card
    for card in (
        MEAN_CARD,
        generalised.CARD,
        at_root.CARD,
        deleted_among_modified.CARD,
        minimum_k.CARD,
    )
}
"""What every comparison shows over k, by its name in ``CURVES.csv``."""

_CARDS = read_cards(__file__)

L_CARD = _CARDS["l_percent"]

T_CARD = _CARDS["t_percent"]
"""Its name is that of saved boards."""

T_AREA_CARD = replace(
    T_CARD,
    unit="%",
    lowest="0 %: every class is like the whole table",
    highest="100 %: some class has nothing in common with the table",
)
"""The area under t over k, which studies hold in percent, as the areas under all else."""

SUPPRESSED_CARD = _CARDS["suppressed_percent"]

COSTLESS = ("l", "t")  # the strategies that count no cost, so that no metric guides them
