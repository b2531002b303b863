"""Special uniques: brute force by the definition, by hand, and against the package suda."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import PlanError
from kanon.evidence.special_uniques import find_special_uniques
from kanon.sources.memory import MemoryTable
from support.random_tables import examples


def classes_of(frame):
    return MemoryTable(frame).build_classes([*frame.columns])


def list_minimal_uniques(rows, row, most):
    """Sets of columns in which no other row has these values, but one has in every part."""

    def is_unique(chosen):
        own = [rows[row][j] for j in chosen]
        return sum([other[j] for j in chosen] == own for other in rows) == 1

    return [
        chosen
        for size in range(1, most + 1)
        for chosen in combinations(range(len(rows[row])), size)
        if is_unique(chosen)
        and not any(is_unique(part) for s in range(size) for part in combinations(chosen, s))
    ]


@examples(300, in_gate=15)
@given(st.data())
def test_brute_force(data):
    width = data.draw(st.integers(1, 5))
    cells = st.sampled_from(["a", "b", "c", None])
    rows = data.draw(st.lists(st.tuples(*[cells] * width), min_size=2, max_size=14))
    most = data.draw(st.integers(1, width))
    classes = classes_of(pd.DataFrame(rows, columns=[f"c{j}" for j in range(width)], dtype=object))
    found = find_special_uniques(classes, most)
    entries = [tuple(nodes) for nodes in classes.nodes.tolist()]
    records = [entry for entry, n in zip(entries, classes.counts, strict=True) for _ in range(n)]
    of_columns = np.zeros(width)
    for entry, n, counted, score in zip(
        entries, classes.counts, found.minimal_sets, found.scores, strict=True
    ):
        uniques = list_minimal_uniques(records, records.index(entry), most) if n == 1 else []
        assert counted.tolist() == [sum(len(u) == s for u in uniques) for s in range(1, most + 1)]
        assert score == sum(math.factorial(width - len(unique)) for unique in uniques)
        for unique in uniques:
            of_columns[[*unique]] += math.factorial(width - len(unique))
    shares = of_columns / max(found.scores.sum(), 1)
    assert [*found.contributions.values()] == pytest.approx(shares.tolist())
    assert found.uniques == sum(records.count(record) == 1 for record in records)
    assert found.pairs == sum(records.count(record) == 2 for record in records)


PEOPLE = pd.DataFrame(
    {
        "sex": list("FFFMMMMF"),
        "age": [30, 30, 40, 30, 40, 40, 50, 50],
        "town": list("aabbabab"),
        "job": list("xyxyyxyx"),
    }
)


def test_scores_of_the_package_suda_where_all_uniques_are_minimal():
    """suda 0.2.2 (PyPI), ``suda(PEOPLE, max_msu=2)``: nobody is unique in one column."""
    theirs = pd.Series([4.0, 2.0, 2.0, 6.0, 4.0, 2.0, 6.0, 6.0])
    order = PEOPLE.sort_values([*PEOPLE.columns]).index  # in which the classes are
    assert find_special_uniques(classes_of(PEOPLE), 2).scores.tolist() == [*theirs[order]]


def test_the_package_suda_also_counts_uniques_that_are_not_minimal():
    """Woman b of 31 is unique by age and by town: their 7 adds her three pairs, 1 each."""
    frame = pd.DataFrame({"sex": list("FFMM"), "age": [30, 31, 30, 32], "town": list("abaa")})
    found = find_special_uniques(classes_of(frame), 2)
    theirs = [2.0, 7.0, 1.0, 4.0]
    assert found.scores.tolist() == [2.0, 4.0, 1.0, 2.0]
    assert found.minimal_sets.tolist() == [[0, 2], [2, 0], [0, 1], [1, 0]]
    beyond = [3, 2]  # pairs with the age or the town of record 2, with the age of record 4
    assert [theirs[1] - beyond[0], theirs[3] - beyond[1]] == [4.0, 2.0]


def test_dis_scores_by_hand():
    """Two of six are unique, two are a pair, two more another: DIS at 10 % is 2 / (2 + 36)."""
    rows = [("a", "x"), ("b", "y"), ("c", "z"), ("c", "z"), ("c", "y"), ("c", "y")]
    found = find_special_uniques(classes_of(pd.DataFrame(rows, columns=["p", "q"])), 2)
    assert (found.uniques, found.pairs) == (2, 4)
    assert found.scores.tolist() == [2.0, 1.0, 0.0, 0.0]
    dis, q = 2 * 0.1 / (2 * 0.1 + 4 * 0.9), 1 + 6 / 20
    total = 2**-q + 1
    expected = [1 / (1 + (2 / dis - 2) / (x**q * total)) for x in (2, 1)]
    assert found.compute_dis_scores(0.1).tolist() == pytest.approx([*expected, 0, 0])
    assert found.compute_dis_scores(1).tolist() == [1, 1, 0, 0], "the sample is the population"
    with pytest.raises(PlanError, match="above 0 %"):
        found.compute_dis_scores(0)


def test_sizes_that_are_refused():
    classes = classes_of(PEOPLE)
    for size in (0, 5):
        with pytest.raises(PlanError, match="of 4 a set has at least 1 and at most all"):
            find_special_uniques(classes, size)
    wide = classes_of(pd.DataFrame({f"c{j}": ["a", "b"] for j in range(30)}))
    with pytest.raises(PlanError, match=r"sets of up to 4 columns; at most 20.000 can be"):
        find_special_uniques(wide, 4)


def test_nobody_is_unique():
    found = find_special_uniques(classes_of(pd.DataFrame({"a": ["x", "x"], "b": ["y", "y"]})), 2)
    assert found.scores.tolist() == [0] and found.compute_dis_scores(0.1).tolist() == [0]
    assert found.contributions == {"a": 0, "b": 0}
