"""C_AVG: how much larger than necessary classes are on average."""

from kanon.cards import read_card
from kanon.measures import average_class_size
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding, k: int) -> float | None:
    """C_AVG = ((n - suppressed) / (number of classes)) / k; None if no class is left."""
    average = average_class_size.value(recoding)
    return None if average is None else average / k
