"""The attacker of the page Privacy: what they know, whom they look for, and what they find."""

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

FIRST_KNOWN = 3  # so many quasi-identifiers are known at first, about as many as a neighbour knows


@dataclass(frozen=True)
class PrivacyView(SessionPart):
    by: str = "entropy_l"  # the level that the classes are sorted by
    extra: tuple[str, ...] = ()  # the levels shown beside it
    chosen: tuple[str, ...] | None = None  # released tuple of the class shown; None: the worst
    threshold: float = THRESHOLD  # a risk of being found is high above it
    known: tuple[str, ...] | None = None  # the attacker's quasi-identifiers; None for the first few
    # the values of the person looked for, by quasi-identifier; empty for a unique person
    person: Mapping[str, str] = field(default_factory=dict)
    uploads: int = 0  # how often a population was removed, so that its file field is empty again


def without_population(work: Work) -> Work:
    view = work.view(PrivacyView)
    view = replace(view, uploads=view.uploads + 1)
    return work.with_parts(view, replace(work.purpose, population=None, population_origin=None))


def known_used(view: PrivacyView, classes: EquivalenceClasses) -> list[str]:
    if view.known is None:
        return list(classes.attributes[:FIRST_KNOWN])
    return [name for name in classes.attributes if name in view.known]


def person_used(
    view: PrivacyView, classes: EquivalenceClasses, columns: Sequence[str]
) -> dict[str, str]:
    """The person looked for: the chosen one if possible, else a unique one."""
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    person = {
        name: view.person[name] for name, tree in trees if view.person.get(name) in tree.node_of
    }
    return person if len(person) == len(classes.attributes) else somebody(classes, columns)


def somebody(
    classes: EquivalenceClasses, columns: Sequence[str], random: np.random.Generator | None = None
) -> dict[str, str]:
    """All quasi-identifiers of a person who is unique by the known ones, if possible."""
    by_known = projected(classes, [classes.attributes.index(name) for name in columns])
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
    place = classes.attributes.index(attribute)
    labels = classes.hierarchies[place].labels
    return [labels[node] for node in np.unique(classes.nodes[:, place])]


def facts(person: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    return {name: person[name] for name in columns}


def baseline_of(sensitive: Sensitive) -> Match:
    """The match of someone who knows nothing about the person: all records match."""
    records = int(sensitive.total.sum())
    return Match(np.zeros(0, dtype=np.int64), records, sensitive.values, sensitive.total)


def about_person(before: Match, after: Match, baseline: Match | None, suppressed: int) -> list[str]:
    sentences = [f"**Before:** {_describe_match(before)}", f"**After:** {_describe_match(after)}"]
    if before.records and not after.records and suppressed:
        sentences.append("The record of such a person was suppressed: it is not in the release.")
    if baseline is not None and baseline.sureness is not None:
        sentences.append(
            "**Without either:** anyone who knows how frequent each value is in the table "
            f"guesses {_list_guesses(baseline)}, {percent(100 * baseline.sureness)} sure."
        )
    return sentences


def _describe_match(match: Match) -> str:
    if not match.records:
        return "no record matches, so the attacker learns nothing about this person."
    matches = f"{matching_said(match)} {'matches' if match.records == 1 else 'match'}"
    sure, values = match.sureness, _list_guesses(match)
    if sure is None:
        return f"{matches}."
    if sure == 1:
        same = "" if match.records == 1 else ", and all have the same value"
        return f"{matches}{same}: the attacker is certain of {values}."
    if len(match.guesses) == 1:
        return f"{matches}; the best guess is {values}, {percent(100 * sure)} sure."
    return f"{matches}; the best guesses are {values}, {percent(100 * sure)} sure each."


def matching_said(match: Match) -> str:
    if match.persons is None:
        return records_said(match.records)
    return f"{records_said(match.records)} of {number_said(match.persons, 'persons')}"


def _list_guesses(match: Match, most: int = 3) -> str:
    listed = [f"“{plain(shortened(value))}”" for value in match.guesses[:most]]
    more = len(match.guesses) - len(listed)
    if more:
        return f"{', '.join(listed)} and {thin(more)} more"
    if len(listed) > 1:
        return f"{', '.join(listed[:-1])} and {listed[-1]}"
    return "".join(listed)


def about_everybody(
    classes: EquivalenceClasses,
    columns: Sequence[str],
    before: Linkage,
    after: Linkage,
    baseline: Match | None,
) -> str:
    facts_text = plain(", ".join(columns)) if columns else "nothing"
    out, out_after = (percent(100 * attack.singled_out) for attack in (before, after))
    shares = f"{out} of {number_said(classes.highest_k, before.of)} before and {out_after} after"
    match_before, match_after = _write_mean(before.matches), _write_mean(after.matches)
    sentence = (
        f"knowing {facts_text} singles out {shares}; on average {match_before} records match "
        f"before and {match_after} after."
    )
    if before.of == "persons":
        sentence = (
            f"knowing {facts_text} from one of their records singles out {shares}; on average "
            f"{match_before} persons match before and {match_after} after, by each person's most "
            "revealing record."
        )
    sentence = f"**Everyone in turn:** {sentence}"
    if before.right is None or after.right is None or baseline is None:
        return sentence
    assert baseline.sureness is not None
    about_guesses = (
        f"The best guess is right for {percent(100 * before.right)} of "
        f"{records_said(classes.n_records)} before and {percent(100 * after.right)} after; always "
        f"guessing {_list_guesses(baseline)} is right for {percent(100 * baseline.sureness)}."
    )
    return f"{sentence} {about_guesses}"


def _write_mean(number: float) -> str:
    return f"{number:.1f}" if number < 100 else thin(number)
