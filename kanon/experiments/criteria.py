"""The criteria of a comparison: what is shown over k."""

from collections.abc import Mapping
from dataclasses import replace

from kanon.cards import Card
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


L_CARD = Card(
    name="l_percent",
    title="Diversity (entropy l)",
    summary="How mixed the sensitive values of the least mixed class are: its entropy l as a share "
    "of that of the whole table, which is the best possible.",
    source="Mauger, Le Mahec, Dequen 2023, section 4.3",
    unit="%",
    direction="higher",
    lowest="near 0 %: in some class everyone has the same value",
    highest="100 %: every class is as mixed as the whole table",
)


T_CARD = Card(
    name="t_percent",
    title="Distance (t, total variation)",
    summary="How far the sensitive values of the most unusual class are from those of the whole "
    "table: the share of its records that would need a different value to match the table's mix.",
    source="Mauger, Le Mahec, Dequen 2023, section 4.3 (half of its norm 1)",
    unit="0 to 1",
    direction="lower",
    lowest="0: every class is like the whole table",
    highest="1: some class has nothing in common with the table",
)
"""Its name is that of saved boards."""

T_AREA_CARD = replace(
    T_CARD,
    unit="%",
    lowest="0 %: every class is like the whole table",
    highest="100 %: some class has nothing in common with the table",
)
"""The area under t over k, which studies hold in percent, as the areas under all else."""


SUPPRESSED_CARD = Card(
    name="suppressed_percent",
    title="Suppressed",
    summary="Records left out because their class does not meet the requirements. In alteration "
    "they count as lost in full; they are in no class.",
    source="Samarati 2001",
    unit="%",
    direction="lower",
    lowest="0 %: every record is released",
    highest="100 %: nothing is released",
)


COSTLESS = ("l", "t")  # the strategies that count no cost, so that no metric guides them
