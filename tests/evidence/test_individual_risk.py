"""Individual risk and the risk of households: closed forms, sums of the definition, laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from kanon.errors import TableError
from kanon.evidence.households import compute_household_risks
from kanon.evidence.individual_risk import Risks, estimate_individual_risk
from support.random_tables import examples


def risk_of_class(size, chance):
    weights = np.full(size, 1 / chance)
    return estimate_individual_risk(np.zeros(size, int), weights).values[0]


@pytest.mark.parametrize("p", [0.001, 0.02, 0.3, 0.9])
def test_closed_forms_of_small_classes(p):
    q, log = 1 - p, math.log(1 / p)
    assert risk_of_class(1, p) == pytest.approx(p / q * log)
    assert risk_of_class(2, p) == pytest.approx(p / q - (p / q) ** 2 * log)
    third = p / (2 * q**3) * (q * (3 * q - 2) + 2 * p * p * log)
    assert risk_of_class(3, p) == pytest.approx(third, rel=1e-6)


@pytest.mark.parametrize("size", [1, 2, 5, 29, 30, 31, 60])
def test_the_sum_of_the_definition(size):
    p = 0.2
    total, chance = 0.0, p**size  # of h = size
    for h in range(size, 3_000):
        total += chance / h
        chance *= h / (h + 1 - size) * (1 - p)
    assert risk_of_class(size, p) == pytest.approx(total)


@pytest.mark.parametrize("size", [1, 7, 29, 30, 99, 100, 1_000])
@pytest.mark.parametrize("p", [1e-5, 0.01, 0.5, 0.999])
def test_the_integral(size, p):
    """E(1 / F) = ∫ E(s^(F−1)) ds = p ∫ (1−t)^(f−1) / (1 − (1−p) t) dt, from 0 to 1."""
    integral, _ = integrate.quad(
        lambda t: (1 - t) ** (size - 1) / (1 - (1 - p) * t), 0, 1, points=[1 / size], limit=500
    )
    assert risk_of_class(size, p) == pytest.approx(p * integral, rel=1e-6)


@examples(400, in_gate=8)
@given(st.lists(st.tuples(st.integers(0, 4), st.floats(1, 1e6)), min_size=1, max_size=90))
def test_laws_of_individual_risk(records):
    classes, weights = map(np.array, zip(*records, strict=True))
    risks = estimate_individual_risk(classes, weights)
    for number in {*classes.tolist()}:
        here = classes == number
        assert len({*risks.values[here].tolist()}) == 1, "who look the same have the same risk"
        risk = risks.values[here][0]
        assert 1 / weights[here].sum() <= risk * (1 + 1e-9) <= 1 / here.sum() * (1 + 1e-8)
    assert risks.expected == pytest.approx(risks.mean * len(records))
    assert risks.largest == max(risks.values)


def test_a_complete_class_has_the_risk_of_its_size():
    assert estimate_individual_risk([7, 7, 9], [1, 1, 1]).values.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("weights", [[1, 0.5], [1, math.nan], [1, math.inf]], ids=str)
def test_weights_that_are_refused(weights):
    with pytest.raises(TableError, match=r"^1 of 2 sampling weights are missing or below 1"):
        estimate_individual_risk([0, 0], weights)


def test_records_and_weights_have_to_match():
    for classes, weights in ([[0, 0], [1]], [[], []]):
        with pytest.raises(TableError, match="do not match"):
            estimate_individual_risk(classes, weights)


# --- households -------------------------------------------------------------------------------
def test_households_by_hand():
    risks = Risks(np.array([0.5, 1.0, 0.1, 0.2, 0.5]))
    found = compute_household_risks(risks, ["h2", "h1", "h3", "h3", "h2"], "home")
    assert found.values == pytest.approx([0.75, 1.0, 0.28])
    assert found.expected == pytest.approx(2.03)


@examples(200)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), min_size=1, max_size=9))
def test_a_household_is_at_least_as_risky_as_its_members(members):
    households, values = zip(*members, strict=True)
    found = compute_household_risks(Risks(np.array(values)), households, "home")
    for name, risk in zip(dict.fromkeys(households), found.values, strict=True):
        own = [value for household, value in members if household == name]
        assert max(own) - 1e-12 <= risk <= min(1, sum(own)) + 1e-12


def test_a_record_without_a_household_is_refused():
    with pytest.raises(TableError, match=r"^1 of 2 records lack a household.*'home'"):
        compute_household_risks(Risks(np.array([0.1, 0.2])), ["a", None], "home")
    with pytest.raises(ValueError, match="one household"):
        compute_household_risks(Risks(np.array([0.1, 0.2])), ["a"], "home")
