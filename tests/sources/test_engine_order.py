"""Releases of engines leave in the order of their released cells, whatever the table's order."""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.engines.duckdb import sort_batches
from kanon.sources.read_settings import ReadSettings
from kanon.sources.stored import open_stored
from support.plans import plan_content, qi
from support.random_tables import examples
from support.spark import quick_spark, require_spark

SUPPRESSION = qi()
PASSED = {"role": "insensitive"}
TEXTS = ["10", "9", "9.0", "-3", "-12.5", "+9", "-0", "0", "007", "b", "B", "é", "a,b", "1e5"]
TEXTS += ["5\n", ".5", ",", "[5, 9]", "(missing)", "𝒳", "\uffee"]

rarely_missing = st.integers(0, 3).map(bool)


def cells(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.tuples(rarely_missing, values).map(lambda pair: pair[1] if pair[0] else None)


numbers = st.sampled_from([-2.25, 0.0, 0.1, 3.0, 12.5, 1e300, float("inf"), float("-inf")])
COLUMNS = {
    "note": (cells(st.sampled_from(TEXTS)), pa.string()),
    "age": (cells(st.sampled_from(["3", "12", "100", "-5", "x"])), pa.string()),
    "zip": (st.integers(-2, 11), pa.int64()),
    "pay": (cells(numbers), pa.float64()),
    "ill": (st.sampled_from(["flu", "10", "9"]), pa.string()),
    "visits": (cells(st.integers(-(2**60), 2**60)), pa.int64()),
    "sex": (st.sampled_from(["f", "m"]), pa.string()),
}
TYPES_OF_FILES = {
    "left": (cells(st.booleans()), pa.bool_()),
    "born": (cells(st.dates(date(1900, 1, 1), date(2030, 1, 1))), pa.date32()),
    "seen": (cells(st.datetimes(pd.Timestamp(1990, 1, 1), pd.Timestamp(2030, 1, 1))),
             pa.timestamp("us")),
    "price": (cells(st.decimals(-9, 99, places=2)), pa.decimal128(9, 2)),
}  # fmt: skip
ROLES = {
    "age": SUPPRESSION, "zip": SUPPRESSION, "sex": SUPPRESSION, "ill": {"role": "sensitive"},
}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn, with_types: bool) -> pa.Table:
    columns = COLUMNS | (TYPES_OF_FILES if with_types else {})
    rows = draw(st.lists(st.tuples(*(made for made, _ in columns.values())), min_size=2))
    kinds = [kind for _, kind in columns.values()]
    by_column = dict(zip(columns, zip(*rows, strict=True), strict=True))
    by_column["age"] = ("3", *by_column["age"][1:])  # a hierarchy needs a value
    arrays = [pa.array(made, kind) for made, kind in zip(by_column.values(), kinds, strict=True)]
    names = draw(st.permutations([*columns]))
    return pa.table(arrays, [*columns]).select(names)


def plan_of(
    columns: Sequence[str], roles: dict[str, Any] = ROLES, keeps: bool = False, **more: Any
) -> Plan:
    content = plan_content(
        {name: roles.get(name, PASSED) for name in columns}, read={"missing": "as-value"}
    )
    if keeps:
        content |= {
            "algorithm": {"name": "datafly"}, "suppressed": "keep",
            "suppression_limit": {"records": 3},
        }  # fmt: skip
    return Plan.from_content(content | more)


def put(table: pa.Table, folder: Path, engine: str, name: str = "people") -> Address:
    """Where an engine reads a table."""
    path = folder / f"{name}.{'sqlite' if engine == 'other' else 'parquet'}"
    if engine != "other":
        pyarrow.parquet.write_table(table, path)
        return Address(str(path))
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        listed = ", ".join(f'"{column}" COLLATE NOCASE' for column in table.column_names)
        connection.execute(f"CREATE TABLE people ({listed})")
        connection.executemany(
            f"INSERT INTO people VALUES ({', '.join('?' * table.num_columns)})",
            [tuple(row.values()) for row in table.to_pylist()],
        )
    connection.close()
    return Address(str(path), "people")


def as_it_stands(frame: pd.DataFrame) -> list[list[str]]:
    """The rows as texts in their order; missing cells are alike, and 3 and 3.0, and both zeros."""
    found = frame.astype(object).where(frame.notna(), None)
    return [
        [str(float(cell) + 0.0) if isinstance(cell, (int, float)) else str(cell) for cell in row]
        for row in found.to_numpy().tolist()
    ]


def in_memory(plan: Plan, table: pa.Table) -> pd.DataFrame:
    """The release of a table in memory, in the order that the rule gives."""
    columns = {}
    for column, cells_of in zip(table.column_names, table.columns, strict=True):
        kind = {"int64": pd.Int64Dtype(), "bool": pd.BooleanDtype()}.get(str(cells_of.type))
        columns[column] = cells_of.to_pandas(types_mapper=lambda _, kind=kind: kind)
    return run(plan, pd.DataFrame(columns)).released()


def written(plan: Plan, address: Address, engine: str, out: Path) -> pd.DataFrame:
    """The release of an engine, as a folder of Parquet files that are read by their names."""
    markers = ReadSettings(missing_markers=())
    run(plan, open_stored(address, engine, markers)).write(Address(str(out)))
    parts = [pyarrow.parquet.read_table(part) for part in sorted(out.glob("*.parquet"))]
    return pa.concat_tables(parts).to_pandas()


@pytest.fixture
def spark() -> Iterator[None]:
    require_spark()
    with quick_spark():
        yield


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ["duckdb", "other"])
@examples(40, in_gate=2)
@given(st.data())
def test_random_tables_leave_in_the_order_of_memory(tmp_path_factory, engine, data):
    folder = tmp_path_factory.mktemp("random")
    table = data.draw(tables(engine == "duckdb"))
    shuffled = table.take(data.draw(st.permutations(range(table.num_rows))))
    plan = plan_of(table.column_names, keeps=data.draw(st.booleans()))
    found = written(plan, put(shuffled, folder, engine), engine, folder / "out")
    expected = in_memory(plan, table)
    assert list(found.columns) == list(expected.columns)
    assert as_it_stands(found) == as_it_stands(expected)


def people(records: int = 3000, seed: int = 1) -> pa.Table:
    """Rows in no order, of every type."""
    draw = np.random.default_rng(seed)
    texts = [None, *TEXTS]
    return pa.table(
        {
            "note": pa.array([texts[i] for i in draw.integers(0, len(texts), records)]),
            "age": pa.array(draw.integers(0, 90, records).astype(str)),
            "pay": pa.array(draw.choice([-1.5, -0.0, 0.0, 2.5, np.nan], records), from_pandas=True),
            "ill": pa.array(draw.choice(["flu", "cold", "10", "9"], records)),
            "zip": pa.array(draw.integers(-3, 12, records)),
            "visits": pa.array(draw.permutation(records)),
        }
    )


PEOPLE = people()


IN_GATE = {("", True), (".parquet", False), (".csv", True)}


def put_shuffled(folder: Path) -> list[Address]:
    """The same people in two orders."""
    other = PEOPLE.take(np.random.default_rng(2).permutation(PEOPLE.num_rows))
    return [put(table, folder, "duckdb", name) for table, name in ((PEOPLE, "a"), (other, "b"))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("ending", "keeps"), [
    pytest.param(ending, keeps, marks=[] if (ending, keeps) in IN_GATE else pytest.mark.nightly)
    for ending in ("", ".parquet", ".csv", ".tsv") for keeps in (False, True)
])  # fmt: skip
def test_the_order_of_the_input_changes_no_byte(tmp_path, ending, keeps):
    plan, files = plan_of(PEOPLE.column_names, keeps=keeps), []
    for number, address in enumerate(put_shuffled(tmp_path)):
        out = tmp_path / f"out{number}{ending}"
        run(plan, open_stored(address)).write(Address(str(out)))
        files.append([part.read_bytes() for part in sorted(out.iterdir())] if out.is_dir()
                     else out.read_bytes())  # fmt: skip
    assert files[0] == files[1]


@pytest.mark.nightly  # in every run: test_every_format_keeps_the_order_of_the_table
def test_a_table_of_duckdb_is_filled_in_order(tmp_path):
    plan, found = plan_of(PEOPLE.column_names), []
    for number, address in enumerate(put_shuffled(tmp_path)):
        base = tmp_path / f"{number}.duckdb"
        run(plan, open_stored(address)).write(Address(str(base), "released"))
        with duckdb.connect(str(base)) as connection:
            rows = connection.execute("SELECT rowid, * FROM released ORDER BY rowid").fetchdf()
        assert rows.pop("rowid").tolist() == list(range(PEOPLE.num_rows))
        found.append(as_it_stands(rows))
    assert found[0] == found[1] == as_it_stands(in_memory(plan, PEOPLE))


def test_suppressed_rows_that_stay_are_sorted_with_the_rest(tmp_path):
    table = pa.table(
        {"zip": ["2", "2", "(a)", "1", "1", "30"], "note": ["b", "a", "z", "d", "c", "y"]}
    )
    plan = plan_of(table.column_names, keeps=True)
    found = written(plan, put(table, tmp_path, "duckdb"), "duckdb", tmp_path / "out")
    assert as_it_stands(found) == [
        ["1", "c", "0.0"], ["1", "d", "0.0"], ["2", "a", "0.0"], ["2", "b", "0.0"],
        ["*", "None", "1.0"], ["*", "None", "1.0"],
    ]  # fmt: skip


def test_pseudonyms_decide_nothing_and_alone_vary(tmp_path):
    """Ties stand in random order: 40 records that differ in names alone come in two orders."""
    table = pa.table({
        "name": [f"n{i:02}" for i in range(80)], "age": ["1", "2"] * 40,
        "note": ["b"] * 40 + ["a"] * 40,
    })  # fmt: skip
    roles = {"age": SUPPRESSION, "name": {"role": "identifier", "pseudonym": True}}
    plan, address = plan_of(table.column_names, roles), put(table, tmp_path, "duckdb")
    found = [written(plan, address, "duckdb", tmp_path / f"out{n}") for n in range(2)]
    names = [each.pop("name").tolist() for each in found]
    assert sorted(names[0]) == sorted(names[1]) and names[0] != names[1]
    of_class = [int(name[2:]) for name in names[0][:20]]
    assert of_class != sorted(of_class), "names are numbered in random order, not along the rows"
    assert as_it_stands(found[0]) == as_it_stands(found[1]) == [
        [age, note] for age in "12" for note in "ab" for _ in range(20)
    ]  # fmt: skip


@pytest.mark.nightly
def test_joins_do_not_move_rows_that_keep_the_order_of_the_table(tmp_path):
    """A join passes on a row whose partner has collided with another later than its neighbours."""
    draw = np.random.default_rng(3)
    many = pa.table(
        {"visits": range(5_000), "age": draw.integers(0, 3_000, 5_000), "sex": ["F"] * 5_000}
    )
    columns = {"age": SUPPRESSION, "sex": SUPPRESSION, "visits": PASSED}
    plan = plan_of(many.column_names, columns, order="table", algorithm={"name": "gaa"})
    found = written(plan, put(many, tmp_path, "duckdb"), "duckdb", tmp_path / "out")
    assert found["visits"].astype(int).tolist() == list(range(5_000))


@pytest.mark.nightly
def test_spark_refuses_to_keep_the_order_of_the_table(spark, tmp_path):
    plan = plan_of(PEOPLE.column_names, order="table")
    with pytest.raises(PlanError, match="not allowed with Spark, which keeps no order"):
        written(plan, put(PEOPLE, tmp_path, "spark"), "spark", tmp_path / "out")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("engine", "ending"), [
    ("duckdb", ""), ("other", ""), ("duckdb", ".parquet"), ("duckdb", ".duckdb"),
    pytest.param("duckdb", ".csv", marks=pytest.mark.nightly),
])  # fmt: skip
def test_every_format_keeps_the_order_of_the_table(tmp_path, engine, ending):
    plan, out = plan_of(PEOPLE.column_names, order="table"), tmp_path / f"out{ending}"
    source = open_stored(put(PEOPLE, tmp_path, engine), engine)
    run(plan, source).write(Address(str(out), "released" if ending == ".duckdb" else None))
    with duckdb.connect(str(out) if ending == ".duckdb" else ":memory:") as connection:
        files = out if ending else out / "*.parquet"
        from_where = "released" if ending == ".duckdb" else f"'{files}'"
        rows = connection.execute(f"SELECT visits FROM {from_where}").fetchall()
    assert [visits for (visits,) in rows] == PEOPLE["visits"].to_pylist()


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("algorithm", "order", "engine"), [
    ({"name": "flash"}, "released", "duckdb"), ({"name": "gaa", "parts": "4"}, "table", "duckdb"),
    ({"name": "flash"}, "table", "other"), ({"name": "gaa", "parts": "4"}, "released", "other"),
], ids=["levels", "parts", "levels-other", "parts-other"])  # fmt: skip
def test_classes_that_stay_in_the_engine_leave_in_the_same_order(
    tmp_path, limits, algorithm, order, engine
):
    limit = {"suppression_limit": {"records": 300}} if algorithm["name"] == "flash" else {}
    keeps = {"suppressed": "keep"} if limit else {}
    by_ten = qi("intervals", widths=[10, 40])
    more = {"algorithm": algorithm, "order": order, **limit, **keeps}
    plan = plan_of(PEOPLE.column_names, ROLES | {"age": by_ten}, **more)
    expected = in_memory(plan, PEOPLE)
    limits(classes=900)
    found = written(plan, put(PEOPLE, tmp_path, engine), engine, tmp_path / "out")
    if order == "table":
        by_visit = expected.set_index("visits").sort_index()
        kept = found["visits"].dropna().astype(int).tolist()
        given_order = [n for n in PEOPLE["visits"].to_pylist() if n in by_visit.index]
        assert kept == given_order
    else:
        assert as_it_stands(found) == as_it_stands(expected)


@pytest.mark.nightly
@pytest.mark.parametrize("keeps", [False, True], ids=["left out", "kept"])
def test_spark_leaves_rows_in_the_order_of_memory(spark, tmp_path, keeps):
    plan = plan_of(PEOPLE.column_names, keeps=keeps)
    found = written(plan, put(PEOPLE, tmp_path, "spark"), "spark", tmp_path / "out")
    assert as_it_stands(found) == as_it_stands(in_memory(plan, PEOPLE))


@pytest.mark.nightly
def test_what_sorting_needs_beyond_its_memory_is_said(tmp_path, monkeypatch):
    """A database's rows are sorted by DuckDB: within what it may take, and spilled where told."""
    monkeypatch.setenv("KANON_MEMORY", "60MB")
    rows = pa.table({"note": [f"{n:064}" for n in range(500_000)][::-1]})

    def ordered() -> list[str]:
        address, tell = Address(str(tmp_path / "people.sqlite"), "people"), lambda *_: None
        with sort_batches(rows.to_reader(), ["note"], address, 10**6, tell) as batches:
            return [note for batch in batches for note in batch["note"].to_pylist()]

    (tmp_path / "people.sqlite").touch()
    with pytest.raises(Exception, match=r"needs more memory .* KANON_SCRATCH"):
        ordered()
    monkeypatch.setenv("KANON_SCRATCH", str(tmp_path / "scratch"))
    assert ordered() == sorted(rows["note"].to_pylist())
