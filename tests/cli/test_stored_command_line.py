"""The command line with tables that stay where they are."""

import json
import sqlite3
import sys

import pandas as pd
import pytest

from kanon.release.record import FILE, VARIABLE
from kanon.sources.addresses import Address
from kanon.sources.stored import StoredTable, open_stored
from support.command_line import RELEASED, RUN, check_failure, files

OUT = ("--out", "released.parquet")
ASKED = ("--qi", "age,sex", "--sensitive", "disease", "--json")


@pytest.fixture
def people(folder) -> pd.DataFrame:
    """The table of the folder as a file of each kind that an engine reads."""
    table = pd.read_csv(folder / "people.csv", sep=";", dtype=str)
    (folder / "parts").mkdir()
    table.head(2).to_parquet(folder / "parts" / "one.parquet")
    table.tail(4).to_parquet(folder / "parts" / "two.parquet")
    with sqlite3.connect(folder / "data.sqlite") as connection:
        table.to_sql("people", connection, index=False)
    connection.close()
    return table


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "given",
    [["parts"], ["people.csv", "--engine", "duckdb"], ["data.sqlite#people"], ["data.sqlite"]],
    ids=" ".join,
)
def test_a_table_is_anonymised_where_it_is(kanon, folder, people, given):
    before = files(folder)
    said = kanon("run", "plan.json", "--table", *given, *OUT, "--measures", "m.json")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith("6 records; 3 classes, the smallest of 2 records; alteration ")
    released = pd.read_parquet(folder / "released.parquet")
    assert list(released.columns) == ["age", "sex", "disease"]
    assert sorted(released.to_numpy().tolist()) == sorted(RELEASED)
    assert json.loads((folder / "m.json").read_text("utf-8"))["min_k"] == 2
    assert {name: files(folder)[name] for name in before} == before, "the input is untouched"
    again = kanon("measure", "--table", "released.parquet", "--engine", "duckdb", *ASKED)
    assert again == kanon("measure", "--table", "released.parquet", *ASKED, "--quiet")
    assert json.loads(again.out)["min_k"] == 2


def test_a_sweep_of_a_stored_table_is_that_of_the_table(kanon, folder, people):
    ways = (("people.csv", "mine.csv"), ("parts", "theirs.csv"))
    for table, out in ways:
        assert kanon("sweep", "plan.json", "--table", table, "--k", "2,3", "--out", out).err == ""
    assert (folder / "mine.csv").read_bytes() == (folder / "theirs.csv").read_bytes()


def test_a_hierarchy_is_checked_against_a_stored_column(kanon, folder, people):
    asked = ("hierarchy", "check", "sex.csv", "--column", "sex", "--table")
    assert kanon(*asked, "parts") == kanon(*asked, "people.csv")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["nowhere", *OUT], ["'nowhere' does not exist"]),
        (["data.sqlite#nobody", *OUT], ["no such table", "people"]),
        (["parts", "--out", "released.xlsx"], ["An engine cannot write", ".parquet", "folder"]),
        (["data.sqlite", "--engine", "memory", *OUT], ["cannot be read into memory"]),
        (["people.csv", "--out", "parts"], ["'parts' cannot be written there", "to be empty"]),
        (["people.csv", "--out", "deep/r.csv"], ["cannot be written there", "has to exist"]),
        (["people.csv#x", *OUT], ["'people.csv' is one table"]),
        (["parts#x", *OUT], ["'parts' is one table"]),
        (["people.csv", "--out", "new"], ["--engine duckdb"]),
        (["people.csv", "--out", "a.ddb#b"], ["--engine duckdb"]),
        (["people.csv", "--out", "a.docx"], [".csv"]),
        (["parts", "--out", "a.ddb"], ["'a.ddb#released'"]),
    ],
)
def test_what_cannot_be_done_is_said(kanon, folder, people, arguments, parts):
    check_failure(kanon("run", "plan.json", "--table", *arguments), 2, parts)


def test_a_population_needs_a_table_in_memory(kanon, people):
    said = kanon("measure", "--table", "parts", "--qi", "age", "--population", "people.csv")
    check_failure(said, 2, ["--population needs a table in memory"])


@pytest.mark.parametrize(
    ("engine", "module", "part"),
    [
        ("duckdb", "ibis", "pip install -r requirements.txt"),
        ("spark", "pyspark", "pip install pyspark"),
    ],
)
def test_without_an_engine_all_else_works(kanon, folder, monkeypatch, engine, module, part):
    for name in [*sys.modules]:
        if name.startswith((module, f"kanon.sources.engines.{engine}")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    given = ("run", "plan.json", "--table", "people.csv", *OUT)
    check_failure(kanon(*given, "--engine", engine), 2, ["not installed", part])
    assert kanon(*given).status == 0


def test_an_engine_that_nobody_knows_is_refused(kanon, folder, capsys):
    with pytest.raises(SystemExit):
        kanon("run", "plan.json", "--table", "people.csv", "--engine", "abacus", *OUT)


def test_no_cell_is_kept_with_a_table_that_stays(people, folder):
    table = open_stored(Address(str(folder / "parts")))
    assert isinstance(table, StoredTable)
    assert "Ana" not in repr(table.__getstate__())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("given", [["parts"], ["people.csv"], ["data.sqlite#people"]], ids=" ".join)
def test_a_further_release_of_a_table_names_combine(kanon, folder, people, given, monkeypatch):
    record = folder / "record"
    record.mkdir()
    monkeypatch.setenv(VARIABLE, str(record))
    wanted = ("run", "plan.json", "--table", *given, "--out")
    assert kanon(*wanted, "one.parquet").err == ""
    (line,) = (record / FILE).read_text("utf-8").splitlines()
    day = json.loads(line)["when"][:10]
    assert kanon(*wanted, "two.parquet").err == (
        "kanon: warning: This table has been released before (1 time), most recently on "
        f"{day} with k = 2. Run 'kanon combine' with the plans of all its releases to see what "
        "they reveal together.\n"
    )
    if given == ["people.csv"]:
        again = kanon(*wanted, "three.parquet").err
        assert (
            f"This table has been released before (2 times), most recently on {day} with k = 2."
            in again
        )
        with (folder / "people.csv").open("a", encoding="utf-8") as other:
            other.write("\n")
        assert kanon(*wanted, "four.csv").err == ""


def test_a_record_that_cannot_be_read_is_a_warning(kanon, folder, monkeypatch):
    record = folder / "record"
    record.mkdir()
    monkeypatch.setenv(VARIABLE, str(record))
    assert kanon(*RUN).err == ""
    with (record / FILE).open("a", encoding="utf-8") as file:
        file.write(json.loads((record / FILE).read_text("utf-8"))["table"] + "\n")
    said = kanon(*RUN)
    assert said.status == 0 and said.err == (
        "kanon: warning: The record of releases, in the folder that KANON_RECORD names, cannot be "
        "read.\n"
    )
