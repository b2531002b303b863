"""What a release shows for the numbers of a class, by hand and recomputed with pandas."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.written import FORMS, write_values
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.hierarchy.build import suppression
from kanon.notebook import every_k
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.report.explanations import describe_column_fates
from kanon.run import finished, prepare, run
from kanon.sources.addresses import Address
from support.engine_tables import put_in_engine
from support.plans import make_plan, qi
from support.random_tables import examples
from support.written import run_quietly

MISSING = "(missing)"
INTERVALS = {"age": [5, 20], "pay": [1, 4]}
PEOPLE = pd.DataFrame(
    {
        "age": [21, 22, 24, 24, 41, 45, 49, 45, 60, 63],
        "pay": [1.5, 1.5, 2.25, 1, 3, 3, 3, 3, 7, 8.5],
        "ill": list("abcabcabca"),
    }
)


def asked(written, k=2, algorithm="gaa", columns=("age", "pay"), **more) -> Plan:
    """A plan for columns of numbers, with what is written for some of them."""
    parts = {name: qi("intervals", widths=INTERVALS[name]) for name in columns}
    for name, form in written.items():
        parts[name]["written"] = form
    return make_plan({**parts, "ill": {"role": "sensitive"}}, k, algorithm, **more)


def describe(values: pd.Series, form: str, column: pd.Series) -> str:
    """What has to be written for the values of a class, from texts alone."""
    filled = values.dropna()
    if filled.empty:
        return MISSING
    numbers = sorted(map(Fraction, filled))
    ends = "" if len(filled) == len(values) else f" or {MISSING}"
    if form == "range":
        known = [*map(Fraction, column.dropna())]
        is_whole = (min(known), max(known)) == (numbers[0], numbers[-1])
        if is_whole and values.nunique(dropna=False) > 1 and bool(ends) == column.isna().any():
            return "*"
        low, high = (f"{float(end):g}" for end in (numbers[0], numbers[-1]))
        return (low if low == high else f"[{low}, {high}]") + ends
    if form == "mean":
        digits = max(len(str(text).partition(".")[2]) for text in column.dropna())
        number = round(sum(numbers) / len(numbers), digits)
    elif form == "median":
        number = numbers[(len(numbers) - 1) // 2]
    else:
        number = min(numbers, key=lambda each: (-numbers.count(each), each))
    return f"{float(number):g}" + ends


# --- by hand ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("form", "ages"),
    [
        ("range", ["[21, 24]", "[41, 49]", "[60, 63]"]),
        ("mean", ["23", "45", "62"]),  # 22.75; 45; 61.5 goes to the even one
        ("median", ["22", "45", "60"]),
        ("mode", ["24", "45", "60"]),
    ],
)
def test_each_form_by_hand(form, ages):
    levels = {"name": "levels", "node": {"age": 2}}  # 20-39, 40-59 and 60-79
    done = run_quietly(asked({"age": form}, algorithm=levels, columns=["age"]), PEOPLE)
    assert sorted(done.released()["age"].unique()) == ages
    assert done.recoding.counts.tolist() == [4, 4, 2]


def test_a_mean_has_the_decimals_of_its_column():
    levels = {"name": "levels", "node": {"pay": 3}}
    done = run_quietly(asked({"pay": "mean"}, algorithm=levels, columns=["pay"]), PEOPLE)
    assert {*done.released()["pay"]} == {"3.38"}, "33.75 / 10, half to even"


def test_classes_with_equal_means_become_one():
    tree = suppression(["1", "2", "3"])
    nodes, counts = np.arange(3, dtype=np.int32)[:, None], np.array([2, 3, 2])
    classes = EquivalenceClasses(("age",), (tree,), nodes, counts)
    groups = Recoding.from_targets(classes, np.array([[tree.root], [1], [tree.root]]))
    assert groups.counts.tolist() == [3, 4]
    release = write_values(groups, {"age": "mean"})
    assert release.counts.tolist() == [7]
    assert [release.hierarchies[0].labels[node] for node in release.nodes[:, 0]] == ["2"]
    assert write_values(groups, {"age": "range"}).n_classes == 2


# --- laws -------------------------------------------------------------------------------------
@st.composite
def tables(draw):
    n = draw(st.integers(6, 14))
    ages = st.one_of(st.integers(18, 40), st.none())
    first = draw(st.integers(18, 40))  # some age is known
    pays = st.sampled_from([0.5, 1, 1.25, 2, 5, 9])
    table = pd.DataFrame(
        {
            "age": pd.array(
                [first, *draw(st.lists(ages, min_size=n - 1, max_size=n - 1))], "Int64"
            ),
            "pay": draw(st.lists(pays, min_size=n, max_size=n)),
            "ill": "flu",
        }
    )
    form = st.sampled_from([*FORMS])
    written = draw(st.fixed_dictionaries({"age": form}, optional={"pay": form}))
    return table, written, draw(st.integers(2, 3))


@examples(200, in_gate=6)
@given(tables(), st.sampled_from(["gaa", "ola", "mondrian", "k-member", "lattice-sweep"]))
def test_classes_of_k_show_what_pandas_computes(case, algorithm):
    table, written, k = case
    before = table.copy(deep=True)
    plan = asked(written, k, algorithm, read={"missing": "as-value"}, suppression_limit=0.2)
    done = run_quietly(plan, table)
    pd.testing.assert_frame_equal(table, before)
    shown = done.released(index=True)
    sizes = shown.groupby(["age", "pay"], dropna=False).size()
    assert sizes.min() >= k
    assert sorted(sizes) == sorted(done.recoding.counts)
    assert all(verdict.holds for verdict in done.verdicts)
    texts = table.astype({"pay": str}).replace({"pay": r"\.0$"}, "", regex=True)
    for name, form in written.items():
        original = texts[name].loc[shown.index]
        for cell_pair, rows in shown.groupby(["age", "pay"], dropna=False).groups.items():
            cell = cell_pair[["age", "pay"].index(name)]
            assert cell == describe(original.loc[rows], form, texts[name]), (name, form)
    shuffled = run_quietly(plan, table.sample(frac=1, random_state=1).reset_index(drop=True))
    pd.testing.assert_frame_equal(
        shuffled.released().reset_index(drop=True), done.released().reset_index(drop=True)
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in algorithms() if name != "levels"])
def test_every_algorithm_writes_means_and_ranges(name):
    table = pd.concat([PEOPLE, PEOPLE + {"age": 1, "pay": 0.25, "ill": ""}], ignore_index=True)
    done = run_quietly(asked({"age": "mean"}, 3, name), table)
    shown = done.released()
    sizes = shown.groupby(["age", "pay"]).size()
    assert sizes.min() >= 3
    assert len(sizes) == done.recoding.n_classes
    assert all(verdict.holds for verdict in done.verdicts)
    assert {*shown["age"].map(float)} <= {*map(float, range(21, 65))}


def test_every_k_is_the_run_for_it_and_so_are_its_curves():
    plan = asked({"age": "range", "pay": "mean"}, k=3)
    known = every_k(plan, PEOPLE)
    alone = run_quietly(plan, PEOPLE)
    pd.testing.assert_frame_equal(known.release(3).released(), alone.released())
    points = known.solution.curves.at([3])
    assert points["alteration_nllm"].tolist() == [alone.alteration]
    assert points["classes"].tolist() == [alone.recoding.n_classes]


# --- beside it ----------------------------------------------------------------------------------
def test_an_engine_writes_the_same(tmp_path):
    plan = asked({"age": "mean", "pay": "range"})
    source = prepare(plan, put_in_engine(PEOPLE, "duckdb", tmp_path))
    done = run_quietly(plan, source.source.table)
    done.write(Address(str(tmp_path / "out.csv")))
    columns = ["age", "pay"]
    written = pd.read_csv(tmp_path / "out.csv", dtype=str)[columns]
    ours = run_quietly(plan, PEOPLE).released()[columns].astype(str)
    assert sorted(map(tuple, written.to_numpy())) == sorted(map(tuple, ours.to_numpy()))


@pytest.mark.parametrize(
    ("form", "told"),
    [("range", "whose bounds are values"), ("mean", ""), ("median", "the value of somebody")],
)
def test_a_remark_says_whose_value_is_shown(form, told):
    done = run_quietly(asked({"age": form}), PEOPLE)
    found = [remark.found for remark in done.remarks if remark.kind == "written"]
    assert [told in text for text in found] == [True] * bool(told)
    assert describe_column_fates(done)["age"] == f"generalised, written as the {form} of each class"


@pytest.mark.parametrize(
    ("column", "form", "told"),
    [
        (["a", "b"] * 5, "range", "'x' holds texts; 'range' needs numbers."),
        (["1.234,5", "7,5"] * 5, "mean", "'x' holds texts; 'mean' needs plain numbers"),
        (["2024-01-03", "2024-02-04"] * 5, "median", "'x' holds dates; 'median' needs numbers."),
    ],
)
def test_other_columns_are_refused(column, form, told):
    plan = make_plan({"x": {**qi(), "written": form}})
    with pytest.raises(PlanError, match=r"Plan key columns\.x\.written: ") as refused:
        run(plan, pd.DataFrame({"x": column}))
    assert told in str(refused.value)


def test_a_column_that_is_no_quasi_identifier_is_refused():
    columns = {"age": qi(), "ill": {"role": "sensitive", "written": "mean"}}
    with pytest.raises(PlanError, match="'ill' has the role sensitive; only quasi-identifiers"):
        make_plan(columns)
    with pytest.raises(PlanError, match=r"columns\.age\.written"):
        make_plan({"age": {**qi(), "written": "sum"}})


def test_a_model_that_the_written_values_break_is_refused():
    """As one that looks at more than classes can be; here, the classes are those for another k."""
    recoding = run_quietly(asked({}), PEOPLE).recoding
    with pytest.raises(PlanError, match="What 'written' shows for the classes of 'age' does not"):
        finished(prepare(asked({"age": "mean"}, k=9), PEOPLE), recoding, 0.0)
