"""What engines take for something else: cells of other types, folders, names, zones, cases."""

import datetime as dt
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from kanon.cli.main import main
from kanon.errors import TableError
from kanon.plan import Plan
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.engines import duckdb as embedded
from kanon.sources.opening import open_address
from kanon.sources.stored import StoredTable, open_stored
from kanon.sources.stored_source import StoredSource
from support.plans import make_plan, plan_content, qi

QUASI = qi()
AS_IT_IS = {"role": "insensitive"}


def plan_with(k: int = 2, **columns: object) -> Plan:
    return make_plan(columns, k, "datafly", suppression_limit=0)


def released(table: StoredTable, path: Path, **columns: object) -> list[dict]:
    run(plan_with(**columns), table).write(Address(str(path)))
    rows = pyarrow.parquet.read_table(path).to_pylist()
    return sorted(rows, key=lambda row: [str(cell) for cell in row.values()])


def in_sqlite(folder: Path, columns: str, *rows: tuple) -> Address:
    with sqlite3.connect(folder / "data.sqlite") as connection:
        connection.execute(f"CREATE TABLE people ({columns})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(rows[0]))})", rows)
    connection.close()
    return Address(str(folder / "data.sqlite"), "people")


def in_duckdb(folder: Path, *statements: str) -> Address:
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    return Address(str(folder / "data.duckdb"), "people")


def in_parquet(path: Path, **columns: object) -> Address:
    path.parent.mkdir(exist_ok=True, parents=True)
    pyarrow.parquet.write_table(pa.table(columns), path)
    return Address(str(path))


# --- SQLite, whose columns hold cells of any type -------------------------------------------
def test_cells_count_by_their_own_type_and_not_by_the_declared_one(tmp_path):
    """Declared truth values, 1 and 2 would be one value: two records would pass for four."""
    rows = [(1, "Ana"), (2, "Ben"), (0, "Chi"), (0, "Dan")]
    table = open_stored(in_sqlite(tmp_path, "a BOOLEAN, b TEXT", *rows))
    assert dict(table.count_column_values("a").counts) == {"0": 2, "1": 1, "2": 1}
    found = released(table, tmp_path / "out", a=QUASI, b=AS_IT_IS)
    assert found == [{"a": "*", "b": name} for name in ("Ana", "Ben", "Chi", "Dan")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("declared", ["", "INTEGER", "TINYINT", "SMALLINT", "BIGINT"])
def test_whole_numbers_are_never_rounded_or_cut(tmp_path, declared):
    numbers = [300, 70_000, 2**53 + 1, 2**62 + 1, None]
    table = open_stored(in_sqlite(tmp_path, f"a TEXT, n {declared}", *(("x", n) for n in numbers)))
    found = released(table, tmp_path / "out", a=QUASI, n=AS_IT_IS)
    assert sorted((row["n"] for row in found), key=str) == sorted(numbers, key=str)
    assert dict(table.count_column_values("n").counts) == {
        str(n): 1 for n in numbers if n is not None
    }


@pytest.mark.parametrize(
    ("declared", "cells", "said"),
    [
        ("", (1, "1"), "its cells are whole numbers and texts"),
        ("TEXT", ("a", b"a"), "its cells are bytes and texts"),
        ("INTEGER", (1, "SECRET"), "its cells are whole numbers and texts"),
        ("", (0.5, 2**53 + 1), "its cells are whole numbers and numbers"),
    ],
)
def test_cells_of_several_types_are_refused(tmp_path, declared, cells, said):
    address = in_sqlite(tmp_path, f"a {declared}", *((cell,) for cell in cells))
    with pytest.raises(TableError, match=f"mixes types: {said}") as raised:
        open_stored(address)
    assert "SECRET" not in raised.value.sentence


@pytest.mark.parametrize("declared", ["DATE", "DATETIME", "TIMESTAMP", "DECIMAL(9, 2)", "UUID"])
def test_texts_are_texts_whatever_was_declared(tmp_path, declared):
    table = open_stored(in_sqlite(tmp_path, f"a {declared}", ("soon",), ("2020-01-01",), (None,)))
    assert dict(table.count_column_values("a").counts) == {"2020-01-01": 1, "soon": 1}


def test_numbers_with_and_without_a_fraction_are_numbers(tmp_path):
    table = open_stored(in_sqlite(tmp_path, "a NUMERIC", (1,), (1.5,), (2.0,)))
    assert dict(table.count_column_values("a").counts) == {"1": 1, "1.5": 1, "2": 1}


def test_upper_and_lower_case_differ_whatever_the_collation(tmp_path):
    names = ("Ana", "ANA", "aNa", "ana", "ana")
    expected = {"ANA": 1, "Ana": 1, "aNa": 1, "ana": 2}
    sqlite = in_sqlite(tmp_path, "a TEXT COLLATE NOCASE", *((name,) for name in names))
    base = in_duckdb(
        tmp_path,
        "CREATE TABLE people (a VARCHAR COLLATE NOCASE)",
        *(f"INSERT INTO people VALUES ('{name}')" for name in names),
    )
    for address in (sqlite, base):
        assert dict(open_stored(address).count_column_values("a").counts) == expected


def test_a_file_with_a_log_is_opened_and_nothing_is_written(tmp_path):
    path = tmp_path / "data.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE people (a TEXT)")
        connection.execute("INSERT INTO people VALUES ('x')")
    connection.close()
    assert [one.name for one in tmp_path.iterdir()] == ["data.sqlite"]
    table = open_stored(Address(str(path)))
    assert table.n_records == 1 and dict(table.count_column_values("a").counts) == {"x": 1}
    assert [one.name for one in tmp_path.iterdir()] == ["data.sqlite"]


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux tells the open files")
def test_sqlite_spills_nothing(tmp_path):
    rows = ((f"person {n}", f"street {n % 7000}") for n in range(30_000))
    address = in_sqlite(tmp_path, "a TEXT, b TEXT", *rows)
    before = _open_files()
    table = open_stored(address)
    table.distinct()
    table.count_column_values("b")
    assert {name for name in _open_files() - before if "etilqs" in name} == set()
    connection = table.opened.rows.expression.get_backend().con
    assert connection.execute("PRAGMA temp_store").fetchone() == (2,), "in memory"


def _open_files() -> set[str]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:  # closed meanwhile
            continue
    return found


# --- folders and files ----------------------------------------------------------------------
def test_a_folder_whose_name_has_an_equals_sign_is_no_column(tmp_path):
    states = in_parquet(tmp_path / "state=ZZ" / "t.parquet", state=["CA", "CA", "NY", "NY"])
    assert dict(open_stored(states).count_column_values("state").counts) == {"CA": 2, "NY": 2}
    csv = tmp_path / "state=ZZ" / "zip=007" / "t.csv"
    csv.parent.mkdir()
    csv.write_text("a,b\n1,x\n1,y\n")
    assert open_stored(Address(str(csv))).columns == ("a", "b")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"a": [7.6]}, "Column 'a' differs between '1.parquet' and '2.pq' of 'parts'"),
        ({"a": ["007"]}, "Column 'a' differs between"),
        ({"a": [8], "b": [1]}, "Column 'b' differs between '1.parquet' and '2.pq' of 'parts'"),
        ({"b": [8]}, "Column 'a' differs between"),
    ],
)
def test_parts_of_a_folder_have_to_agree(tmp_path, other, said):
    in_parquet(tmp_path / "parts" / "1.parquet", a=[7])
    in_parquet(tmp_path / "parts" / "2.pq", **other)
    with pytest.raises(TableError, match=said):
        open_stored(Address(str(tmp_path / "parts")))


def test_parts_may_be_encoded_in_different_ways_and_hidden_ones_are_none(tmp_path):
    folder = tmp_path / "parts"
    in_parquet(folder / "1.parquet", a=["x", "y"])
    in_parquet(folder / "deep" / "2.PARQUET", a=pa.array(["x"]).dictionary_encode())
    for hidden in (".3.parquet", "_temporary/3.parquet", ".part/3.parquet"):
        in_parquet(folder / hidden, a=["z"])
    assert dict(open_stored(Address(str(folder))).count_column_values("a").counts) == {
        "x": 2,
        "y": 1,
    }


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_above_a_header_are_skipped_as_in_memory(tmp_path, end):
    path = tmp_path / "t.csv"
    path.write_bytes(end.join(["", "", "a,b", "1,x", "1,y", ""]).encode())
    for engine in ("memory", "duckdb"):
        table = open_address(Address(str(path)), engine)
        assert table.n_records == 2 and dict(table.count_column_values("b").counts) == {
            "x": 1,
            "y": 1,
        }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "'t.csv' has no header."),
        (b"\n \n", "'t.csv' has no header."),
        (b"a\n1\n\n1\n", "'t.csv' has only one column if ',' separates"),
        ("a,b\n1,é\n".encode("utf-16"), "in the encoding UTF-16, which the engine cannot"),
    ],
)
def test_a_text_file_that_an_engine_reads_otherwise_is_refused(tmp_path, content, said):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=said):
        open_stored(Address(str(path)))


# --- names of columns -----------------------------------------------------------------------
@pytest.mark.parametrize("name", ["kanon: label 0", "KANON: part 0", "kanon:"])
def test_a_name_of_kanons_own_is_refused(tmp_path, name):
    with pytest.raises(TableError, match="has a name that begins with 'kanon:'"):
        open_stored(in_parquet(tmp_path / "t.parquet", **{name: ["Ana"], "age": ["34"]}))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["self", "name", "order", "value", "records", 'a "b"', "%s {0}"])
def test_other_names_mean_nothing(tmp_path, name):
    address = in_parquet(tmp_path / "t.parquet", **{name: ["x", "y"], "age": ["34", "34"]})
    found = released(open_stored(address), tmp_path / "out", **{"age": QUASI, name: AS_IT_IS})
    assert found == [{name: "x", "age": "34"}, {name: "y", "age": "34"}]


@pytest.mark.parametrize("name", ["suppressed", "Suppressed"])
def test_the_name_of_the_mark_is_taken_in_any_case(tmp_path, name):
    frame = pd.DataFrame({name: ["x", "y"], "age": ["34", "34"]})
    with pytest.raises(TableError, match=f"The table has a column '{name}'"):
        run(plan_with(**{"age": QUASI, name: AS_IT_IS}), frame)


# --- values ---------------------------------------------------------------------------------
def test_moments_with_a_zone_cannot_be_grouped_by(tmp_path):
    late = pa.array([dt.datetime(2019, 12, 31, 23, 30)] * 2, pa.timestamp("us", "Europe/Berlin"))
    table = open_stored(in_parquet(tmp_path / "t.parquet", a=late, b=["x", "y"]))
    with pytest.raises(TableError, match="Column 'a' holds times with a time zone"):
        run(plan_with(a=QUASI, b=AS_IT_IS), table)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["BIT", "INTERVAL", "UNION(x INT, y TEXT)", "UHUGEINT"])
def test_types_without_texts_are_refused(tmp_path, kind):
    address = in_duckdb(tmp_path, f"CREATE TABLE people (a {kind})")
    with pytest.raises(TableError, match="Column 'a' of 'people' has a type other than"):
        open_stored(address)


def test_sums_of_whole_numbers_are_released_as_they_are(tmp_path):
    address = in_duckdb(
        tmp_path, f"CREATE TABLE people AS SELECT 'x' AS a, {2**70} + n AS n FROM range(2) AS t(n)"
    )
    found = released(open_stored(address), tmp_path / "out", a=QUASI, n=AS_IT_IS)
    assert [int(row["n"]) for row in found] == [2**70, 2**70 + 1]


def listed_in(path: Path) -> set[str]:
    """Every text that the dictionaries of a Parquet file or the types of a database list."""
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as connection:
            types = connection.execute("SELECT labels FROM duckdb_types() WHERE NOT internal")
            return {label for (labels,) in types.fetchall() for label in labels}
    names = ["age", "job", "note"]
    found = pyarrow.parquet.read_table(path, read_dictionary=names)
    return {str(label) for name in names for one in found[name].chunks for label in one.dictionary}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("suppressed", ["leave-out", "keep"])
@pytest.mark.parametrize("name", ["out.parquet", "out", "out.duckdb"])
def test_no_type_of_a_release_lists_values_of_suppressed_records(tmp_path, name, suppressed):
    address = in_duckdb(
        tmp_path,
        "CREATE TYPE notes AS ENUM ('SECRET''s, note', 'x', 'y')",
        "CREATE TYPE jobs AS ENUM ('SECRETJOB', 'baker')",
        "CREATE TABLE people (age VARCHAR, job jobs, note notes)",
        "INSERT INTO people VALUES ('SECRETAGE', 'SECRETJOB', 'SECRET''s, note')",
        *2 * ["INSERT INTO people VALUES ('34', 'baker', 'x'), ('35', 'baker', 'y')"],
    )
    plan = plan_content(
        {"age": QUASI, "job": QUASI, "note": AS_IT_IS},
        2,
        {"name": "levels", "node": {"age": 0, "job": 0}},
        suppression_limit=0.5,
        suppressed=suppressed,
    )
    table = open_stored(address)
    assert table.values("note").texts == ["SECRET's, note", "x", "y"]
    target = Address(str(tmp_path / name), "released" if name.endswith("duckdb") else None)
    run(Plan.from_content(plan), table).write(target)
    root = {"*"} if suppressed == "keep" else set()  # what a suppressed record gets
    found = set[str]()
    for path in [tmp_path / name] if target.path.is_file() else target.path.glob("*"):
        assert b"SECRET" not in path.read_bytes()
        found |= listed_in(path)
    assert found == (set() if name == "out.duckdb" else {"34", "35", "baker", "x", "y"} | root)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_a_release_of_nobody_has_columns_alone(tmp_path, name):
    address = in_parquet(tmp_path / "t.parquet", age=["1", "2"], note=["x", "y"])
    plan = plan_with(age=QUASI, note=AS_IT_IS).model_dump(mode="json", exclude_none=True)
    plan |= {"algorithm": {"name": "levels", "node": {"age": 0}}, "suppression_limit": 1.0}
    run(Plan.from_content(plan), open_stored(address)).write(Address(str(tmp_path / name)))
    assert list(open_address(Address(str(tmp_path / name)), "duckdb").columns) == ["age", "note"]


def test_what_is_no_number_is_missing(tmp_path):
    frame = pd.DataFrame({"a": [1.5, float("nan"), 2.0], "b": ["x", "x", "x"]})
    address = in_parquet(tmp_path / "t.parquet", a=pa.array(frame["a"].to_numpy()), b=frame["b"])
    table = open_stored(address)
    assert table.count_distinct("a") == open_address(address, "memory").count_distinct("a")
    found = released(table, tmp_path / "out", b=QUASI, a=AS_IT_IS)
    assert [row["a"] for row in found].count(None) == 1


def test_an_engine_that_counts_records_twice_is_not_trusted(tmp_path):
    table = open_stored(in_parquet(tmp_path / "t.parquet", a=["x", "y"], b=["u", "v"]))
    values = table.values("a")
    table._answers.values["a"] = replace(values, records=values.records + 1)
    with pytest.raises(TableError, match="cannot be trusted"):
        table.count_code_tuples(["a", "b"])


# --- places ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "url",
    [
        "postgres://ana:sec/ret@host/data",
        "postgres://ana:sec#ret@host/data",
        "postgres://ana:sec@ret@host/data",
        "postgres://ana:sec?ret@host/data#people",
    ],
)
def test_a_password_that_could_be_taken_for_something_else_is_refused_unseen(url):
    with pytest.raises(TableError, match="password as %23") as raised:
        Address.parse(url)
    assert "ret" not in raised.value.sentence and "sec" not in raised.value.sentence


def test_a_release_does_not_go_into_the_table(tmp_path, capsys):
    in_parquet(tmp_path / "parts" / "1.parquet", a=["x", "x"])
    (tmp_path / "plan.json").write_text(plan_with(a=QUASI).model_dump_json(exclude_none=True))
    parts = str(tmp_path / "parts")
    out = ["--out", f"{parts}/released"]
    assert main(["run", str(tmp_path / "plan.json"), "--table", parts, *out]) == 2
    assert "is the table itself, or lies inside it" in capsys.readouterr().err
    assert [one.name for one in (tmp_path / "parts").iterdir()] == ["1.parquet"]


def test_what_appears_meanwhile_is_not_replaced_unasked(tmp_path):
    done = run(plan_with(a=QUASI), open_stored(in_parquet(tmp_path / "t.parquet", a=["x", "x"])))
    source, target = done.prepared.source, Address(str(tmp_path / "out.csv"))
    assert isinstance(source, StoredSource)
    Path(target.place).write_text("of somebody else")
    with pytest.raises(TableError, match="already exists"):
        source.write(done.recoding, target, replaces=False)
    assert Path(target.place).read_text() == "of somebody else"
    source.write(done.recoding, target)
    assert Path(target.place).read_text() == "a\nx\nx\n"
    Path(target.place).unlink()
    source.write(done.recoding, target, replaces=False)
    assert Path(target.place).read_text() == "a\nx\nx\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.csv", "t.parquet"]


def test_a_file_that_an_engine_replaces_keeps_its_rights(tmp_path):
    table = open_stored(in_parquet(tmp_path / "t.parquet", a=["x", "x"]))
    done, path = run(plan_with(a=QUASI), table), tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o600)
    done.write(Address(str(path)))
    assert path.read_text() == "a\nx\nx\n" and path.stat().st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match="is a pipe or a device, not a file"):
        done.write(Address(str(tmp_path / "pipe.csv")))
    assert (tmp_path / "pipe.csv").is_fifo()
    path.chmod(0o400)
    with pytest.raises(TableError, match="is write-protected: choose another name"):
        done.write(Address(str(path)))
    assert path.read_text() == "a\nx\nx\n"


def test_a_new_file_that_gets_no_table_does_not_stay(tmp_path):
    folder = tmp_path / "a [1] folder"
    in_parquet(folder / "parts" / "1.parquet", a=["x"])
    target = Address(str(folder / "new.duckdb"), "released")
    embedded.add_table(folder / "parts", target)
    with pytest.raises(TableError, match="already has a table 'released'"):
        embedded.add_table(folder / "parts", target)
    assert open_stored(target).n_records == 1, "and what was there stays"
    other = Address(str(folder / "other.duckdb"), "released")
    with pytest.raises(TableError):
        embedded.add_table(folder / "nothing", other)
    assert not Path(other.place).exists()


def test_a_view_is_not_bound_to_other_files(tmp_path):
    """One in somebody's database may name any file of this computer."""
    (tmp_path / "secret.csv").write_text("stolen,header\n1,2\n")
    address = in_duckdb(
        tmp_path, f"CREATE VIEW people AS FROM '{tmp_path}/secret.csv'",
        "CREATE TABLE others AS SELECT 1 AS age",
    )  # fmt: skip
    with pytest.raises(TableError, match="reads other files or connections") as raised:
        open_stored(address)
    assert "stolen" not in raised.value.sentence
    others = open_stored(Address(address.place, "others"))
    assert dict(others.count_column_values("age").counts) == {"1": 1}
