"""One table in every engine: the same classes and release; its order: test_engine_order.py."""

import functools
import json
import operator
import pickle
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given

from conftest import _absent
from kanon.base.values import DistinctCounts
from kanon.errors import CoverageError, PlanError, TableError
from kanon.hierarchy.build import suppression
from kanon.plan import Plan
from kanon.run import Run, prepare, run
from kanon.schema import Role, Schema
from kanon.sources.addresses import Address, check_address
from kanon.sources.engines import other as other_engine
from kanon.sources.engines.duckdb_errors import DUCKDB_ERRORS, explain_duckdb_error
from kanon.sources.engines.rows import replace_engine_errors
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_address, open_source
from kanon.sources.read_settings import ReadSettings
from kanon.sources.row_order import sort_rows
from kanon.sources.stored import StoredTable, open_stored
from kanon.sources.tables import Table
from support.engine_tables import put_in_engine
from support.paths import ROOT
from support.people_texts import AS_WRITTEN, DATAFLY, GAA, PASSED, TEXT_ROLES, TEXTS, plan_of
from support.plans import make_plan, qi
from support.random_tables import Problem, examples, problems
from support.spark import SPARK, quick_spark, require_spark
from support.stored_people import rows_of as listed

# In every run two engines; Spark takes twenty seconds for what they do in one.
ENGINES = ("duckdb", "spark", "other")

TYPED = pd.DataFrame(
    {
        "age": pd.array([34, 34, 34, 47, 47, None, 51, 51, 52, 90, 34, 47], dtype="Int64"),
        "weight": [70.0, 70.5, np.nan, 70.0, -0.0, 0.0, 70.5, 70.5, 81, 81, 70, 70],
        "born": pd.to_datetime(["1990-01-02", None] * 5 + ["2001-03-04", "1990-01-02"]),
        "left": pd.array([True, False, None] * 4, dtype="boolean"),
        "visits": list(range(12)),
        "ill": ["flu", "flu", "cold", None, "10", "9", "flu", "cold", "x", "flu", "flu", "9"],
    }
)
TYPED_ROLES = {
    "visits": PASSED,
    "age": qi("intervals", widths=[10, 40]),
    "weight": qi(),
    "born": qi("dates", levels=["year"]),
    "left": qi(),
    "ill": {"role": "sensitive"},
}


def rows_of(table: pd.DataFrame) -> list[str]:
    """The rows as texts, in an order of their own; a missing cell is None whatever its type."""
    return sorted(listed(table))


def written(done: Run, path: Path) -> pd.DataFrame:
    """The release as its engine writes it, read again."""
    done.write(Address(str(path)))
    return pyarrow.parquet.read_table(path).to_pandas(types_mapper=nullable)


def nullable(kind: object) -> object:
    """Whole numbers and truth values beside missing ones stay what they are."""
    names = {"int64": pd.Int64Dtype(), "bool": pd.BooleanDtype(), "int32": pd.Int32Dtype()}
    return names.get(str(kind))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Table]]:
    """Put a table where an engine reads it, and open it there."""
    made: dict[tuple[int, str], Table] = {}

    def put(frame: pd.DataFrame, engine: str) -> Table:
        key = id(frame), engine
        if key not in made:
            as_given = AS_WRITTEN if frame is TEXTS else frame
            made[key] = put_in_engine(as_given, engine, tmp_path_factory.mktemp("stored"))
        return made[key]

    with quick_spark():
        yield put


# --- the same in every engine ---------------------------------------------------------------
CASES = {
    "texts-gaa": (TEXTS, TEXT_ROLES, GAA, "as-value", "leave-out"),
    "texts-datafly-keep": (TEXTS, TEXT_ROLES, DATAFLY, "drop-records", "keep"),
    "typed-datafly": (TYPED, TYPED_ROLES, DATAFLY, "as-value", "leave-out"),
    "typed-gaa-drop": (TYPED, TYPED_ROLES, GAA, "drop-records", "leave-out"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("engine", "frame", "roles", "algorithm", "missing", "suppressed"),
    [
        pytest.param(
            engine, *case, id=f"{engine}-{name}",
            marks=[pytest.mark.nightly] if engine == "spark" else [],
        )
        for engine in ENGINES
        for name, case in CASES.items()
    ],
)  # fmt: skip
def test_every_engine_has_the_same_classes_and_the_same_release(
    stored, tmp_path, engine, frame, roles, algorithm, missing, suppressed
):
    if engine == "other":  # SQLite knows no hash to shuffle persons by
        roles = {**roles, **({"name": {"role": "identifier"}} if "name" in roles else {})}
    if engine == "other" and frame is TYPED:
        frame = frame.drop(columns=["born", "left"])  # SQLite has neither dates nor truth values
        roles = {name: role for name, role in roles.items() if name not in ("born", "left")}
    plan = plan_of(roles, algorithm, missing, suppressed)
    ours = run(plan, frame)
    theirs = run(plan, stored(frame, engine))
    check_same_classes(ours, theirs)
    assert theirs.recoding.assigned.tolist() == ours.recoding.assigned.tolist()
    found, expected = written(theirs, tmp_path / "released"), ours.released()
    expected = expected.iloc[sort_rows(expected, {"name"})]
    assert list(found.columns) == list(expected.columns)
    if "name" in expected:
        check_pseudonyms(found.pop("name"), expected.pop("name"))
    assert listed(found) == listed(expected)
    assert {**theirs.measures, "seconds": 0} == {**ours.measures, "seconds": 0}


def check_same_classes(ours: Run, theirs: Run) -> None:
    one, other = ours.prepared.classes, theirs.prepared.classes
    assert [tree.labels for tree in other.hierarchies] == [tree.labels for tree in one.hierarchies]
    assert other.nodes.tolist() == one.nodes.tolist() and other.counts.tolist() == (
        one.counts.tolist()
    )
    for mine, its in zip(one.sensitive, other.sensitive, strict=True):
        assert (its.name, its.values, its.numeric) == (mine.name, mine.values, mine.numeric)
        assert its.dense().tolist() == mine.dense().tolist()
    assert theirs.prepared.dropped == ours.prepared.dropped
    passed = ours.prepared.source.list_unchanged_columns()
    assert theirs.prepared.source.list_unchanged_columns() == passed
    for column in passed:
        mine, its = (each.prepared.source.build_column_histogram(column) for each in (ours, theirs))
        assert its.values == mine.values and its.dense().tolist() == mine.dense().tolist()


def check_pseudonyms(found: pd.Series, expected: pd.Series) -> None:
    """The same number of persons with as many records each, numbered from 1."""
    assert found.isna().sum() == expected.isna().sum()
    sizes = found.value_counts()
    assert sorted(sizes) == sorted(expected.value_counts())
    assert set(sizes.index) == {f"P_{number}" for number in range(1, len(sizes) + 1)}


@pytest.mark.parametrize(
    "engine", ["duckdb", pytest.param("spark", marks=[pytest.mark.nightly]), "other"]
)
def test_every_engine_says_the_same_of_a_table(stored, engine):
    table, mine = stored(TEXTS, engine), MemoryTable(TEXTS)
    assert table.columns == mine.columns and table.n_records == mine.n_records
    assert table.distinct() == mine.distinct()
    for column in ("age", "zip", "ill"):
        found, expected = table.frequencies(column), mine.frequencies(column)
        assert found.sizes.tolist() == expected.sizes.tolist()
        assert found.values.tolist() == expected.values.tolist()
        assert table.count_column_values(column).missing == mine.count_column_values(column).missing
        assert dict(table.count_column_values(column).counts) == dict(
            mine.count_column_values(column).counts
        )
    assert table.incomplete(["age", "zip"]) == mine.incomplete(["age", "zip"]) == 3
    kept, ours = table.complete(["age", "zip"]), mine.complete(["age", "zip"])
    assert kept.n_records == ours.n_records and kept.distinct() == ours.distinct()
    for column in ("age", "ill"):
        assert dict(kept.count_column_values(column).counts) == dict(
            ours.count_column_values(column).counts
        )
    one, other = (each.build_classes(["age", "zip"], ["ill"]) for each in (kept, ours))
    assert one.nodes.tolist() == other.nodes.tolist()
    assert one.sensitive[0].dense().tolist() == other.sensitive[0].dense().tolist()
    assert rows_of(table.head(100)) == rows_of(mine.head(100)) and len(table.head(3)) == 3


@pytest.mark.parametrize(
    "engine", ["duckdb", pytest.param("spark", marks=[pytest.mark.nightly]), "other"]
)
def test_values_are_counted_once_trimmed_wherever_they_are_counted(stored, engine):
    """How many values a column has where roles are chosen, where trees are drawn, and by pandas."""
    draw = np.random.default_rng(4)
    forms = ["39", " 39", "39.0", "39.00 ", "039", "-0", "0", "a b", " a b ", "a  b", "?", " ", "Z"]
    frame = pd.DataFrame({"kind": draw.choice(forms, 200)})
    seen = frame["kind"].str.strip().str.replace(r"^([+-]?\d+)\.0$", r"\1", regex=True)
    seen = seen.replace({"-0": "0", "?": None, "": None})
    in_memory = frame.mask(frame["kind"].str.strip().isin(["", "?"])).astype("str")
    for table in (stored(frame, engine), MemoryTable(in_memory)):
        counted, often = table.count_column_values("kind"), table.frequencies("kind")
        assert dict(counted.counts) == seen.value_counts().to_dict()
        assert often.distinct == table.distinct()["kind"] == DistinctCounts(
            values=len(counted.counts), n_filled=sum(counted.counts.values())
        )  # fmt: skip


def test_an_engine_that_cannot_make_pseudonyms_says_so(stored, tmp_path):
    done = run(plan_of(TEXT_ROLES, GAA, "as-value", "leave-out"), stored(TEXTS, "other"))
    with pytest.raises(TableError, match=r"cannot make pseudonyms"):
        done.write(Address(str(tmp_path / "released")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ["duckdb", "other"])
def test_an_excerpt_is_what_the_release_has(stored, engine):
    plan = plan_of(TEXT_ROLES, DATAFLY, "as-value", "leave-out")
    done = run(plan, stored(TEXTS, engine))
    source, recoding = done.prepared.source, done.recoding
    expected = run(plan, TEXTS)
    for position in range(recoding.n_classes):
        found = source.get_excerpt(recoding, 100, position)
        mine = expected.prepared.source.get_excerpt(recoding, 100, position)
        for part in ("before", "after"):
            one, other = (getattr(each, part).drop(columns="name") for each in (found, mine))
            assert rows_of(one) == rows_of(other)
        assert len(found.after) == recoding.counts[position]
        assert len(source.get_excerpt(recoding, 1, position).after) == 1
    whole = source.get_excerpt(recoding, 100)
    assert len(whole.after) == recoding.counts.sum() and whole.rise.shape == (len(whole.after), 2)


@examples(25)
@given(problems(max_records=12))
def test_random_tables_have_the_same_classes_in_duckdb(tmp_path_factory, problem: Problem):
    path = tmp_path_factory.mktemp("random") / "table.parquet"
    frame = problem.frame().sample(frac=1, random_state=1)
    frame.to_parquet(path, index=False)
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    schema = Schema(dict.fromkeys(trees, Role.QUASI_IDENTIFIER))
    table = open_stored(Address(str(path)), settings=ReadSettings(missing_markers=()))
    found, expected = (
        open_source(one, schema, trees).classes for one in (table, MemoryTable(frame))
    )
    assert found.nodes.tolist() == expected.nodes.tolist()
    assert found.counts.tolist() == expected.counts.tolist()


@pytest.mark.nightly
def test_a_wide_table_has_several_keys_per_row(tmp_path):
    """Twenty columns of ten values: their tuples do not fit into one whole number."""
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{j}": generator.integers(0, 10, 40).astype(str) for j in range(20)})
    frame = pd.concat([frame, frame.head(10)])
    frame.to_parquet(tmp_path / "wide.parquet", index=False)
    roles = {name: qi() for name in frame}
    plan = plan_of(roles, GAA, "as-value", "leave-out")
    done = run(plan, open_stored(Address(str(tmp_path / "wide.parquet"))))
    assert rows_of(written(done, tmp_path / "out")) == rows_of(run(plan, frame).released())


# --- how it is opened -----------------------------------------------------------------------
def test_a_csv_is_read_where_it_is_as_in_memory(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(
        'age;zip;note\n34;007;"a;b"\n34;"7""";x\n\n?;008;NA\n47;008;\n', encoding="utf-8"
    )
    mine = open_address(Address(str(path)))
    table = open_address(Address(str(path)), "duckdb")
    assert isinstance(mine, MemoryTable) and isinstance(table, StoredTable)
    assert rows_of(table.head(10)) == rows_of(mine.head(10))
    assert table.distinct() == mine.distinct()
    assert table.opened.rows.found == ("Separator ';' and encoding UTF-8.",)


def test_blanks_after_separators_are_skipped_where_all_have_them(tmp_path):
    path = tmp_path / "padded.csv"
    path.write_text("age, zip\n34, 007\n35, x y\n", encoding="utf-8")
    table = open_stored(Address(str(path)))
    assert table.columns == ("age", "zip")
    assert sorted(table.head(5)["zip"]) == ["007", "x y"]


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("age;zip\n1;2\n" + "3;4\n" * 499_998 + "5\n", "Line 500001 of 'broken.csv' has 1 cell"),
        (
            'age;zip\n1;2\n3;"4\n',
            "Line 3 of 'broken.csv' has a quote that is not closed where its cell ends",
        ),
        ("age;age\n1;2\n", "more than one column called 'age'"),
        ("name;age\nAna;1\nSecretPerson;2;3\n", "Line 3 of 'broken.csv' has 3 cells where"),
    ],
    ids=["row half a million", "an open quote", "a name twice", "one cell more"],
)
def test_a_broken_csv_is_named_by_its_line(tmp_path, written, part):
    path = tmp_path / "broken.csv"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(TableError, match=part) as raised:
        open_stored(Address(str(path)), settings=ReadSettings(separator=";")).count_column_values(
            "age"
        )
    assert "SecretPerson" not in raised.value.sentence
    assert raised.value.__cause__ is None and (
        "called" in part or raised.value.__suppress_context__
    )


def test_a_lost_connection_and_what_is_gone_meanwhile_are_said(tmp_path):
    path = tmp_path / "people.parquet"
    TEXTS.to_parquet(path)
    table = open_stored(Address(str(path)))
    table.opened.rows.expression.get_backend().disconnect()
    with pytest.raises(TableError, match=r"connection to 'people.parquet' was lost"):
        table.count_column_values("age")
    table = open_stored(Address(str(path)))
    path.unlink()
    with pytest.raises(TableError, match=r"people.parquet' (does not exist|is no longer there)"):
        table.count_column_values("age")


def test_a_connection_to_a_server_that_is_lost_is_said(monkeypatch, tmp_path):
    """Each driver has errors of its own; what they have in common is the name of their base."""
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        TEXTS.to_sql("people", connection, index=False)
    connection.close()
    table = open_stored(Address(str(path)))
    base = type("DatabaseError", (Exception,), {})
    lost = type("OperationalError", (base,), {})("server closed the connection: Ana, 34")
    backend = table.opened.rows.expression.get_backend()
    monkeypatch.setattr(type(backend), "compile", lambda *_: (_ for _ in ()).throw(lost))
    with pytest.raises(TableError, match=r"connection to 'people.sqlite' was lost") as raised:
        table.count_column_values("age")
    assert "Ana" not in raised.value.sentence
    monkeypatch.setattr(type(backend), "compile", lambda *_: {}["a fault of ours"])
    with pytest.raises(KeyError):
        table.count_column_values("zip")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("nowhere.parquet", "does not exist"),
        ("data.duckdb#nobody", "has no such table: choose from 'others', 'people'"),
        ("data.duckdb", "needs the name of a table after a '#': choose from 'others'"),
        ("empty", "holds no Parquet file"),
        ("broken.parquet", "cannot be read as Parquet"),
        ("nowhere://host/base#people", "URLs that begin with 'nowhere://' cannot be opened"),
        ("sqlite:///data.sqlite#people", "give the path of a file"),
        ("file:///etc/passwd", "give the path of a file"),
        ("postgres://ana:secret@localhost:1/base#people", "'postgres://localhost:1/base#people'"),
    ],
)
def test_what_cannot_be_opened_is_said(tmp_path, monkeypatch, address, part):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing of the kind PAR1")
    with duckdb.connect("data.duckdb") as connection:
        connection.execute("CREATE TABLE people (age INT); CREATE TABLE others (age INT)")
    with pytest.raises(TableError) as raised:
        open_stored(Address.parse(address))
    assert part in raised.value.sentence
    assert raised.value.sentence.count("\n") == 0


def test_a_table_of_a_database_is_opened_by_its_name(tmp_path):
    with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
        connection.register("given", TEXTS)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    table = open_stored(Address.parse(f"{tmp_path}/data.duckdb#people"))
    assert table.n_records == len(TEXTS)
    again = pickle.loads(pickle.dumps(table))  # noqa: S301 -- our own bytes
    assert again.count_column_values("age") == table.count_column_values("age")
    assert "Ana" not in repr(pickle.dumps(table)), "no rows are sent"


# --- names that come twice ------------------------------------------------------------------
TWICE = "has more than one column called 'name': names must differ|cell 1 occurs twice in that line"
CASE = "'name' and 'Name' of 't(.csv|.parquet|-parts)?' differ only in upper and lower case"
NAMELESS = "Column 2 of '[a-z0-9.]+' has no name"
HEADERS = {
    "twice": (["name", "age", "name"], TWICE),
    "blanks": (["name", "name ", "age"], TWICE),
    "a number already there": (["name", "name_1", "name"], TWICE),
    "case": (["name", "Name", "age"], CASE),
    "nameless": (["name", "", "age"], NAMELESS),
}


def put_under_names(names: list[str], path: Path) -> Address:
    """A file, or a folder of two, whose columns have those names."""
    record = [f"Ana {j}" for j in range(len(names))]
    table = pyarrow.Table.from_arrays([pyarrow.array([cell]) for cell in record], names=names)
    if path.suffix == ".csv":
        path.write_text("".join(",".join(line) + "\n" for line in (names, record)))
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path)
    elif path.suffix == ".xlsx":
        pd.DataFrame([names, record]).to_excel(path, header=False, index=False)
    elif path.suffix:
        pyarrow.parquet.write_table(table, path)
    else:
        path.mkdir()
        for part in ("a.parquet", "b.parquet"):
            pyarrow.parquet.write_table(table, path / part)
    return Address(str(path))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", HEADERS)
@pytest.mark.parametrize(
    ("engine", "file"),
    [
        *(("duckdb", file) for file in ("t.parquet", "t.csv", "t-parts")),
        *(("memory", file) for file in ("t.parquet", "t.csv", "t.feather", "t.xlsx")),
        *(
            pytest.param("spark", file, marks=pytest.mark.nightly)
            for file in ("t.parquet", "t.csv")
        ),
    ],
)
def test_a_column_name_twice_is_refused_everywhere(tmp_path, engine, file, what, monkeypatch):
    """An engine would call the second one name_1, which passes through."""
    for name, value in SPARK.items():
        monkeypatch.setenv(name, value)
    if engine == "spark":
        require_spark()
    names, sentence = HEADERS[what]
    address = put_under_names(names, tmp_path / file)
    if engine == "memory" and what == "case":
        assert list(open_address(address, engine).columns) == names, "they are told apart here"
        return
    with pytest.raises(TableError, match=sentence):
        open_address(address, engine)


def test_a_file_of_a_folder_with_a_name_twice_is_refused(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    put_under_names(["name", "age"], folder / "a.parquet")
    put_under_names(["name", "age", "name"], folder / "b.parquet")
    with pytest.raises(TableError, match=f"'b.parquet' {TWICE}"):
        open_stored(Address(str(folder)))


@pytest.mark.parametrize("file", ["t.parquet", "t.csv", "t-parts"])
def test_a_name_that_ends_in_a_number_is_a_name(tmp_path, file):
    address = put_under_names(["name", "name_1", "name_2"], tmp_path / file)
    assert open_stored(address).columns == ("name", "name_1", "name_2")


VIEWS = {
    "SELECT name, nick AS name FROM people": False,
    "SELECT name, nick AS NAME FROM people": False,
    "SELECT * FROM people, others": False,
    "SELECT * FROM v": False,
    "SELECT * FROM (SELECT name, nick AS name FROM people) AS x": False,
    "SELECT name, nick AS name_1 FROM people": True,
    "SELECT name, nick AS \"name:1\" FROM people": True,
    "SELECT * FROM numbered": True,
    "SELECT * FROM (SELECT * FROM numbered) AS x": True,
    "WITH x(name, name_1) AS (SELECT name, nick FROM people) SELECT * FROM x": True,
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_view_with_a_name_twice_is_refused(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    with (duckdb if kind == "duckdb" else sqlite3).connect(str(path)) as connection:
        for statement in (
            "CREATE TABLE people (name TEXT, nick TEXT)",
            "CREATE TABLE others (name TEXT, age INTEGER)",
            'CREATE TABLE numbered (name TEXT, name_1 TEXT, "name:1" TEXT)',
            "INSERT INTO people VALUES ('Ana', 'A')",
            "INSERT INTO others VALUES ('Bo', 1)",
            "INSERT INTO numbered VALUES ('Ana', 'A', 'B')",
            "CREATE VIEW v AS SELECT name, nick AS name FROM people",
            *(f"CREATE VIEW asked{n} AS {query}" for n, query in enumerate(VIEWS)),
        ):
            connection.execute(statement)
    connection.close()
    for n, differ in enumerate(VIEWS.values()):
        if differ:
            assert open_stored(Address(str(path), f"asked{n}")).columns[0] == "name"
            continue
        with pytest.raises(TableError, match=f"(?i)'asked{n}' {TWICE}"):
            open_stored(Address(str(path), f"asked{n}"))


def test_a_frame_with_names_that_differ_by_blanks_is_refused():
    table = pd.DataFrame({"name": ["Ana"], "name ": ["Bo"], "age": [1]})
    with pytest.raises(TableError, match="Two columns are called 'name'"):
        run(plan_of({"age": PASSED}, GAA, "as-value", "leave-out"), table)


# --- who may open what ----------------------------------------------------------------------
def test_paths_outside_the_folder_are_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.csv").write_text("a\n1\n")
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "out.csv")
    rules = {"KANON_TABLES": str(tmp_path / "in")}
    check_address(Address(str(tmp_path / "in" / "people.csv")), rules)
    for path in ("out.csv", "in/../out.csv", "in/link.csv"):
        with pytest.raises(TableError, match="is not allowed: tables must be in the folder"):
            check_address(Address(str(tmp_path / path)), rules)
    with pytest.raises(TableError, match="Connections to databases are switched off"):
        check_address(Address("postgres://host/data#people"), rules)
    check_address(Address("postgres://host/data#people"), {**rules, "KANON_CONNECTIONS": "on"})
    check_address(Address("postgres://host/data#people"), {})
    with pytest.raises(TableError, match="switched off on this server"):
        check_address(Address("x.csv"), {"KANON_TABLES": "off"})


def test_an_address_shows_no_password():
    address = Address.parse("postgres://ana:secret@host/data?sslcert=x#people")
    assert address.shown == "postgres://host/data#people" and address.name == "people"


# --- releases -----------------------------------------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", ["", ".parquet", ".csv", ".tsv"])
def test_a_release_is_written_as_asked_for(people, tmp_path, ending):
    plan, table, path = people
    before = path.read_bytes()
    done, told = run(plan, table), []
    target = tmp_path / f"released{ending}"
    done.write(Address(str(target)), lambda fraction, text: told.append(fraction))
    again = open_address(Address(str(target)), "duckdb")
    assert again.n_records == len(TEXTS)
    assert again.build_classes(["age", "zip"]).min_k >= 2
    assert told == sorted(told) and path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([path.name, target.name])


@pytest.mark.nightly  # in every run: test_release_file.py
def test_a_release_is_a_new_table_of_a_database(people, tmp_path):
    plan, table, _ = people
    done, target = run(plan, table), Address(str(tmp_path / "data.duckdb"), 'our "release"')
    done.write(target)
    again = open_stored(target)
    assert again.n_records == len(AS_WRITTEN) and again.build_classes(["age", "zip"]).min_k >= 2
    with pytest.raises(TableError, match="is open in another program or page"):
        done.write(target)
    again.opened.rows.expression.get_backend().disconnect()
    with pytest.raises(TableError, match=r"already has a table .*: choose another name"):
        done.write(target)
    done.write(Address(target.place, "second"))
    assert open_stored(Address(target.place, "second")).n_records == len(AS_WRITTEN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.duckdb", "people.parquet"]


def test_a_full_folder_is_never_touched(people, tmp_path):
    plan, table, _ = people
    (tmp_path / "released").mkdir()
    (tmp_path / "released" / "mine.txt").write_text("mine")
    with pytest.raises(TableError, match="is not empty: choose another one"):
        run(plan, table).write(Address(str(tmp_path / "released")))
    assert [each.name for each in (tmp_path / "released").iterdir()] == ["mine.txt"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    ["released.xlsx", "released.feather", "nowhere/released.csv", "x.duckdb", "x.csv#released"],
)
def test_what_cannot_be_written_is_said(people, tmp_path, name):
    plan, table, _ = people
    with pytest.raises(TableError):
        run(plan, table).write(Address.parse(str(tmp_path / name)))
    assert [each.name for each in tmp_path.iterdir()] == ["people.parquet"]


def test_values_without_a_place_are_counted(people):
    plan, table, _ = people
    content = json.loads(plan.to_json())
    nodes = [{"name": "*"}, {"name": "7", "parent": "*"}]
    content["columns"]["zip"]["hierarchy"] = {"nodes": nodes}
    with pytest.raises(CoverageError, match=r"lacks 3 distinct values .* in 8 records"):
        prepare(Plan.from_content(content), table)
    with pytest.raises(PlanError, match="has no hierarchy"):
        open_source(table, Schema({"zip": Role.QUASI_IDENTIFIER}), {})
    schema = Schema({"nobody": Role.QUASI_IDENTIFIER})
    with pytest.raises(PlanError, match="no column 'nobody'"):
        open_source(table, schema, {"nobody": suppression(["a"])})


MANY = """
import sys
from pathlib import Path
from kanon.plan import Plan
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.stored import open_stored
plan, table, out = map(Path, sys.argv[1:])
done = run(Plan.load(plan), open_stored(Address(str(table))))
print("writing", flush=True)
done.write(Address(str(out)))
"""


def _table_of(folder: Path, records: int) -> tuple[Path, Path]:
    """A plan, and a table of so many records with notes that cannot be packed."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT (hash(i) % 80)::VARCHAR AS age, (hash(i + 1) % 9)::VARCHAR AS zip, "
            f"md5(i::VARCHAR) AS note, 'flu' AS ill FROM range({records}) t(i)) "
            f"TO '{folder}/many.parquet' (FORMAT parquet)"
        )
    roles = {name: role for name, role in TEXT_ROLES.items() if name != "name"}
    plan = plan_of(roles, GAA, "as-value", "leave-out", k=5)
    (folder / "plan.json").write_text(plan.to_json(), "utf-8")
    return folder / "plan.json", folder / "many.parquet"


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> tuple[Path, Path]:
    """A million records, whose release takes long enough to be killed in its middle."""
    return _table_of(tmp_path_factory.mktemp("many"), 1_000_000)


@pytest.mark.nightly  # what a page's writer leaves is tried in every run: test_stored_pages.py
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_kill_while_writing_leaves_nothing_under_the_final_name(many, tmp_path):
    plan, table = many
    before, out = table.read_bytes(), tmp_path / "released"
    command = [sys.executable, "-c", MANY, str(plan), str(table), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as job:
        assert job.stdout is not None and job.stdout.readline() == b"writing\n"
        deadline = time.monotonic() + 60
        while not any(tmp_path.glob(".*.part/*")) and time.monotonic() < deadline:
            time.sleep(0.005)
        job.send_signal(signal.SIGKILL)
    assert job.returncode == -signal.SIGKILL
    assert not out.exists() and any(tmp_path.glob(".*.part")), "it was killed in the middle"
    assert table.read_bytes() == before
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    assert open_stored(Address(str(out))).n_records == 1_000_000
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names[1:] == ["released"] and names[0].endswith(".part"), "what was left has no name"


@pytest.fixture
def tiny_disk(tmp_path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],
        check=False, capture_output=True,
    )  # fmt: skip
    if mounted.returncode:
        _absent("No small disk can be mounted here (only root may)")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["released", "released.parquet", "released.csv"])
def test_a_full_disk_is_said_and_nothing_is_left(tmp_path, tiny_disk, name, monkeypatch):
    plan, table = _table_of(tmp_path, 300_000)
    done = run(Plan.load(plan), open_stored(Address(str(table))))
    with pytest.raises(TableError, match=r"but the disk has only (1 MB|\S+ kB) free"):
        done.write(Address(str(tiny_disk / name)))
    monkeypatch.setattr("kanon.sources.stored_source.check_room", lambda path, size: None)
    with pytest.raises(TableError, match="disk is full"):
        done.write(Address(str(tiny_disk / name)))
    assert list(tiny_disk.iterdir()) == []


def test_large_files_stay_where_they_are(tmp_path, limits):
    TEXTS.to_parquet(tmp_path / "people.parquet", index=False)
    TEXTS.to_csv(tmp_path / "people.csv", index=False)
    addresses = [Address(str(tmp_path / name)) for name in ("people.parquet", "people.csv")]
    assert all(isinstance(open_address(one), MemoryTable) for one in addresses)
    limits(memory_megabytes=0, memory_cells=TEXTS.size - 1)
    assert all(isinstance(open_address(one), StoredTable) for one in addresses)
    assert all(isinstance(open_address(one, "memory"), MemoryTable) for one in addresses)
    limits(memory_cells=TEXTS.size)
    assert isinstance(open_address(addresses[0]), MemoryTable)


@pytest.mark.nightly
def test_nothing_is_spilled_unless_a_folder_is_named(tmp_path, monkeypatch):
    """What does not fit into the memory that is allowed ends in a sentence, or in that folder."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT md5(i::VARCHAR) AS note, i AS age FROM range(3000000) t(i)) "
            f"TO '{tmp_path}/wide.parquet' (FORMAT parquet)"
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KANON_MEMORY", "250MB")
    address = Address(str(tmp_path / "wide.parquet"))
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(TableError, match=r"needs more memory .* KANON_SCRATCH"):
        open_stored(address).distinct()
    assert sorted(each.name for each in tmp_path.iterdir()) == before
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("KANON_SCRATCH", str(tmp_path / "scratch"))
    assert open_stored(address).distinct()["note"].values == 3_000_000
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["scratch", *before])


# --- what an engine says, and what to do ------------------------------------------------------
TIMES = """SELECT * FROM (VALUES (TIME '10:30:00', 'F', 'flu'), (TIME '10:30:00', 'F', 'cold'),
(TIME '11:00:00', 'M', 'flu')) AS made(hour, sex, ill)"""


def newer_duckdb(path):
    """A file that says it has a version of storage that this DuckDB does not read."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    content = bytearray(path.read_bytes())
    content[12:20] = struct.pack("<Q", 999)
    sums = (
        word * 0xBF58476D1CE4E5B9 % 2**64 for (word,) in struct.iter_unpack("<Q", content[8:4096])
    )
    content[:8] = struct.pack("<Q", functools.reduce(operator.xor, sums, 5381))
    path.write_bytes(content)


def test_a_newer_duckdb_file_says_what_to_do(tmp_path):
    newer_duckdb(tmp_path / "newer.duckdb")
    with pytest.raises(TableError, match=r"another version of DuckDB, .* export the table there"):
        open_stored(Address(str(tmp_path / "newer.duckdb"), "t"))


def test_a_locked_sqlite_file_says_what_to_do(tmp_path, monkeypatch):
    path = tmp_path / "locked.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE t (age INTEGER)")
    connection.execute("INSERT INTO t VALUES (1), (1)")
    connection.execute("BEGIN EXCLUSIVE")
    impatient = functools.partial(sqlite3.connect, timeout=0.1)  # instead of five seconds
    monkeypatch.setattr("sqlite3.connect", impatient)
    with pytest.raises(TableError, match=r"Another program .* has locked it: .* try again"):
        open_stored(Address(str(path), "t")).build_classes(["age"])
    connection.execute("ROLLBACK")
    assert open_stored(Address(str(path), "t")).build_classes(["age"]).min_k == 2
    connection.close()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["TIME", "TIMETZ"])
def test_times_of_day_say_what_to_do(tmp_path, kind):
    path = tmp_path / "times.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT hour::{kind} AS hour, sex, ill FROM ({TIMES})"
        )
    trees = qi()
    plan = make_plan({"hour": trees, "sex": trees, "ill": {"role": "sensitive"}})
    with pytest.raises(TableError, match=r"times of day, .* convert it to text"):
        run(plan, open_stored(Address(str(path), "t"))).write(Address(str(tmp_path / "o.csv")))


BY_DUCKDB = DUCKDB_ERRORS, functools.partial(explain_duckdb_error, Address(__file__))
BY_OTHERS = other_engine._ERRORS, functools.partial(other_engine._explain_error, "t")


@pytest.mark.parametrize(
    ("told", "error", "part"),
    [
        (BY_DUCKDB, MemoryError(), "set KANON_MEMORY higher"),
        (BY_DUCKDB, pa.ArrowMemoryError("malloc of size 99 failed"), "set KANON_MEMORY higher"),
        (BY_DUCKDB, duckdb.OutOfMemoryException("failed to allocate"), "KANON_MEMORY"),
        (BY_DUCKDB, duckdb.IOException("Error: Failed to deserialize: x"), "export the table"),
        (BY_OTHERS, MemoryError(), "export the table as Parquet"),
        (BY_OTHERS, sqlite3.OperationalError("out of memory"), "export the table as Parquet"),
        (BY_OTHERS, sqlite3.OperationalError("table is locked: t"), "Another program is writing"),
        (BY_OTHERS, sqlite3.OperationalError("Lock wait timeout"), "Another program is writing"),
        (BY_OTHERS, sqlite3.OperationalError("deadlock detected"), "Another program is writing"),
    ],
)
def test_what_an_engine_lacks_is_said_with_what_to_do(told, error, part):
    with pytest.raises(TableError, match=part), replace_engine_errors("t", *told):
        raise error
