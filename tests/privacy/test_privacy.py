"""Privacy models and measures: by hand, against plain fractions, and against frozen answers."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kanon.privacy
from kanon.base.values import MISSING_LABEL
from kanon.cards import Card, parts_of
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, Unsatisfiable
from kanon.hierarchy.build import suppression
from kanon.measures.privacy import privacy_summary, risk_summary, sensitive_measures
from kanon.privacy import (
    alpha_k_anonymity,
    basic_beta_likeness,
    delta_disclosure,
    distinct_l_diversity,
    enhanced_beta_likeness,
    entropy_l_diversity,
    recursive_cl_diversity,
    t_closeness,
)
from kanon.privacy.alpha_k_anonymity import AlphaKAnonymity
from kanon.privacy.basic_beta_likeness import BasicBetaLikeness
from kanon.privacy.conjunction import check_reachable, find_broken
from kanon.privacy.delta_disclosure import DeltaDisclosure
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.enhanced_beta_likeness import EnhancedBetaLikeness
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import Model, SensitiveModel, ranges, rounded
from kanon.privacy.plans import OF_RELEASE
from kanon.privacy.recursive_cl_diversity import RecursiveCLDiversity
from kanon.privacy.reidentification import journalist, marketer, prosecutor
from kanon.privacy.t_closeness import TCloseness
from kanon.sensitive import Sensitive, order_of_values
from kanon.sources.memory import build_column_classes
from kanon.sources.population import count_people_in_classes
from support.paths import ROOT
from support.random_tables import examples

MODELS = {name: part for name, part in parts_of(kanon.privacy).items() if hasattr(part, "MODEL")}

Rows = Sequence[tuple[int, str]]
"""Per record the number of its class and its sensitive value."""


def classes_of(rows: Rows, name: str = "ill") -> EquivalenceClasses:
    """The classes of some records, counted without kanon's own sources."""
    groups = sorted({group for group, _ in rows})
    values, numeric = order_of_values(sorted({value for _, value in rows}))
    sensitive = Sensitive.from_records(
        name,
        values,
        numeric,
        [groups.index(group) for group, _ in rows],
        [values.index(value) for _, value in rows],
        len(groups),
    )
    tree = suppression([f"g{group:03}" for group in range(max(groups, default=0) + 2)])
    sizes = Counter(group for group, _ in rows)
    return EquivalenceClasses(
        ("group",),
        (tree,),
        np.array(groups, dtype=np.int32).reshape(-1, 1),
        np.array([sizes[group] for group in groups], dtype=np.int64),
        (sensitive,),
    )


def sensitive_of(rows: Rows) -> Sensitive:
    return classes_of(rows).sensitive[0]


def rows_of(*classes: Mapping[str, int]) -> list[tuple[int, str]]:
    """Records from one histogram per class."""
    return [
        (group, value)
        for group, counts in enumerate(classes)
        for value, count in counts.items()
        for _ in range(count)
    ]


# --- Plain answers in fractions -----------------------------------------------------------------
def shares(rows: Rows) -> dict[str, Fraction]:
    counts = Counter(value for _, value in rows)
    return {value: Fraction(count, len(rows)) for value, count in counts.items()}


def each_class(rows: Rows) -> list[list[tuple[int, str]]]:
    return [[row for row in rows if row[0] == group] for group in sorted({g for g, _ in rows})]


def plain_entropy_l(rows: Rows, table: Rows) -> float:
    return math.exp(-math.fsum(p * math.log(p) for p in map(float, shares(rows).values())))


def plain_distinct_l(rows: Rows, table: Rows) -> int:
    return len({value for _, value in rows})


def plain_recursive(rows: Rows, l: int) -> float:  # noqa: E741
    counts = sorted(Counter(value for _, value in rows).values(), reverse=True)
    rest = sum(counts[l - 1 :])
    return float(Fraction(counts[0], rest)) if rest else math.inf


def plain_norm1(rows: Rows, table: Rows) -> float:
    p, q = shares(rows), shares(table)
    return float(sum(abs(p.get(value, Fraction(0)) - q[value]) for value in q))


def plain_variational(rows: Rows, table: Rows) -> float:
    """The largest difference between the shares of any set of values: those that gained."""
    p, q = shares(rows), shares(table)
    return float(sum(max(p.get(value, Fraction(0)) - q[value], 0) for value in q))


def plain_ordered(rows: Rows, table: Rows) -> float:
    """What it costs to carry the mix of the class, step by step, to that of the table."""
    present = [value for value in shares(table) if value != MISSING_LABEL]
    order = sorted(present, key=float) + [MISSING_LABEL] * (MISSING_LABEL in shares(table))
    if len(order) == 1:
        return 0.0
    have = [shares(rows).get(value, Fraction(0)) for value in order]
    want = [shares(table)[value] for value in order]
    cost, source = Fraction(0), 0
    for place, needed in enumerate(want):
        left = needed
        while left:
            while not have[source]:
                source += 1
            moved = min(left, have[source])
            cost += moved * abs(place - source)
            have[source] -= moved
            left -= moved
    return float(cost / (len(order) - 1))


def plain_alpha(rows: Rows, table: Rows) -> float:
    return float(max(shares(rows).values()))


def plain_delta(rows: Rows, table: Rows) -> float:
    p, q = shares(rows), shares(table)
    return max(abs(math.log(p[value] / q[value])) if value in p else math.inf for value in q)


def plain_delta_present(rows: Rows, table: Rows) -> float:
    p, q = shares(rows), shares(table)
    return max(abs(math.log(p[value] / q[value])) for value in p)


def plain_gains(rows: Rows, table: Rows) -> dict[str, Fraction]:
    p, q = shares(rows), shares(table)
    return {value: (p[value] - q[value]) / q[value] for value in p if p[value] > q[value]}


def plain_basic(rows: Rows, table: Rows) -> float:
    return float(max(plain_gains(rows, table).values(), default=0))


def plain_enhanced(rows: Rows, table: Rows) -> float:
    gains, q = plain_gains(rows, table), shares(table)
    allowed = all(float(gain) <= -math.log(q[value]) for value, gain in gains.items())
    return plain_basic(rows, table) if allowed else math.inf


EXACT: dict[str, tuple[Callable, Callable]] = {
    "distinct l": (distinct_l_diversity.each, plain_distinct_l),
    "norm 1": (t_closeness.each, plain_norm1),
    "variational": (lambda s: t_closeness.each(s, "variational"), plain_variational),
    "emd equal": (lambda s: t_closeness.each(s, "emd-equal"), plain_variational),
    "emd ordered": (lambda s: t_closeness.each(s, "emd-ordered"), plain_ordered),
    "alpha": (alpha_k_anonymity.each, plain_alpha),
    "basic beta": (basic_beta_likeness.each, plain_basic),
    **{
        f"recursive {first}": (
            lambda s, first=first: recursive_cl_diversity.each(s, first),
            lambda rows, table, first=first: plain_recursive(rows, first),
        )
        for first in (1, 2, 3)
    },
}
CLOSE: dict[str, tuple[Callable, Callable]] = {
    "entropy l": (entropy_l_diversity.each, plain_entropy_l),
    "delta": (delta_disclosure.each, plain_delta),
    "delta present": (lambda s: delta_disclosure.each(s, present_only=True), plain_delta_present),
    "enhanced beta": (enhanced_beta_likeness.each, plain_enhanced),
}
NUMBERS = ["1", "2", "3.5", "10", "-4", MISSING_LABEL]


@st.composite
def tables(draw, most_classes: int = 5, most_records: int = 30) -> list[tuple[int, str]]:
    """Records of some classes; the values are numbers, and missing."""
    record = st.tuples(st.integers(0, most_classes - 1), st.sampled_from(NUMBERS))
    rows = draw(st.lists(record, min_size=1, max_size=most_records))
    assume({value for _, value in rows} != {MISSING_LABEL})
    return rows


@examples(200)
@given(tables())
def test_every_level_is_the_plain_one(rows):
    sensitive = sensitive_of(rows)
    for name, (measured, plain) in {**EXACT, **CLOSE}.items():
        expected = [plain(part, rows) for part in each_class(rows)]
        found = measured(sensitive)
        assert found.shape == (sensitive.n_classes,)
        if name in EXACT:
            assert found.tolist() == expected, name
        else:
            assert found.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12), name


# --- Tables by hand -----------------------------------------------------------------------------
# [M23, Table 1a], by gender: F has two colds, a bronchitis, a conjunctivitis; M has two broken
# paws, an angina, a bronchitis.
ANIMALS = rows_of(
    {"Cold": 2, "Bronchitis": 1, "Conjunctivitis": 1},
    {"Broken paw": 2, "Angina": 1, "Bronchitis": 1},
)


def test_the_worked_table_by_gender():
    found = sensitive_measures(sensitive_of(ANIMALS))
    # p = (1/2, 1/4, 1/4) in either class; q = 2/8 for three diseases, 1/8 for the other two.
    assert found == {
        "entropy_l": pytest.approx(2 * math.sqrt(2)),
        "distinct_l": 3,
        "t_norm1": 1 / 4 + 0 + 1 / 8 + 1 / 4 + 1 / 8,
        "t_variational": 3 / 8,
        "t_emd_equal": 3 / 8,
        "alpha": 0.5,
        "recursive_c": 1.0,
        "delta": None,
        "delta_present": pytest.approx(math.log(2)),
        "basic_beta": 1.0,
        "enhanced_beta": 1.0,
    }


def test_a_class_of_one_disease_is_seen():
    """The homogeneity attack: four in their thirties, all with cancer."""
    rows = rows_of({"heart": 2, "viral": 2}, {"cancer": 1, "heart": 1, "viral": 2}, {"cancer": 4})
    sensitive = sensitive_of(rows)
    assert KAnonymity(4).holds(classes_of(rows))
    assert distinct_l_diversity.each(sensitive).tolist() == [2, 3, 1]
    assert entropy_l_diversity.each(sensitive).tolist() == pytest.approx([2, 2 * math.sqrt(2), 1])
    assert recursive_cl_diversity.each(sensitive, 2).tolist() == [1, 1, math.inf]
    assert recursive_cl_diversity.each(sensitive, 3).tolist() == [math.inf, 2, math.inf]
    assert alpha_k_anonymity.each(sensitive).tolist() == [0.5, 0.5, 1]
    # q = (5, 3, 4) twelfths of cancer, heart, viral
    assert t_closeness.each(sensitive).tolist() == [10 / 12, 4 / 12, 14 / 12]
    assert basic_beta_likeness.each(sensitive).tolist() == [1, 0.5, 7 / 5]
    assert find_broken([KAnonymity(4), EntropyLDiversity(2, "ill")], classes_of(rows)).tolist() == [
        False,
        False,
        True,
    ]


def test_the_salaries_of_the_paper_on_t_closeness():
    """[Li, Li, Venkatasubramanian 2007, section 5]: salaries 3k to 11k, 0.375 and 0.167."""
    rows = rows_of({"3": 1, "4": 1, "5": 1}, {"6": 1, "8": 1, "11": 1}, {"7": 1, "9": 1, "10": 1})
    found = t_closeness.each(sensitive_of(rows), "emd-ordered")
    assert found[:2].tolist() == [0.375, pytest.approx(1 / 6)]


def test_the_ordered_distance_of_nearly_unique_numbers():
    """A class for each of 20,000 pairs among 40,000 numbers: side by side, 800 million cells."""
    places = np.arange(40_000)
    values = list(map(str, places))
    pay = Sensitive.from_records("pay", values, True, places // 2, places, 20_000)
    levels = t_closeness.each(pay, "emd-ordered")
    # The first class has the two least: all else lies above, on average half of all steps away.
    assert levels[0] == levels[-1] == pytest.approx(0.5, abs=1e-3)
    assert levels.min() == pytest.approx(0.25, abs=1e-3), "the two in the middle"


def test_the_ordered_distance_of_more_records_than_whole_numbers_can_multiply():
    few = np.array([1, 2, 1, 3])
    classes, places = [0, 0, 1, 1], [0, 1, 1, 2]
    pays = [
        Sensitive.from_counts("pay", ["1", "2", "9"], True, classes, places, each, 2)
        for each in (few, few * 2**31)
    ]
    levels = [t_closeness.each(pay, "emd-ordered").tolist() for pay in pays]
    # (1/7, 3/7, 3/7) of the table; up to each value 1/3 - 1/7 and 1 - 4/7 more, 1/7 and 9/28 less.
    assert levels[0] == levels[1] == pytest.approx([13 / 42, 13 / 56])


def test_values_that_left_with_suppressed_records_count_no_more():
    rows = rows_of({"1": 2, "2": 1, "9": 2}, {"1": 1, "9": 3}, {"5": 1, "7": 1})
    kept = sensitive_of(rows).grouped(np.array([0, 1, -1]), 2)
    without = sensitive_of([row for row in rows if row[0] < 2])
    for measured, _ in [*EXACT.values(), *CLOSE.values()]:
        assert measured(kept).tolist() == measured(without).tolist()


def test_some_classes_alone_are_held_against_the_whole_table():
    sensitive = sensitive_of(ANIMALS)
    for measured, _ in [*EXACT.values(), *CLOSE.values()]:
        try:
            whole = measured(sensitive)
        except PlanError:  # the ordered distance of names
            continue
        assert measured(sensitive.only(np.array([1]))).tolist() == [whole[1]]


def test_the_ordered_distance_is_for_numbers():
    for ask in (
        lambda: t_closeness.each(sensitive_of(ANIMALS), "emd-ordered"),
        lambda: check_reachable([TCloseness(1, "ill", "emd-ordered")], classes_of(ANIMALS)),
    ):
        with pytest.raises(PlanError, match=r"needs numbers, which 'ill' .*'emd-equal'"):
            ask()


def test_an_unknown_distance_is_refused():
    with pytest.raises(PlanError, match="'euclid' is unknown; choose from 'norm1'"):
        t_closeness.each(sensitive_of(ANIMALS), "euclid")
    with pytest.raises(PlanError, match="The distance 'euclid' is unknown; choose from 'norm1'"):
        TCloseness(0.5, "ill", "euclid")


@pytest.mark.parametrize(
    ("distance", "highest"),
    [("norm1", 2), ("variational", 1), ("emd-equal", 1), ("emd-ordered", 1)],
)
def test_t_is_at_most_the_greatest_distance(distance, highest):
    assert TCloseness(highest, "ill", distance).t == highest
    with pytest.raises(PlanError, match=f"at most {highest}"):
        TCloseness(np.nextafter(highest, 3).item(), "ill", distance)


# --- Laws ---------------------------------------------------------------------------------------
@examples(150)
@given(tables())
def test_the_table_as_one_class_is_the_best_release(rows):
    sensitive = sensitive_of(rows).whole()
    for distance in ("norm1", "variational", "emd-equal", "emd-ordered"):
        assert t_closeness.each(sensitive, distance).tolist() == [0]
    for measure in (delta_disclosure, basic_beta_likeness, enhanced_beta_likeness):
        assert measure.each(sensitive).tolist() == [0]
    assert distinct_l_diversity.each(sensitive) == len({value for _, value in rows})
    assert entropy_l_diversity.each(sensitive) == pytest.approx(plain_entropy_l(rows, rows))


SOME: list[Model] = [
    KAnonymity(3),
    EntropyLDiversity(2, "ill"),
    DistinctLDiversity(2, "ill"),
    RecursiveCLDiversity(2, 2, "ill"),
    TCloseness(0.5, "ill"),
    TCloseness(0.25, "ill", "emd-ordered"),
    AlphaKAnonymity(0.5, 2, "ill"),
    DeltaDisclosure(1, "ill"),
    BasicBetaLikeness(1, "ill"),
    EnhancedBetaLikeness(1, "ill"),
]


def merged(classes: EquivalenceClasses) -> EquivalenceClasses:
    """The same with its first two classes merged."""
    group = np.maximum(np.arange(classes.n_classes) - 1, 0)
    counts = np.bincount(group, weights=classes.counts).astype(np.int64)
    sensitive = tuple(each.grouped(group, len(counts)) for each in classes.sensitive)
    return replace(classes, nodes=classes.nodes[1:], counts=counts, sensitive=sensitive)


@examples(150)
@given(tables())
def test_merging_two_classes_never_makes_the_worst_one_worse(rows):
    before = classes_of(rows)
    assume(before.n_classes > 1)
    after = merged(before)
    assert after.n_records == before.n_records
    for model in SOME:
        if isinstance(model, EnhancedBetaLikeness | DeltaDisclosure):
            continue  # below, with a tolerance for their logarithms
        old, new = model.levels(before)[:2], model.levels(after)[0]
        if model.card.direction == "higher":
            assert new >= old.min() - 1e-9, model
            if not isinstance(model, KAnonymity):
                assert new <= old.sum() + 1e-9, model
        else:
            assert new <= old.max() + 1e-9, model
    for model in (EnhancedBetaLikeness(1, "ill"), DeltaDisclosure(1, "ill")):
        assert model.levels(after)[0] <= model.levels(before)[:2].max() + 1e-9


@examples(200)
@given(tables(), st.lists(st.sampled_from(SOME), min_size=1, max_size=3))
def test_what_is_refused_no_grouping_meets_and_the_rest_one_class_meets(rows, models):
    classes = classes_of(rows)
    try:
        check_reachable(models, classes)
    except Unsatisfiable:
        while classes.n_classes > 1:
            assert find_broken(models, classes).any()
            classes = merged(classes)
        assert find_broken(models, classes).any()
    else:
        assert not find_broken(models, classes.as_one_class).any()


@examples(150)
@given(tables(), st.lists(st.sampled_from(SOME), max_size=4))
def test_a_class_is_broken_if_it_breaks_any_model(rows, models):
    classes = classes_of(rows)
    expected = [any(not ok for ok in each) for each in zip(
        *([model.holds_each(classes).tolist() for model in models] or [[True] * classes.n_classes]),
        strict=True,
    )]  # fmt: skip
    assert find_broken(models, classes).tolist() == expected
    assert all(model.holds(classes) for model in models) == (not any(expected))


@pytest.mark.parametrize(
    ("counts", "l", "holds"),
    [
        ((50_000, 50_000), 2, True),
        ((50_001, 50_000), 2, False),  # 5e-11 of 2 below it
        ((7,) * 7, 7, True),
        ((30_000, 30_001, 30_000), 3, False),
        ((1, 2, 1), 2 * 2**0.5, True),  # exp of 3/2 ln 2
    ],
)
def test_ratios_that_are_near_an_entropy_are_not_it(counts, l, holds):  # noqa: E741
    rows = np.repeat(np.arange(len(counts)), counts)
    ill = Sensitive.from_records(
        "ill", [str(x) for x in range(len(counts))], False, np.zeros_like(rows), rows, 1
    )
    levels = entropy_l_diversity.each(ill)
    assert EntropyLDiversity(l, "ill").accepts(levels).tolist() == [holds]


@pytest.mark.parametrize(
    ("count", "t", "holds"),
    [
        (4, 0.0, True),
        (5, 0.2, True),  # twice 5/10 - 4/10
        (5, 0.2 - 1e-15, False),
        (7, 0.6, True),
        (400_001, 2e-6, True),
        (400_001, 1.999_999e-6, False),
    ],
)
def test_a_t_that_is_met_exactly_is_met(count, t, holds):
    """A value holds 40 % of the table; so many records of a class of 10, or a million, have it."""
    size = 10 if count < 10 else 10**6
    first, other = (count, size - count), (4 * size - count, 5 * size + count)
    rows = np.repeat([0, 1, 0, 1], [*first, *other])
    classes = np.repeat([0, 0, 1, 1], [*first, *other])
    ill = Sensitive.from_records("ill", ["a", "b"], False, classes, rows, 2)
    found = t_closeness.each(ill, "norm1")[0]
    assert TCloseness(t, "ill").accepts(np.array([found])).tolist() == [holds]


@examples(100)
@given(tables())
def test_a_model_holds_where_its_level_says_so(rows):
    classes = classes_of(rows)
    parts = each_class(rows)
    for model, meets in [
        (KAnonymity(3), lambda part: len(part) >= 3),
        (EntropyLDiversity(2, "ill"), lambda part: plain_entropy_l(part, rows) >= 2 - 1e-9),
        (DistinctLDiversity(2, "ill"), lambda part: plain_distinct_l(part, rows) >= 2),
        (RecursiveCLDiversity(2, 2, "ill"), lambda part: plain_recursive(part, 2) < 2),
        (TCloseness(0.5, "ill"), lambda part: plain_norm1(part, rows) <= 0.5),
        (
            AlphaKAnonymity(0.5, 2, "ill"),
            lambda part: plain_alpha(part, rows) <= 0.5 and len(part) >= 2,
        ),
        (DeltaDisclosure(1, "ill"), lambda part: plain_delta(part, rows) < 1),
        (BasicBetaLikeness(1, "ill"), lambda part: plain_basic(part, rows) <= 1),
        (EnhancedBetaLikeness(1, "ill"), lambda part: plain_enhanced(part, rows) <= 1),
    ]:
        assert model.holds_each(classes).tolist() == [meets(part) for part in parts], model
        levels = model.levels(classes)
        worst = min(levels) if model.card.direction == "higher" else max(levels)
        assert model.level(classes) == worst


def test_thresholds_that_are_reached_exactly():
    for n in range(1, 400):
        even = classes_of(rows_of({"a": n, "b": n}))
        assert EntropyLDiversity(2, "ill").holds(even)
        assert not EntropyLDiversity(2.0001, "ill").holds(even)
    classes = classes_of(rows_of({"a": 3, "b": 2}, {"a": 7, "b": 8}))
    assert TCloseness(0.2, "ill").level(classes) == 0.2
    assert TCloseness(0.2, "ill").holds(classes)
    assert TCloseness(0.1, "ill", "variational").holds(classes)
    assert not TCloseness(0.19, "ill").holds(classes)
    assert AlphaKAnonymity(0.6, 5, "ill").holds(classes)
    assert not AlphaKAnonymity(0.6, 6, "ill").holds(classes)
    assert not AlphaKAnonymity(0.59, 5, "ill").holds(classes)
    assert not RecursiveCLDiversity(1.5, 2, "ill").holds(classes), "below c, not at it"
    assert RecursiveCLDiversity(1.51, 2, "ill").holds(classes)
    assert BasicBetaLikeness(0.2, "ill").holds(classes)
    assert not DeltaDisclosure(math.log(5 / 4), "ill").holds(classes), "below delta, not at it"
    assert DeltaDisclosure(0.2232, "ill").holds(classes)


@pytest.mark.parametrize("model", SOME, ids=str)
def test_a_table_without_classes_breaks_nothing(model):
    empty = replace(
        classes_of(rows_of({"1": 1})),
        nodes=np.zeros((0, 1), np.int32),
        counts=np.zeros(0, np.int64),
    )
    empty = replace(empty, sensitive=(empty.sensitive[0].grouped(np.array([-1]), 0),))
    assert model.holds_each(empty).shape == (0,)
    assert model.holds(empty)
    assert model.level(empty) is None
    assert find_broken([model], empty).shape == (0,)
    check_reachable([model], empty)


# --- What cannot be reached ---------------------------------------------------------------------
REFUSED = {
    KAnonymity(50): "at most that",
    EntropyLDiversity(2, "ill"): "l is at most 1.75",
    DistinctLDiversity(3, "ill"): "l is at most 2",
    RecursiveCLDiversity(3, 2, "ill"): "c has to be above 3",
    RecursiveCLDiversity(1.5, 2, "ill"): "c has to be above 3",
    RecursiveCLDiversity(9, 3, "ill"): "there are only 2 different values",
    AlphaKAnonymity(0.7, 5, "ill"): "alpha is at least 0.75",
    AlphaKAnonymity(0.7, 21, "ill"): "has 20 records",
}


@pytest.mark.parametrize("model", REFUSED, ids=str)
def test_what_no_release_can_meet_is_refused_with_the_best_value(model):
    classes = classes_of([(i, "poor" if i % 4 else "rich") for i in range(20)])
    with pytest.raises(Unsatisfiable, match=REFUSED[model]):
        check_reachable([KAnonymity(2), model], classes)


def test_what_one_class_meets_is_not_refused():
    classes = classes_of([(i, "poor" if i % 4 else "rich") for i in range(20)])
    reachable = [
        KAnonymity(20),
        EntropyLDiversity(1.75, "ill"),
        DistinctLDiversity(2, "ill"),
        RecursiveCLDiversity(3.01, 2, "ill"),
        TCloseness(0, "ill"),
        AlphaKAnonymity(0.75, 20, "ill"),
        DeltaDisclosure(1e-9, "ill"),
        BasicBetaLikeness(1e-9, "ill"),
        EnhancedBetaLikeness(1e-9, "ill"),
    ]
    check_reachable(reachable, classes)
    assert find_broken(reachable, classes).all()


@examples(300)
@given(st.floats(1e-6, 1e6), st.booleans())
def test_a_bound_is_rounded_to_the_side_that_can_be_reached(value, up):
    found = float(rounded(value, up))
    noise = value * 1e-11  # the error of a logarithm does not count
    assert found >= value - noise if up else found <= value + noise
    assert abs(found - value) <= max(0.0101, value * 1e-9) and abs(found - value) <= max(
        0.11 * value, value * 1e-9
    )


@pytest.mark.parametrize("model", [m for m in SOME if isinstance(m, SensitiveModel)], ids=str)
def test_a_column_that_is_not_sensitive_is_refused(model):
    classes = classes_of(ANIMALS, name="disease")
    for ask in (model.levels, model.holds_each, model.level, model.holds):
        with pytest.raises(PlanError, match="'ill' is not sensitive; choose from 'disease'"):
            ask(classes)


# --- Parameters and cards -----------------------------------------------------------------------
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, True, "1", None, -1, -0.5])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in OF_RELEASE])
def test_parameters_are_checked(name, bad):
    model = MODELS[name].MODEL
    good = next(each for each in SOME if type(each) is model)
    assert ranges(model), "a model has parameters"
    for parameter, allowed in ranges(model).items():
        with pytest.raises(PlanError) as caught:
            replace(good, **{parameter: bad})
        assert parameter in str(caught.value)
        assert allowed.text in str(caught.value)


def test_a_very_large_whole_number_is_one():
    assert KAnonymity(10**400).k == 10**400


@pytest.mark.parametrize("name", MODELS)
def test_a_model_carries_its_card(name):
    module: ModuleType = MODELS[name]
    card = module.CARD
    assert isinstance(card, Card)
    assert Path(module.__file__).stem == name.replace("-", "_")
    assert card.title and card.summary.endswith(".") and card.source and card.unit
    assert card.arrow and card.lowest and card.highest
    model = module.MODEL
    assert model.card is card
    assert issubclass(model, Model)
    if issubclass(model, SensitiveModel):
        assert model.symbol in ranges(model)
        assert callable(module.each)


# --- The measures together ----------------------------------------------------------------------
def test_the_measures_are_the_levels_of_the_worst_class():
    rows = rows_of({"1": 2, "2": 1}, {"1": 1, "5": 3}, {"1": 1, "2": 1, "5": 1})
    found = privacy_summary(classes_of(rows))
    parts = each_class(rows)
    lowest = {"entropy_l": plain_entropy_l, "distinct_l": plain_distinct_l}
    highest = {
        "t_norm1": plain_norm1,
        "t_variational": plain_variational,
        "t_emd_equal": plain_variational,
        "t_emd_ordered": plain_ordered,
        "alpha": plain_alpha,
        "recursive_c": lambda part, table: plain_recursive(part, 2),
        "delta_present": plain_delta_present,
        "basic_beta": plain_basic,
    }
    assert set(found) == {*lowest, *highest, "delta", "enhanced_beta"}
    for name, plain in lowest.items():
        assert found[name] == pytest.approx(min(plain(part, rows) for part in parts)), name
    for name, plain in highest.items():
        assert found[name] == pytest.approx(max(plain(part, rows) for part in parts)), name
    assert found["delta"] is None, "a class lacks a value"


def test_several_columns_have_an_object_each():
    one, other = classes_of(ANIMALS), classes_of(ANIMALS, name="again")
    both = replace(one, sensitive=(*one.sensitive, *other.sensitive))
    measures = privacy_summary(one)
    assert privacy_summary(both) == {"sensitive": {"ill": measures, "again": measures}}
    assert privacy_summary(replace(one, sensitive=())) == {}


@examples(100)
@given(tables())
def test_the_measures_are_valid_json(rows):
    found = {**privacy_summary(classes_of(rows)), **risk_summary(classes_of(rows))}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


# --- The risk of being found --------------------------------------------------------------------
@examples(150)
@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 9)), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]),
)
def test_the_risks_are_those_of_the_records(sizes, threshold):
    classes = classes_of(rows_of(*({"x": f} for f, _ in sizes)))
    population = np.array([f + more for f, more in sizes])
    n = classes.n_records
    known = [Fraction(1, f) for f, _ in sizes for _ in range(f)]
    unknown = [Fraction(1, f + more) for f, more in sizes for _ in range(f)]
    pursued, exposed = prosecutor(classes, threshold), journalist(classes, population, threshold)
    assert asdict(pursued) == pytest.approx(
        {
            "highest": float(max(known)),
            "mean": float(sum(known) / n),
            "threshold": threshold,
            "share_above": sum(float(risk) > threshold for risk in known) / n,
        }
    )
    recognised = float(sum(unknown) / n)
    assert marketer(classes, population) == pytest.approx(recognised)
    # From the population one guesses among all F of a class, and is right once per class.
    from_population = len(sizes) / sum(f + more for f, more in sizes)
    assert asdict(exposed) == pytest.approx(
        {
            "highest": float(max(unknown)),
            "mean": max(recognised, from_population),
            "threshold": threshold,
            "share_above": sum(float(risk) > threshold for risk in unknown) / n,
        }
    )
    assert exposed.highest <= pursued.highest
    assert exposed.mean <= pursued.mean + 1e-12
    assert recognised <= exposed.mean + 1e-12
    if not any(more for _, more in sizes):
        assert asdict(exposed) == pytest.approx(asdict(pursued))


@pytest.mark.parametrize(
    ("population", "said"),
    [([10, 3, 20], "1 class of the table has"), ([0, 3, 20], "2 classes of")],
)
def test_a_population_that_lacks_people_is_refused(population, said):
    classes = classes_of(rows_of({"x": 1}, {"x": 4}, {"x": 5}))
    for ask in (journalist, marketer, risk_summary):
        with pytest.raises(TableError, match=said):
            ask(classes, np.array(population))


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, "0.2"])
def test_a_threshold_is_a_share(threshold):
    classes = classes_of(ANIMALS)
    for ask in (
        lambda: prosecutor(classes, threshold),
        lambda: journalist(classes, classes.counts, threshold),
    ):
        with pytest.raises(PlanError, match="threshold has to be a number of at least 0 and at"):
            ask()


# --- Tables as they are -------------------------------------------------------------------------
def test_classes_of_columns_count_missing_as_a_value():
    table = pd.DataFrame(
        {"a": [1.0, None, 1.0, None], "b": ["x", "y", "x", "y"], "ill": ["f", None, None, "c"]}
    )
    found = build_column_classes(table, ["a", "b"], ["ill"])
    assert found.counts.tolist() == [2, 2]
    ill = found.sensitive_named("ill")
    assert ill.values == ("c", "f", MISSING_LABEL)
    assert ill.dense().tolist() == [[1, 0, 1], [0, 1, 1]]


def test_people_are_matched_with_classes_by_their_texts():
    table = pd.DataFrame({"age": [39, 39, 50], "sex": ["F", "F", None]}, index=[7, 7, 7])
    people = pd.DataFrame(
        {
            "sex": pd.Categorical(["F", "F", "F", None, "M", None]),
            "age": ["39.0", "39", "40", "50", "50", "50"],
            "where": 1,
        }
    )
    classes = build_column_classes(table, ["age", "sex"])
    sizes = count_people_in_classes(table, people, ["age", "sex"])
    assert dict(zip(map(tuple, classes.nodes.tolist()), sizes.tolist(), strict=True)) == {
        (1, 1): 2,
        (2, 0): 2,
    }
    assert count_people_in_classes(table, people.iloc[:1], ["age", "sex"]).tolist() == [1, 0]


@examples(60)
@given(
    st.lists(st.tuples(*[st.sampled_from(["a", "b", "10", "9", None])] * 2), min_size=2), st.data()
)
def test_people_are_counted(rows, data):
    people = pd.DataFrame(rows, columns=["p", "q"], dtype=object)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    table = people.iloc[chosen]
    found = count_people_in_classes(table, people, ["p", "q"])
    classes = build_column_classes(table, ["p", "q"])
    everybody, some = Counter(rows), Counter(rows[i] for i in chosen)
    assert sorted(zip(classes.counts, found, strict=True)) == sorted(
        (some[row], everybody[row]) for row in some
    )
    assert count_people_in_classes(people, people, ["p", "q"]).tolist() == (
        build_column_classes(people, ["p", "q"]).counts.tolist()
    )


# --- Frozen answers of another tool -------------------------------------------------------------
def frozen() -> dict:
    return json.loads((ROOT / "tests" / "oracles" / "pycanon.json").read_text("utf-8"))


def test_the_oracle_says_where_it_comes_from():
    said = frozen()
    assert said["tool"] == "pyCANON"
    assert all(said[key] for key in ("version", "command", "date", "python", "pandas", "numpy"))
    assert len(said["results"]) >= 8


@pytest.mark.parametrize(
    "result",
    frozen()["results"],
    ids=lambda r: f"{Path(r['table']).stem}-{'-'.join(r['quasi_identifiers'])}-{r['sensitive']}",
)
def test_levels_equal_those_of_pycanon(result):
    table = pd.read_csv(ROOT / result["table"], sep=";", dtype=str, keep_default_na=False)
    classes = build_column_classes(table, result["quasi_identifiers"], [result["sensitive"]])
    found = {"min_k": classes.min_k, **privacy_summary(classes)}
    assert len(result["levels"]) == 5
    for name, level in result["levels"].items():
        assert found[name] == pytest.approx(level, rel=1e-9), name


# --- Adult --------------------------------------------------------------------------------------
@pytest.mark.adult
def test_the_sensitive_attributes_of_adult(adult_path):
    table = pd.read_csv(adult_path, sep=";", dtype=str)
    columns = ["age", "marital-status", "salary-class"]
    classes = build_column_classes(table, ["sex", "race"], columns)
    best = {name: EntropyLDiversity(1, name).level(classes.as_one_class) for name in columns}
    assert {name: round(level, 2) for name, level in best.items()} == {
        "age": 50.03,
        "marital-status": 3.53,
        "salary-class": 1.75,
    }
    assert classes.sensitive_named("age").numeric
    check_reachable([EntropyLDiversity(1.75, "salary-class")], classes)
    with pytest.raises(Unsatisfiable, match=r"l = 2 for 'salary-class'.* l is at most 1\.75\.$"):
        check_reachable([EntropyLDiversity(2, "salary-class")], classes)
