"""What every measure of the folder has to keep: the ends that its card names, and its direction."""

import inspect
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon import measures
from kanon.cards import parts_of
from kanon.metrics import METRICS
from kanon.recoding import Recoding, Trace
from kanon.sensitive import Sensitive
from support.measured_tables import recoded, releases
from support.random_tables import PlainTree, Problem, examples

MEASURES = parts_of(measures)
NUMBERS = PlainTree({"*": None, "A": "*", "1": "A", "2": "A", "C": "*", "3": "C", "9": "C"})
TOP = (2, 2)
PROTECTS = {"min_k"}
"""Higher is better for who is in the table, so that the identity is at its worst."""

OF_THE_RELEASED = {"average_class_size", "c_avg"}
"""Means over released records: to suppress a large class makes them better."""


def valued(module, recoding: Recoding, k: int = 1):
    """A measure of a release, with whatever else it is a measure of."""
    known = {"metric": METRICS["ncp"], "k": k, "column": "ill"}
    _, *others = inspect.signature(module.value).parameters.values()
    wanted = [each.name for each in others if each.default is each.empty]
    return module.value(recoding, *(known[name] for name in wanted))


def determined(copies: int) -> Problem:
    """Two columns that say the same, of four equally frequent leaves."""
    return Problem((NUMBERS, NUMBERS), tuple((x, x) for x in "1239" for _ in range(copies)))


def with_ill(recoding: Recoding, ill: list[str]) -> Recoding:
    """The same with a sensitive value per class, which all its records have."""
    classes = recoding.classes
    values = sorted(set(ill))
    group = np.repeat(np.arange(classes.n_classes), classes.counts)
    codes = [values.index(ill[place]) for place in group]
    known = Sensitive.from_records("ill", values, False, group, codes, classes.n_classes)
    return replace(recoding, classes=replace(classes, sensitive=(known,)))


def release(problem: Problem, to, level=(0, 0)) -> Recoding:
    return with_ill(
        recoded(problem, {row: to(row) for row in problem.sizes}, trace=Trace(node=level)),
        [f"{place}" for place in range(len(problem.sizes))],
    )


def identity(problem: Problem) -> Recoding:
    return release(problem, lambda row: row)


def at_root(problem: Problem) -> Recoding:
    return release(problem, lambda row: ("*", "*"), TOP)


def nothing(problem: Problem) -> Recoding:
    return release(problem, lambda row: None, TOP)


def number_in(end: str, unit: str, records: int) -> float | None:
    """The number that an end of a card begins with; None if that is a formula."""
    said = end.split(":")[0].removesuffix(unit).strip()
    if said == "n":
        return records
    return float(said) if said.isdecimal() else None


# --- the best end -----------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*MEASURES])
def test_the_identity_of_unique_leaves_is_at_the_end_that_the_card_names(name):
    """What stands before the colon is the number; n is the number of records."""
    copies = 2 if name == "association_change" else 1  # it leaves near-unique columns out
    module, found = MEASURES[name], identity(determined(copies))
    card = module.CARD
    end = card.highest if card.direction == "higher" and name not in PROTECTS else card.lowest
    assert valued(module, found) == number_in(end, card.unit, records=4)


def better_or_equal(card, one: float, other: float) -> bool:
    slack = 1e-9 * (1 + abs(other))
    return one >= other - slack if card.direction == "higher" else one <= other + slack


@st.composite
def beside_the_identity(draw):
    """A release of leaves with a sensitive column, and the identity of the same table."""
    problem, to, recoding = draw(releases(leaves=True))
    secrets = draw(st.lists(st.sampled_from("uv"), min_size=len(to), max_size=len(to)).filter(bool))
    same = recoded(problem, {labels: labels for labels in problem.sizes})
    return with_ill(same, secrets), with_ill(recoding, secrets)


@examples(120)
@given(beside_the_identity(), st.integers(1, 4))
def test_no_release_of_leaves_is_better_than_the_identity(case, k):
    same, other = case
    for name, module in MEASURES.items():
        if name in PROTECTS or (name in OF_THE_RELEASED and other.suppressed_records):
            continue
        before, after = valued(module, same, k), valued(module, other, k)
        if before is not None and after is not None:
            assert better_or_equal(module.CARD, before, after), name
        json.dumps([before, after])


# --- the worst end ----------------------------------------------------------------------------
ALL_AT_ROOT = {
    "alteration": 100,
    "generalised_percent": 100,
    "root_percent": 100,
    "deleted_among_modified_percent": 100,
    "precision": 0,
    "iloss": 12 * 2 * 3 / 4,
    "iloss_mean": 3 / 4,
    "general_loss": 1,
    "conditional_entropy_bits": 12 * (2 + 2),
    "conditional_entropy_percent": 100,
    "non_uniform_entropy_bits": 12 * (2 + 2),
    "discernibility": 12**2,
    "average_class_size": 12,
    "c_avg": 12 / 4,
    "level_of_generalisation": 2 + 2,
    "relative_distance": 2,
    "association_change": 1,
    "min_k": 12,
}
"""The end of the card where all twelve records have both columns at the root, k being 4."""

ALL_SUPPRESSED = {
    "alteration": 100,
    "root_percent": 100,
    "generalised_percent": 100,
    "precision": 0,
    "general_loss": 1,
    "discernibility": 12**2,
    "classification_metric": 1,
    "distribution_change": 1,
    "association_change": 1,
}
"""The end of the card where nobody is left."""

WITHOUT_END = {"number_change", "query_error_percent"}
"""Counts can be any number of times too high, and means lie anywhere."""


def test_every_measure_is_held_to_its_worst_end():
    """By a row above, or by a card that says a number, and not a formula, for the worst end.

    A new measure of the second kind needs no row.
    """
    for name in WITHOUT_END:
        assert MEASURES[name].CARD.highest.startswith("no upper limit")
    for name in {*MEASURES} - WITHOUT_END:
        module, card = MEASURES[name], MEASURES[name].CARD
        lost = [valued(module, made(determined(3)), 4) for made in (at_root, nothing)]
        worst = card.lowest if card.direction == "higher" and name not in PROTECTS else card.highest
        number = number_in(worst, card.unit, records=12)
        by_hand = name in ALL_AT_ROOT or name in ALL_SUPPRESSED
        assert number in lost if number is not None else by_hand, name


@pytest.mark.parametrize("name", ALL_AT_ROOT)
def test_all_at_the_root_is_the_end_that_the_card_names(name):
    found = valued(MEASURES[name], at_root(determined(3)), 4)
    assert found == pytest.approx(ALL_AT_ROOT[name], abs=1e-12)


@pytest.mark.parametrize("name", ALL_SUPPRESSED)
def test_nothing_released_is_the_end_that_the_card_names(name):
    assert valued(MEASURES[name], nothing(determined(3)), 4) == ALL_SUPPRESSED[name]


@pytest.mark.parametrize("name", [*MEASURES])
def test_losing_everything_is_worse_by_the_direction_of_the_card(name):
    module, problem = MEASURES[name], determined(3)
    best = valued(module, identity(problem), 1)
    lost = [valued(module, made(problem), 1) for made in (at_root, nothing)]
    worse = [found for found in lost if found is not None]
    sign = 1 if (module.CARD.direction == "higher") == (name not in PROTECTS) else -1
    assert any(sign * (best - found) > 0 for found in worse), "it sees that all is lost"
    if name != "distribution_change":  # four equally frequent values stay so at the root
        assert sign * (best - worse[0]) > 0
