"""Next month's table under last month's plan: by hand, against plain counts, at the same levels."""

import sqlite3
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithms
from kanon.errors import HierarchyError, KanonError, PlanError, TableError, Unsatisfiable
from kanon.plan import Plan
from kanon.release.drift import build_pinned_plan, check_next_table, check_pinned_levels
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.stored import open_stored
from support.plans import plan_content, qi, qi_with
from support.random_tables import examples

LAST = pd.DataFrame(
    {
        "age": ["31", "34", "38", "52", "57", "31"],
        "sex": ["F", "F", "F", "M", "M", "F"],
        "ill": ["flu", "flu", "cold", "cold", "flu", "cold"],
    }
)
SEX = {"nodes": [{"name": "*"}, *({"name": n, "parent": "*"} for n in "FM")]}
COLUMNS = {
    "age": qi("intervals", widths=[10, 50]),
    "sex": qi_with(SEX),
    "ill": {"role": "sensitive"},
}
FULL_DOMAIN = [name for name, part in algorithms().items() if part.CARD.family == "levels"]


def plan(name="datafly", k=2, columns=COLUMNS, **more):
    return Plan.from_content(plan_content(columns, k, name) | more)


def changed(**columns):
    return LAST.assign(**columns)


def found(table, before=None, **more):
    return [
        (one.kind, one.column, one.stops)
        for one in check_next_table(plan(**more), table, before=before)
    ]


# --- one change at a time -------------------------------------------------------------------
def test_values_that_a_hierarchy_lacks_are_counted():
    table = changed(sex=["F", "X", "X", "M", "D", "F"])
    (finding,) = check_next_table(plan(), table)
    assert (finding.kind, finding.column, finding.stops) == ("new-values", "sex", True)
    assert "'sex' has 2 values" in finding.sentence and "in 3 records, 50.0 %" in finding.sentence


def test_nothing_is_new_in_the_same_table_and_new_numbers_have_their_place_in_intervals():
    assert (
        found(LAST, before=LAST) == found(changed(age=["11", "14", "18", "92", "97", "11"])) == []
    )


def test_an_age_that_is_no_number_is_of_another_type():
    (finding,) = check_next_table(plan(), changed(age=["31", "about 40", "?", "52", "57", "?"]))
    assert (finding.kind, finding.stops) == ("another-type", True)
    assert "expects numbers, but 2 values in 3 records, 50.0 % of all, are not" in (
        finding.sentence
    )


def test_a_hierarchy_of_numbers_over_texts_is_of_another_type_and_of_dates_too():
    for leaves in (["1", "2"], ["2021-03-04", "2021-03-05"]):
        tree = {"nodes": [{"name": "*"}, *({"name": n, "parent": "*"} for n in leaves)]}
        columns = {"a": qi_with(tree)}
        texts = pd.DataFrame({"a": ["x", "y", leaves[0]]})
        assert found(texts, columns=columns) == [("another-type", "a", True)]
        few = pd.DataFrame({"a": ["x", *leaves]})
        assert found(few, columns=columns) == [("new-values", "a", True)]


def test_dates_that_are_none():
    column = qi("dates", levels=["year"])
    table = pd.DataFrame({"a": ["2021-03-04", "2021-03-04", "soon"]})
    (finding,) = check_next_table(plan(columns={"a": column}), table)
    assert finding.kind == "another-type" and "expects dates, but 1 value" in finding.sentence


def test_a_hierarchy_that_cannot_be_built_says_why(tmp_path):
    column = qi_with("gone.csv")
    (finding,) = check_next_table(plan(columns={"sex": column}), LAST[["sex"]], tmp_path)
    assert (finding.kind, finding.stops) == ("unfit", True) and "gone.csv" in finding.sentence
    (finding,) = check_next_table(
        plan(columns={"sex": {"role": "quasi-identifier"}}), LAST[["sex"]]
    )
    assert finding.kind == "unfit" and "has no hierarchy" in finding.sentence
    assert (
        found(LAST[["age"]], name="mondrian", columns={"age": {"role": "quasi-identifier"}}) == []
    )


def test_columns_that_are_missing_or_new():
    table = LAST.drop(columns=["sex", "ill"]).assign(note="x")
    assert found(table) == [
        ("missing-column", "sex", True), ("missing-column", "ill", True),
        ("unnamed-column", "note", False),
    ]  # fmt: skip


def test_missing_cells_need_a_rule():
    table = changed(sex=["F", None, "F", "M", "M", None])
    (finding,) = check_next_table(plan(), table)
    assert finding.sentence.startswith("2 records lack a quasi-identifier, 33.3 % of all")
    (finding,) = check_next_table(plan(), changed(sex=["F", None, "F", "M", "M", "F"]))
    assert finding.sentence.startswith("1 record lacks a quasi-identifier, 16.7 % of all")
    for rule in ("drop-records", "as-value"):
        assert found(table, read={"missing": rule}) == []
    nobody = changed(sex=[None] * 6)
    assert found(nobody, read={"missing": "drop-records"})[0] == ("missing-cells", "", True)


def test_new_categories_of_a_sensitive_column_are_known_from_the_table_before():
    table = changed(ill=["flu", "gout", "cold", "cold", "gout", "acne"])
    assert found(table) == [], "a plan does not hold them"
    (finding,) = check_next_table(plan(), table, before=LAST)
    assert (finding.kind, finding.stops) == ("new-categories", False)
    assert "2 new categories, in 3 records, 50.0 % of all" in finding.sentence


def test_new_numbers_are_no_categories_and_texts_among_them_another_type():
    before = changed(ill=list("123456"))
    assert found(changed(ill=list("789123")), before=before) == []
    assert found(changed(ill=["7", "none", *"1234"]), before=before) == [
        ("another-type", "ill", False)
    ]


def test_everything_is_found_at_once_and_last_what_no_release_can_meet():
    (finding,) = check_next_table(plan(k=7), LAST)
    assert (finding.kind, finding.stops) == ("models", True) and "6 records" in finding.sentence
    table = changed(age=["x"] * 6, sex=["X"] * 6).drop(columns="ill")
    assert [kind for kind, *_ in found(table)] == ["missing-column", "another-type", "new-values"]


def test_a_table_that_is_none():
    with pytest.raises(TableError, match="no records"):
        check_next_table(plan(), LAST.iloc[:0])
    with pytest.raises(TableError, match="Two columns"):
        check_next_table(plan(), pd.concat([LAST, LAST], axis=1))


# --- laws and an oracle ---------------------------------------------------------------------
@given(
    st.lists(st.tuples(st.sampled_from("FMXY"), st.sampled_from(["31", "45", "x", "2001-02-03"])),
             min_size=1, max_size=25),
)  # fmt: skip
@examples(100)
def test_what_stops_is_what_a_run_refuses(records):
    """A plan without findings that stop it runs, any other one does not; counts are Counter's."""
    table = pd.DataFrame(records, columns=["sex", "age"]).assign(ill="flu")
    findings = check_next_table(plan(), table)
    new = Counter(sex for sex, _ in records if sex not in "FM")
    lacking = [one for one in findings if (one.kind, one.column) == ("new-values", "sex")]
    assert bool(lacking) is bool(new)
    if new:
        assert f"{len(new)} value" in lacking[0].sentence
        assert f" {new.total()} record" in lacking[0].sentence
    others = [age for _, age in records if age not in ("31", "45")]
    assert (("another-type", "age") in {(one.kind, one.column) for one in findings}) is bool(others)
    if any(one.stops for one in findings):
        with pytest.raises(KanonError):
            run(plan(), table)
    else:
        run(plan(), table)


@given(st.data())
@examples(30)
def test_no_finding_holds_a_value(data):
    secret = st.sampled_from([f"SECRET{n}" for n in range(9)])
    cells = data.draw(st.lists(st.tuples(secret, secret, secret), min_size=1, max_size=12))
    table = pd.DataFrame(cells, columns=list(LAST))
    said = " ".join(one.sentence for one in check_next_table(plan(), table, before=LAST))
    assert said and "SECRET" not in said


def test_a_table_in_an_engine_is_checked_alike(tmp_path):
    table = changed(sex=["F", "X", "X", "M", None, "F"], ill=["flu", "gout", *["cold"] * 4])
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        table.to_sql("t", connection, index=False)
    connection.close()
    table.to_parquet(tmp_path / "t.parquet")
    asked = plan(read={"missing": "drop-records"})
    expected = check_next_table(asked, table, before=LAST)
    assert {one.kind for one in expected} == {"new-values", "new-categories"}
    for address in (Address(str(tmp_path / "t.parquet")), Address(str(tmp_path / "t.sqlite"), "t")):
        assert check_next_table(asked, open_stored(address), before=LAST) == expected


# --- the same levels ------------------------------------------------------------------------
def people(seed, n=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(str),
            "sex": rng.choice(["F", "M"], n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [None, 0.1])
@pytest.mark.parametrize("name", FULL_DOMAIN)
def test_the_pinned_plan_repeats_the_release(name, limit):
    """And it is a plan: written and read again, it is the same."""
    more = {} if limit is None or name == "mingen" else {"suppression_limit": limit}
    asked = plan(name, k=4, **more)
    if name == "levels":
        asked = plan(k=4, suppression_limit=0.5).model_copy(
            update={"algorithm": build_pinned_plan(run(plan(k=4), people(1))).algorithm}
        )
    done = run(asked, people(1))
    pinned = build_pinned_plan(done)
    assert pinned is not None and Plan.from_json(pinned.to_json()) == pinned
    again = run(pinned, people(1))
    pd.testing.assert_frame_equal(again.released(), done.released())
    assert again.measures["node"] == done.measures["node"]


def test_another_table_is_raised_to_the_same_levels():
    pinned = build_pinned_plan(run(plan(k=4), people(1)))
    assert check_next_table(pinned, people(2, n=200)) == ()
    done = run(pinned, people(2, n=200))
    assert done.measures["node"] == pinned.algorithm.node
    labels = {*done.prepared.classes.hierarchies[0].labels}
    assert {*done.released()["age"]} <= labels


def test_releases_without_levels_have_no_such_plan():
    assert build_pinned_plan(run(plan("mondrian"), people(1))) is None
    assert check_pinned_levels(plan("gaa"), people(2), people(1)) == ()


def test_counts_that_have_shifted():
    """Last month two people in each decade and sex, next month one of 77."""
    table = changed(age=["31", "34", "38", "52", "77", "31"])
    pinned = build_pinned_plan(run(plan(), LAST))
    (finding,) = check_next_table(pinned, table)
    assert (finding.kind, finding.stops) == ("models", True)
    assert "2 records would have to be suppressed, but the limit is 0" in finding.sentence
    with pytest.raises(Unsatisfiable, match="2 records"):
        run(pinned, table)
    assert found(table) == [], "other levels would do"
    (finding,) = check_pinned_levels(plan(), table, LAST)
    assert not finding.stops and finding.sentence.startswith("The counts have shifted")
    assert check_pinned_levels(plan(), LAST, LAST) == ()
    assert check_pinned_levels(pinned, table, LAST) == (), "the check of the plan says it already"


def test_what_was_suppressed_may_be_suppressed_again():
    done = run(plan(k=3), LAST)  # Datafly leaves out up to k records unasked
    pinned = build_pinned_plan(done)
    assert pinned.suppression(6) == done.recoding.suppressed_records
    assert prepare(pinned, LAST).check().suppression == done.recoding.suppressed_records


def test_levels_of_an_earlier_table_that_does_not_fit():
    with pytest.raises((PlanError, HierarchyError)):
        check_pinned_levels(plan(), LAST, changed(sex=["X"] * 6))


def test_an_earlier_table_that_cannot_be_repaired_hides_no_finding():
    repairs = [{"column": "sex", "drop": {"one_of": ["X"]}}]
    table = changed(age=["31", "34", "38", "52", "57", "old"])
    alone = check_next_table(plan(repairs=repairs), table)
    both = check_next_table(plan(repairs=repairs), table, before=LAST.assign(sex="X"))
    (added,) = [one for one in both if one not in alone]
    assert set(alone) < set(both) and not added.stops
    assert added.sentence.startswith("The earlier table cannot be compared: ")
