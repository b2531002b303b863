"""The file of a release, as a stranger reads it: all that is missing there was counted as one."""

import io
import json
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest

from kanon.cli.main import main
from kanon.errors import ReleaseError, Unsatisfiable
from kanon.plan import Plan
from kanon.run import execution as runs
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.formats import FORMATS
from kanon.sources.stored import open_stored
from support.plans import plan_content, qi

pytestmark = pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")

TWO_BLANKS = pd.DataFrame(
    {"age": ["30", "30", "40", "40", "50", "50"], "ill": ["", "?", "", "?", "flu", "cold"]}
)
"""In the ages of 30 and 40 a blank and a marker: two values to who reads the cells as they are."""


def content_of(**more):
    columns = {"age": qi(), "ill": {"role": "sensitive"}}
    diverse = {"model": "distinct-l-diversity", "l": 2}
    return plan_content(columns, models=[diverse], read={"missing_markers": ["?"]}) | more


def plan_of(**more):
    return Plan.from_content(content_of(**more))


def by_a_stranger(content: bytes, kind: str) -> pd.DataFrame:
    """The cells of a file as text; what is missing or blank is ''."""
    file = io.BytesIO(content)
    if kind in ("csv", "tsv"):
        found = pd.read_csv(
            file, sep={"csv": ",", "tsv": "\t"}[kind], dtype=str, keep_default_na=False
        )
    elif kind == "xlsx":
        found = pd.read_excel(file, dtype=object, keep_default_na=False, engine="calamine")
    elif kind == "sav":
        found, _ = pyreadstat.read_sav(file, apply_value_formats=True)
    else:
        typed = {"parquet": pd.read_parquet, "feather": pd.read_feather, "dta": pd.read_stata}
        found = typed[kind](file)
    return found.astype(object).where(found.notna(), "").astype(str)


def least_l(found: pd.DataFrame) -> int:
    return int(found.groupby("age")["ill"].nunique().min())


@pytest.mark.parametrize("missing", ["", " ", None])
@pytest.mark.parametrize("kind", FORMATS)
def test_blanks_and_markers_are_one_value_in_every_file(tmp_path, kind, missing):
    given = TWO_BLANKS.replace({"ill": {"": missing, "?": None}})
    found = by_a_stranger(run(plan_of(), given).content(kind), kind)
    assert least_l(found) >= 2
    assert sorted(found["ill"]) == ["", "", "", "", "cold", "flu"]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_without_records_is_read_back(kind):
    every = plan_of(
        algorithm={"name": "levels", "node": {"age": 0}}, suppression_limit=1,
        privacy=[{"model": "k-anonymity", "k": 2}],
    )  # fmt: skip
    alone = pd.DataFrame({"age": ["30", "40"], "ill": ["flu", "cold"]})
    found = by_a_stranger(run(every, alone).content(kind), kind)
    assert list(found.columns) == ["age", "ill"] and len(found) == 0


@pytest.mark.parametrize("dtype", ["category", pd.ArrowDtype(pa.string()), object, "string"])
def test_blanks_are_missing_whatever_the_type_of_their_column(dtype):
    given = TWO_BLANKS.replace("?", None).astype({"ill": dtype})
    done = run(plan_of(), given)
    assert done.released()["ill"].isna().sum() == 4 and (given["ill"] == "").sum() == 2
    assert least_l(by_a_stranger(done.content("csv"), "csv")) == 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ""])
@pytest.mark.parametrize("source", ["csv", "parquet"])
def test_an_engine_counts_them_as_one_value_too(tmp_path, source, ending):
    path = tmp_path / f"given.{source}"
    if source == "csv":
        TWO_BLANKS.to_csv(path, index=False)
    else:
        pyarrow.parquet.write_table(
            pa.table({"age": TWO_BLANKS["age"], "ill": ["", None, " ", None, "flu", "cold"]}), path
        )
    (tmp_path / "plan.json").write_text(json.dumps(content_of()))
    out = tmp_path / f"out{ending}"
    command = ["run", str(tmp_path / "plan.json"), "--table", str(path), "--out", str(out)]
    assert main([*command, "--engine", "duckdb"]) == 0
    if ending == ".csv":
        found = by_a_stranger(out.read_bytes(), "csv")
    else:
        found = pyarrow.parquet.read_table(out).to_pandas()
        found = found.astype(object).where(found.notna(), "")
    assert least_l(found) >= 2 and len(found) == 6


def test_a_quasi_identifier_with_both_has_one_missing_value():
    given = TWO_BLANKS.assign(age=["", None, "", None, "50", "50"], ill=list("abcdef"))
    read = {"missing_markers": ["?"], "missing": "as-value"}
    done = run(plan_of(read=read), given)
    assert done.released(order="table")["age"].tolist() == ["(missing)"] * 4 + ["50"] * 2


def test_what_a_kind_of_file_takes_for_one_value_is_one_before():
    """1.5 and 1.50 are two texts, and one number of a column of decimals in Parquet."""
    twice = [Decimal("1.5"), Decimal("1.50")]
    given = pd.DataFrame({"age": list("xxyy"), "ill": pd.Series(2 * twice, dtype=object)})
    with pytest.raises(Unsatisfiable, match=r"l = 2 for 'ill' .* l is at most 1\."):
        run(plan_of(), given)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("how", ["cut", "short", "other"])
def test_a_file_that_is_not_what_was_checked_is_not_given_out(monkeypatch, tmp_path, kind, how):
    made = runs.table_bytes

    def spoiled(rows, kind, **more):
        if how == "cut":
            content = made(rows, kind, **more)
            return content[: len(content) // 2]
        if how == "short":
            return made(rows.head(len(rows) - 1), kind, **more)
        return made(rows.assign(ill="flu"), kind, **more)

    done = run(plan_of(), TWO_BLANKS.replace("?", None))
    monkeypatch.setattr(runs, "table_bytes", spoiled)
    with pytest.raises(ReleaseError, match="not given out"):
        done.write(Address(str(tmp_path / f"out.{kind}")))
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_a_database_is_checked_before_it_stays(tmp_path, monkeypatch):
    (tmp_path / "given").mkdir()
    TWO_BLANKS.to_csv(tmp_path / "given" / "t.csv", index=False)
    done = run(plan_of(), open_stored(Address(str(tmp_path / "given" / "t.csv"))))
    target, check, seen = Address(str(tmp_path / "out.duckdb"), "released"), runs.check_files, []

    def spoiled(written, kind, plan, roots):
        written.execute(f"UPDATE {kind} SET ill = 'flu'")
        seen.append(kind)
        return check(written, kind, plan, roots)

    with monkeypatch.context() as patched:
        patched.setattr(runs, "check_files", spoiled)
        with pytest.raises(ReleaseError, match="1 in the worst class"):
            done.write(target)
    assert seen == ['"released"'] and [path.name for path in tmp_path.iterdir()] == ["given"]
    done.write(target)
    with duckdb.connect(tmp_path / "out.duckdb", read_only=True) as opened:
        assert opened.sql("SELECT count(*), count(ill) FROM released").fetchall() == [(6, 2)]


def test_the_table_alone_cannot_meet_it():
    """One value and missing cells are two, however the missing ones are written."""
    given = TWO_BLANKS.assign(ill=["", None, " ", "", None, ""])
    with pytest.raises(Unsatisfiable):
        run(plan_of(), given)
