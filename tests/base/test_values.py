"""Cells: numbers and texts in many writings, and those that are missing."""

import datetime
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.kinds import read_numbers
from kanon.base.values import convert_to_text, encode_texts
from kanon.errors import KanonError, PlanError, TableError, Unsatisfiable
from kanon.hierarchy.build import suppression
from kanon.plan import Plan
from kanon.run import prepare, run
from kanon.sources.coverage import count_values, find_uncovered_values
from kanon.sources.memory import build_column_classes
from support.people_plans import PEOPLE, check_sentence, one_column, plan_with
from support.plans import qi
from support.random_tables import examples


# --- Values in many writings --------------------------------------------------------------------
@pytest.mark.parametrize(
    "values",
    [
        [39, 39, 40, 40],
        [39.0, 39.0, 40.0, 40.0],
        ["39", " 39", "40", "40.0"],
        [39, "39.0", 40.0, Decimal("40")],
        np.array([39, 39, 40, 40], dtype=np.int8),
        np.array([39, 39, 40, 40], dtype=np.float32),
        pd.Categorical([39, 39, 40, 40], categories=[40, 39, 38]),
        pd.Categorical(["39", "39.0", "40", "40"]),
        pd.array([39, 39, 40, 40], dtype="Int64"),
        pd.array([39, 39, 40, 40], dtype="string"),
        pd.Series([39, 39, 40, 40], dtype="int64[pyarrow]"),
    ],
    ids=[
        *("int", "float", "text", "mixed", "int8", "float32"),
        *("category", "category-of-texts", "Int64", "string", "arrow"),
    ],
)
@pytest.mark.parametrize("build", ["suppression", "intervals", "nodes"])
def test_numbers_and_their_texts_are_one_value(values, build):
    hierarchy: dict[str, Any] = {
        "suppression": {"build": "suppression"},
        "intervals": {"build": "intervals", "widths": [10]},
        "nodes": {"nodes": [{"name": "*"}, *({"name": n, "parent": "*"} for n in (39, "40"))]},
    }[build]
    plan, table = one_column(values, hierarchy)
    released = run(plan, table).released(order="table")
    assert released["q"].tolist() == ["39", "39", "40", "40"]
    lost = run(Plan.from_content({**json.loads(plan.to_json()), "privacy": [
        {"model": "k-anonymity", "k": 3}]}), table)  # fmt: skip
    assert lost.released(order="table")["q"].tolist() == ["*"] * 4


def test_categories_that_no_record_has_are_no_values():
    """After a filter pandas still lists them; they are neither missing in a tree nor leaves."""
    values = pd.Categorical(["F", "F"], categories=["F", "M"])
    plan, table = one_column(values, {"build": "suppression"})
    assert prepare(plan, table).classes.hierarchies[0].labels == ("F", "*")
    assert find_uncovered_values(count_values(table["q"]), suppression(["F"])) == {}


@pytest.mark.parametrize("moment", [pd.Timestamp, datetime.date.fromisoformat,
                                    datetime.datetime.fromisoformat])  # fmt: skip
@pytest.mark.parametrize("dtype", [object, None])
def test_dates_without_a_time_are_dates(moment, dtype):
    values = pd.Series([moment("2021-03-04")] * 2 + [moment("2021-04-04")] * 2, dtype=dtype)
    plan, table = one_column(values, {"build": "dates", "levels": ["year"]})
    assert (
        run(plan, table).released(order="table")["q"].tolist()
        == ["2021-03-04"] * 2 + ["2021-04-04"] * 2
    )


def test_yes_and_no_are_not_numbers():
    codes, texts = encode_texts(pd.Series([True, 1, "True", 0, False, "1"], dtype=object))
    assert [texts[code] for code in codes] == ["True", "1", "True", "0", "False", "1"]
    plan, table = one_column([True, True, False, False], {"build": "suppression"})
    assert run(plan, table).released(order="table")["q"].tolist() == [
        "True",
        "True",
        "False",
        "False",
    ]


@examples(100)
@given(
    st.lists(
        st.none()
        | st.integers(-5, 5)
        | st.floats(-3, 3).map(lambda x: round(x, 1))
        | st.sampled_from(["1", "1.0", " 2", "02", "x", "-0", "é"]),
        min_size=1,
    )
)
def test_texts_of_a_column_are_the_texts_of_its_cells(values):
    column = pd.Series(values, dtype=object)
    codes, texts = encode_texts(column)
    assert len(set(texts)) == len(texts)
    found = [None if code < 0 else texts[code] for code in codes]
    assert found == [None if value is None else convert_to_text(value) for value in values]


def test_numbers_are_finite_and_no_codes():
    assert read_numbers(["1", "-2.5", "1e3"]).tolist() == [1, -2.5, 1000]
    for texts in (["x"], ["1", "nan"], ["inf"], ["01"], ["-01"], []):
        assert read_numbers(texts) is None


def test_column_names_that_are_no_texts_end_in_a_sentence_or_a_release():
    """A table of pandas numbers its columns if nobody names them."""
    table = pd.DataFrame([["F"], ["F"], ["M"], ["M"]])
    plan = Plan.from_content(plan_with(columns={"0": qi()}))
    try:
        released = run(plan, table).released(order="table")
    except KanonError as error:
        check_sentence(error, ["column"])
    else:
        assert released.to_numpy().tolist() == table.to_numpy().tolist()


def test_a_column_name_that_stands_twice_ends_in_a_sentence():
    table = pd.DataFrame([["F", "M"], ["F", "M"]], columns=["sex", "sex"])
    plan = Plan.from_content(plan_with(columns={"sex": qi()}))
    with pytest.raises(KanonError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["'sex'"])


# --- Missing values -----------------------------------------------------------------------------
MISSING = [
    pd.Series(["F", "F", None, "M", "M", None]),
    pd.Series(["F", "F", np.nan, "M", "M", None], dtype=object),
    pd.Series(["F", "F", pd.NA, "M", "M", pd.NA], dtype="string"),
    pd.Series(pd.Categorical(["F", "F", None, "M", "M", None])),
]


@pytest.mark.parametrize("values", MISSING, ids=["str", "object", "string", "category"])
def test_missing_values_need_a_rule(values):
    plan, table = one_column(values, {"build": "suppression"})
    with pytest.raises(PlanError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["2 records", "read.missing", "'drop-records' or 'as-value'"])


@pytest.mark.parametrize("values", MISSING, ids=["str", "object", "string", "category"])
def test_records_with_missing_values_are_dropped_and_counted(values):
    plan, table = one_column(values, {"build": "suppression"}, missing="drop-records")
    table["note"] = range(6)
    done = run(plan, table)
    released = done.released(order="table")
    assert released.index.tolist() == [0, 1, 3, 4]
    assert released["q"].tolist() == ["F", "F", "M", "M"]
    assert released["note"].tolist() == [0, 1, 3, 4]
    assert (done.measures["records"], done.measures["dropped"]) == (4, 2)


@pytest.mark.parametrize("values", MISSING, ids=["str", "object", "string", "category"])
def test_missing_as_a_value_is_a_leaf_of_its_own(values):
    plan, table = one_column(values, {"build": "suppression"}, missing="as-value")
    done = run(plan, table)
    assert done.released(order="table")["q"].tolist() == [
        "F",
        "F",
        "(missing)",
        "M",
        "M",
        "(missing)",
    ]
    assert done.measures["dropped"] == 0
    assert done.prepared.classes.hierarchies[0].labels == ("F", "M", "(missing)", "*")


def test_one_missing_quasi_identifier_is_enough_to_drop_a_record():
    table = pd.DataFrame({"a": ["x", None, "x", "x"], "b": ["y", "y", None, "y"], "c": [None] * 4})
    columns = {name: qi() for name in "ab"}
    with pytest.raises(PlanError, match="2 records with"):
        run(Plan.from_content(plan_with(columns=columns)), table)
    plan = Plan.from_content(plan_with(columns=columns, read={"missing": "drop-records"}))
    done = run(plan, table)
    assert done.released(order="table").index.tolist() == [0, 3]
    assert done.measures["dropped"] == 2


def test_missing_counts_in_k_when_it_is_a_value():
    """A record that alone lacks a value is unique: k is not reported too high."""
    plan, table = one_column(["F", "F", None], {"build": "suppression"}, missing="as-value")
    assert prepare(plan, table).classes.min_k == 1
    assert run(plan, table).released(order="table")["q"].tolist() == ["*", "*", "*"]
    assert build_column_classes(table, ["q"]).min_k == 1


def test_a_missing_leaf_is_only_where_it_is_needed():
    plan, table = one_column(["F", "F"], {"build": "suppression"}, missing="as-value")
    assert prepare(plan, table).classes.hierarchies[0].labels == ("F", "*")


def test_missing_cells_of_other_columns_stay():
    done = run(Plan.from_content(plan_with()), PEOPLE)
    assert pd.isna(done.released(order="table")["note"].iloc[1])
    assert done.measures["dropped"] == 0


def test_nothing_is_left_when_every_record_lacks_a_value():
    plan, table = one_column([None, None], {"build": "suppression"}, missing="drop-records")
    with pytest.raises(TableError, match="leaves none"):
        run(plan, table)


def test_dropping_can_make_k_impossible():
    plan, table = one_column(["a", "a", None], {"build": "suppression"}, 3, missing="drop-records")
    with pytest.raises(Unsatisfiable, match="2 records"):
        run(plan, table)


def test_missing_cells_stand_at_the_leaf_that_a_tree_has_for_them():
    nodes = [{"name": "*"}, {"name": "G", "parent": "*"}, {"name": "(missing)", "parent": "G"},
             {"name": "F", "parent": "G"}, {"name": "M", "parent": "*"}]  # fmt: skip
    plan, table = one_column(["F", None, "M", "M"], {"nodes": nodes}, 2, missing="as-value")
    assert run(plan, table).released(order="table")["q"].tolist() == ["G", "G", "M", "M"]


@pytest.mark.parametrize(
    ("values", "nodes"),
    [
        (["F", "(missing)", None], [{"name": "*"}, {"name": "(missing)", "parent": "*"},
                                    {"name": "F", "parent": "*"}]),
        (["F", "F", None], [{"name": "*"}, {"name": "(missing)", "parent": "*"},
                            {"name": "F", "parent": "(missing)"}]),
    ],
    ids=["a cell says so", "a group is called so"],
)  # fmt: skip
def test_missing_cells_are_not_mixed_with_what_is_called_missing(values, nodes):
    plan, table = one_column(values, {"nodes": nodes}, missing="as-value")
    with pytest.raises(TableError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["'q'", "'(missing)'", "another name"])


def test_a_tree_of_one_node_has_no_place_for_missing_cells():
    plan, table = one_column(["x", None], {"nodes": [{"name": "x"}]}, missing="as-value")
    with pytest.raises(KanonError) as caught:
        run(plan, table)
    check_sentence(caught.value, ["'q'"])
    assert "single node" in caught.value.sentence


def test_a_date_beyond_the_calendar_has_a_text():
    """An object column may hold one: pandas has no date() for it, and says so with its year."""
    far = pd.Timestamp(np.datetime64("12069-12-31", "s"))
    assert convert_to_text(far) == "12069-12-31"
    assert encode_texts(pd.Series([far, "x"], dtype=object))[1] == ["12069-12-31", "x"]
