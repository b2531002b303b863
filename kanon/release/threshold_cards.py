"""What a context can require of a release: protection, little gain for an attacker, usefulness."""

from collections.abc import Mapping

from kanon.cards import Card, read_cards
from kanon.privacy.model import Range

OF_EVIDENCE = ("singling_out", "linkability", "inference")  # what an attack measures

OF_USEFULNESS = ("alteration", "correlation", "query_error", "classifier")

OF_COLUMNS = ("l", "t", "inference")  # the thresholds for each sensitive column

THRESHOLD_CARDS: Mapping[str, Card] = read_cards(__file__)
"""What a context can require, by the keys of a context file; a risk r is written as 1 / r."""

HIGHEST = 100_000_000
"""The highest threshold; up to here :func:`least_k` is exact in spite of its tolerance."""

THRESHOLD_RANGES = {
    "k": Range(2, HIGHEST, whole=True),
    "highest_risk": Range(1, HIGHEST),
    "mean_risk": Range(1, HIGHEST),
    "l": Range(1, HIGHEST),
    "t": Range(0, 1),
    **dict.fromkeys((*OF_EVIDENCE, "alteration", "correlation", "classifier"), Range(0, 100)),
    "query_error": Range(0, HIGHEST),
}
