"""Whom the page Privacy attacks and looks at, and what an attacker finds, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.measures.linkage import Linkage, Match, projected
from kanon.privacy.reidentification import THRESHOLD
from kanon.sensitive import Sensitive
from kanon.sources.reading import TableFile
from kanon.studio.text import percent, plain, shortened
from kanon.words import counted, thin

__all__ = [
    "Looking",
    "about_everybody",
    "about_person",
    "baseline_of",
    "facts",
    "known_used",
    "occurring",
    "person_used",
    "somebody",
]

FIRST_KNOWN = 3
"""So many quasi-identifiers are known at first: a neighbour knows about as much."""


@dataclass(frozen=True)
class Looking:
    """What the page Privacy looks at.

    Attributes
    ----------
    by, extra
        By which level the classes are sorted, and which others are shown beside it.
    chosen
        The released tuple of the class that is looked at; None for the worst.
    threshold
        From where on a risk of being found counts as high.
    known
        The quasi-identifiers that the attacker knows; None for the first few.
    person
        The values of the person that is looked for, by quasi-identifier; none for one who stands
        out.
    population, uploads
        The table of the population that was uploaded, never written anywhere; and how often one
        was let go, so that its file goes too.
    """

    by: str = "l"
    extra: tuple[str, ...] = ()
    chosen: tuple[str, ...] | None = None
    threshold: float = THRESHOLD
    known: tuple[str, ...] | None = None
    person: Mapping[str, str] = field(default_factory=dict)
    population: TableFile | None = None
    uploads: int = 0


def known_used(looking: Looking, classes: EquivalenceClasses) -> list[str]:
    """The attributes that the attacker knows, those that are no quasi-identifiers left out."""
    if looking.known is None:
        return list(classes.attributes[:FIRST_KNOWN])
    return [name for name in classes.attributes if name in looking.known]


def person_used(
    looking: Looking, classes: EquivalenceClasses, known: Sequence[str]
) -> dict[str, str]:
    """The person that is looked for: the one chosen if there can be one, else who stands out."""
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    person = {
        name: looking.person[name]
        for name, tree in trees
        if looking.person.get(name) in tree.node_of
    }
    return person if len(person) == len(classes.attributes) else somebody(classes, known)


def somebody(
    classes: EquivalenceClasses, known: Sequence[str], random: np.random.Generator | None = None
) -> dict[str, str]:
    """All quasi-identifiers of a person who is unique by those that are known, if there is one.

    Parameters
    ----------
    classes
        The classes of the original table.
    known
        What the attacker knows.
    random
        Draws any such person; without it, the one in the middle of the canonical order is taken.
    """
    by_known = projected(classes, [classes.attributes.index(name) for name in known])
    unique = np.flatnonzero(by_known.counts == by_known.counts.min())
    fits = np.ones(classes.n_classes, dtype=bool)
    if by_known.counts.min() == 1:
        place = unique[len(unique) // 2] if random is None else random.choice(unique)
        for j, name in enumerate(by_known.attributes):
            fits &= classes.nodes[:, classes.attributes.index(name)] == by_known.nodes[place, j]
    candidates = np.flatnonzero(fits)
    if random is None:
        position = candidates[len(candidates) // 2]
    else:
        records = classes.counts[candidates]
        position = random.choice(candidates, p=records / records.sum())
    return {
        name: tree.labels[node]
        for name, tree, node in zip(
            classes.attributes, classes.hierarchies, classes.nodes[position], strict=True
        )
    }


def occurring(classes: EquivalenceClasses, attribute: str) -> list[str]:
    """The values of a quasi-identifier that occur in the table, in the order of its hierarchy."""
    place = classes.attributes.index(attribute)
    labels = classes.hierarchies[place].labels
    return [labels[node] for node in np.unique(classes.nodes[:, place])]


def facts(person: Mapping[str, str], known: Sequence[str]) -> dict[str, str]:
    """What the attacker knows of a person."""
    return {name: person[name] for name in known}


def baseline_of(sensitive: Sensitive) -> Match:
    """What anybody knows who looks for nobody: every record of the table matches."""
    records = int(sensitive.total.sum())
    return Match(np.zeros(0, dtype=np.int64), records, sensitive.values, sensitive.total)


def about_person(before: Match, after: Match, baseline: Match | None, suppressed: int) -> list[str]:
    """What an attacker learns of one person, before and after the release, in sentences.

    Parameters
    ----------
    before, after
        The records that match in the table and in its release.
    baseline
        See :func:`baseline_of`; None where there is nothing to guess.
    suppressed
        The records that left the release.
    """
    sentences = [f"**Before:** {_found(before)}", f"**After:** {_found(after)}"]
    if before.records and not after.records and suppressed:
        sentences.append("The record of such a person was suppressed: it left the release.")
    if baseline is not None and baseline.sureness is not None:
        sentences.append(
            f"**Without either:** whoever knows how frequent each value is in the table guesses "
            f"{_values(baseline)}, {percent(100 * baseline.sureness)} sure."
        )
    return sentences


def _found(match: Match) -> str:
    if not match.records:
        return "no record matches, so the attacker learns nothing about this person."
    found = f"{counted(match.records, 'record')} {'matches' if match.records == 1 else 'match'}"
    sure = match.sureness
    if sure is None:
        return f"{found}."
    if sure == 1:
        alike = "" if match.records == 1 else ", and all say the same"
        return f"{found}{alike}: the attacker is certain of {_values(match)}."
    if len(match.guesses) == 1:
        return f"{found}; the best guess is {_values(match)}, {percent(100 * sure)} sure."
    return f"{found}; the best guesses are {_values(match)}, {percent(100 * sure)} sure each."


def _values(match: Match, most: int = 3) -> str:
    """The best guesses, as they stand in a sentence."""
    shown = [f"“{plain(shortened(value))}”" for value in match.guesses[:most]]
    more = len(match.guesses) - len(shown)
    if more:
        return f"{', '.join(shown)} and {thin(more)} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def about_everybody(
    records: int, known: Sequence[str], before: Linkage, after: Linkage, baseline: Match | None
) -> str:
    """What the same knowledge does to every person of the table, in a sentence."""
    what = plain(", ".join(known)) if known else "nothing"
    found = (
        f"**Everybody, one after the other:** knowing {what} singles out "
        f"{percent(100 * before.singled_out)} of {thin(records)} persons before and "
        f"{percent(100 * after.singled_out)} after; on average {_mean(before.matches)} records "
        f"match before and {_mean(after.matches)} after."
    )
    if before.right is None or after.right is None or baseline is None:
        return found
    assert baseline.sureness is not None
    return (
        f"{found} The best guess is right for {percent(100 * before.right)} of them before and "
        f"{percent(100 * after.right)} after; always guessing {_values(baseline)} is right for "
        f"{percent(100 * baseline.sureness)}."
    )


def _mean(number: float) -> str:
    return f"{number:.1f}" if number < 100 else thin(number)
