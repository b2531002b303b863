"""What a release tells about a sensitive attribute: its classes, worst first, and its numbers."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, one_or_many, percent, round_apart, thin
from kanon.base.sentences import (
    best_guess,
    chance,
    different_values,
    found_with,
    mean_chance,
    mean_chance_in_persons,
    number_said,
    records_said,
)
from kanon.classes import EquivalenceClasses
from kanon.measures.privacy import class_measures
from kanon.privacy import alpha_k_anonymity, distinct_l_diversity
from kanon.privacy.model import ClassMeasure, rounded
from kanon.privacy.reidentification import journalist, marketer, prosecutor
from kanon.run import Run
from kanon.sensitive import Sensitive
from kanon.studio.session.text import plain, shortened
from kanon.studio.widgets.numbers import Number, worst

MOST_CLASSES = 500  # so many classes are listed; a browser shows more, and nobody reads them

THRESHOLDS = (1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 1 / 11, 1 / 20, 1 / 50, 1 / 100)
"""Risks that can be called high; that of a class of so many records."""


LEVELS: Mapping[str, ClassMeasure] = {one.name: one for one in class_measures() if one.heading}
"""What classes can be sorted by, by name; t is the total variation distance, half of norm 1."""


def levels_offered(sensitive: Sensitive) -> list[str]:
    first = ["entropy_l", "t_variational", "alpha"]
    return [
        name
        for name in dict.fromkeys([*first, *LEVELS])
        if sensitive.numeric or not LEVELS[name].for_numbers
    ]


def number_format(measure: ClassMeasure) -> str:
    return "%.1f" if measure.unit == "%" else "%d" if measure.whole else "%g"


def round_levels(measure: ClassMeasure, sensitive: Sensitive) -> np.ndarray:
    """The values of a measure as a list shows them: never rounded to the better side."""
    levels = measure.each(sensitive)
    if measure.unit == "%":  # nearly certain does not look certain
        return round_apart(100 * levels, 1)
    if measure.whole:
        return levels
    up = measure.card.direction == "lower"
    return np.array([float(rounded(one, up)) if np.isfinite(one) else one for one in levels])


def worst_classes(
    released: EquivalenceClasses, column: str, by: str, extra: tuple[str, ...]
) -> tuple[np.ndarray, pd.DataFrame]:
    """The positions of the worst classes, at most :data:`MOST_CLASSES`, and a table of them."""
    sensitive = released.sensitive_named(column)
    level = LEVELS[by]
    found = level.each(sensitive).round(9)  # the error of a logarithm decides nothing
    worst_first = -found if level.card.direction == "lower" else found
    surprising = LEVELS["t_variational"].each(sensitive).round(9)
    order = np.lexsort((-released.counts, -surprising, worst_first))[:MOST_CLASSES]
    shown = sensitive.only(order)
    columns: dict[str, object] = {"records": released.counts[order]}
    for name in dict.fromkeys(["entropy_l", "t_variational", by, *extra]):
        columns[LEVELS[name].heading] = round_levels(LEVELS[name], shown)
    columns["most frequent"] = pd.array(_most_frequent(shown.folded), dtype="str")
    columns[LEVELS["alpha"].heading] = round_levels(LEVELS["alpha"], shown)
    trees = zip(released.attributes, released.hierarchies, strict=True)
    for j, (name, tree) in enumerate(trees):
        title = name
        while title in columns:  # a column of the table may be called like one of these
            title += " "
        columns[title] = pd.array(tree.labels, dtype="str").take(released.nodes[order, j])
    return order, pd.DataFrame(columns)


def _most_frequent(sensitive: Sensitive) -> list[str]:
    """The most frequent value of each class, the first among equals."""
    most_first = np.lexsort((sensitive.value, -sensitive.count, sensitive.of_entry))
    return [sensitive.values[place] for place in sensitive.value[most_first[sensitive.start[:-1]]]]


def class_named(
    released: EquivalenceClasses, chosen: tuple[str, ...] | None, listed: np.ndarray
) -> int:
    """The position of the class with that tuple; of the first listed if there is none."""
    if chosen is not None and len(chosen) == len(released.hierarchies):
        nodes = [
            tree.node_of.get(label, -1)
            for tree, label in zip(released.hierarchies, chosen, strict=True)
        ]
        found = np.flatnonzero((released.nodes == np.array(nodes)).all(axis=1))
        if len(found):
            return int(found[0])
    return int(listed[0])


# --- sentences ------------------------------------------------------------------------------
def class_sentence(released: EquivalenceClasses, column: str, position: int) -> str:
    sensitive = released.sensitive_named(column).folded
    one = sensitive.only(np.array([position]))
    size, most = int(one.sizes[0]), int(one.count.max())
    value = int(one.value[one.count.argmax()])
    name = plain(shortened(sensitive.values[value]))
    overall = percent(100 * sensitive.total[value] / sensitive.total.sum())
    if most == size:
        return (
            f"All {thin(size)} have the same {plain(column)}: whoever knows that somebody is in "
            f"this class is certain of “{name}”, which {overall} of the table have."
        )
    return (
        f"{thin(most)} of {thin(size)} have the same {plain(column)}: whoever knows that somebody "
        f"is in this class is {percent(100 * most / size)} sure of “{name}”, which {overall} of "
        "the table have."
    )


def what_it_means(released: EquivalenceClasses, column: str) -> str:
    sensitive = released.sensitive_named(column).folded
    surest = alpha_k_anonymity.each(sensitive)
    certain = surest == 1
    if np.count_nonzero(sensitive.total) == 1:
        return f"All records of the table have the same {plain(column)}: nothing can be learnt."
    if certain.any():
        classes, records = int(certain.sum()), int(released.counts[certain].sum())
        usual = int(sensitive.total.argmax())
        alike = sensitive.only(np.flatnonzero(certain))
        others = int(alike.count[alike.value != usual].sum())
        commonest = plain(shortened(sensitive.values[usual]))
        where = (
            f"In {counted(classes, 'class', 'classes')} with "
            f"{records_said(records)} ({percent(100 * records / released.n_records)} of all), "
            f"everybody has the same {plain(column)}."
        )
        there = "that class" if classes == 1 else "one of these classes"
        certainly = (
            f"Whoever knows that somebody is in {there} knows that value for certain, although at "
            f"least {thin(int(released.counts.min()))} records look alike."
        )
        whom = "none" if others else "all"
        which = f"It is “{commonest}”, the most frequent value of the table, for {whom} of them."
        if 0 < others < records:
            which = (
                f"For {thin(others)} of the {thin(records)} it is not “{commonest}”, the most "
                "frequent value of the table."
            )
        return f"{where} {certainly} {which}"
    # The surest guess; among equally sure ones, where most persons are concerned.
    position = int(np.lexsort((-released.counts, -surest))[0])
    size = int(released.counts[position])
    most = int(sensitive.only(np.array([position])).count.max())
    return (
        "No class gives the value away for certain. The surest guess is in a class where "
        f"{thin(most)} of {thin(size)} records have the same {plain(column)}: whoever knows that "
        f"somebody is in it is {percent(100 * float(surest[position]))} sure of that value."
    )


# --- numbers --------------------------------------------------------------------------------
def of_attribute(done: Run, column: str) -> list[Number]:
    sensitive = done.recoding.released.sensitive_named(column).folded
    values = int(np.count_nonzero(sensitive.total))
    fewest = int(distinct_l_diversity.each(sensitive).min())
    surest = float(alpha_k_anonymity.each(sensitive).max())
    return [
        *worst(done, column),
        Number(
            "Different values ↑ better",
            f"{thin(fewest)} of {thin(values)}",
            different_values(fewest, values, plain(column)),
        ),
        Number("Surest guess ↓ better", percent(100 * surest), best_guess(surest)),
    ]


def threshold_text(threshold: float) -> str:
    """A threshold as the size of a class.

    >>> threshold_text(0.2)
    '1/5'
    """
    return f"1/{thin(round(1 / threshold))}"


def of_risk(
    released: EquivalenceClasses, original: EquivalenceClasses, threshold: float
) -> list[Number]:
    risk = prosecutor(released, threshold)
    if risk is None:
        return []
    limit = threshold_text(risk.threshold)
    return [
        Number(
            "Highest risk ↓ better",
            percent(100 * risk.highest),
            chance(risk.highest, int(released.hiding.min())),
        ),
        Number(
            "Mean risk ↓ better",
            percent(100 * risk.mean),
            mean_chance(risk.mean, released.n_classes, released.n_records)
            if released.persons is None
            else mean_chance_in_persons(risk.mean),
        ),
        Number(
            f"Risk above {limit} ↓ better",
            percent(100 * risk.share_above),
            f"{percent(100 * risk.share_above)} of the records are in classes of fewer than "
            f"{limit.removeprefix('1/')}.",
        ),
        Number(
            "Unique records ↓ better" if released.of == "records" else "Unique persons ↓ better",
            f"{thin(released.unique)}, before {thin(original.unique)}",
            one_or_many(
                released.unique,
                "{count} of {all} ({share}) looks like no other one in the release.",
                "{count} of {all} ({share}) look like no other one in the release.",
                all=number_said(released.highest_k, released.of),
                share=percent(100 * released.unique / released.highest_k),
            ),
        ),
    ]


def of_population(
    released: EquivalenceClasses, people: np.ndarray, threshold: float
) -> list[Number]:
    """How easily persons are found by someone who does not know whether they are in the table."""
    risk, recognised = journalist(released, people, threshold), marketer(released, people)
    if risk is None or recognised is None:
        return []
    return [
        Number(
            "Journalist, highest ↓ better",
            percent(100 * risk.highest),
            found_with(
                risk.highest,
                "Who does not know whether somebody is in the table, but has the population, "
                "finds the person that is easiest to find with",
            ),
        ),
        Number(
            "Journalist, mean ↓ better",
            percent(100 * risk.mean),
            found_with(
                risk.mean,
                "Who begins with the population, or with the release, whichever tells more, "
                "recognises a person on average with",
            ),
        ),
        Number(
            f"Journalist, above {threshold_text(threshold)} ↓ better",
            percent(100 * risk.share_above),
            f"{percent(100 * risk.share_above)} of the records are in classes to which fewer "
            "people of the population belong.",
        ),
        Number(
            "Marketer ↓ better",
            percent(100 * recognised),
            "Who matches all records with the population recognises "
            f"{percent(100 * recognised)} of them on average.",
        ),
    ]
