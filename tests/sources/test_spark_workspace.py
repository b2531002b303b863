"""Spark on this machine: tables that it keeps, work on their parts, and what becomes of both."""

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from conftest import _absent
from kanon.base.progress import ignore_progress
from kanon.errors import TableError, Unsatisfiable
from kanon.sources.engines.spark_task import PartTask
from support.part_works import SUMS, Sums, echoing, ending, failing, refusing
from support.spark import SPARK, quick_spark, require_spark
from support.spark_tables import PEOPLE, SparkTable, kept_table, opened


@pytest.fixture(scope="module")
def spark() -> Iterator[None]:
    require_spark()
    with quick_spark():
        yield


@pytest.fixture
def table(spark, tmp_path) -> SparkTable:
    return kept_table(tmp_path)


@pytest.mark.nightly
def test_what_is_kept_is_what_the_expression_yields(table):
    regions = pd.DataFrame({"zip": list(map(str, range(20))), "region": [n % 3 for n in range(20)]})
    wanted = table.rows.expression.join(ibis.memtable(regions), "zip")
    told: list[float] = []
    workspace = table.rows.workspace
    kept = workspace.keep(wanted, lambda fraction, text: told.append(fraction), "Keeping")
    assert told == sorted(told) and all(0 <= fraction < 1 for fraction in told)
    groups = kept.group_by("region").aggregate(n=kept.count(), weight=kept["weight"].sum())
    again = workspace.keep(groups, ignore_progress, "Keeping")
    workspace.drop(kept)  # what was computed from it stays
    expected = table.frame.merge(regions, on="zip").groupby("region")
    found = expected.agg(n=("zip", "size"), weight=("weight", "sum")).reset_index()
    assert table.fetched(again).values.tolist() == found.values.tolist()
    assert len(dict(table.context._jsc.getPersistentRDDs())) == 1
    workspace.drop(again)
    table.check_nothing_is_left()


@pytest.mark.nightly  # in every run: test_engines.py, of other engines
def test_a_column_name_twice_is_refused(spark, tmp_path):
    """It would be called name_1, and pass through."""
    names = ["name", "age", "name"]
    table = pa.Table.from_arrays([pa.array(["Ana"])] * 3, names=names)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(TableError, match="has more than one column called 'name'"):
        opened(tmp_path / "t.parquet")


@pytest.mark.nightly
def test_what_is_kept_twice_is_dropped_twice(table):
    workspace = table.rows.workspace
    one, other = (
        workspace.keep(table.rows.expression, ignore_progress, "Keeping") for _ in range(2)
    )
    workspace.drop(one)
    assert len(dict(table.context._jsc.getPersistentRDDs())) == 1
    pd.testing.assert_frame_equal(table.fetched(other), table.fetched(table.rows.expression))
    workspace.drop(other)
    table.check_nothing_is_left()


@pytest.mark.nightly
def test_work_on_parts_finds_the_same_however_the_rows_lie(table, tmp_path):
    """In one file, and in eight with the rows in another order; a part is never split."""
    (tmp_path / "folder").mkdir()
    shuffled = table.frame.sample(frac=1, random_state=3)
    for number in range(8):
        shuffled[number::8].to_parquet(tmp_path / "folder" / f"{number}.parquet", index=False)
    expected = table.sums()
    told: list[float] = []
    for rows, sizes in (
        (table.rows, table.sizes),
        (opened(tmp_path / "folder"), dict(reversed(table.sizes.items()))),
    ):
        workspace = rows.workspace
        kept = workspace.keep(rows.expression, ignore_progress, "Keeping")
        told.clear()
        found = workspace.run_by_part(
            kept, "part", sizes, Sums(), SUMS, lambda fraction, text: told.append(fraction), "Sums"
        )
        pd.testing.assert_frame_equal(table.fetched(found), expected)
        assert told == sorted(told)
        tasks = table.context._jsc.getPersistentRDDs()
        assert len(sizes) in {each.getNumPartitions() for each in dict(tasks).values()}
        workspace.drop(found)
        workspace.drop(kept)
    table.check_nothing_is_left()


@pytest.mark.nightly
def test_work_gets_the_columns_as_they_are_fetched(table, kept):
    workspace = table.rows.workspace
    wanted = kept.drop("part")
    found = workspace.run_by_part(
        kept, "part", table.sizes, echoing, wanted.schema().to_pyarrow(), ignore_progress, "Echo"
    )
    assert found.schema() == wanted.schema()
    pd.testing.assert_frame_equal(table.fetched(found), table.fetched(wanted))
    none = workspace.run_by_part(kept, "part", {}, Sums(), SUMS, ignore_progress, "Sums")
    assert len(table.fetched(none)) == 0
    for each in (found, none):
        workspace.drop(each)


@pytest.mark.parametrize(("work", "kind"), [(failing, RuntimeError), (refusing, Unsatisfiable)])
def test_what_work_raises_holds_no_cells(work, kind):
    rows = pa.table({"zip": ["SECRET"]})
    with pytest.raises(kind) as raised:
        list(PartTask(work, rows.schema, SUMS, None)(iter(rows.to_batches())))
    assert "SECRET" not in f"{raised.value} {raised.value!r}"
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("work", "kind", "sentence"),
    [
        (failing, TableError, r"^The engine could not continue with 'people.parquet' \(\w+\)\.$"),
        (refusing, Unsatisfiable, r"^The values \(value withheld\) are too few\.$"),
        (ending, TableError, r"lost too often.*spark\.executor\.memory"),
    ],
)
def test_what_work_raises_is_said_without_cells(table, kept, work, kind, sentence):
    with pytest.raises(kind, match=sentence):
        table.rows.workspace.run_by_part(
            kept, "part", table.sizes, work, SUMS, ignore_progress, "Work"
        )


@pytest.mark.nightly
def test_work_that_is_cancelled_ends_and_leaves_nothing(table, kept, tmp_path):
    started = tmp_path / "started"

    def cancelled(fraction: float, text: str) -> None:
        if started.exists():
            raise Unsatisfiable("enough")

    began = time.monotonic()
    with pytest.raises(Unsatisfiable):
        table.rows.workspace.run_by_part(
            kept, "part", table.sizes, Sums(60, str(started)), SUMS, cancelled, "Sums"
        )
    assert time.monotonic() - began < 50
    groups = kept.group_by("part").aggregate(n=kept.count())
    assert dict(table.fetched(groups).itertuples(index=False)) == table.sizes


@pytest.mark.nightly
def test_what_is_cancelled_before_it_is_kept_is_not_kept(table, tmp_path):
    def cancelled(fraction: float, text: str) -> None:
        raise KeyboardInterrupt

    rows = table.rows.expression
    pairs = rows.join(rows.view(), "zip").join(rows.view(), "zip", rname="{name}_third")
    with pytest.raises(KeyboardInterrupt):
        table.rows.workspace.keep(pairs, cancelled, "Keeping")
    table.check_nothing_is_left()
    with pytest.raises(KeyboardInterrupt):
        table.rows.write(pairs, tmp_path / "released", "folder", cancelled, ())
    table.check_nothing_is_left()
    assert list(tmp_path.glob("released/**/*.parquet")) == []


@pytest.mark.nightly
def test_how_much_of_a_release_is_written_is_told(table, tmp_path):
    told: list[float] = []

    def slowly(fraction: float, text: str) -> None:
        told.append(fraction)
        assert text == "Writing the release"

    rows = table.rows.expression
    groups = rows.group_by("zip").aggregate(n=rows.count())
    table.rows.write(rows.cross_join(groups), tmp_path / "released", "folder", slowly, ())
    assert told == sorted(told) and max(told) > 0
    written = pyarrow.parquet.read_table(tmp_path / "released")
    assert written.num_rows == PEOPLE * 30
    table.check_nothing_is_left()


# --- masters --------------------------------------------------------------------------------
@pytest.fixture
def masters() -> Any:
    require_spark()
    from kanon.sources.engines import spark_cluster

    return spark_cluster


@pytest.mark.parametrize(
    ("master", "sentence"),
    [
        ("spark://me:secret@127.0.0.1:1", r"does not answer at 'spark://127\.0\.0\.1:1' \(KANON_"),
        ("spark://127.0.0.1:1,localhost:1", r"not answer at 'spark://127\.0\.0\.1:1,localhost:1'"),
        ("k8s://https://me:secret@127.0.0.1:1", r"not answer at 'k8s://https://127\.0\.0\.1:1'"),
        ("sc://me:secret@localhost:15002", r"a server of Spark Connect \(sc://\)"),
        ("mesos://me:secret@host:5050", r"'mesos://host:5050' is none of these"),
        ("spark://host", r"'spark://host' is none of these"),
        ("spark://host:port", r"'spark://host:port' is none of these"),
        ("", r"'' is none of these"),
    ],
)
def test_a_master_that_cannot_be_used_is_refused(masters, master, sentence, monkeypatch):
    monkeypatch.setenv("KANON_SPARK", master)
    with pytest.raises(TableError, match=sentence) as raised:
        opened(Path(__file__))
    assert "secret" not in raised.value.sentence


def test_one_of_several_masters_is_enough(masters):
    with socket.create_server(("127.0.0.1", 0)) as server:
        masters.check_master(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.nightly
def test_a_master_that_takes_no_work_is_told_in_time(masters, spark, monkeypatch):
    """Something answers, but it is no master: the machine of Java that asked it is ended."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("KANON_SPARK", f"spark://127.0.0.1:{port}")
        began = time.monotonic()
        with pytest.raises(TableError, match=rf"start on 'spark://127\.0\.0\.1:{port}' \(KANON_"):
            opened(Path(__file__))
        assert time.monotonic() - began < 30
    assert masters.SparkContext._gateway is None


def test_without_java_spark_says_where_it_looked(masters, tmp_path, monkeypatch):
    monkeypatch.setattr(masters.SparkContext, "_gateway", None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(TableError, match=r"needs Java 17 .*JAVA_HOME is '.*nowhere'"):
        masters._launch_java(masters.SparkConf(loadDefaults=False))
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TableError, match=r"needs Java 17 .*JAVA_HOME is not set"):
        masters._launch_java(masters.SparkConf(loadDefaults=False))


@pytest.mark.nightly
def test_a_machine_of_java_that_is_lost_is_said_and_another_is_started(table, tmp_path):
    table.context._gateway.proc.kill()
    with pytest.raises(TableError, match="connection to Spark was lost"):
        table.rows.workspace.keep(table.rows.expression, ignore_progress, "Keeping")
    rows = opened(tmp_path / "people.parquet")
    assert rows.fetch(rows.expression.count().as_table()).column(0).to_pylist() == [PEOPLE]


@pytest.mark.nightly
def test_a_full_disk_of_spark_is_said(spark, tmp_path, monkeypatch):
    from kanon.sources.engines.spark_cluster import end_session

    (tmp_path / "scratch").mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path / "scratch")],
        check=False, capture_output=True,
    )  # fmt: skip
    if mounted.returncode:
        _absent("No small disk can be mounted here (only root may)")
    scratch = f"--conf spark.local.dir={tmp_path / 'scratch'} "
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", scratch + SPARK["PYSPARK_SUBMIT_ARGS"])
    end_session()
    try:
        rows = kept_table(tmp_path).rows
        pairs = rows.expression.join(rows.expression.view(), "zip").drop("zip")
        with pytest.raises(TableError, match=r"disk is full: .*\(spark\.local\.dir\)"):
            rows.workspace.keep(pairs.distinct(), ignore_progress, "Keeping")
    finally:
        end_session()
        subprocess.run(["umount", str(tmp_path / "scratch")], check=True)
