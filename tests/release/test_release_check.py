"""The check of a release, by hand, against the models themselves, and on what must not pass."""

import math
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon.base.values import encode_texts
from kanon.errors import ReleaseError
from kanon.plan import Plan
from kanon.privacy.t_closeness import HIGHEST
from kanon.release.check import check_files, check_release, require_verdicts
from kanon.release.released_rows import Verdict
from kanon.run import prepare, run
from kanon.sensitive import Sensitive
from kanon.sources.addresses import Address
from kanon.sources.missing import mark_missing
from kanon.sources.reading import read_table
from support.plans import qi
from support.random_tables import examples

COLUMNS = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi-identifier"},
    "ill": {"role": "sensitive"},
}

AGE = qi()
K2 = {"model": "k-anonymity", "k": 2}


def plan(*models, columns=COLUMNS, **more):
    return Plan.from_content(
        {
            "version": 2, "columns": columns, "algorithm": {"name": "gaa"},
            "privacy": list(models), **more,
        }
    )  # fmt: skip


def level(released, model, **parameters):
    (found,) = check_release(released, plan({"model": model, **parameters}))
    return found.level, found.holds


# Four colds and two flus: in X three colds and a flu, in Y a cold and a flu.
SIX = pd.DataFrame({"age": list("XXXXYY"), "ill": ["cold"] * 3 + ["flu", "cold", "flu"]})


@pytest.mark.parametrize(
    ("model", "parameters", "expected", "holds"),
    [
        ("k-anonymity", {"k": 2}, 2, True),
        ("k-anonymity", {"k": 3}, 2, False),
        ("distinct-l-diversity", {"l": 2}, 2, True),
        ("distinct-l-diversity", {"l": 3}, 2, False),
        ("entropy-l-diversity", {"l": 1.75}, 4 / 27**0.25, True),
        ("entropy-l-diversity", {"l": 1.76}, 4 / 27**0.25, False),
        ("recursive-cl-diversity", {"c": 3, "l": 2}, 3, False),
        ("recursive-cl-diversity", {"c": 3.01, "l": 2}, 3, True),
        ("recursive-cl-diversity", {"c": 9, "l": 3}, math.inf, False),
        ("alpha-k-anonymity", {"alpha": 0.75, "k": 2}, 0.75, True),
        ("alpha-k-anonymity", {"alpha": 0.75, "k": 3}, 0.75, False),
        ("alpha-k-anonymity", {"alpha": 0.74, "k": 2}, 0.75, False),
        ("t-closeness", {"t": 0.34}, 1 / 3, True),
        ("t-closeness", {"t": 0.33}, 1 / 3, False),
        ("t-closeness", {"t": 0.16, "distance": "variational"}, 1 / 6, False),
        ("t-closeness", {"t": 0.17, "distance": "emd-equal"}, 1 / 6, True),
        ("delta-disclosure", {"delta": 0.41}, math.log(1.5), True),
        ("delta-disclosure", {"delta": 0.4}, math.log(1.5), False),
        ("basic-beta-likeness", {"beta": 0.5}, 0.5, True),
        ("basic-beta-likeness", {"beta": 0.49}, 0.5, False),
        ("enhanced-beta-likeness", {"beta": 0.5}, 0.5, True),
    ],
)
def test_levels_worked_by_hand(model, parameters, expected, holds):
    found, enough = level(SIX, model, **parameters)
    assert found == pytest.approx(expected) and enough is holds


def test_no_gain_above_what_enhanced_likeness_allows():
    """Colds rise from 3/4 to 1, by a third, but may rise by -ln(3/4) = 0.29."""
    released = pd.DataFrame({"age": list("XXYY"), "ill": ["cold"] * 3 + ["flu"]})
    assert level(released, "basic-beta-likeness", beta=1) == (1, True)
    assert level(released, "enhanced-beta-likeness", beta=1) == (math.inf, False)
    assert level(released, "delta-disclosure", delta=9) == (math.inf, False), "X has no flu"


def test_numbers_stand_in_a_row():
    """X has 9 and 10, Y has 100: 2/3 of what X has goes one step, 1/3 two steps."""
    released = pd.DataFrame({"age": list("XXYY"), "ill": ["9", "10", "100", "100"]})
    # q = (1/4, 1/4, 1/2); X: sums of differences 1/4, 1/2; Y: 1/4, 1/2.
    found, _ = level(released, "t-closeness", t=1, distance="emd-ordered")
    assert found == pytest.approx(0.75 / 2)


def test_the_same_number_in_two_spellings_is_one_value():
    released = pd.DataFrame({"age": list("XX"), "ill": ["1", "1.0"]})
    assert level(released, "distinct-l-diversity", l=2) == (1, False)


@pytest.mark.parametrize(
    ("values", "written", "read"),
    [
        (["01", "1"], 2, 1),
        (["10.5", "10.50"], 2, 1),
        (["flu", "flu "], 1, 1),
        (["flu", "Flu", "F LU"], 3, 1),
        (["39", "39.0"], 1, 1),
        (["39", "39.0", "cold"], 2, 2),
        (["9007199254740993", "9007199254740992", ""], 3, 3),
        (["0", "-0", "+0.0", " -0.0"], 1, 1),
        (["39", "39.00"], 2, 1),
        (["1", "1.000"], 2, 1),
        (["\u0663", "\u0663.0", "3"], 2, 1),
        (["flu", "flu\x1c", "flu\u2003"], 1, 1),
        (["none", "unknown", ""], 3, 1),
        ([0.0, -0.0], 1, 1),
    ],
)
def test_values_are_told_apart_as_kanon_does(values, written, read):
    """By closeness as they are written, by diversity as they read."""
    table, ill = known_of(mark_missing(pd.DataFrame({"ill": values}))[0])
    told_apart = ill.total[ill.total > 0]
    assert len(told_apart) == written and len(ill.folded.values) == read
    assert level(table, "distinct-l-diversity", l=2)[0] == read
    each_apart = table.assign(age=[f"age {place}" for place in range(len(table))])
    t = level(each_apart, "t-closeness", t=1, distance="variational")[0]
    assert t == pytest.approx(1 - told_apart.min() / len(table))


def known_of(table):
    """A table with one class, and the values that kanon's own classes have there."""
    table = table.assign(age="X")
    columns = {"age": AGE, "ill": {"role": "sensitive"}}
    (ill,) = prepare(plan(K2, columns=columns), table).source.classes.sensitive
    return table, ill


MIXED = st.sampled_from([
    "", None, float("nan"), "1.5", "1.50", 1.5, Decimal("1.5"), Decimal("1.50"), 1, 1.0, "1", True,
    "True", np.float32(0.1), 0.1, -0.0, 0, "-0", date(2021, 3, 4), datetime(2021, 3, 4),
    datetime(2021, 3, 4, 5), pd.Timestamp("2021-03-04", tz="UTC"), "2021-03-04", 10**20, 1e20, "x ",
    "x", pd.Timedelta(1, "ns"), pd.Timedelta(2, "ns"),
])  # fmt: skip


@examples(100)
@example([date(2021, 3, 4), datetime(2021, 3, 4)], "object")
@example([date(2021, 3, 4), datetime(2021, 3, 4, 5)], "object")
@example([datetime(2021, 3, 4), pd.Timestamp("2021-03-04", tz="UTC")], "object")
@given(st.lists(MIXED, min_size=1, max_size=8), st.sampled_from(["object", "category"]))
def test_mixed_types_are_told_apart_as_kanon_does(cells, dtype):
    """What is in memory alone: a right release is not refused for how Arrow would hold it."""
    if dtype == "category":
        cells = [cell if isinstance(cell, str) else None for cell in cells]
    table, ill = known_of(pd.DataFrame({"ill": pd.Series(cells, dtype=dtype)}))
    assert level(table, "distinct-l-diversity", l=2)[0] == len(ill.folded.values)
    each_apart = table.assign(age=[f"age {place}" for place in range(len(table))])
    t = level(each_apart, "t-closeness", t=1, distance="variational")[0]
    assert t == pytest.approx(1 - ill.total[ill.total > 0].min() / len(table))


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([0.0] * 4 + [-0.0] * 4, {"t": 0.2, "distance": "emd-equal"}),
        (["0"] * 4 + ["-0"] * 4, {"t": 0.2, "distance": "emd-equal"}),
        (["\u0663"] * 4 + ["\u0663.0"] * 4, {"t": 0.2, "distance": "emd-equal"}),
        # 9 and 10 in the digits of Arabic: the second is the larger one.
        (["\u0669", "\u0661\u0660", "12", "12"] * 2, {"t": 0.2, "distance": "emd-ordered"}),
        (["1.50", "1.5", "2", "2", "1.5", "1.50", "2", "2"], {"t": 1, "distance": "emd-ordered"}),
    ],
)
def test_a_release_that_meets_its_plan_is_given_out(tmp_path, values, part):
    table = pd.DataFrame({"age": ["X"] * 4 + ["Y"] * 4, "ill": values})
    columns = {"age": AGE, "ill": {"role": "sensitive"}}
    wanted = plan({"model": "t-closeness", **part}, columns=columns)
    done = run(wanted, table)
    (found,) = done.verdicts
    (model,) = wanted.models
    assert found.holds and found.level == pytest.approx(model.level(done.recoding.released))
    file = written(done.released(), "csv", tmp_path)
    assert check_files(file, "csv", wanted)[0].level == pytest.approx(found.level)


def test_numbers_of_one_size_stand_in_the_same_order_whatever_the_rows():
    """Where 1.5 and 1.50 are neighbours, the ordered distance must not go by who came first."""
    ill = ["1.5", "1.5", "1.50", "1.50", "3", "3"]  # in X 1.5 is 1/3 too frequent, 1.50 is not
    table = pd.DataFrame({"age": list("XXXYYY"), "ill": ill})
    columns = {"age": AGE, "ill": {"role": "sensitive"}}
    wanted = plan({"model": "t-closeness", "t": 1, "distance": "emd-ordered"}, columns=columns)
    (model,) = wanted.models
    for rows in (table, table[::-1]):
        done = run(wanted, rows)
        assert model.level(done.recoding.released) == pytest.approx((1 / 3 + 1 / 3) / 2)
        assert done.verdicts[0].level == pytest.approx(1 / 3)


def test_missing_cells_are_one_value_and_look_like_empty_ones():
    released = pd.DataFrame({"age": [None, "", np.nan], "ill": [None, np.nan, "flu"]}, dtype=object)
    assert level(released, "k-anonymity", k=3) == (3, True)
    assert level(released, "distinct-l-diversity", l=2) == (2, True)


# --- against the models ---------------------------------------------------------------------
ASKED = [
    {"model": "distinct-l-diversity", "l": 2},
    {"model": "entropy-l-diversity", "l": 1.5},
    {"model": "recursive-cl-diversity", "c": 2, "l": 2},
    {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2},
    *(
        {"model": "t-closeness", "t": 0.5, "distance": distance}
        for distance in HIGHEST
        if distance != "hierarchical"  # see tests/privacy/test_hierarchical_distance.py
    ),
    {"model": "delta-disclosure", "delta": 1},
    {"model": "basic-beta-likeness", "beta": 1},
    {"model": "enhanced-beta-likeness", "beta": 1},
]
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30)


@examples(60)
@given(RECORDS)
def test_the_check_agrees_with_every_model(records):
    classes, places = map(list, zip(*records, strict=True))
    _, own = np.unique(classes, return_inverse=True)
    values, at = np.unique(places, return_inverse=True)
    ill = Sensitive.from_records(
        "ill", [str(one) for one in values], True, own.tolist(), at.tolist(), len(set(classes))
    )

    class Classes:
        sizes = counts = ill.sizes
        n_classes = len(ill.sizes)

        def sensitive_named(self, column):
            assert column == "ill"
            return ill

    released = pd.DataFrame({"age": classes, "ill": [str(one) for one in places]})
    wanted = plan(*ASKED)
    for verdict, model in zip(check_release(released, wanted), wanted.models, strict=True):
        assert verdict.holds == model.holds(Classes()), verdict
        expected = model.level(Classes())
        assert verdict.level == pytest.approx(expected, rel=1e-9, abs=1e-12), verdict


@examples(25)
@given(RECORDS, st.randoms())
def test_the_order_of_rows_does_not_matter(records, random):
    released = pd.DataFrame(records, columns=["age", "ill"])
    kept = released.copy()
    shuffled = released.sample(frac=1, random_state=random.randrange(2**32))
    wanted = plan({"model": "k-anonymity", "k": 2}, *ASKED)
    assert [(one.level, one.holds) for one in check_release(shuffled, wanted)] == [
        (pytest.approx(one.level), one.holds) for one in check_release(released, wanted)
    ]
    pd.testing.assert_frame_equal(released, kept)


# --- what must not pass -------------------------------------------------------------------------
def test_an_identifier_is_no_part_of_a_release():
    (found,) = check_release(SIX.assign(name="Ana"), plan(K2))
    assert found.model == "columns" and not found.holds
    labels = {**COLUMNS, "name": {"role": "identifier", "pseudonym": True}}
    (found,) = check_release(SIX.assign(name="P_1"), plan(K2, columns=labels))
    assert found.holds


@pytest.mark.parametrize(
    "raw", ["Ana", "P_", "P_0", "P_1 ", "P_1\n", "xP_1", "P_1a", " ", "17", 17]
)
def test_an_identifier_where_its_pseudonym_belongs_is_no_part_of_a_release(raw):
    labels = plan(K2, columns={**COLUMNS, "name": {"role": "identifier", "pseudonym": True}})
    names = pd.Series(["P_1", "P_20", None, "", "P_3", "P_3"], dtype=object)
    (found,) = check_release(SIX.assign(name=names), labels)
    assert found.model == "k-anonymity" and found.holds
    (found,) = check_release(SIX.assign(name=names.where(names != "P_20", raw)), labels)
    assert (found.model, found.column, found.holds) == ("pseudonyms", "name", False)
    with pytest.raises(ReleaseError, match="'name' has values that are not pseudonyms"):
        require_verdicts([found])


@pytest.mark.parametrize("column", ["age", "ill"])
def test_a_column_that_is_missing_is_noticed(column):
    (found,) = check_release(SIX.drop(columns=column), plan(K2))
    assert found.model == "columns" and not found.holds


@pytest.mark.parametrize("mark", [1, "1"])
def test_blanked_rows_are_left_out_where_the_plan_keeps_them(mark):
    blanked = pd.DataFrame({"age": ["*"], "ill": [None], "suppressed": [mark]})
    released = pd.concat([SIX.assign(suppressed=type(mark)(0)), blanked], ignore_index=True)
    (found,) = check_release(released, plan(K2, suppressed="keep"))
    assert (found.level, found.holds) == (2, True)
    (found,) = check_release(released.drop(columns="suppressed"), plan(K2))
    assert (found.level, found.holds) == (1, False)


def test_a_column_called_suppressed_leaves_out_nothing_where_the_plan_does_not_keep_them():
    released = pd.concat(
        [SIX.assign(suppressed=0), pd.DataFrame({"age": ["Z"], "ill": ["HIV"], "suppressed": [1]})]
    )
    (found,) = check_release(released, plan(K2))
    assert (found.level, found.holds) == (1, False)


def test_a_plan_that_keeps_suppressed_records_is_checked_where_there_are_none():
    assert check_release(SIX, plan(K2, suppressed="keep"))[0].holds


KEPT = {"name": {"role": "identifier", "pseudonym": True}, "age": AGE, "ill": {"role": "sensitive"}}
BLANKED = pd.DataFrame(
    {
        "name": ["P_1", "P_2", "P_3", "P_4"],
        "age": ["X", "X", "*", "*"],
        "ill": ["flu", "cold", None, None],
        "note": ["a", "b", None, None],
        "visits": pd.array([1, 2, None, None], dtype="Int64"),
        "suppressed": [0, 0, 1, 1],
    }
)


def written(released: pd.DataFrame, kind: str, path: Path) -> Path:
    file = path / f"released.{kind}"
    rows = duckdb.from_arrow(pa.Table.from_pandas(released, preserve_index=False))
    rows.write_csv(str(file)) if kind == "csv" else rows.write_parquet(str(file))
    return file


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["memory", "csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "cell"),
    [("age", "93"), ("ill", "HIV"), ("note", "lives in Ulm"), ("visits", 7), (None, None)],
)
def test_what_is_marked_as_suppressed_shows_nothing(tmp_path, kind, column, cell):
    """Neither a value, nor which of the values: the rows are at the root and blank."""
    spoiled = BLANKED.copy()
    if column:
        spoiled.loc[3, column] = cell
    wanted = plan(K2, columns=KEPT, suppressed="keep")
    for roots in (None, {"age": "*"}):
        if kind == "memory":
            (found,) = check_release(spoiled, wanted, roots)
        else:
            (found,) = check_files(written(spoiled, kind, tmp_path), kind, wanted, roots)
        assert found.holds is (column is None)
        if column:
            assert found.sentence == (
                f"'{column}' shows values in rows that are marked as suppressed"
            )


def test_all_that_is_marked_is_at_the_root():
    """One value for all of them is enough only where nobody says what the root is called."""
    same = BLANKED.replace({"age": {"*": "93"}})
    wanted = plan(K2, columns=KEPT, suppressed="keep")
    assert check_release(same, wanted)[0].holds
    (found,) = check_release(same, wanted, {"age": "*"})
    assert (found.model, found.column, found.holds) == ("suppressed", "age", False)


def test_a_run_says_what_its_roots_are(monkeypatch):
    """A run that forgets to raise the rows it suppresses does not pass its own check."""
    table = pd.DataFrame({"name": list("abc"), "age": ["1", "1", "93"], "ill": ["x", "y", "HIV"]})
    columns = {**KEPT, "name": {"role": "identifier"}}
    wanted = plan(K2, columns=columns, suppressed="keep", suppression_limit=0.5)
    wanted = wanted.model_copy(
        update={"algorithm": wanted.algorithm.model_copy(update={"name": "datafly"})}
    )
    done = run(wanted, table)
    assert done.released()["suppressed"].tolist() == [0, 0, 1]
    assert all(verdict.holds for verdict in done.verdicts)
    true = type(done).released
    monkeypatch.setattr(type(done), "released", lambda self, index: true(self, index).assign(
        age=["1", "1", "93"]))  # fmt: skip
    (found,) = replace(done).verdicts
    assert (found.model, found.column) == ("suppressed", "age")


def test_a_release_without_records_tells_nothing():
    (found,) = check_release(SIX.head(0), plan(K2))
    assert (found.level, found.holds) == (None, True)


# --- files that an engine wrote -------------------------------------------------------------
def by_duckdb(table: pa.Table, path: Path, separator: str) -> None:
    duckdb.from_arrow(table).write_csv(str(path), sep=separator)


def by_arrow(table: pa.Table, path: Path, separator: str) -> None:
    options = pyarrow.csv.WriteOptions(delimiter=separator)
    with pyarrow.csv.CSVWriter(path, table.schema, write_options=options) as writer:
        writer.write_table(table)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("write", [by_duckdb, by_arrow])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("age", ["age", "age\r\n(years)", "age\r", 'a"g\te,'])
def test_a_file_is_read_as_it_was_written(tmp_path, write, kind, age):
    """Nothing is guessed from the first lines: a name with a line's end is one line's name."""
    table = pa.table(
        {
            age: ["X\r"] * 2 + [None, "", "#", "#", "a,b\t\n", "a,b\t\n"],
            "ill": ["1", "1.0", None, "", '"', "'", "\n\n", "x"],
        }
    )
    path = tmp_path / f"released.{kind}"
    write(table, path, {"csv": ",", "tsv": "\t"}[kind])
    columns = {age: {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    for k, holds in ((2, True), (3, False)):
        (found,) = check_files(path, kind, plan({**K2, "k": k}, columns=columns))
        assert (found.level, found.holds) == (2, holds)
    (found,) = check_files(
        path, kind, plan({"model": "distinct-l-diversity", "l": 2}, columns=columns)
    )
    assert (found.level, found.holds) == (1, False)


@pytest.mark.parametrize("content", [b"", b"age,ill\nX,1\nX\n", b"age,ill\n\xff,1\n", b'"age'])
def test_a_file_that_is_not_as_written_is_not_given_out(tmp_path, content):
    path = tmp_path / "released.csv"
    path.write_bytes(content)
    with pytest.raises(ReleaseError, match="could not be checked, so it is not given out"):
        check_files(path, "csv", plan(K2))


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")
@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
@pytest.mark.parametrize(
    ("kind", "most", "texts"),
    [
        (pa.float16(), 1.5, ["1", "1.5"]),
        (pa.decimal256(60, 0), 10**50, ["1", "1" + 50 * "0"]),
        (pa.decimal256(60, 0), 7, ["1", "7"]),
    ],
)
def test_numbers_that_the_check_cannot_read_become_others(tmp_path, kind, most, texts, role):
    columns = {"age": ["x"] * 4, "n": pa.array([1, 1, most, None], kind)}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    quasi = qi()
    asked = plan({"model": "k-anonymity", "k": 2}, columns={"age": quasi, "n": {"role": role}})
    read = read_table(tmp_path / "t.parquet").table
    from_pandas = pd.DataFrame({"age": ["x"] * 4, "n": columns["n"].to_pandas()})
    for given_table in (read, from_pandas):
        run(asked, given_table).write(Address(str(tmp_path / "out.parquet")))
        found = read_table(tmp_path / "out.parquet").table["n"]
        assert encode_texts(found)[1] == texts and found.isna().tolist() == [True] + [False] * 3


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (("columns", "", "", None), "its columns are not the ones in the plan"),
        (("coarsened", "job", "level 1", None), "'job' shows values finer than level 1 of its "
         "hierarchy"),
        (("k-anonymity", "", "k = 2", None), "k-anonymity (k = 2): no class is left"),
        (("k-anonymity", "", "k = 2", 3), "k-anonymity (k = 2): 3 in the worst class"),
    ],
)  # fmt: skip
def test_a_verdict_is_a_sentence_whatever_it_is_about(verdict, sentence):
    """Of pseudonyms and of suppressed rows: above."""
    assert Verdict(*verdict, False).sentence == sentence


@pytest.mark.parametrize(("file", "begin"), [("csv", "Read back from its file"), ("", "The rel")])
def test_only_what_fails_is_refused_and_the_file_is_named(file, begin):
    good, bad = (Verdict("k-anonymity", "", "k = 3", k, k >= 3) for k in (3, 2))
    require_verdicts([good], file)
    with pytest.raises(ReleaseError, match=f"^{begin}") as raised:
        require_verdicts([good, bad], file)
    assert raised.value.sentence.count("k-anonymity") == 1
