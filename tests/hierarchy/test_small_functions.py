"""Small functions, by examples."""

import numpy as np

from kanon.hierarchy.bundle import build_safe_name
from kanon.hierarchy.frequencies import find_percentile
from kanon.hierarchy.ranges import LeafRange, add_ranges, count_covered_within
from kanon.hierarchy.scaled_potentials import read_decimal
from kanon.hierarchy.tables import find_new_edges, parse_weight


def test_bundle_as_in_examples():
    assert (build_safe_name("a/b"), build_safe_name("a:b", {"a_b"})) == ("a_b", "a_b 2")


def test_frequencies_as_in_examples():
    incomes = {"10": 50, "20": 48, "90": 2}
    assert (find_percentile(incomes, 98), find_percentile(incomes, 50, beyond_above=False)) == (
        20.0,
        20.0,
    )


def test_ranges_as_in_examples():
    from kanon.hierarchy.build import suppression

    tree = add_ranges(suppression(list("abcd")), [LeafRange(0, 4, "{a, d}", leaves=(0, 3))])
    assert (
        count_covered_within(tree, np.array([4, 5]), 0, 2).tolist(),
        int(tree.leaves_covered[5]),
    ) == ([2, 1], 2)


def test_scaled_potentials_as_in_examples():
    assert repr(read_decimal(0.1)) == "Fraction(1, 10)"


def test_tables_as_in_examples():
    from kanon.hierarchy.build import groups, suppression

    assert (find_new_edges(groups([{"A": ["a"]}, {"*": ["A", "b"]}]), suppression(["a", "b"]))) == [
        "a",
        "A",
    ]
    assert parse_weight(" 0.5 ") == 0.5
