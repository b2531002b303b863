"""Rounding for people: what is not certain never reads as certain."""

import pytest

from kanon.base.formatting import write_number, write_percent
from kanon.base.rounding import round_apart, write_decimals
from kanon.privacy.model import rounded


@pytest.mark.parametrize(
    ("value", "up", "text"),
    [
        (1.0057, False, "1.005"),
        (1.0000004, False, "1.0000004"),
        (2.0031, False, "2.003"),
        (0.9999, True, "0.9999"),
        (0.00001, True, "0.00001"),
        (1.0, False, "1"),
        (10.0, True, "10"),
        (7 - 9e-16, False, "7"),
        (1.9984, True, "1.999"),
        (1.75, False, "1.75"),
    ],
)
def test_a_level_reads_as_whole_only_if_it_is(value, up, text):
    assert rounded(value, up=up) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (99.95, "> 99.9 %"), (99.949, "99.9 %"), (99.9999999, "> 99.9 %"), (100.0, "100.0 %"),
        (100 - 1e-13, "100.0 %"), (0.0, "0.0 %"), (0.0001, "< 0.1 %"), (12.04, "12.0 %"),
    ],
)  # fmt: skip
def test_a_percentage_is_0_or_100_only_if_it_is(value, text):
    assert write_percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.00001, "1.00001"), (0.99996, "0.99996"), (1.0, "1"), (6.999999999999999, "7"),
        (0.5, "0.5"), (2.00004, "2.00004"), (1234.56, "1234.6"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_more_digits_where_few_would_read_as_whole(value, text):
    assert write_number(value) == text


def test_decimals_stay_apart_from_whole_numbers():
    assert [write_decimals(value, 2) for value in (1.0057, 1.001, 0.999, 1, 0.001, 0)] == [
        "1.01", "1.01", "0.99", "1.00", "0.01", "0.00",
    ]  # fmt: skip
    assert round_apart([float("inf"), float("-inf"), 0.04], 1).tolist() == [
        float("inf"), float("-inf"), 0.1,
    ]  # fmt: skip
