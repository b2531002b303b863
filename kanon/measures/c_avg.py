"""C_AVG: how much larger than necessary classes are on average."""

from kanon.cards import Card
from kanon.measures import average_class_size
from kanon.recoding import Recoding

CARD = Card(
    name="c_avg",
    title="Normalised average class size (C_AVG)",
    summary="The number of released records per class, as a multiple of k.",
    source="LeFevre, DeWitt, Ramakrishnan 2006",
    unit="times k",
    direction="lower",
    lowest="1: every class has exactly k records",
    highest="n / k: all records look the same",
)


def value(recoding: Recoding, k: int) -> float | None:
    """C_AVG = ((n - suppressed) / (number of classes)) / k; None if no class is left."""
    average = average_class_size.value(recoding)
    return None if average is None else average / k
