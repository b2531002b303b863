"""The numbers under the picture: label with direction, value with unit, one sentence."""

import re
from typing import NamedTuple

from kanon.base.formatting import counted, percent, thin
from kanon.base.sentences import (
    classes_told_apart,
    hard_to_guess,
    left_out,
    lost,
    nobody_alike,
    number_said,
    of_quasi_identifiers,
    smallest_class,
    unlike_the_table,
)
from kanon.cards import Card
from kanon.measures import alteration, at_root, generalised, minimum_k
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.model import rounded
from kanon.run import Run
from kanon.studio.jobs.stored_table import ExposureNumbers
from kanon.studio.session.text import plain, shortened


class Number(NamedTuple):
    """What ``st.metric`` shows: the help is one of :mod:`kanon.base.sentences` or a card's."""

    label: str
    value: str
    help: str

    @property
    def short(self) -> str:
        """The label up to its arrow, for where the word after it has no room.

        >>> Number("Classes ↑ better", "5", "").short
        'Classes ↑'
        """
        return re.sub(r"(.*[↑↓]).*", r"\1", self.label)


def of_release(done: Run) -> list[Number]:
    recoding, metric = done.recoding, done.prepared.plan.metric
    released = recoding.released
    raised, roots = generalised.value(recoding), at_root.value(recoding)
    least = int(released.hiding.min()) if released.n_classes else None
    gone, records = recoding.suppressed_records, recoding.classes.n_records
    suppressed = Number(
        "Suppressed ↓ better",
        percent(100 * gone / records),
        left_out(gone, records),
    )
    return [
        _number(
            alteration.CARD,
            percent(done.alteration),
            lost(done.alteration, plain(metric.card.title)),
        ),
        _number(generalised.CARD, percent(raised), of_quasi_identifiers(raised, "were changed")),
        _number(
            at_root.CARD,
            percent(roots),
            of_quasi_identifiers(roots, "are at the root, where they say nothing any more"),
        ),
        _number(
            minimum_k.CARD,
            "no class" if least is None else number_said(least, released.of),
            smallest_class(least),
        ),
        Number(
            "Classes ↑ better",
            thin(recoding.n_classes),
            classes_told_apart(recoding.n_classes, done.prepared.classes.n_classes),
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
    sensitive, name = released.sensitive_named(column), plain(shortened(column, 16))
    most = rounded(entropy_l_diversity.of_whole(sensitive), up=False)
    worst_l = rounded(float(entropy_l_diversity.each(sensitive).min()), up=False)
    worst_t = rounded(float(t_closeness.each(sensitive, "variational").max()), up=True)
    guessed, unlike = f"Worst l, {name}", f"Worst t, {name}"
    return [
        Number(
            f"{guessed} {entropy_l_diversity.CARD.arrow}",
            f"{worst_l} of {most}",
            hard_to_guess(worst_l, most, plain(column)),
        ),
        Number(
            f"{unlike} {t_closeness.CARD.arrow}",
            f"{worst_t} of {1}",
            unlike_the_table(worst_t, plain(column)),
        ),
    ]


def of_table(seen: ExposureNumbers) -> list[Number]:
    exposure = seen.exposure
    return [
        Number(
            "k ↑ better" if exposure.of == "records" else "k in persons ↑ better",
            thin(exposure.min_k),
            smallest_class(exposure.min_k),
        ),
        Number(
            "Unique ↓ better",
            percent(100 * exposure.unique / exposure.number),
            nobody_alike(exposure.unique, exposure.number, exposure.of),
        ),
        Number(
            "Classes",
            thin(exposure.n_classes),
            f"{thin(exposure.n_records)} records are in so many groups that share all "
            "quasi-identifiers.",
        ),
    ]


def said_dropped(records: int) -> str:
    missing = "dropped for missing values."
    return counted(records, f"record was {missing}", f"records were {missing}")


def _number(card: Card, value: str, said: str) -> Number:
    return Number(f"{card.title} {card.arrow}", value, said)
