"""What an attacker concludes from how far values were raised: minimality and downcoding."""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from itertools import combinations

from kanon.measures.minimality import Minimality, measure_minimality
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.teaching.case import Case, Shares, texts_of

_MOST_WAYS = 2_000  # so many ways to choose people from a register are looked at


def required_diversity(case: Case) -> DistinctLDiversity:
    """The model that a release is taken to meet on purpose, if it meets it."""
    return DistinctLDiversity(2, case.sensitive)


def minimality_of(case: Case) -> Minimality | None:
    """What the release tells of sensitive values by being minimal, if it meets that model."""
    model = required_diversity(case)
    holds = model.holds(case.recoding.released)
    return measure_minimality(case.recoding, [model], case.k) if holds else None


def deduce_values(case: Case, known: Mapping[str, str]) -> tuple[Shares, Shares]:
    """How likely a person has each sensitive value, by the class alone and by minimality too."""
    classes, before = case.recoding.classes, case.shares(case.fits(known))
    result = minimality_of(case)
    if result is None or not {*classes.attributes} <= {*known}:
        return before, before
    trees = zip(classes.hierarchies, classes.attributes, strict=True)
    person = [tree.node_of[known[name]] for tree, name in trees]
    for one in result.conclusions:
        if person in classes.nodes[one.members].tolist():
            pairs = zip(one.values.tolist(), one.after.tolist(), strict=True)
            return before, tuple((case.values[value], share) for value, share in pairs if share)
    return before, before


def deduce_people(case: Case, known: Mapping[str, str]) -> tuple[Shares, Shares]:
    """How likely people of the register are to be in the class of somebody, before and after.

    Before, all ways to choose its records from the people who fit are equally likely; after, those
    that no lower node would have covered. Where all records have the same levels, nothing follows.
    """
    recoding, register, places = case.recoding, case.register, list(case.fits(known))
    names, trees = recoding.classes.attributes, recoding.classes.hierarchies
    held = {*case.source.class_of_rows(recoding)[places].tolist()}
    if len(held) != 1 or recoding.trace.node is not None or not {*names} <= {*register}:
        return (), ()
    node = recoding.nodes[place := held.pop()].tolist()
    size = int(recoding.counts[place])

    def shared(*tuples: list[int]) -> list[int]:
        return [reduce(tree.lca, nodes) for tree, *nodes in zip(trees, *tuples, strict=True)]

    labels = zip(*(texts_of(register[name]) for name in names), strict=True)
    people = [
        [tree.node_of[label] for tree, label in zip(trees, row, strict=True)] for row in labels
    ]
    fitting = [person for person, nodes in enumerate(people) if shared(nodes, node) == node]
    members = recoding.classes.nodes[recoding.assigned == place].tolist()
    if math.comb(len(fitting), size) > _MOST_WAYS or shared(*members) != node:
        return (), ()
    ways = [
        way for way in combinations(fitting, size) if shared(*map(people.__getitem__, way)) == node
    ]
    called = {p: " ".join(map(str, register.loc[p, list(case.names)])) for p in fitting}
    return tuple((name, size / len(fitting)) for name in called.values()), tuple(
        (name, sum(p in way for way in ways) / len(ways)) for p, name in called.items()
    )


DEDUCTIONS: Mapping[str, Callable[[Case, Mapping[str, str]], tuple[Shares, Shares]]] = {
    "minimality": deduce_values,
    "downcoding": deduce_people,
}
"""The attacks that follow from how far values were raised."""
