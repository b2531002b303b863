"""What a release reveals about a sensitive column: the worst classes, and numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, one_or_many, percent, thin
from kanon.base.how_texts import Sections
from kanon.base.rounding import round_apart, write_decimals
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
from kanon.privacy import (
    alpha_k_anonymity,
    distinct_l_diversity,
    entropy_l_diversity,
    reidentification,
    t_closeness,
)
from kanon.privacy.model import ClassMeasure, rounded
from kanon.privacy.reidentification import journalist, marketer, prosecutor
from kanon.run import Run
from kanon.sensitive import Sensitive
from kanon.studio.privacy.attacker import facts
from kanon.studio.session.text import plain, shortened
from kanon.studio.widgets.numbers import Number, worst

_how = Sections(__file__)

MOST_CLASSES = 500  # so many classes are listed

THRESHOLDS = (1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 1 / 11, 1 / 20, 1 / 50, 1 / 100)
"""The thresholds for a high risk; each is the risk in a class of that size."""


LEVELS: Mapping[str, ClassMeasure] = {
    measure.name: measure for measure in class_measures() if measure.heading
}
"""The measures that sort classes; t is the total variation distance, half of norm 1."""


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
    """The values of a measure for a list, never rounded to the better side."""
    levels = measure.each(sensitive)
    if measure.unit == "%":  # nearly certain must not look certain
        return round_apart(100 * levels, 1)
    if measure.whole:
        return levels
    up = measure.card.direction == "lower"
    return np.array(
        [float(rounded(level, up)) if np.isfinite(level) else level for level in levels]
    )


def worst_classes(
    released: EquivalenceClasses, column: str, by: str, extra: tuple[str, ...]
) -> tuple[np.ndarray, pd.DataFrame]:
    """The positions of the worst classes, at most :data:`MOST_CLASSES`, and a table of them."""
    sensitive = released.sensitive_named(column)
    level = LEVELS[by]
    levels = level.each(sensitive).round(9)  # so that rounding errors decide nothing
    worst_first = -levels if level.card.direction == "lower" else levels
    surprising = LEVELS["t_variational"].each(sensitive).round(9)
    order = np.lexsort((-released.counts, -surprising, worst_first))[:MOST_CLASSES]
    listed = sensitive.only(order)
    columns: dict[str, object] = {"records": released.counts[order]}
    for name in dict.fromkeys(["entropy_l", "t_variational", by, *extra]):
        columns[LEVELS[name].heading] = round_levels(LEVELS[name], listed)
    columns["most frequent"] = pd.array(_find_most_frequent(listed.folded), dtype="str")
    columns[LEVELS["alpha"].heading] = round_levels(LEVELS["alpha"], listed)
    trees = zip(released.attributes, released.hierarchies, strict=True)
    for j, (name, tree) in enumerate(trees):
        title = name
        while title in columns:  # a column of the table may have the same name
            title += " "
        columns[title] = pd.array(tree.labels, dtype="str").take(released.nodes[order, j])
    return order, pd.DataFrame(columns)


def _find_most_frequent(sensitive: Sensitive) -> list[str]:
    """The most frequent value of each class, the first among equals."""
    most_first = np.lexsort((sensitive.value, -sensitive.count, sensitive.of_entry))
    return [sensitive.values[place] for place in sensitive.value[most_first[sensitive.start[:-1]]]]


def class_named(
    released: EquivalenceClasses, labels: tuple[str, ...] | None, order: np.ndarray
) -> int:
    if labels is not None and len(labels) == len(released.hierarchies):
        nodes = [
            tree.node_of.get(label, -1)
            for tree, label in zip(released.hierarchies, labels, strict=True)
        ]
        positions = np.flatnonzero((released.nodes == np.array(nodes)).all(axis=1))
        if len(positions):
            return int(positions[0])
    return int(order[0])


# --- sentences ------------------------------------------------------------------------------
def class_sentence(released: EquivalenceClasses, column: str, position: int) -> str:
    sensitive = released.sensitive_named(column).folded
    of_class = sensitive.only(np.array([position]))
    size, most = int(of_class.sizes[0]), int(of_class.count.max())
    value = int(of_class.value[of_class.count.argmax()])
    name = plain(shortened(sensitive.values[value]))
    overall = percent(100 * sensitive.total[value] / sensitive.total.sum())
    if most == size:
        return (
            f"All {thin(size)} have the same {plain(column)}: anyone who knows that a person is in "
            f"this class is certain of “{name}”. In the whole table, {overall} have it."
        )
    return (
        f"{thin(most)} of {thin(size)} have the same {plain(column)}: anyone who knows that a "
        f"person is in this class is {percent(100 * most / size)} sure of “{name}”. In the whole "
        f"table, {overall} have it."
    )


def what_it_means(released: EquivalenceClasses, column: str) -> str:
    sensitive = released.sensitive_named(column).folded
    surest = alpha_k_anonymity.each(sensitive)
    certain = surest == 1
    if np.count_nonzero(sensitive.total) == 1:
        return f"All records have the same {plain(column)}, so nothing can be learnt."
    if certain.any():
        classes, records = int(certain.sum()), int(released.counts[certain].sum())
        usual = int(sensitive.total.argmax())
        alike = sensitive.only(np.flatnonzero(certain))
        others = int(alike.count[alike.value != usual].sum())
        commonest = plain(shortened(sensitive.values[usual]))
        where = (
            f"In {counted(classes, 'class', 'classes')} with "
            f"{records_said(records)} ({percent(100 * records / released.n_records)} of all), "
            f"everyone has the same {plain(column)}."
        )
        place = "that class" if classes == 1 else "one of these classes"
        certainly = (
            f"Anyone who knows that a person is in {place} knows this value for certain, although "
            f"at least {thin(int(released.counts.min()))} records look alike."
        )
        whom = "none" if others else "all"
        which = f"It is “{commonest}”, the most frequent value of the table, for {whom} of them."
        if 0 < others < records:
            which = (
                f"For {thin(others)} of the {thin(records)} it is not “{commonest}”, the most "
                "frequent value of the table."
            )
        return f"{where} {certainly} {which}"
    # The surest guess; among equally sure ones, in the largest class.
    position = int(np.lexsort((-released.counts, -surest))[0])
    size = int(released.counts[position])
    most = int(sensitive.only(np.array([position])).count.max())
    return (
        "No class gives the value away for certain. The surest guess is in a class where "
        f"{thin(most)} of {thin(size)} records have the same {plain(column)}: anyone who knows "
        f"that a person is in it is {percent(100 * float(surest[position]))} sure of this value."
    )


# --- numbers --------------------------------------------------------------------------------
def of_attribute(run: Run, column: str) -> list[Number]:
    sensitive = run.recoding.released.sensitive_named(column).folded
    values = int(np.count_nonzero(sensitive.total))
    fewest = int(distinct_l_diversity.each(sensitive).min())
    surest = float(alpha_k_anonymity.each(sensitive).max())
    return [
        *worst(run, column),
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
                "{count} of {all} ({share}) looks like no other in the release.",
                "{count} of {all} ({share}) look like no other in the release.",
                all=number_said(released.highest_k, released.of),
                share=percent(100 * released.unique / released.highest_k),
            ),
        ),
    ]


def of_population(
    released: EquivalenceClasses, people: np.ndarray, threshold: float
) -> list[Number]:
    risk, recognised = journalist(released, people, threshold), marketer(released, people)
    if risk is None or recognised is None:
        return []
    return [
        Number(
            "Journalist, highest ↓ better",
            percent(100 * risk.highest),
            found_with(
                risk.highest,
                "Someone who has the population, but does not know whether a person is in the "
                "table, finds the person who is easiest to find with",
            ),
        ),
        Number(
            "Journalist, mean ↓ better",
            percent(100 * risk.mean),
            found_with(
                risk.mean,
                "Someone who starts from the population or the release, whichever reveals more, "
                "recognises a person on average with",
            ),
        ),
        Number(
            f"Journalist, above {threshold_text(threshold)} ↓ better",
            percent(100 * risk.share_above),
            f"{percent(100 * risk.share_above)} of the records are in classes to which fewer "
            f"than {threshold_text(threshold).removeprefix('1/')} people of the population belong.",
        ),
        Number(
            "Marketer ↓ better",
            percent(100 * recognised),
            "Someone who matches all records with the population recognises "
            f"{percent(100 * recognised)} of them on average.",
        ),
    ]


# --- how it is computed -----------------------------------------------------------------------
def how_class(released: EquivalenceClasses, column: str, position: int, most: int = 4) -> str:
    """l, t and the surest guess of one class, with at most ``most`` terms written out."""
    sensitive = released.sensitive_named(column)
    of_class = sensitive.only(np.array([position]))
    counts, size, n = of_class.dense()[0], int(of_class.sizes[0]), int(sensitive.total.sum())
    shares, overall = counts / size, sensitive.total / n
    places = [int(place) for place in np.argsort(-counts, kind="stable") if counts[place]]
    class_counts = sorted(of_class.folded.count.tolist(), reverse=True)
    entropy = " + ".join(
        f"{thin(count)}/{thin(size)} · ln {thin(count)}/{thin(size)}"
        for count in class_counts[:most]
    ) + (" + …" if len(class_counts) > most else "")
    gaps = np.argsort(-np.abs(shares - overall), kind="stable")
    gaps = gaps[np.abs(shares - overall)[gaps] > 0]
    differences = " + ".join(
        f"|{shares[place]:.3f} − {overall[place]:.3f}|" for place in gaps[:most]
    ) + (" + …" if len(gaps) > most else "")
    values = ", ".join(
        f"{plain(shortened(sensitive.values[place], 24))} {thin(int(counts[place]))}"
        for place in places[:most]
    ) + (", …" if len(places) > most else "")
    l_level, t_level = (
        float(entropy_l_diversity.each(of_class)[0]),
        float(t_closeness.each(of_class, "variational")[0]),
    )
    l_text, t_text = write_decimals(l_level, 4), write_decimals(t_level, 4)
    sources = "; ".join(
        module.CARD.source for module in (entropy_l_diversity, t_closeness, alpha_k_anonymity)
    )
    return _how(
        "class",
        size=thin(size),
        values=values,
        records=thin(n),
        l_formula=f"exp(−Σ p ln p) = exp(−({plain(entropy or '0')})) = {l_text}",
        l=rounded(l_level, up=False),
        t_formula=f"½ · Σ |p − q| = ½ · ({plain(differences or '0')}) = {t_text}",
        t=rounded(t_level, up=True),
        share=f"{thin(class_counts[0])}/{thin(size)}",
        sources=plain(sources),
    )


def how_found(released: EquivalenceClasses, threshold: float) -> str:
    risk = prosecutor(released, threshold)
    if risk is None:
        return ""
    smallest, n = int(released.hiding.min()), released.n_records
    mean, persons = write_decimals(risk.mean, 4), ""
    if released.persons is None:
        mean = f"classes / records = {thin(released.n_classes)}/{thin(n)} = {mean}"
    else:
        mean = f"Σ records / persons of the classes, over {thin(n)} records, = {mean}"
        persons = (
            " Here the size of a class is the number of its persons: records of the same person "
            "do not hide that person."
        )
    return _how(
        "found",
        highest=f"1/{thin(smallest)} = {write_decimals(risk.highest, 4)}",
        mean=mean,
        persons=persons,
        source=plain(_extract_source(reidentification.__doc__ or "")),
    )


def _extract_source(docstring: str) -> str:
    return " ".join(docstring.partition(".. [1]")[2].split()).rstrip(".")


def how_attacked(person: dict[str, str], columns: Sequence[str]) -> str:
    facts_text = ", ".join(
        f"{plain(name)} = {plain(shortened(value))}"
        for name, value in facts(person, columns).items()
    )
    return _how("attacked", facts=facts_text or "nothing")
