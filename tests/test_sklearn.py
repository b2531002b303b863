"""A plan as a transformer of scikit-learn: where rows go, and what pipelines ask of it."""

import json
import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

from kanon.errors import PlanError, TableError
from kanon.plan import Plan
from kanon.run import run
from kanon.sklearn import Anonymizer
from support.paths import ROOT
from support.plans import make_plan, plan_content, qi, qi_with

COLUMNS = {
    "name": {"role": "identifier"},
    "age": qi("intervals", widths=[10, 20]),
    "sex": qi(),
    "ill": {"role": "sensitive"},
}
PLAN = plan_content(COLUMNS, 3, {"name": "gaa", "metric": "ncp"})


def people(n: int = 60, seed: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"P{number}" for number in range(n)],
            "age": random.integers(18, 70, n),
            "sex": random.choice(["F", "M"], n),
            "ill": random.choice(["flu", "cold"], n),
            "paid": random.normal(size=n),
        },
        index=pd.Index(random.permutation(n), name="row"),
    )


def table_of(*rows: tuple[object, object]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["age", "sex"])


SMALL = plan_content({"age": qi("intervals", widths=[10, 20]), "sex": qi()}, 2,
                     {"name": "gaa", "metric": "ncp"})  # fmt: skip
FITTED = table_of((31, "F"), (34, "F"), (52, "M"), (57, "M"))
"""Released as 30-39 F, and 50-59 M."""


# --- where rows go ------------------------------------------------------------------------------
def test_rows_go_where_their_tuple_went_and_new_ones_where_they_fit():
    anonymizer = Anonymizer(SMALL).fit(FITTED)
    rows = anonymizer.transform(table_of((57, "M"), (33, "F"), (31, "F"), (50, "M")))
    assert rows.values.tolist() == [["50-59", "M"], ["30-39", "F"], ["30-39", "F"], ["50-59", "M"]]
    assert anonymizer.unplaced_ == 0


def test_a_row_that_no_class_contains_is_said_or_suppressed():
    rows = table_of((33, "F"), (33, "M"), (71, "F"), (34, "X"))
    with pytest.raises(TableError) as caught:
        Anonymizer(SMALL).fit(FITTED).transform(rows)
    said = str(caught.value)
    assert "contains 3 of 4 rows" in said and "'age', 'sex'" in said and "suppress" in said
    assert "71" not in said and "X" not in said
    anonymizer = Anonymizer(SMALL, unseen="suppress").fit(FITTED)
    released = anonymizer.transform(rows)
    assert released.values.tolist() == [["30-39", "F"], ["*", "*"], ["*", "*"], ["*", "*"]]
    assert anonymizer.unplaced_ == 3


def test_a_value_with_which_the_builder_names_other_groups_fits_none():
    """A shorter code would turn 471* into 47*1, or stars for all into one star."""
    plan = plan_content({"zip": qi("mask", keep=[2])}, 2)
    anonymizer = Anonymizer(plan, "suppress").fit(pd.DataFrame({"zip": ["4711", "4712"]}))
    rows = pd.DataFrame({"zip": ["4799", "47110", "4800", "4720"]})
    assert anonymizer.transform(rows)["zip"].tolist() == ["47**", "*", "*", "47**"]
    assert anonymizer.unplaced_ == 2


def test_a_listed_hierarchy_has_only_its_own_values(tmp_path):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n", "utf-8")
    (tmp_path / "plan.json").write_text(
        json.dumps(plan_content({"sex": qi_with("sex.csv")})), "utf-8"
    )
    anonymizer = Anonymizer(str(tmp_path / "plan.json"), "suppress")
    anonymizer.fit(pd.DataFrame({"sex": ["F", "M"]}))
    assert anonymizer.transform(pd.DataFrame({"sex": ["F", "X"]}))["sex"].tolist() == ["*", "*"]
    assert anonymizer.unplaced_ == 1


def test_a_range_contains_the_numbers_between_its_ends():
    """Mondrian cuts at the median; the lowest value, of one record, is not named."""
    algorithm = {"name": "mondrian", "ranges": "outward"}
    plan = plan_content({"age": {"role": "quasi-identifier"}}, 4, algorithm)
    fitted = pd.DataFrame({"age": [10, *[20] * 3, 30, 30, 36, 36, *[60] * 4, *[70] * 4]})
    anonymizer = Anonymizer(plan, "suppress").fit(fitted)
    labels = anonymizer.transform(fitted)["age"].tolist()
    assert sorted({*labels}) == ["20 or less", "60", "70", "[30, 36]"]
    rows = anonymizer.transform(pd.DataFrame({"age": [33, 5, 25, 15, 61]}))["age"].tolist()
    assert rows == ["[30, 36]", "20 or less", "*", "20 or less", "*"]
    assert anonymizer.unplaced_ == 2


ROWS = st.lists(st.tuples(st.integers(0, 39), st.sampled_from("FM")), min_size=4, max_size=14)


@settings(max_examples=20)
@given(ROWS, ROWS)
def test_the_place_of_a_row_is_the_cheapest_by_brute_force(fitted, new):
    known, rows = table_of(*fitted), table_of(*new)
    anonymizer = Anonymizer(SMALL, "suppress").fit(known)
    recoding = anonymizer.recoding_
    trees = recoding.hierarchies
    classes = [
        [tree.labels[node] for tree, node in zip(trees, nodes, strict=True)]
        for nodes in recoding.nodes
    ]
    ages = {str(age) for age, _ in fitted}

    def contains(label: str, value: object) -> bool:
        low, dash, high = label.partition("-")
        return label in ("*", str(value)) or (dash == "-" and int(low) <= int(value) <= int(high))

    def lose(labels) -> Fraction:
        """NCP: the leaves below each label, as a share of all."""
        inside = [sum(contains(labels[0], age) for age in ages), 1 + (labels[1] == "*")]
        whole = [len(ages), len({sex for _, sex in fitted})]
        return sum(
            (Fraction(part, all_) if part > 1 else Fraction(0))
            for part, all_ in zip(inside, whole, strict=True)
        )

    went = dict(zip(fitted, run(Plan.from_content({**SMALL, "order": "table"}), known)
                    .released().values.tolist(), strict=True))  # fmt: skip
    expected = []
    for row in new:
        fits = [one for one in classes if all(map(contains, one, row))]
        expected.append(went.get(row) or min(fits, key=lose, default=["*", "*"]))
    assert anonymizer.transform(rows).values.tolist() == expected
    assert anonymizer.transform(rows[::-1])[::-1].equals(anonymizer.transform(rows))


# --- rows, columns and missing cells ------------------------------------------------------------
def test_rows_of_the_table_leave_as_a_run_in_its_order_releases_them():
    table = people()
    plan = Plan.from_content({**PLAN, "order": "table"})
    released = run(plan, table).released(index=True)
    rows = Anonymizer(plan).fit_transform(table)
    pd.testing.assert_frame_equal(rows, released)
    assert rows.columns.tolist() == ["age", "sex", "ill", "paid"]


def test_no_identifier_leaves_not_even_as_a_pseudonym():
    columns = {**COLUMNS, "name": {"role": "identifier", "pseudonym": True}}
    anonymizer = Anonymizer({**PLAN, "columns": columns})
    rows = anonymizer.fit_transform(people())
    assert "name" not in rows and not rows.astype(str).map(lambda cell: cell.startswith("P")).any(
        axis=None
    )
    assert b"P17" not in pickle.dumps(anonymizer)


def test_rows_that_the_plan_drops_or_suppresses_stay_blank():
    plan = {**SMALL, "read": {"missing": "drop-records"}, "suppressed": "keep",
            "repairs": [{"column": "age", "drop": {"above": 100}}]}  # fmt: skip
    table = table_of(*FITTED.values.tolist(), (None, "F"), (199, "M")).assign(paid=range(6))
    anonymizer = Anonymizer(plan).fit(table)
    rows = anonymizer.transform(table)
    assert rows["age"].tolist() == ["30-39", "30-39", "50-59", "50-59", "*", "*"]
    assert rows["paid"].isna().tolist() == [False] * 4 + [True] * 2
    assert rows["suppressed"].tolist() == [0, 0, 0, 0, 1, 1] and anonymizer.unplaced_ == 0
    assert anonymizer.get_feature_names_out().tolist() == ["age", "sex", "paid", "suppressed"]


def test_missing_cells_as_a_value_fit_a_root_alone():
    plan = {**SMALL, "read": {"missing": "as-value"}}
    anonymizer = Anonymizer(plan, "suppress").fit(table_of((31, "F"), (34, "M")))
    rows = anonymizer.transform(table_of((31, None), (None, "F")))
    assert rows.values.tolist() == [["30-39", "*"], ["*", "*"]] and anonymizer.unplaced_ == 1


# --- what scikit-learn asks for -----------------------------------------------------------------
def test_parameters_copies_and_frames_are_those_of_scikit_learn():
    table = people()
    anonymizer = Anonymizer(Plan.from_content(PLAN), unseen="suppress")
    assert anonymizer.get_params() == {"plan": anonymizer.plan, "unseen": "suppress"}
    with pytest.raises(NotFittedError):
        anonymizer.transform(table)
    rows = anonymizer.fit_transform(table)
    for copy in (clone(anonymizer).fit(table), pickle.loads(pickle.dumps(anonymizer))):  # noqa: S301
        pd.testing.assert_frame_equal(copy.transform(table), rows)
    pd.testing.assert_frame_equal(
        clone(anonymizer).set_output(transform="pandas").fit_transform(table), rows
    )
    assert rows.columns.tolist() == anonymizer.get_feature_names_out().tolist()
    assert len(anonymizer.transform(table[:0])) == 0
    assert anonymizer.set_params(plan=SMALL).plan is SMALL


def test_it_is_cross_validated_in_a_pipeline():
    table = people(90)
    adult = table["age"] > 40
    model = make_pipeline(
        Anonymizer(PLAN, unseen="suppress"),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(),
    )
    scores = cross_val_score(model, table.drop(columns="paid"), adult, error_score="raise", cv=3)
    assert (scores > 0.6).all()


@pytest.mark.parametrize(
    ("given", "kind", "part"),
    [
        ({"unseen": "drop"}, ValueError, "'error' or 'suppress'"),
        ({"plan": {"version": 2}}, PlanError, "lacks the key columns"),
        ({"plan": "absent.json"}, PlanError, "cannot be read"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_by_fit(given, kind, part):
    with pytest.raises(kind, match=part):
        Anonymizer(**{"plan": SMALL, **given}).fit(FITTED)


def test_other_rows_than_tables_with_the_same_columns_are_refused():
    with pytest.raises(TypeError, match="needs a pandas DataFrame"):
        Anonymizer(SMALL).fit(FITTED.to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        Anonymizer(SMALL).fit(FITTED).transform(FITTED[["sex", "age"]])


def test_what_scikit_learn_checks_holds_where_no_array_is_given():
    """Its other checks give arrays, whose columns have no names."""
    results = check_estimator(Anonymizer(make_plan(COLUMNS)), on_fail=None, on_skip=None)
    failed = [result for result in results if result["status"] == "failed"]
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    causes = {result["check_name"]: explain(result["exception"]) for result in failed}
    assert {
        name for name, text in causes.items() if "needs a pandas DataFrame" not in text
    } == set()
    page = (ROOT / "docs" / "how-to" / "scikit-learn.md").read_text("utf-8")
    listed = {*re.findall(r"`(check_\w+)`", page)} - {"check_dict_unchanged"}
    assert listed == passed and len(passed) > 10


def explain(error: BaseException | None) -> str:
    """The texts of an error and of those that led to it."""
    return "" if error is None else f"{error} {explain(error.__cause__ or error.__context__)}"
