"""The order in which rows leave: by what they show, whatever order they came in."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.sources.row_order import rank_texts, sort_rows
from support.random_tables import examples

TEXTS = ["", "-5", "+5", "5", "5.0", "10", "[5, 9]", "*", "a", "B", "é", "1e3", "007", "٣"]

COLUMNS = {
    "text": [*TEXTS[1:], None],
    "label": ["[20, 29]", "20-29", "*", "39", "4"],
    "whole": [3, -1, 20],
    "real": [1.5, -0.0, 0.0, float("nan"), -2.0, float("inf")],
    "truth": [True, False],
}


def key_of(cell: object) -> tuple:
    """The rule, cell by cell: missing first, numbers by size, other texts by code points."""
    if pd.isna(cell):
        return (0, 0.0, "")
    text = str(cell)
    plain = text.lstrip("+-") if text[:1] in "+-" and text[1:2] not in "+-" else text
    whole, dot, part = plain.partition(".")
    parts = [whole, part] if dot else [whole]
    if isinstance(cell, str) and not all(p.isascii() and p.isdigit() for p in parts):
        return (2, 0.0, text)
    sign = np.copysign(1, float(cell)) if isinstance(cell, float) else 0
    return (1, float(cell), sign if isinstance(cell, float) else text)


@st.composite
def tables(draw):
    columns = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=3, unique=True))
    n = draw(st.integers(0, 8))
    cells = {
        name: draw(st.lists(st.sampled_from(COLUMNS[name]), min_size=n, max_size=n))
        for name in columns
    }
    kinds = {"text": "str", "label": "str", "whole": "int64", "real": "float64", "truth": "bool"}
    return pd.DataFrame({name: pd.Series(c, dtype=kinds[name]) for name, c in cells.items()})


@examples(100)
@given(tables())
def test_rows_are_sorted_cell_by_cell(table):
    rows = list(table.itertuples(index=False, name=None))
    expected = sorted(rows, key=lambda row: [key_of(cell) for cell in row])
    found = [rows[place] for place in sort_rows(table)]
    assert list(map(repr, found)) == list(map(repr, expected))


@examples(50)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(table, random):
    other = table.iloc[random.sample(range(len(table)), len(table))]
    first, second = (one.iloc[sort_rows(one)].to_csv(index=False) for one in (table, other))
    assert first == second


@pytest.mark.parametrize(
    ("cells", "dtype", "expected"),
    [
        ([3, None, 1], "Int64", [1, 2, 0]),
        ([True, None, False], "boolean", [1, 2, 0]),
        ([Decimal("10"), Decimal("9.5"), None], object, [2, 1, 0]),
        ([date(2024, 5, 1), date(2023, 12, 1)], object, [1, 0]),
        (pd.to_datetime(["2024-05-01", None, "2023-01-01"]), None, [1, 2, 0]),
        (pd.to_datetime(["2024-05-01", "2023-01-01"]).tz_localize("Asia/Tokyo"), None, [1, 0]),
        (pd.Categorical(["b", "a", None], categories=["b", "a"]), None, [2, 1, 0]),
        ([1, "1x", True, None], object, [3, 0, 1, 2]),
    ],
)
def test_every_type_of_column_sorts(cells, dtype, expected):
    assert sort_rows(pd.DataFrame({"q": pd.Series(cells, dtype=dtype)})).tolist() == expected


def test_pseudonyms_decide_nothing():
    table = pd.DataFrame({"who": [f"P_{i}" for i in range(1, 31)], "q": ["b"] * 15 + ["a"] * 15})
    orders = {tuple(sort_rows(table, ["who"])) for _ in range(5)}
    assert len(orders) == 5
    assert all(set(order[:15]) == set(range(15, 30)) for order in orders)


def test_texts_have_ranks_of_their_own():
    assert rank_texts(["b", "10", "9"]).tolist() == [2, 1, 0]
    assert rank_texts([]).tolist() == []
