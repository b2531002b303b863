"""Suppressed records: out of the release, or kept as blanked and marked rows."""

import json
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import PlanError
from kanon.hierarchy.build import suppression
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sources.addresses import Address
from kanon.sources.arrow_tables import build_arrow_table
from kanon.sources.formats import FORMATS
from kanon.sources.memory import MemorySource, remove_suppressed_rows
from kanon.sources.opening import open_table
from kanon.sources.read_settings import ReadSettings
from kanon.studio.widgets.tables import build_before_and_after
from support.command_line import RUN, write_plan
from support.plans import make_plan, plan_content, qi
from support.random_tables import examples, problems
from support.table_files import write_table

COLUMNS = {
    "name": ["Ann", "Bob", "Cem", "Dee"],
    "sex": ["F", "M", "F", "X"],
    "ill": ["cold", "flu", "cold", "flu"],
    "whole": [1, 2, 3, 4],
    "small": np.array([1, 2, 3, 4], dtype="uint8"),
    "real": [0.5, 1.5, 2.5, 3.5],
    "truth": [True, False, True, False],
    "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
    "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]),
    "kind": pd.Categorical(["a", "b", "a", "b"]),
    "odd": pd.Series([1, "x", date(2020, 1, 1), None], dtype=object),
}
ROLES = Schema({"name": Role.IDENTIFIER, "sex": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE})


def table() -> pd.DataFrame:
    """Four persons; the index is no numbering."""
    return pd.DataFrame(COLUMNS, index=[7, 7, 3, 0])


def source(keep: bool = True, **given) -> MemorySource:
    return MemorySource(
        table(), ROLES, {"sex": suppression(["F", "M", "X"])}, keep_suppressed=keep, **given
    )


def suppressing(made: MemorySource, *values: str) -> Recoding:
    """The table as it is, without those who have these values."""
    classes = made.classes
    labels = np.array([classes.hierarchies[0].labels[v] for v in classes.nodes[:, 0]])
    return Recoding.from_targets(classes, classes.nodes, np.isin(labels, values))


def test_suppressed_records_leave_the_release():
    made = source(keep=False)
    found = made.release(suppressing(made, "M"))
    assert found["ill"].tolist() == ["cold", "cold", "flu"] and "suppressed" not in found
    pd.testing.assert_frame_equal(
        found.drop(columns="sex"), table().iloc[[0, 2, 3]].drop(columns=["name", "sex"])
    )


def test_suppressed_records_keep_their_rows_blanked_and_marked():
    made = source()
    found = made.release(suppressing(made, "M", "X"))
    assert found.columns.tolist() == [*list(COLUMNS)[1:], "suppressed"]
    assert found.index.tolist() == [7, 7, 3, 0]
    assert found["sex"].tolist() == ["F", "*", "F", "*"]
    assert found["suppressed"].tolist() == [0, 1, 0, 1]
    assert found["suppressed"].dtype == np.int64
    rest = found.drop(columns=["sex", "suppressed"])
    assert rest.iloc[[1, 3]].isna().all(axis=None)
    kept = table().drop(columns=["name", "sex"])
    for column in rest:
        assert rest[column].iloc[[0, 2]].tolist() == kept[column].iloc[[0, 2]].tolist(), column


def test_blanks_fit_the_types():
    made = source()
    found, before = made.release(suppressing(made, "M")).dtypes, table().dtypes
    nullable = {"whole": "Int64", "small": "UInt8", "truth": "boolean"}
    for column in ("ill", "whole", "small", "real", "truth", "nullable", "day", "kind", "odd"):
        assert found[column] == nullable.get(column, before[column]), column


def test_where_nobody_is_suppressed_the_mark_is_there_and_types_stay():
    made = source()
    found = made.release(suppressing(made))
    assert found["suppressed"].tolist() == [0, 0, 0, 0]
    pd.testing.assert_frame_equal(
        found.drop(columns=["sex", "suppressed"]), table().drop(columns=["name", "sex"])
    )


def test_where_everybody_is_suppressed_all_rows_are_blank():
    made = source()
    found = made.release(suppressing(made, "F", "M", "X"))
    assert found["sex"].tolist() == ["*"] * 4 and found["suppressed"].sum() == 4
    assert made.release_rows(suppressing(made, "F", "M", "X"), np.array([2])).shape == (1, 11)
    made = source(keep=False)
    assert len(made.release(suppressing(made, "F", "M", "X"))) == 0


SECRET = 7234567890123456789
"""Eight bytes that a file has by no chance."""

LISTING = {
    "sex": ["F", "M", "F", "X"],
    "ill": pd.Categorical(["cold", "SECRET", "cold", "flu"]),
    "rank": pd.Categorical(
        ["b", "SECRET", "a", "b"], categories=["b", "SECRET", "a"], ordered=True
    ),
    "code": pd.Series(["x", "SECRET", "y", "x"]).astype(
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "whole": [1, SECRET, 3, 4],
    "nullable": pd.array([1, SECRET, None, 4], dtype="Int64"),
    "text": ["x", "SECRET", "y", "x"],
}


def holds_the_secret(content: bytes) -> bool:
    return b"SECRET" in content or SECRET.to_bytes(8, "little") in content


@pytest.mark.parametrize("suppressed", ["leave-out", "keep", "dropped"])
def test_a_release_lists_no_value_of_suppressed_records(tmp_path, suppressed):
    """Neither among the categories of a column, nor beneath a blank, nor in the index."""
    index = pd.CategoricalIndex(["Ann", "SECRET", "Cem", "Dee"])
    given = pd.DataFrame(LISTING).set_axis(index)
    if suppressed == "dropped":
        given["sex"] = ["F", None, "F", "X"]
    columns = {name: {"role": "insensitive"} for name in LISTING} | {
        "sex": qi(),
        "ill": {"role": "sensitive"},
    }
    plan = make_plan(
        columns, 2, {"name": "levels", "node": {"sex": 0}}, suppression_limit=0.5,
        suppressed="leave-out" if suppressed == "dropped" else suppressed,
        read={"missing": "drop-records"},
    )  # fmt: skip
    done = run(plan, given)
    found = done.released(index=True)
    assert list(found["ill"].cat.categories) == ["cold"]
    assert list(found["rank"].cat.categories) == ["b", "a"] and found["rank"].cat.ordered
    left = ["Ann", "Cem"] if suppressed != "keep" else ["Ann", "Cem", "Dee", "SECRET"]
    assert list(found.index.categories) == left
    if suppressed != "keep":
        found.to_parquet(tmp_path / "own.parquet", compression="none")
        assert not holds_the_secret((tmp_path / "own.parquet").read_bytes())
    for kind in ("parquet", "feather"):
        done.write(Address(str(tmp_path / f"out.{kind}")))
        content = tmp_path / f"out.{kind}"
        packed = pyarrow.parquet if kind == "parquet" else pyarrow.feather
        held = packed.read_table(content)
        plain = pa.BufferOutputStream()
        with pa.ipc.new_file(plain, held.schema) as writer:  # what Feather holds, unpacked
            writer.write_table(held)
        assert not holds_the_secret(plain.getvalue().to_pybytes())


@pytest.mark.parametrize("keep", [False, True])
def test_notes_beside_a_table_are_not_released(tmp_path, keep):
    given = table()
    given.attrs["first"] = {"name": "SECRET"}
    made = MemorySource(given, ROLES, {"sex": suppression(["F", "M", "X"])}, keep_suppressed=keep)
    found = made.release(suppressing(made, "M")).drop(columns="odd")
    found.to_parquet(tmp_path / "out.parquet", compression="none")
    assert b"SECRET" not in (tmp_path / "out.parquet").read_bytes()
    assert given.attrs.pop("first") == {"name": "SECRET"}
    pd.testing.assert_frame_equal(given, table())


def test_what_is_written_holds_nothing_but_its_rows():
    """Whoever made the table: the writer looks once more."""
    gone = np.array([False, True, False, False])
    rows = pd.DataFrame({name: pd.Series(cells).mask(gone) for name, cells in LISTING.items()})
    for table_of in (rows, rows.iloc[[0, 2]]):
        held = build_arrow_table(table_of)
        plain = pa.BufferOutputStream()
        with pa.ipc.new_file(plain, held.schema) as writer:
            writer.write_table(held)
        assert not holds_the_secret(plain.getvalue().to_pybytes())


def test_pseudonyms_stay():
    """Who is who in other releases of theirs is no secret that this one keeps."""
    made = source(pseudonyms=["name"])
    found = made.release(suppressing(made, "M"))
    assert sorted(found["name"]) == ["P_1", "P_2", "P_3", "P_4"]


@examples(100)
@given(problems(max_records=12), st.data())
def test_both_releases_hold_the_same_records(problem, data):
    """Row by row: without those that are marked, the longer release is the shorter one."""
    problem_table = problem.frame().assign(note=range(len(problem.rows)))
    roles = Schema(dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER))
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    longer = MemorySource(problem_table, roles, trees, keep_suppressed=True)
    shorter = MemorySource(problem_table, roles, trees)
    size = longer.classes.n_classes
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    recoding = Recoding.from_targets(longer.classes, longer.classes.nodes, gone)
    whole, left = longer.release(recoding), shorter.release(recoding)
    assert len(whole) == len(problem.rows)
    assert whole["suppressed"].sum() == recoding.suppressed_records
    kept = whole[whole["suppressed"] == 0].drop(columns="suppressed")
    assert kept.to_numpy().tolist() == left.to_numpy().tolist()
    roots = [tree.root for tree in problem.trees]
    for row in whole[whole["suppressed"] == 1].itertuples(index=False):
        assert list(row[: len(roots)]) == roots and pd.isna(row.note)
    rows = np.array(data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)), dtype=int)
    shown = longer.release_rows(recoding, rows)
    assert shown["suppressed"].tolist() == whole["suppressed"].iloc[rows].tolist()


# --- files ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", FORMATS)
def test_a_release_with_blanks_is_written_and_read_again(tmp_path, kind):
    made = source()
    found = made.release(suppressing(made, "M"))
    path = tmp_path / f"released.{kind}"
    write_table(found, path)
    again = open_table(path, path.name, ReadSettings()).table
    assert again["suppressed"].astype(int).tolist() == [0, 1, 0, 0]  # text in a CSV
    assert again["whole"].dropna().astype(int).tolist() == [1, 3, 4]
    assert again["ill"].isna().tolist() == [False, True, False, False]
    kept, gone = remove_suppressed_rows(again)
    assert (kept["sex"].tolist(), gone) == (["F", "F", "X"], 1)


PEOPLE = "name,age,sex,ill\nAnn,31,F,flu\nBob,32,F,cold\nCem,33,F,flu\nDee,90,M,cold\n"


def plan_of(**more) -> dict:
    columns = {"name": {"role": "identifier"}, "age": qi("intervals", widths=[10]), "sex": qi()}
    return plan_content({**columns, "ill": {"role": "sensitive"}}, 3, "datafly") | more


def test_a_plan_keeps_suppressed_records(kanon, folder):
    (folder / "people.csv").write_text(PEOPLE, "utf-8")
    write_plan(folder, **plan_of(suppressed="keep"))
    said = kanon(*RUN, "--measures", "m.json")
    assert "4 records, 1 suppressed; 1 class, the smallest of 3 records;" in said.out
    lines = (folder / "released.csv").read_text("utf-8").splitlines()
    assert lines == ["age,sex,ill,suppressed", "*,*,,1",
                     *(f"30-39,F,{x},0" for x in ("cold", "flu", "flu"))]  # fmt: skip
    found = json.loads((folder / "m.json").read_text("utf-8"))
    assert (found["min_k"], found["suppressed"], found["records"]) == (3, 1, 4)
    assert found["node"] == {"age": 1, "sex": 0} and found["level_of_generalisation"] == 1
    assert found["relative_distance"] == 1 / 2
    assert found["c_avg"] == 1 and found["discernibility"] == 9 + 4
    assert found["classification_metric"] == 2 / 4


def test_a_release_that_is_measured_again_counts_no_suppressed_records(kanon, folder):
    """Otherwise they would be a class of one record, and the release seem broken."""
    done = run(Plan.from_content(plan_of(suppressed="keep")), people())
    write_table(done.released(), folder / "out.csv")
    measure = ("measure", "--table", "out.csv", "--json", "--qi")
    found = json.loads(kanon(*measure, "age,sex", "--sensitive", "ill").out)
    assert (found["records"], found["min_k"], found["suppressed"]) == (3, 3, 1)
    assert found["distinct_l"] == 2, "a blank is none of its values"
    whole = json.loads(kanon(*measure, "suppressed").out)
    assert whole["records"] == 4, "asked for as a column"


def people() -> pd.DataFrame:
    return pd.DataFrame([line.split(",") for line in PEOPLE.splitlines()[1:]],
                        columns=PEOPLE.splitlines()[0].split(","))  # fmt: skip


@pytest.mark.parametrize("values", [[0, 2], ["yes", "no"], [0, None], [0.5, 1]])
def test_another_column_of_that_name_is_no_mark(values):
    given = pd.DataFrame({"sex": ["F", "M"], "suppressed": values})
    kept, gone = remove_suppressed_rows(given)
    assert (kept is given, gone) == (True, 0)


def test_everybody_suppressed_leaves_no_class(kanon, folder):
    (folder / "people.csv").write_text(PEOPLE, "utf-8")
    asked = plan_of(suppression_limit=1.0, privacy=[{"model": "k-anonymity", "k": 4}])
    write_plan(folder, **asked)
    said = kanon(*RUN, "--measures", "m.json")
    assert "4 suppressed; no class is left; alteration 100.0 %" in said.out
    found = json.loads((folder / "m.json").read_text("utf-8"))
    assert found["min_k"] is found["c_avg"] is found["entropy_l"] is None
    assert (folder / "released.csv").read_text("utf-8") == "age,sex,ill\n"
    sweep = ("sweep", *RUN[1:4], "--k", "3,4", "--metrics", "ncp", "--out", "curves.csv")
    assert kanon(*sweep).status == 0
    rows = pd.read_csv(folder / "curves.csv", dtype=str, keep_default_na=False)
    assert rows["min_k"].tolist()[-1] == "" and rows["classes"].tolist()[-1] == "0"
    assert all("." not in text for text in rows["min_k"])


def test_a_plan_says_it_in_one_of_two_words():
    plan = Plan.from_content(plan_of())
    assert plan.suppressed == "leave-out"
    assert Plan.from_json(plan.to_json()) == plan
    kept = Plan.from_content(plan_of(suppressed="keep"))
    assert Plan.from_json(kept.to_json()).suppressed == "keep"
    with pytest.raises(PlanError, match=r"suppressed.*'leave-out' or 'keep'"):
        Plan.from_content(plan_of(suppressed="hide"))


@pytest.mark.parametrize("keep", ["leave-out", "keep"])
def test_a_preview_shows_the_same_records_before_and_after(keep):
    done = run(Plan.from_content(plan_of(suppressed=keep)), people())
    before, after = (getattr(each, "data", each) for each in build_before_and_after(done))
    size = 4 if keep == "keep" else 3
    assert len(before) == len(after) == size
    assert before["age"].tolist() == ["31", "32", "33", "90"][:size]
    assert after["age"].tolist() == ["30-39"] * 3 + ["*"] * (size - 3)
    assert ("suppressed" in after) == (keep == "keep") and "suppressed" not in before
    _, styled = build_before_and_after(done)
    styled.to_html()  # the tints fit the rows


def test_the_measures_of_a_run_are_those_of_its_recoding():
    """Keeping rows changes the table that leaves, and none of its numbers."""
    one, other = (
        run(Plan.from_content(plan_of(suppressed=keep)), people()).measures
        for keep in ("leave-out", "keep")
    )
    assert {**one, "seconds": 0} == {**other, "seconds": 0}
