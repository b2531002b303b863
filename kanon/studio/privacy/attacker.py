"""Whom the page Privacy attacks and looks at, and what an attacker finds, in sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kanon.base.formatting import percent, thin
from kanon.base.sentences import number_said, records_said
from kanon.classes import EquivalenceClasses
from kanon.measures.linkage import Linkage, Match, projected
from kanon.privacy.reidentification import THRESHOLD
from kanon.sensitive import Sensitive
from kanon.studio.session.parts import SessionPart
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work

FIRST_KNOWN = 3  # so many quasi-identifiers are known at first: a neighbour knows about as much


@dataclass(frozen=True)
class PrivacyView(SessionPart):
    by: str = "entropy_l"  # the level that the classes are sorted by
    extra: tuple[str, ...] = ()  # the levels shown beside it
    chosen: tuple[str, ...] | None = None  # released tuple of the class shown; None: the worst
    threshold: float = THRESHOLD  # from here on a risk of being found counts as high
    known: tuple[str, ...] | None = None  # the attacker's quasi-identifiers; None for the first few
    # values of the person looked for, by quasi-identifier; none for one who stands out
    person: Mapping[str, str] = field(default_factory=dict)
    uploads: int = 0  # how often a population was removed, so that its file field is empty again


def without_population(work: Work) -> Work:
    """The work without a population, so that nobody is left who has its rows."""
    looking = work.view(PrivacyView)
    looking = replace(looking, uploads=looking.uploads + 1)
    return work.with_parts(looking, replace(work.purpose, population=None, population_origin=None))


def known_used(looking: PrivacyView, classes: EquivalenceClasses) -> list[str]:
    """The attributes that the attacker knows, those that are no quasi-identifiers left out."""
    if looking.known is None:
        return list(classes.attributes[:FIRST_KNOWN])
    return [name for name in classes.attributes if name in looking.known]


def person_used(
    looking: PrivacyView, classes: EquivalenceClasses, known: Sequence[str]
) -> dict[str, str]:
    """The person looked for: the chosen one if possible, else one who stands out."""
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
    """All quasi-identifiers of a person who is unique by the known ones, if there is one."""
    by_known = projected(classes, [classes.attributes.index(name) for name in known])
    unique = np.flatnonzero(by_known.hiding == by_known.hiding.min())
    fits = np.ones(classes.n_classes, dtype=bool)
    if by_known.hiding.min() == 1:
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
    return {name: person[name] for name in known}


def baseline_of(sensitive: Sensitive) -> Match:
    """What anyone knows without looking for a person: every record of the table matches."""
    records = int(sensitive.total.sum())
    return Match(np.zeros(0, dtype=np.int64), records, sensitive.values, sensitive.total)


def about_person(before: Match, after: Match, baseline: Match | None, suppressed: int) -> list[str]:
    sentences = [f"**Before:** {_found(before)}", f"**After:** {_found(after)}"]
    if before.records and not after.records and suppressed:
        sentences.append("The record of such a person was suppressed: it left the release.")
    if baseline is not None and baseline.sureness is not None:
        sentences.append(
            "**Without either:** whoever knows how frequent each value is in the table "
            f"guesses {_values(baseline)}, {percent(100 * baseline.sureness)} sure."
        )
    return sentences


def _found(match: Match) -> str:
    if not match.records:
        return "no record matches, so the attacker learns nothing about this person."
    matches = f"{matching_said(match)} {'matches' if match.records == 1 else 'match'}"
    sure, values = match.sureness, _values(match)
    if sure is None:
        return f"{matches}."
    if sure == 1:
        same = "" if match.records == 1 else ", and all say the same"
        return f"{matches}{same}: the attacker is certain of {values}."
    if len(match.guesses) == 1:
        return f"{matches}; the best guess is {values}, {percent(100 * sure)} sure."
    return f"{matches}; the best guesses are {values}, {percent(100 * sure)} sure each."


def matching_said(match: Match) -> str:
    if match.persons is None:
        return records_said(match.records)
    return f"{records_said(match.records)} of {number_said(match.persons, 'persons')}"


def _values(match: Match, most: int = 3) -> str:
    shown = [f"“{plain(shortened(value))}”" for value in match.guesses[:most]]
    more = len(match.guesses) - len(shown)
    if more:
        return f"{', '.join(shown)} and {thin(more)} more"
    if len(shown) > 1:
        return f"{', '.join(shown[:-1])} and {shown[-1]}"
    return "".join(shown)


def about_everybody(
    classes: EquivalenceClasses,
    known: Sequence[str],
    before: Linkage,
    after: Linkage,
    baseline: Match | None,
) -> str:
    what = plain(", ".join(known)) if known else "nothing"
    out, out_after = (percent(100 * one.singled_out) for one in (before, after))
    singled = f"{out} of {number_said(classes.highest_k, before.of)} before and {out_after} after"
    match_before, match_after = _mean(before.matches), _mean(after.matches)
    found = (
        f"knowing {what} singles out {singled}; on average {match_before} records match before "
        f"and {match_after} after."
    )
    if before.of == "persons":
        found = (
            f"knowing {what} of one of their records singles out {singled}; on average "
            f"{match_before} persons match before and {match_after} after, by the record that "
            "most gives them away."
        )
    found = f"**Everybody, one after the other:** {found}"
    if before.right is None or after.right is None or baseline is None:
        return found
    assert baseline.sureness is not None
    guessed = (
        f"The best guess is right for {percent(100 * before.right)} of "
        f"{records_said(classes.n_records)} before and {percent(100 * after.right)} after; always "
        f"guessing {_values(baseline)} is right for {percent(100 * baseline.sureness)}."
    )
    return f"{found} {guessed}"


def _mean(number: float) -> str:
    return f"{number:.1f}" if number < 100 else thin(number)
