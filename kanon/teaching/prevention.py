"""What an attacker concludes from how far values were raised, and which models prevent it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

from kanon.base.formatting import write_percent
from kanon.errors import Unsatisfiable, list_names
from kanon.hierarchy import build
from kanon.measures import alteration
from kanon.measures.minimality import Minimality, measure_minimality
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import Model
from kanon.privacy.t_closeness import TCloseness
from kanon.recoding import Trace
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource, build_column_classes
from kanon.teaching.case import METRIC, Case, Shares, list_texts, replace_release
from kanon.teaching.lesson import write_apart
from kanon.teaching.small_tables import raise_to_levels

_MOST_WAYS = 2_000  # the most ways to choose people from a register that are tried


def get_assumed_model(case: Case) -> DistinctLDiversity:
    """The model that is assumed to be required if a release meets it."""
    return DistinctLDiversity(2, case.sensitive)


def measure_release_minimality(case: Case) -> Minimality | None:
    """What a release that meets that model reveals by being minimal."""
    model = get_assumed_model(case)
    holds = model.holds(case.recoding.released)
    return measure_minimality(case.recoding, [model], case.k) if holds else None


def estimate_value_chances(case: Case, known: Mapping[str, str]) -> tuple[Shares, Shares]:
    """The chances of a person's sensitive values, by the class alone and by minimality too."""
    classes, before = case.recoding.classes, case.shares(case.fits(known))
    result = measure_release_minimality(case)
    if result is None or not {*classes.attributes} <= {*known}:
        return before, before
    trees = zip(classes.hierarchies, classes.attributes, strict=True)
    person = [tree.node_of[known[name]] for tree, name in trees]
    for conclusion in result.conclusions:
        if person in classes.nodes[conclusion.members].tolist():
            pairs = zip(conclusion.values.tolist(), conclusion.after.tolist(), strict=True)
            return before, tuple((case.values[value], share) for value, share in pairs if share)
    return before, before


def estimate_people_chances(case: Case, known: Mapping[str, str]) -> tuple[Shares, Shares]:
    """The chances of people in the register to be in a person's class, before and after.

    Before, all ways to choose its records from the matching people are equally likely; after, only
    those that no lower node covers. Where all records have the same levels, nothing follows.
    """
    recoding, register, places = case.recoding, case.register, list(case.fits(known))
    names, trees = recoding.classes.attributes, recoding.classes.hierarchies
    class_positions = {*case.source.get_released_positions(recoding)[places].tolist()}
    if len(class_positions) != 1 or recoding.trace.node is not None or not {*names} <= {*register}:
        return (), ()
    node = recoding.nodes[place := class_positions.pop()].tolist()
    size = int(recoding.counts[place])

    def shared(*tuples: list[int]) -> list[int]:
        return [reduce(tree.lca, nodes) for tree, *nodes in zip(trees, *tuples, strict=True)]

    labels = zip(*(list_texts(register[name]) for name in names), strict=True)
    people = [
        [tree.node_of[label] for tree, label in zip(trees, row, strict=True)] for row in labels
    ]
    matching = [person for person, nodes in enumerate(people) if shared(nodes, node) == node]
    members = recoding.classes.nodes[recoding.assigned == place].tolist()
    if math.comb(len(matching), size) > _MOST_WAYS or shared(*members) != node:
        return (), ()
    ways = [
        way for way in combinations(matching, size) if shared(*map(people.__getitem__, way)) == node
    ]
    names_of_people = {p: " ".join(map(str, register.loc[p, list(case.names)])) for p in matching}
    return tuple((name, size / len(matching)) for name in names_of_people.values()), tuple(
        (name, sum(p in way for way in ways) / len(ways)) for p, name in names_of_people.items()
    )


DEDUCTIONS: Mapping[str, Callable[[Case, Mapping[str, str]], tuple[Shares, Shares]]] = {
    "minimality": estimate_value_chances,
    "downcoding": estimate_people_chances,
}
"""The attacks that follow from how far values were raised."""


LARGEST_T = 0.25
"""The t required against skewness: no share in a class is then more than 25 points above the
table's. A round number for lessons, not a norm."""


@dataclass(frozen=True, eq=False)
class Prevention:
    holds: bool  # whether the release meets the model
    case: Case | None  # the same table with a release that meets it; None if there is none
    sentence: str  # the model, the level of the release, and what meeting the model costs


def find_prevention(kind: str, case: Case, ruled_out: int = 0) -> Prevention:
    return _PREVENTIONS[kind](case, ruled_out)


def _prevent_linkage(case: Case, ruled_out: int) -> Prevention:
    model = KAnonymity(max(case.k, 2))
    reached = build_column_classes(case.released, case.linkable_columns).min_k or 0
    more = [name for name in case.linkable_columns if name not in case.recoding.classes.attributes]
    roles = Schema({**case.schema.roles, **dict.fromkeys(more, Role.QUASI_IDENTIFIER)})
    trees = dict(zip(case.source.classes.attributes, case.source.classes.hierarchies, strict=True))
    trees |= {name: build.suppression(case.knowable_values[name]) for name in more}
    return _build_prevention(
        case,
        f"{model.sentence} for {list_names(case.linkable_columns, most=12)}",
        f"k is {reached}",
        reached >= model.k,
        lambda: replace_release(
            replace(case, schema=roles, source=MemorySource(case.table, roles, trees)), model.k
        ),
    )


def _prevent_by_model(model: Model, symbol: str, case: Case) -> Prevention:
    reached = model.level(case.recoding.released)
    assert reached is not None, "something was released"
    limit = getattr(model, symbol)
    return _build_prevention(
        case,
        model.sentence,
        f"{symbol} is {write_apart([reached, limit])[0]}",
        model.holds(case.recoding.released),
        lambda: replace_release(case, max(case.k, 2), model),
    )


def _prevent_minimality(case: Case, _: int) -> Prevention:
    """The least k of a release from which nothing follows."""
    k, safer = case.k, case
    while (result := measure_release_minimality(safer)) and (
        result.worst or result.n_without_conclusion
    ):
        k += 1
        safer = replace_release(case, k, get_assumed_model(case))
    model, level = KAnonymity(k).sentence, f"k is {case.k}"
    return _build_prevention(case, model, level, safer is case, lambda: safer)


def _prevent_downcoding(case: Case, _: int) -> Prevention:
    """The least level of each column that no released value is above."""
    model = "One level for all values of a column, chosen without looking at the records,"
    level, classes = f"records were raised as little as k = {case.k} allows", case.recoding.classes
    trees = zip(classes.hierarchies, case.recoding.nodes.T, strict=True)
    levels = tuple(int(tree.level[nodes].max()) for tree, nodes in trees)
    same = raise_to_levels(classes, dict(zip(classes.attributes, levels, strict=True)))
    safer = replace(case, recoding=same.with_trace(Trace(node=levels)))
    holds = case.recoding.trace.node is not None
    return _build_prevention(case, model, level, holds, lambda: safer)


_PREVENTIONS: Mapping[str, Callable[[Case, int], Prevention]] = {
    "linkage": _prevent_linkage,
    "homogeneity": lambda case, _: _prevent_by_model(
        DistinctLDiversity(2, case.sensitive), "l", case
    ),
    "skewness": lambda case, _: _prevent_by_model(
        TCloseness(LARGEST_T, case.sensitive, "variational"), "t", case
    ),
    "background": lambda case, ruled_out: _prevent_by_model(
        DistinctLDiversity(max(ruled_out, 1) + 2, case.sensitive), "l", case
    ),
    "minimality": _prevent_minimality,
    "downcoding": _prevent_downcoding,
}


def _build_prevention(
    case: Case, model: str, level: str, holds: bool, safer: Callable[[], Case]
) -> Prevention:
    if holds:
        return Prevention(True, case, f"{model} holds here: {level}.")
    start = f"{model} would not have allowed this release, where {level}"
    try:
        other = safer()
    except Unsatisfiable:
        return Prevention(False, None, f"{start}; no release of this table can meet it.")
    cost, own = (write_percent(alteration.value(one.recoding, METRIC)) for one in (other, case))
    comparison = f"; this one alters {own}" if other.schema is case.schema else ""
    sentence = (
        f"{start}. A release of this table that meets it alters {cost} "
        f"of all that could be lost, measured by {METRIC.card.title}{comparison}."
    )
    return Prevention(False, other, sentence)
