"""Population uniqueness from a sample: by hand, by plain loops, and against simulated truth."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from kanon.errors import PlanError, TableError
from kanon.evidence.population_uniqueness import ASSUMPTIONS, estimate_population_uniqueness
from support.random_tables import examples

SAMPLE = np.repeat([1, 2, 3, 4, 7, 20], [40, 12, 5, 3, 2, 3])


def uniques(sample, fraction):
    found = estimate_population_uniqueness(sample, fraction)
    return {name: estimate.uniques for name, estimate in found.estimates.items()}


# --- the estimators ---------------------------------------------------------------------------
def test_zayatz_by_hand():
    """Of 10 people 5 are drawn: one from a class of one in 1 of 2 samples, of two in 5 of 9."""
    expected = 3 * (3 / 2) / (3 / 2 + 5 / 9) / 0.5
    assert uniques([1, 1, 1, 2], 0.5)["zayatz"] == pytest.approx(expected)


def likelihood(sample, theta, alpha):
    """Of classes that fill one after the other, in plain logarithms."""
    total, n, k = 0.0, 0, 0
    for size in sample:
        for j in range(size):
            weight = (theta + alpha * k if k else 1.0) if j == 0 else j - alpha
            total += math.log(weight) - (math.log(theta + n) if n else 0.0)
            n, k = n + 1, k + (j == 0)
    return total


def test_pitman_is_the_likeliest_process_carried_on():
    best = optimize.minimize(
        lambda x: -likelihood(SAMPLE, math.exp(x[0]), 1 / (1 + math.exp(-x[1]))),
        [3.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9},
    ).x  # fmt: skip
    theta, alpha = math.exp(best[0]), 1 / (1 + math.exp(-best[1]))
    classes = alone = 1.0  # expected numbers, person after person
    for n in range(1, 4 * int(SAMPLE.sum())):
        new = (theta + alpha * classes) / (theta + n)
        alone += new - alone * (1 - alpha) / (theta + n)
        classes += new
    assert uniques(SAMPLE, 0.25)["pitman"] == pytest.approx(alone, rel=1e-4)


def test_snb_expects_the_classes_of_one_and_two_that_there_are():
    pi, s = 0.25, Counter(SAMPLE.tolist())
    twice = sum(i * pi**2 * (1 - pi**2) ** (i - 1) * c for i, c in s.items())
    seen = sum((1 - pi) ** i * ((1 + pi) ** i - 1) * c for i, c in s.items())
    missed = sum((1 - pi) ** i * c for i, c in s.items())
    once = sum(i * pi * (1 - pi) ** (i - 1) * c for i, c in s.items())
    classes = sum(s.values()) + s[1] * twice / seen * (missed / once) ** 2

    def lacks(x):  # the sums of the definition, over classes of up to 2,000 people
        alpha, beta = math.exp(x[0]), 1 / (1 + math.exp(-x[1]))
        larger = np.arange(2_000)  # the size less one
        chance = np.ones(2_000)
        chance[1:] = np.cumprod((alpha + larger[:-1]) / (larger[:-1] + 1) * (1 - beta))
        chance *= beta**alpha
        size = larger + 1
        one = (chance * size * pi * (1 - pi) ** (size - 1)).sum()
        two = (chance * size * (size - 1) / 2 * pi**2 * (1 - pi) ** (size - 2.0)).sum()
        return [classes * one - s[1], classes * two - s[2]]

    solution = optimize.root(lacks, [0.0, -2.0])
    assert solution.success
    alpha, beta = math.exp(solution.x[0]), 1 / (1 + math.exp(-solution.x[1]))
    assert uniques(SAMPLE, pi)["snb"] == pytest.approx(classes * beta**alpha, rel=1e-4)


def test_the_rule_takes_pitman_for_small_fractions_and_the_smaller_one_for_large():
    assert estimate_population_uniqueness(SAMPLE, 0.1).chosen == "pitman"
    assert estimate_population_uniqueness([1] * 30, 0.1).chosen == "zayatz", "Pitman has none"
    for sample in (SAMPLE, np.repeat([1, 2, 6], [40, 5, 20]), np.repeat([1, 3], [9, 3])):
        found = estimate_population_uniqueness(sample, 0.2)
        values = {name: value for name, value in uniques(sample, 0.2).items() if value is not None}
        assert found.chosen == min({*values} - {"pitman"}, key=values.__getitem__)


# --- what is reliable -------------------------------------------------------------------------
def list_partitions(total, largest):
    if total == 0:
        yield []
    for part in range(min(total, largest), 0, -1):
        yield from ([part, *rest] for rest in list_partitions(total - part, part))


@pytest.mark.parametrize("sample", [[1, 1, 1, 1, 1, 1, 2], [1, 1, 3, 3], [2, 2, 2, 2]], ids=str)
def test_the_range_has_every_small_population_that_fits(sample):
    found = estimate_population_uniqueness(sample, 0.5)
    s, fitting = Counter(sample), []
    for population in list_partitions(2 * sum(sample), 2 * sum(sample)):
        expected = [sum(math.comb(F, j) / 2**F for F in population) for j in range(1, 7)]
        expected.append(len(population) - sum(expected) - sum(0.5**F for F in population))
        observed = [*(s[j] for j in range(1, 7)), 0]
        pairs = zip(expected, observed, strict=True)
        if all(abs(one - other) <= 2.5 * math.sqrt(other + 1) for one, other in pairs):
            fitting.append(population.count(1))
    assert found.least - 1e-6 <= min(fitting) and max(fitting) <= found.most + 1e-6
    assert found.most - found.least <= max(fitting) - min(fitting) + 2, "shares, not whole classes"


def test_the_range_has_the_truth_in_nearly_all_samples():
    random = np.random.default_rng(5)
    inside = misleading = 0
    for round_number in range(16):
        cells = np.exp(random.normal(0, random.uniform(0.2, 2), random.integers(50, 20_000)))
        people = random.choice(len(cells), 4_000, p=cells / cells.sum())
        truth = int((np.bincount(people) == 1).sum())
        drawn = np.bincount(random.choice(people, (200, 800)[round_number % 2], replace=False))
        found = estimate_population_uniqueness(drawn[drawn > 0], (0.05, 0.2)[round_number % 2])
        inside += found.least <= truth <= found.most
        misleading += any(
            estimate.unreliable is None and abs(estimate.uniques - truth) > truth / 2
            for estimate in found.estimates.values()
        )
    assert (inside, misleading) == (16, 0)


@examples(400, in_gate=10)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=60),
    st.sampled_from([0.01, 0.05, 0.3, 0.6, 0.99, 1.0]),
)
def test_laws_of_estimates(sample, fraction):
    found = estimate_population_uniqueness(sample, fraction)
    assert 0 <= found.least <= found.most <= found.population
    for estimate in found.estimates.values():
        if estimate.uniques is not None:
            assert estimate.in_both == pytest.approx(estimate.uniques * fraction)
            assert estimate.share == pytest.approx(estimate.in_both / found.records)
        if estimate.unreliable is None:
            assert estimate.share <= 1 + 1e-9
            assert all(abs(estimate.uniques - end) <= end / 2 for end in (found.least, found.most))
        if fraction == 1:
            assert (estimate.uniques, estimate.unreliable) == (sample.count(1), None)


def test_reasons():
    def reasons(sample, fraction):
        found = estimate_population_uniqueness(sample, fraction)
        return {name: estimate.unreliable for name, estimate in found.estimates.items()}

    alone = reasons([1] * 5_000, 0.5)
    assert "Every class of the sample has one record" in alone["pitman"]
    assert "of one and of two records do not fit" in alone["snb"]
    assert alone["zayatz"] is None, "nearly everybody is unique, whatever the shape"
    twins = reasons([2] * 5_000, 0.01)
    assert {*twins.values()} == {
        "No population was found that fits a simple random sample like this."
    }, "who draws one person in a hundred does not draw all twins"
    assert {*uniques([2] * 5, 0.5).values()} == {0.0}
    assert "anything from 0.0 % to" in reasons([2] * 5, 0.5)["pitman"]
    assert {*ASSUMPTIONS} == {*alone}


def test_what_is_refused():
    for fraction in (0, -0.1, 1.5, math.nan):
        with pytest.raises(PlanError, match="above 0 % and at most 100 %"):
            estimate_population_uniqueness([1, 2], fraction)
    for sizes in ([], [0, 1]):
        with pytest.raises(TableError, match="at least 1 record"):
            estimate_population_uniqueness(sizes, 0.5)
