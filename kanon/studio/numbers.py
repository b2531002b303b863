"""The numbers under the picture: label with direction, value with unit, one sentence."""

from __future__ import annotations

from typing import NamedTuple

from kanon.cards import Card
from kanon.measures import alteration, at_root, generalised, minimum_k
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.model import rounded
from kanon.run import Run
from kanon.studio.exposed import Exposed
from kanon.studio.text import percent, plain, shortened
from kanon.words import thin

__all__ = ["Number", "of_release", "of_table", "worst"]


class Number(NamedTuple):
    """What ``st.metric`` shows."""

    label: str
    value: str
    help: str


def of_release(done: Run) -> list[Number]:
    """What a release lost and what it reached."""
    found, metric = done.measures, done.prepared.plan.metric
    before = thin(done.prepared.classes.n_classes)
    least = found[minimum_k.CARD.name]
    gone, records = found["suppressed"], found["records"]
    suppressed = Number(
        "Suppressed ↓ better",
        percent(100 * gone / records),
        f"{thin(gone)} of {thin(records)} records were in classes that do not satisfy what is "
        "required. They count as if every quasi-identifier were at its root.",
    )
    return [
        _number(
            alteration.CARD,
            percent(found["alteration"][metric.name]),
            f"How much of all that could be lost was lost, as {plain(metric.card.title)} counts.",
        ),
        _number(generalised.CARD, percent(found[generalised.CARD.name])),
        _number(at_root.CARD, percent(found[at_root.CARD.name])),
        _number(minimum_k.CARD, "no class" if least is None else f"{thin(least)} records"),
        Number(
            "Classes ↑ better",
            thin(found["classes"]),
            f"Groups of records that look the same; the original table has {before}.",
        ),
        *([suppressed] if gone else []),
    ]


def worst(done: Run, column: str | None) -> list[Number]:
    """How mixed the values of a sensitive column are in the worst class; nothing for None.

    The numbers are never rounded to the better side.
    """
    released = done.recoding.released
    if column is None or not released.n_classes:
        return []
    sensitive = released.sensitive_named(column)
    most = rounded(float(entropy_l_diversity.each(sensitive.whole())[0]), up=False)
    worst_l = rounded(float(entropy_l_diversity.each(sensitive).min()), up=False)
    worst_t = rounded(float(t_closeness.each(sensitive, "variational").max()), up=True)
    return [
        Number(
            f"Worst l, {plain(shortened(column, 16))} {entropy_l_diversity.CARD.arrow}",
            f"{worst_l} of {most}",
            f"Entropy l-diversity of the worst class: so many equally frequent values of "
            f"{plain(column)} would be as hard to guess as those in it. 1: everybody in the class "
            f"has the same value. {most}, the most possible: the mix of the whole table.",
        ),
        Number(
            f"Worst t, {plain(shortened(column, 16))} {t_closeness.CARD.arrow}",
            f"{worst_t} of 1",
            "Total variation distance of the worst class: this share of its records would need "
            f"another value of {plain(column)} for the class to be mixed as the whole table is. 0: "
            "it is mixed so already.",
        ),
    ]


def of_table(seen: Exposed) -> list[Number]:
    """How exposed a table is before anything is done."""
    exposure = seen.exposure
    return [
        Number(
            "k ↑ better",
            thin(exposure.min_k),
            "The size of the smallest class of records that share all quasi-identifiers.",
        ),
        Number(
            "Unique ↓ better",
            percent(100 * exposure.unique_records / exposure.n_records),
            f"{thin(exposure.unique_records)} records share all quasi-identifiers with nobody.",
        ),
        Number(
            "Classes",
            thin(exposure.n_classes),
            "Groups of records that share all quasi-identifiers.",
        ),
    ]


def _number(card: Card, value: str, summary: str = "") -> Number:
    return Number(f"{card.title} {card.arrow}", value, summary or card.summary)
