"""Spark on a cluster: a master and two workers of this machine, one of which may be killed."""

import gc
import os
import time
from collections.abc import Iterator

import pandas as pd
import pytest

from kanon.base.progress import ignore_progress
from kanon.errors import TableError
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.stored import open_stored
from support.part_works import SUMS, Sums, Taking, ending, failing
from support.spark import SPARK, require_spark, spark_is_there
from support.spark_tables import SparkTable, kept_table
from support.stored_people import MOST, PEOPLE, check_same, plan_of

if spark_is_there():
    from support.spark_cluster import Cluster, spark_cluster

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no standalone cluster"),
]

SUBMITTED = (
    "--conf spark.executor.memory=512m --conf spark.executor.pyspark.memory=2g "
    "--conf spark.sql.shuffle.partitions=2 "
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    require_spark()
    from kanon.sources.engines.spark_cluster import end_session

    with (
        pytest.MonkeyPatch.context() as patch,
        spark_cluster(tmp_path_factory.mktemp("cluster")) as found,
    ):
        for name, value in SPARK.items():
            patch.setenv(name, value)
        patch.setenv("PYSPARK_SUBMIT_ARGS", SUBMITTED + SPARK["PYSPARK_SUBMIT_ARGS"])
        patch.setenv("KANON_SPARK", found.master)
        end_session()  # a machine of Java that was started with other settings
        yield found
        end_session()


@pytest.fixture
def table(cluster, tmp_path) -> SparkTable:
    return kept_table(tmp_path)


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_that_is_killed_costs_its_tasks_alone(cluster, table, kept, tmp_path):
    workspace, started = table.rows.workspace, tmp_path / "started"

    def killing(fraction: float, text: str) -> None:
        if started.exists() and len(cluster.workers) == 2:
            cluster.kill_worker()

    found = workspace.run_by_part(
        kept, "part", table.sizes, Sums(1, str(started)), SUMS, killing, "Sums"
    )
    assert len(cluster.workers) == 1
    pd.testing.assert_frame_equal(table.fetched(found), table.sums())
    cluster.start_worker()
    workspace.drop(found)


@pytest.mark.parametrize(
    "algorithm", [{"name": "gaa", "parts": "4"}, {"name": "flash"}], ids=["gaa", "flash"]
)
def test_a_plan_is_released_as_in_memory(cluster, tmp_path, limits, algorithm):
    """More classes than come here, and a worker that is killed on the way."""
    plan = plan_of(algorithm)
    ours = run(plan, PEOPLE)
    limits(classes=MOST)
    PEOPLE.to_parquet(tmp_path / "people.parquet", index=False)

    def killing(fraction: float, text: str) -> None:
        if 0 < fraction < 0.9 and len(cluster.workers) == 2:
            cluster.kill_worker()

    progress = killing if algorithm["name"] == "gaa" else ignore_progress
    done = run(plan, open_stored(Address(str(tmp_path / "people.parquet")), "spark"),
               progress=progress)  # fmt: skip
    check_same(done, ours, tmp_path / "out")
    if len(cluster.workers) == 1:
        cluster.start_worker()
    del done
    gc.collect()  # what nobody can ask for any more is kept no longer
    kept_table(tmp_path).check_nothing_is_left()


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (ending, r"lost too often.*spark\.executor\.pyspark\.memory"),
        (Taking(3), r"no memory left.*spark\.executor\.pyspark\.memory"),
    ],
)
def test_too_little_memory_is_said_and_the_session_goes_on(table, kept, work, sentence):
    workspace = table.rows.workspace
    with pytest.raises(TableError, match=sentence):
        workspace.run_by_part(kept, "part", table.sizes, work, SUMS, ignore_progress, "Work")
    found = workspace.run_by_part(kept, "part", table.sizes, Sums(), SUMS, ignore_progress, "Sums")
    pd.testing.assert_frame_equal(table.fetched(found), table.sums())
    workspace.drop(found)


def test_what_work_raises_is_in_no_log(cluster, table, kept):
    with pytest.raises(
        TableError, match=r"^The engine could not continue with 'people.parquet' \("
    ):
        table.rows.workspace.run_by_part(
            kept, "part", table.sizes, failing, SUMS, ignore_progress, "Work"
        )
    logs = list(cluster.folder.glob("work-*/*/*/std*"))
    assert logs and not [log for log in logs if "what is" in log.read_text("utf-8")]


def test_what_is_cancelled_ends_in_the_executors(table, kept, tmp_path):
    started = tmp_path / "started"

    def cancelled(fraction: float, text: str) -> None:
        if started.exists() and started.read_text("utf-8"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table.rows.workspace.run_by_part(
            kept, "part", table.sizes, Sums(60, str(started)), SUMS, cancelled, "Sums"
        )
    process, deadline = int(started.read_text("utf-8")), time.monotonic() + 20
    while runs(process) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not runs(process), "the process of the executor that did the work"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('raise ModuleNotFoundError("No module named kanon")', r"cannot import kanon"),
        (
            "import sys, types\n__version__, __path__ = '0.1', []\n"
            "for name in ('sources', 'sources.engines', 'sources.engines.spark_task'):\n"
            "    sys.modules['kanon.' + name] = types.ModuleType('kanon.' + name)\n",
            r"has kanon '0\.1', but this computer has",
        ),
    ],
    ids=["none", "another version"],
)
def test_executors_with_another_kanon_are_told(table, tmp_path, monkeypatch, content, sentence):
    (tmp_path / "kanon").mkdir()
    (tmp_path / "kanon" / "__init__.py").write_text(content, "utf-8")
    workspace = table.rows.workspace
    monkeypatch.setattr(workspace._cluster, "_has_checked_executors", False)
    monkeypatch.setitem(table.context.environment, "PYTHONPATH", str(tmp_path))
    kept = workspace.keep(table.rows.expression, ignore_progress, "Keeping")
    with pytest.raises(TableError, match=sentence):
        workspace.run_by_part(kept, "part", table.sizes, Sums(), SUMS, ignore_progress, "Sums")
    workspace.drop(kept)
    table.check_nothing_is_left()


def test_a_cluster_without_workers_is_told(cluster, table, monkeypatch):
    workspace = table.rows.workspace
    monkeypatch.setattr(workspace._cluster, "patience", 2.0)
    while cluster.workers:
        cluster.kill_worker()
    with pytest.raises(TableError, match=r"has provided no executor for 2 seconds: start workers"):
        workspace.keep(table.rows.expression, ignore_progress, "Keeping")
    monkeypatch.undo()
    for _ in range(2):
        cluster.start_worker()
    kept = workspace.keep(table.rows.expression, ignore_progress, "Keeping")
    assert len(table.fetched(kept)) == len(table.frame)
    workspace.drop(kept)
    table.check_nothing_is_left()
