"""The record of releases: a line for each, before it leaves, and none of a cell or a column."""

import hashlib
import json
import os
import threading

import pandas as pd
import pytest

from kanon.errors import SettingsError
from kanon.plan import Plan
from kanon.release import record as record_module
from kanon.release.record import (
    FILE,
    VARIABLE,
    Recorder,
    check_record_writable,
    compute_path_fingerprint,
    describe_record_problem,
    get_record_file,
    read_recorded_releases,
)
from kanon.release.released_rows import Verdict
from kanon.report.origin import build_recorder, compute_address_fingerprint
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address
from support.people_plans import PEOPLE, plan_with

TABLE, OTHER = "a" * 64, "b" * 64
VERDICTS = (
    Verdict("k-anonymity", "", "k = 2", 3, True),
    Verdict("delta-disclosure", "SECRET", "delta = 1", float("inf"), False),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which the record is kept."""
    kept = tmp_path / "record"
    kept.mkdir()
    monkeypatch.setenv(VARIABLE, str(kept))
    return kept


@pytest.fixture
def people(tmp_path):
    """The table as a file beside the folder."""
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    return Address.parse(str(path))


def line_for(table):
    Recorder("ana@example.org", "dashboard", table, "c" * 64, 2)("d" * 64, VERDICTS)


def lines_in(folder):
    return [json.loads(line) for line in (folder / FILE).read_text("utf-8").splitlines()]


def test_a_line_says_who_when_which_and_what_was_found(folder):
    line_for(TABLE)
    (line,) = lines_in(folder)
    assert line.pop("when").endswith("+00:00")
    assert line == {
        "who": "ana@example.org",
        "by": "dashboard",
        "table": TABLE,
        "plan": "c" * 64,
        "k": 2,
        "release": "d" * 64,
        "models": [
            {"model": "k-anonymity", "asked": "k = 2", "found": 3, "holds": True},
            {"model": "delta-disclosure", "asked": "delta = 1", "found": None, "holds": False},
        ],
    }
    assert os.stat(folder / FILE).st_mode & 0o777 == 0o600


def test_lines_are_added_and_those_of_a_table_are_found(folder):
    for table in (TABLE, OTHER, None, TABLE):
        line_for(table)
    assert len(lines_in(folder)) == 4
    assert len(read_recorded_releases(TABLE)) == 2 and len(read_recorded_releases(OTHER)) == 1
    assert read_recorded_releases("d" * 64) == (), "a release is no table"


def test_lines_of_many_writers_stay_whole(folder):
    threads = [threading.Thread(target=lambda: [line_for(TABLE) for _ in range(20)]) for _ in "123"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(read_recorded_releases(TABLE)) == 60


def test_no_record_is_kept_unasked(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert get_record_file() is None and describe_record_problem() is None
    check_record_writable()
    assert build_recorder(Plan.from_content(plan_with()), lambda: 1 / 0, "ana", "dashboard") is None
    assert read_recorded_releases(TABLE) == () and list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_written_is_told(folder, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(folder / "nowhere"))
    assert "that KANON_RECORD names, cannot be written (no such file" in describe_record_problem()
    with pytest.raises(SettingsError, match="so nothing is released"):
        line_for(TABLE)


def test_half_a_line_is_taken_back_where_the_disk_is_full(folder, monkeypatch):
    line_for(TABLE)
    write = os.write
    monkeypatch.setattr(record_module.os, "write", lambda file, line: write(file, line[:9]))
    with pytest.raises(SettingsError, match="the disk is full"):
        line_for(TABLE)
    monkeypatch.undo()
    monkeypatch.setenv(VARIABLE, str(folder))
    line_for(TABLE)
    assert len(read_recorded_releases(TABLE)) == 2


def test_a_folder_is_known_by_its_files(tmp_path):
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(name.encode())
    sums = "".join(f"{hashlib.sha256(one.encode()).hexdigest()}  {one}\n" for one in "ab")
    assert compute_path_fingerprint(tmp_path) == hashlib.sha256(sums.encode()).hexdigest()


# --- a release and its line --------------------------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("memory", "out.csv"),
        ("memory", "out.xlsx"),
        ("duckdb", "out.csv"),
        ("duckdb", "out"),
        ("duckdb", "out.duckdb#released"),
    ],
)
def test_a_release_is_recorded_by_the_bytes_that_are_written(
    folder, people, tmp_path, engine, name
):
    """A new table of a database has none of its own."""
    plan = Plan.from_content(plan_with())
    record = build_recorder(
        plan, lambda: compute_address_fingerprint(people), "ana", "command line"
    )
    done = run(plan, open_address(people, engine))
    target = Address.parse(str(tmp_path / name))
    done.write(target, record=record)
    (line,) = read_recorded_releases(hashlib.sha256(people.path.read_bytes()).hexdigest())
    assert line["release"] == (None if target.table else compute_path_fingerprint(tmp_path / name))
    assert line["models"] == [{"model": "k-anonymity", "asked": "k = 2", "found": 2, "holds": True}]
    text = (folder / FILE).read_text("utf-8")
    assert not any(word in text for word in [*PEOPLE.columns, "Ana", "flu", "30-39"])


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_cannot_be_recorded_is_not_released(folder, people, tmp_path, engine):
    plan = Plan.from_content(plan_with())
    record = build_recorder(plan, lambda: None, "ana", "command line")
    done = run(plan, open_address(people, engine))
    folder.rmdir()
    with pytest.raises(SettingsError, match="nothing is released"):
        done.write(Address(str(tmp_path / "out.csv")), record=record)
    assert [one.name for one in tmp_path.iterdir()] == ["people.csv"]


def test_a_release_that_fails_its_check_has_no_line(folder, tmp_path, monkeypatch):
    plan = Plan.from_content(plan_with())
    done = run(plan, PEOPLE)
    bad = pd.concat([done.released(), done.released().head(1).assign(age="99")])
    monkeypatch.setattr(type(done), "released", lambda self, index=False: bad)
    monkeypatch.setattr(type(done), "persons_released", lambda self: None)
    record = build_recorder(plan, lambda: None, "ana", "command line")
    with pytest.raises(Exception, match="does not meet its plan"):
        done.write(Address(str(tmp_path / "out.csv")), record=record)
    assert not (folder / FILE).exists() and not (tmp_path / "out.csv").exists()
