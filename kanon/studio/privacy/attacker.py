"""The attacker of the Privacy page: what they know, whom they look for, and what they find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kanon.base.formatting import write_count, write_percent
from kanon.base.sentences import write_records, write_records_or_persons
from kanon.classes import EquivalenceClasses
from kanon.measures.linkage import Linkage, Match, project_classes
from kanon.privacy.reidentification import THRESHOLD
from kanon.sensitive import Sensitive
from kanon.studio.session.parts import StateSection
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState

FIRST_KNOWN = 3  # so many quasi-identifiers are known at first, about as many as a neighbour knows


@dataclass(frozen=True)
class PrivacyView(StateSection):
    by: str = "entropy_l"  # the level that the classes are sorted by
    extra: tuple[str, ...] = ()  # the levels shown beside it
    chosen: tuple[str, ...] | None = None  # released tuple of the class shown; None: the worst
    threshold: float = THRESHOLD  # a risk of being found is high above it
    known: tuple[str, ...] | None = None  # the attacker's quasi-identifiers; None for the first few
    # the values of the person looked for, by quasi-identifier; empty for a unique person
    person: Mapping[str, str] = field(default_factory=dict)
    uploads: int = 0  # how often a population was removed, so that its file field is empty again


def remove_population(work: SessionState) -> SessionState:
    view = work.view(PrivacyView)
    view = replace(view, uploads=view.uploads + 1)
    return work.replace_sections(
        view, replace(work.purpose, population=None, population_origin=None)
    )


def get_known_columns(view: PrivacyView, classes: EquivalenceClasses) -> list[str]:
    if view.known is None:
        return list(classes.attributes[:FIRST_KNOWN])
    return [name for name in classes.attributes if name in view.known]


def get_person(
    view: PrivacyView, classes: EquivalenceClasses, columns: Sequence[str]
) -> dict[str, str]:
    """The person looked for: the chosen one if possible, else a unique one."""
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    person = {
        name: view.person[name] for name, tree in trees if view.person.get(name) in tree.node_of
    }
    return person if len(person) == len(classes.attributes) else choose_person_by(classes, columns)


def choose_person_by(
    classes: EquivalenceClasses, columns: Sequence[str], random: np.random.Generator | None = None
) -> dict[str, str]:
    """All quasi-identifiers of a person who is unique by the known ones, if possible."""
    by_known = project_classes(classes, [classes.attributes.index(name) for name in columns])
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


def list_occurring(classes: EquivalenceClasses, attribute: str) -> list[str]:
    place = classes.attributes.index(attribute)
    labels = classes.hierarchies[place].labels
    return [labels[node] for node in np.unique(classes.nodes[:, place])]


def select_facts(person: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    return {name: person[name] for name in columns}


def get_baseline(sensitive: Sensitive) -> Match:
    """The match of someone who knows nothing about the person: all records match."""
    records = int(sensitive.total.sum())
    return Match(np.zeros(0, dtype=np.int64), records, sensitive.values, sensitive.total)


def describe_attack(
    before: Match, after: Match, baseline: Match | None, suppressed: int
) -> list[str]:
    sentences = [f"**Before:** {_describe_match(before)}", f"**After:** {_describe_match(after)}"]
    if before.records and not after.records and suppressed:
        sentences.append("The record of such a person was suppressed: it is not in the release.")
    if baseline is not None and baseline.sureness is not None:
        sentences.append(
            "**Without facts about the person:** anyone who knows the share of each value guesses "
            f"{_list_guesses(baseline)} and is {write_percent(100 * baseline.sureness)} sure."
        )
    return sentences


def _describe_match(match: Match) -> str:
    if not match.records:
        return "no record matches, so the attacker learns nothing about this person."
    matches = f"{count_matches(match)} {'matches' if match.records == 1 else 'match'}"
    sure, values = match.sureness, _list_guesses(match)
    if sure is None:
        return f"{matches}."
    if sure == 1:
        same = "" if match.records == 1 else ", and all have the same value"
        return f"{matches}{same}: the attacker is certain of {values}."
    likely = f"{write_percent(100 * sure)} likely to be right."
    if len(match.guesses) == 1:
        return f"{matches}; the best guess is {values}, {likely}"
    return f"{matches}; the best guesses are {values}, each {likely}"


def count_matches(match: Match) -> str:
    if match.persons is None:
        return write_records(match.records)
    return f"{write_records(match.records)} of {write_records_or_persons(match.persons, 'persons')}"


def _list_guesses(match: Match, most: int = 3) -> str:
    listed = [f"“{escape_markdown(trim_title(value))}”" for value in match.guesses[:most]]
    more = len(match.guesses) - len(listed)
    if more:
        return f"{', '.join(listed)} and {write_count(more)} more"
    if len(listed) > 1:
        return f"{', '.join(listed[:-1])} and {listed[-1]}"
    return "".join(listed)


def describe_all_attacks(
    classes: EquivalenceClasses,
    columns: Sequence[str],
    before: Linkage,
    after: Linkage,
    baseline: Match | None,
) -> str:
    facts_text = escape_markdown(", ".join(columns)) if columns else "nothing"
    out, out_after = (write_percent(100 * attack.singled_out) for attack in (before, after))
    shares = (
        f"{out} of {write_records_or_persons(classes.highest_k, before.of)} before "
        f"and {out_after} after"
    )
    match_before, match_after = _write_mean(before.matches), _write_mean(after.matches)
    sentence = (
        f"knowing {facts_text} singles out {shares}; on average {match_before} records match "
        f"before and {match_after} after."
    )
    if before.of == "persons":
        sentence = (
            f"knowing {facts_text} from one of a person's records singles out {shares}; on "
            f"average {match_before} persons match before and {match_after} after, counting each "
            "person's most revealing record."
        )
    sentence = f"**Everyone in turn:** {sentence}"
    if before.right is None or after.right is None or baseline is None:
        return sentence
    assert baseline.sureness is not None
    about_guesses = (
        f"The best guess is right for {write_percent(100 * before.right)} of "
        f"{write_records(classes.n_records)} before and "
        f"{write_percent(100 * after.right)} after; always "
        f"guessing {_list_guesses(baseline)} is right for {write_percent(100 * baseline.sureness)}."
    )
    return f"{sentence} {about_guesses}"


def _write_mean(number: float) -> str:
    return f"{number:.1f}" if number < 100 else write_count(number)
