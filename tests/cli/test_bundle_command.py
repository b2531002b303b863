"""``run --bundle`` and the operator's record, from the command line."""

import hashlib
import json
import zipfile

import pytest

from kanon.report.recipients_check import main as check_archive
from support.command_line import RUN, check_failure, files

BUNDLE = (*RUN, "--bundle", "archive.zip")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the five megabytes of the library in the report."""
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", "/* the library */")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["plain", "excel", "table"])
@pytest.mark.parametrize("more", [(), ("--neutralise-formulas",)])
def test_the_archive_holds_the_file_that_was_written(kanon, folder, tmp_path_factory, form, more):
    said = kanon(*BUNDLE, "--csv", form, *more)
    assert (said.status, said.err) == (0, "")
    unpacked = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(folder / "archive.zip") as packed:
        packed.extractall(unpacked)
    released = (unpacked / "released.csv").read_bytes()
    assert released == (folder / "released.csv").read_bytes()
    assert (b";" in released) is (form != "plain")
    plan = json.loads((unpacked / "plan.json").read_text("utf-8"))
    assert plan["privacy"] == [{"model": "k-anonymity", "k": 2}]
    assert (plan["read"].get("separator") == ";") is (form != "plain")
    assert hashlib.sha256(released).hexdigest().encode() in (unpacked / "report.html").read_bytes()
    assert check_archive(unpacked) == 0


def test_the_algorithm_is_told_where_it_is_published(kanon, folder):
    for more, told in (((), False), (("--publish", "algorithm,records"), True)):
        assert kanon(*BUNDLE, *more).status == 0
        with zipfile.ZipFile(folder / "archive.zip") as packed:
            plan, page = json.loads(packed.read("plan.json")), packed.read("report.html").decode()
        assert ("algorithm" in plan) == ("Records that were anonymised" in page) == told


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        (("--bundle", "archive.tar"), ["--bundle", "end its name in .zip"]),
        (("--publish", "records"), ["--publish goes with --bundle"]),
        (("--bundle", "archive.zip", "--publish", "name"), ["'name' is unknown", "records, dropp"]),
        (("--bundle", "nowhere/archive.zip"), ["'archive.zip' cannot be written there"]),
        (("--bundle", "archive.zip", "--engine", "duckdb"), ["--bundle needs a table in memory"]),
        (("--bundle", "archive.zip", "--measures", "archive.zip"), ["named for two purposes"]),
    ],
)
def test_what_cannot_be_bundled_is_refused_before_anything(kanon, folder, more, parts):
    before = files(folder)
    check_failure(kanon(*RUN, *more), 2, parts)
    assert files(folder) == before


def test_a_run_is_recorded_and_one_that_cannot_be_is_refused(
    kanon, folder, tmp_path_factory, monkeypatch
):
    kept = tmp_path_factory.mktemp("record")
    monkeypatch.setenv("KANON_RECORD", str(kept))
    assert kanon(*RUN).status == 0
    line = json.loads((kept / "releases.jsonl").read_text("utf-8"))
    for key, name in (("table", "people.csv"), ("release", "released.csv")):
        assert line[key] == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert line["by"] == "command line" and line["who"]

    (folder / "released.csv").unlink()
    monkeypatch.setenv("KANON_RECORD", str(kept / "nowhere"))
    check_failure(kanon(*RUN), 2, ["record of releases", "nothing is released"])
    assert not (folder / "released.csv").exists()
