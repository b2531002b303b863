"""Each limit of the settings is kept in the library and the dashboard, and said when it is hit."""

import asyncio
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit import config

from kanon.errors import KanonError, PlanError, TableError
from kanon.hierarchy.build import suppression
from kanon.hierarchy.files import read_hierarchy
from kanon.plan import Plan
from kanon.schema import Role, Schema
from kanon.settings import MEGABYTE, get_settings
from kanon.sources.addresses import Address, check_address
from kanon.sources.opening import open_address, open_source, open_table
from kanon.sources.stored import open_stored
from kanon.studio.jobs import runner
from kanon.studio.jobs.lanes import STUDY
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.work import JobRequest, add_cancel_notice
from kanon.studio.widgets import controls
from support.dashboard import DATA, HIERARCHIES, PEOPLE, as_bytes, problems, upload, work

TABLE = pd.DataFrame({"sex": ["F", "M", "F", "D"], "zip": ["1", "1", "2", "3"]})
TREES = {"sex": suppression(["D", "F", "M"]), "zip": suppression(["1", "2", "3"])}
ROLES = Schema(dict.fromkeys(TREES, Role.QUASI_IDENTIFIER))


@pytest.fixture(params=["memory", "duckdb"])
def table(request, tmp_path):
    """The same table in memory and in an engine."""
    TABLE.to_parquet(tmp_path / "people.parquet", index=False)
    address = Address(str(tmp_path / "people.parquet"))
    return lambda: open_address(address, request.param)


def test_classes(table, limits):
    limits(classes=4)
    assert open_source(table(), ROLES, TREES).classes.n_classes == 4
    limits(classes=3)
    with pytest.raises(PlanError) as refused:
        open_source(table(), ROLES, TREES).classes.nodes  # noqa: B018
    assert "the limit is 3 (classes, see docs/operate" in refused.value.sentence


def test_distinct_values(tmp_path, limits):
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    limits(distinct_values=2)
    with pytest.raises(TableError) as refused:
        open_stored(Address(str(tmp_path / "people.csv"))).count_column_values("sex")
    assert "Column 'sex'" in refused.value.sentence
    assert "the limit is 2 (distinct_values, see docs/" in refused.value.sentence


def test_files_of_a_folder(tmp_path, limits):
    for place in range(3):
        TABLE.to_parquet(tmp_path / f"{place}.parquet", index=False)
    limits(folder_files=2)
    with pytest.raises(TableError, match=r"the limit is 2 \(folder_files, see docs"):
        check_address(Address(str(tmp_path)), {"KANON_TABLES": str(tmp_path)})


def test_a_large_file_is_refused_before_it_is_read(tmp_path, limits, monkeypatch):
    limits(unpacked_megabytes=1)
    (tmp_path / "people.csv").write_bytes(b"a,b\n" + b"1,2\n" * 300_000)
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: 1 / 0)
    with pytest.raises(TableError, match=r"'people.csv' unpacks to 2 MB or more; the limit is"):
        open_address(Address(str(tmp_path / "people.csv")), "memory")


@pytest.mark.parametrize(
    ("read", "name", "said"),
    [
        (Plan.load, "plan.json", "The plan has 100 MB; the limit is 1 MB (plan_megabytes"),
        (read_hierarchy, "age.csv", "file 'age.csv' has 100 MB; the limit is 1 MB (hier"),
        (open_table, "adult.data", "'adult.data' unpacks to 100 MB or more; the limit is"),
    ],
)
def test_a_large_file_that_is_named_by_its_path_takes_no_memory(tmp_path, limits, read, name, said):
    limits(plan_megabytes=1, hierarchies_megabytes=1, unpacked_megabytes=1)
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(100 * MEGABYTE)
    tracemalloc.start()
    try:
        with pytest.raises(KanonError) as refused:
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 5 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert said in refused.value.sentence


@pytest.mark.parametrize(
    ("read", "name"), [(Plan.load, "plan.json"), (read_hierarchy, "age.csv"), (open_table, "t.csv")]
)
def test_a_pipe_is_not_waited_for(tmp_path, read, name):
    """Nobody may ever write into it."""
    os.mkfifo(tmp_path / name)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read, tmp_path / name)
        try:
            with pytest.raises(KanonError) as refused:
                reading.result(timeout=5)
        finally:  # lets go of a reader that waits
            os.close(os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK))
    assert f"{name}' is a pipe or a device, not a file. Save its output" in refused.value.sentence


def test_a_plan(limits):
    limits(plan_megabytes=1)
    with pytest.raises(PlanError, match=r"The plan has 2 MB; the limit is 1 MB"):
        Plan.from_json(" " * 2 * MEGABYTE)


def test_many_small_values_of_a_plan_are_refused_before_they_are_made(monkeypatch):
    """50 MB of empty lists took 1.1 GB."""
    monkeypatch.setattr("kanon.base.checked_json._MOST_VALUES", 10)
    with pytest.raises(PlanError, match=r"The plan exceeds the limit of 10 values\."):
        Plan.from_json("[" + "[]," * 5 + "[]]")
    with pytest.raises(PlanError, match="has to be an object"):
        Plan.from_json("[" + "[]," * 3 + "[]]")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("rows = 11", "rows"),
        pytest.param("columns = 4", "columns", marks=pytest.mark.nightly),
        pytest.param("cells = 59", "cells", marks=pytest.mark.nightly),
    ],
)
def test_what_the_library_refuses_the_page_refuses_with_the_same_sentence(
    own_workers, start, limits, text, limit
):
    limits(text)
    at = start(DATA)
    before = work(at)
    upload(at, "people.csv", as_bytes(PEOPLE, "csv"))
    (said,) = problems(at)
    assert f"({limit}, see docs/operate/limits.md)." in said
    assert work(at).table.records is before.table.records, "what was there stays"


# --- Uploads ------------------------------------------------------------------------------------
def test_the_browser_the_server_and_the_settings_agree_on_uploads(start, limits):
    controls._prepare_server.clear()
    try:
        limits(upload_megabytes=7, hierarchies_megabytes=5, plan_megabytes=3)
        at = start(DATA)
        (field,) = [one for one in at.get("file_uploader") if one.key.startswith("upload-")]
        assert field.proto.max_upload_size_mb == 7
        assert "up to 7 MB" in field.label
        assert config.get_option("server.maxUploadSize") == 7
        (field,) = start(HIERARCHIES).get("file_uploader")
        assert field.proto.max_upload_size_mb == 5
    finally:
        controls._prepare_server.clear()
        limits()
        controls._prepare_server()
    assert config.get_option("server.maxUploadSize") == get_settings().upload_megabytes == 200


def test_what_is_uploaded_is_not_written_to_a_disk():
    controls._prepare_server()
    content = b"name,age\n" * 300_000
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
    kind = Headers({"content-type": "multipart/form-data; boundary=x"})

    async def body():
        yield head + content + b"\r\n--x--\r\n"

    async def parsed():
        form = await MultiPartParser(kind, body()).parse()
        file = form["f"].file
        assert not file._rolled, "it went to a temporary file"
        assert await form["f"].read() == content
        await form.close()

    with ThreadPoolExecutor() as elsewhere:  # the browser's tests may have a loop in this thread
        elsewhere.submit(asyncio.run, parsed()).result()


# --- Calculations -------------------------------------------------------------------------------
def test_as_many_calculations_run_at_once_as_the_settings_say(limits, monkeypatch):
    limits(jobs_at_once=3, long_jobs_at_once=5, studies_at_once=0)
    monkeypatch.setattr(runner, "Jobs", lambda places, **_: places)
    assert runner.get_jobs.__wrapped__() == (3, 5, 0)


@pytest.mark.parametrize(
    ("limit", "minutes"), [("job_minutes", 0.5), ("study_minutes", 2), ("engine_minutes", 3)]
)
def test_a_calculation_is_stopped_after_its_minutes(limits, monkeypatch, limit, minutes):
    limits(**{limit: minutes})
    given = {}

    class Recorder:
        def submit(self, function, *arguments, **how):
            given.update(how)

    monkeypatch.setattr(runner, "get_jobs", Recorder)
    session = open_sample("hospital")
    monkeypatch.setattr(runner.state, "get_session", lambda: session)
    monkeypatch.setattr(runner.state, "set_session", lambda work: None)
    monkeypatch.setattr(runner.state, "get_visitor", lambda: "somebody")
    runner.run_request(
        lambda work: JobRequest("run", len, (), add_cancel_notice, limit=limit, lane="study")
    )
    assert (given["visitor"], given["lane"]) == ("somebody", STUDY)
    assert given["deadline"] == 60 * minutes
    assert given["late"].startswith("The calculation was stopped: it took too many minutes; the")
    assert f"({limit}, see docs/operate/limits.md)." in given["late"]
