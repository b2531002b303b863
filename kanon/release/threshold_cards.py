"""What a context can require of a release: protection, little gain for an attacker, usefulness."""

from collections.abc import Mapping

from kanon.cards import Card
from kanon.privacy.model import Range

OF_EVIDENCE = ("singling_out", "linkability", "inference")  # what an attack measures

OF_USEFULNESS = ("alteration", "correlation", "query_error", "classifier")

OF_COLUMNS = ("l", "t", "inference")  # the thresholds for each sensitive column

_UNIT_ONE_IN = "1 in …"

THRESHOLD_CARDS: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "k", "Records that look alike (k-anonymity)",
            "At least this many records, a person's own included, share all quasi-identifiers.",
            "Sweeney 2002", "records", "higher",
            "1: someone's record is unique", "the number of records: all look alike",
        ),
        Card(
            "highest_risk", "Highest risk of being found",
            "Someone who looks for any one person picks the right record at most once in this many "
            "tries.",
            "El Emam 2013", _UNIT_ONE_IN, "higher",
            "1: someone is found for certain", "the number of records: all look alike",
        ),
        Card(
            "mean_risk", "Mean risk of being found",
            "Someone who looks for everyone picks the right record at most once in this many tries "
            "on average.",
            "El Emam 2013", _UNIT_ONE_IN, "higher",
            "1: everyone is found for certain", "the number of records: all look alike",
        ),
        Card(
            "l", "Mix of sensitive values (entropy l-diversity)",
            "In every class, the sensitive value is at least as hard to guess as if there were "
            "this many equally frequent values.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007", "values", "higher",
            "1: someone's value is certain", "the number of values",
        ),
        Card(
            "t", "Distance from the table's mix (t-closeness)",
            "At most this share of a class would need a different sensitive value to match the "
            "table's mix.",
            "Li, Li, Venkatasubramanian 2007", "0 to 1", "lower",
            "0: the table's mix", "1: nothing in common with the table",
        ),
        Card(
            "singling_out", "People singled out",
            "For at most this share of the people, some of the columns that someone knows match "
            "exactly one released record, theirs.",
            "Article 29 Working Party 2014 (WP 216)", "%", "lower",
            "0: nobody is singled out", "100: everyone is",
        ),
        Card(
            "linkability", "Records that two sources link",
            "Two sources that each know half of the released columns of a person link the right "
            "record with at most this chance on average.",
            "Article 29 Working Party 2014 (WP 216)", "%", "lower",
            "0: never", "100: always",
        ),
        Card(
            "inference", "Sensitive values guessed because of the release",
            "At most so many points more people are guessed right than are of people who are not "
            "in the release; without such a control, than are without the release.",
            "Article 29 Working Party 2014 (WP 216)", "points", "lower",
            "0 or less: the release helps no guess", "100: it makes every guess right",
        ),
        Card(
            "alteration", "Information lost (alteration)",
            "At most this share of all that could be lost was lost, as the plan's metric counts.",
            "Mauger, Le Mahec, Dequen 2020", "%", "lower",
            "0: nothing was changed", "100: every quasi-identifier is at its root",
        ),
        Card(
            "correlation", "Associations kept",
            "At least this share of the associations between columns (Cramér's V) is kept.",
            "Cramér 1946; the share is kanon's", "%", "higher",
            "0: none is kept", "100: all are as before",
        ),
        Card(
            "query_error", "Error of counts",
            "Half of the random counts made on the release are off by at most this share.",
            "LeFevre, DeWitt, Ramakrishnan 2006", "%", "lower",
            "0: at least half of the counts are right", "no upper limit",
        ),
        Card(
            "classifier", "Predictions lost",
            "A classifier that learnt from the original table predicts at most so many points "
            "fewer of the released records right.",
            "Viton, Mauger, Dequen, Guérin, Le Mahec 2021", "points", "lower",
            "0 or less: it predicts as well as before", "100: it was always right, and never is",
        ),
    )
}  # fmt: skip
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
