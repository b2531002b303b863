"""What a release reveals about a sensitive column: the worst classes, and numbers."""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from kanon.base.formatting import choose_plural, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.rounding import write_decimals
from kanon.base.sentences import (
    describe_best_guess,
    describe_chance,
    describe_distinct_l,
    describe_highest_risk,
    describe_mean_risk,
    describe_mean_risk_in_persons,
    write_records,
    write_records_or_persons,
)
from kanon.classes import EquivalenceClasses
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
from kanon.studio.privacy.attacker import select_facts
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.widgets.numbers import Number, list_worst_numbers

_how = Sections(__file__)

_MOST_TERMS = 4  # of a sum are written out

THRESHOLDS = (1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 1 / 11, 1 / 20, 1 / 50, 1 / 100)
"""The thresholds for a high risk; each is the risk in a class of that size."""


def get_number_format(measure: ClassMeasure) -> str:
    return "%.1f" if measure.unit == "%" else "%d" if measure.whole else "%g"


def find_class_position(
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
def describe_class(released: EquivalenceClasses, column: str, position: int) -> str:
    sensitive = released.sensitive_named(column).folded
    of_class = sensitive.only(np.array([position]))
    size, most = int(of_class.sizes[0]), int(of_class.count.max())
    value = int(of_class.value[of_class.count.argmax()])
    name = escape_markdown(trim_title(sensitive.values[value]))
    overall = write_percent(100 * sensitive.total[value] / sensitive.total.sum())
    if most == size:
        return (
            f"All {write_count(size)} have the same "
            f"{escape_markdown(column)}: anyone who knows that a person is in "
            f"this class is certain that theirs is “{name}”. In the whole table, {overall} have it."
        )
    return (
        f"{write_count(most)} of {write_count(size)} have the same {escape_markdown(column)}: "
        f"anyone who knows that a person is in this class is {write_percent(100 * most / size)} "
        f"sure that theirs is “{name}”. In the whole table, {overall} have it."
    )


def describe_disclosure(released: EquivalenceClasses, column: str) -> str:
    sensitive = released.sensitive_named(column).folded
    surest = alpha_k_anonymity.each(sensitive)
    certain = surest == 1
    if np.count_nonzero(sensitive.total) == 1:
        return f"All records have the same {escape_markdown(column)}, so nothing can be learnt."
    if certain.any():
        classes, records = int(certain.sum()), int(released.counts[certain].sum())
        usual = int(sensitive.total.argmax())
        alike = sensitive.only(np.flatnonzero(certain))
        others = int(alike.count[alike.value != usual].sum())
        commonest = escape_markdown(trim_title(sensitive.values[usual]))
        place = "1 class" if classes == 1 else f"each of {write_count(classes)} classes"
        where = (
            f"In {place} with {write_records(records)} in all "
            f"({write_percent(100 * records / released.n_records)} of the release), "
            f"everyone has the same {escape_markdown(column)}."
        )
        place = "that class" if classes == 1 else "one of these classes"
        certainly = (
            f"Anyone who knows that a person is in {place} knows this value for certain, although "
            f"at least {write_count(int(released.counts.min()))} records look alike."
        )
        whom = "none" if others else "all"
        which = f"It is “{commonest}”, the most frequent value in the table, for {whom} of them."
        if 0 < others < records:
            which = (
                f"For {write_count(others)} of the {write_count(records)} it "
                f"is not “{commonest}”, the most frequent value in the table."
            )
        return f"{where} {certainly} {which}"
    # The best guess; among equally sure ones, in the largest class.
    position = int(np.lexsort((-released.counts, -surest))[0])
    size = int(released.counts[position])
    most = int(sensitive.only(np.array([position])).count.max())
    return (
        "No class gives the value away for certain. The best guess is in a class where "
        f"{write_count(most)} of {write_count(size)} records have the same "
        f"{escape_markdown(column)}: anyone who knows that a person is in it "
        f"is {write_percent(100 * float(surest[position]))} sure of this value."
    )


# --- numbers --------------------------------------------------------------------------------
def build_attribute_numbers(run: Run, column: str) -> list[Number]:
    sensitive = run.recoding.released.sensitive_named(column).folded
    values = int(np.count_nonzero(sensitive.total))
    fewest = int(distinct_l_diversity.each(sensitive).min())
    surest = float(alpha_k_anonymity.each(sensitive).max())
    return [
        *list_worst_numbers(run, column),
        Number(
            "Different values ↑ better",
            f"{write_count(fewest)} of {write_count(values)}",
            describe_distinct_l(fewest, values, escape_markdown(column)),
        ),
        Number("Best guess ↓ better", write_percent(100 * surest), describe_best_guess(surest)),
    ]


def write_threshold(threshold: float) -> str:
    """A threshold as the size of a class.

    >>> write_threshold(0.2)
    '1/5'
    """
    return f"1/{write_count(round(1 / threshold))}"


def build_risk_numbers(
    released: EquivalenceClasses, original: EquivalenceClasses, threshold: float
) -> list[Number]:
    risk = prosecutor(released, threshold)
    if risk is None:
        return []
    limit = write_threshold(risk.threshold)
    return [
        Number(
            "Highest risk ↓ better",
            write_percent(100 * risk.highest),
            describe_highest_risk(risk.highest, int(released.hiding.min())),
        ),
        Number(
            "Mean risk ↓ better",
            write_percent(100 * risk.mean),
            describe_mean_risk(risk.mean, released.n_classes, released.n_records)
            if released.persons is None
            else describe_mean_risk_in_persons(risk.mean),
        ),
        Number(
            f"Risk above {limit} ↓ better",
            write_percent(100 * risk.share_above),
            f"{write_percent(100 * risk.share_above)} of the records are in classes of fewer than "
            f"{limit.removeprefix('1/')}.",
        ),
        Number(
            "Unique records ↓ better" if released.of == "records" else "Unique persons ↓ better",
            f"{write_count(released.unique)}, before {write_count(original.unique)}",
            choose_plural(
                released.unique,
                "{count} of {all} ({share}) looks like no other in the release.",
                "{count} of {all} ({share}) look like no other in the release.",
                all=write_records_or_persons(released.highest_k, released.of),
                share=write_percent(100 * released.unique / released.highest_k),
            ),
        ),
    ]


def build_population_numbers(
    released: EquivalenceClasses, people: np.ndarray, threshold: float
) -> list[Number]:
    risk, recognised = journalist(released, people, threshold), marketer(released, people)
    if risk is None or recognised is None:
        return []
    return [
        Number(
            "Journalist, highest ↓ better",
            write_percent(100 * risk.highest),
            describe_chance(
                risk.highest,
                "Someone who has the population, but does not know whether a person is in the "
                "table, finds the person who is easiest to find with",
            ),
        ),
        Number(
            "Journalist, mean ↓ better",
            write_percent(100 * risk.mean),
            describe_chance(
                risk.mean,
                "Someone who starts from the population or the release, whichever reveals more, "
                "recognises a person on average with",
            ),
        ),
        Number(
            f"Journalist, above {write_threshold(threshold)} ↓ better",
            write_percent(100 * risk.share_above),
            f"{write_percent(100 * risk.share_above)} of the records are in classes to which fewer "
            f"than {write_threshold(threshold).removeprefix('1/')} "
            "people of the population belong.",
        ),
        Number(
            "Marketer ↓ better",
            write_percent(100 * recognised),
            "Someone who matches all records with the population recognises "
            f"{write_percent(100 * recognised)} of them on average.",
        ),
    ]


# --- how it is computed -----------------------------------------------------------------------
def explain_class(released: EquivalenceClasses, column: str, position: int) -> str:
    """l, t and the best guess of one class, with the first terms written out."""
    sensitive = released.sensitive_named(column)
    of_class = sensitive.only(np.array([position]))
    counts, size, n = of_class.dense()[0], int(of_class.sizes[0]), int(sensitive.total.sum())
    shares, overall = counts / size, sensitive.total / n
    places = [int(place) for place in np.argsort(-counts, kind="stable") if counts[place]]
    class_counts = sorted(of_class.folded.count.tolist(), reverse=True)
    entropy = _join_terms(
        f"{write_count(count)}/{write_count(size)} · ln {write_count(count)}/{write_count(size)}"
        for count in class_counts
    )
    gaps = np.argsort(-np.abs(shares - overall), kind="stable")
    gaps = gaps[np.abs(shares - overall)[gaps] > 0]
    differences = _join_terms(f"|{shares[place]:.3f} − {overall[place]:.3f}|" for place in gaps)
    names = (escape_markdown(trim_title(sensitive.values[place], 24)) for place in places)
    shown = zip(names, places, strict=True)
    values = _join_terms(
        (f"{name} {write_count(int(counts[place]))}" for name, place in shown), ", "
    )
    l_level = float(entropy_l_diversity.each(of_class)[0])
    t_level = float(t_closeness.each(of_class, "variational")[0])
    l_text, t_text = write_decimals(l_level, 4), write_decimals(t_level, 4)
    sources = "; ".join(
        module.CARD.source for module in (entropy_l_diversity, t_closeness, alpha_k_anonymity)
    )
    return _how(
        "class",
        size=write_count(size),
        values=values,
        records=write_count(n),
        l_formula=f"exp(−Σ p ln p) = exp(−({escape_markdown(entropy or '0')})) = {l_text}",
        l=rounded(l_level, up=False),
        t_formula=f"½ · Σ |p − q| = ½ · ({escape_markdown(differences or '0')}) = {t_text}",
        t=rounded(t_level, up=True),
        share=f"{write_count(class_counts[0])}/{write_count(size)}",
        sources=escape_markdown(sources),
    )


def _join_terms(terms: Iterable[str], sign: str = " + ") -> str:
    first = list(islice(terms, _MOST_TERMS + 1))
    return sign.join([*first[:_MOST_TERMS], *(["…"] if len(first) > _MOST_TERMS else [])])


def explain_risk(released: EquivalenceClasses, threshold: float) -> str:
    risk = prosecutor(released, threshold)
    if risk is None:
        return ""
    smallest, n = int(released.hiding.min()), released.n_records
    mean, persons = write_decimals(risk.mean, 4), ""
    if released.persons is None:
        mean = f"classes / records = {write_count(released.n_classes)}/{write_count(n)} = {mean}"
    else:
        mean = f"Σ records / persons of the classes, over {write_count(n)} records, = {mean}"
        persons = (
            " Here the size of a class is the number of its persons: records of the same person "
            "do not hide that person."
        )
    return _how(
        "found",
        highest=f"1/{write_count(smallest)} = {write_decimals(risk.highest, 4)}",
        mean=mean,
        persons=persons,
        source=escape_markdown(_extract_source(reidentification.__doc__ or "")),
    )


def _extract_source(docstring: str) -> str:
    return " ".join(docstring.partition(".. [1]")[2].split()).rstrip(".")


def explain_attack(person: dict[str, str], columns: Sequence[str]) -> str:
    facts_text = ", ".join(
        f"{escape_markdown(name)} = {escape_markdown(trim_title(value))}"
        for name, value in select_facts(person, columns).items()
    )
    return f"{_how('attacked', facts=facts_text or 'nothing')}\n\n{_how('evidence')}"
