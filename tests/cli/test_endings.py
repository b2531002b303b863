"""What is said at the end of a command: true of what lies on the disk, whatever stopped it."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys

import pytest

from kanon.__main__ import main as process_main
from kanon.cli import signals
from kanon.sources import writing
from support.command_line import PLAN, RUN, TABLE, check_failure, files, write_plan
from support.paths import ROOT

BOTH = (*RUN, "--measures", "m.json")
DUCKDB = ("--engine", "duckdb")


def broken(error):
    """What a monkeypatched function does: it fails."""

    def fail(*_, **__):
        raise error

    return fail


# Interrupted


@pytest.fixture
def raised(monkeypatch):
    """Signals raised as in a process of its own; all as it was after the test."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.setattr(signals, "_taken", [])
    monkeypatch.setattr(signals, "_received", [])
    signals.raise_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def kill(number):
    """What a monkeypatched function does: the process gets a signal, and it goes on."""
    return lambda *_, **__: os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_between_two_files_is_told_with_both(
    kanon, folder, monkeypatch, raised, number, status
):
    monkeypatch.setattr("kanon.cli.run.json.dumps", kill(number))
    said = kanon(*BOTH)
    assert said == (status, "", "Interrupted; 'released.csv' was written, 'm.json' was not.\n")
    assert {*files(folder)} == {"people.csv", "plan.json", "sex.csv", "released.csv"}
    kill(number)()  # how it ended is settled: nothing is raised any more


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("place", ["keep_mode", "os.replace"])
def test_a_signal_while_the_release_is_written_leaves_nothing(
    kanon, folder, monkeypatch, raised, place, older
):
    """Two signals: ``timeout`` sends as many, and the second must not stop what clears away."""
    if older:
        (folder / "released.csv").write_text("older", "utf-8")
    before = files(folder)
    name = f"kanon.sources.writing.{place}"
    remove = type(folder).unlink

    def twice(path, **how):
        kill(signal.SIGTERM)()
        remove(path, **how)

    monkeypatch.setattr(name, kill(signal.SIGTERM))
    monkeypatch.setattr("pathlib.Path.unlink", twice)
    assert kanon(*BOTH) == (143, "", "Interrupted; nothing was written.\n")
    assert files(folder) == before


def test_a_signal_just_after_the_release_has_its_name(kanon, folder, monkeypatch, raised):
    """It is looked up, not noted: there is no moment between the two."""
    replace = os.replace

    def and_stop(*paths):
        replace(*paths)
        kill(signal.SIGINT)()

    monkeypatch.setattr("kanon.sources.writing.os.replace", and_stop)
    (folder / "released.csv").write_text("older", "utf-8")
    assert kanon(*RUN) == (130, "", "Interrupted; 'released.csv' was written.\n")
    assert (folder / "released.csv").read_text("utf-8") != "older"


def test_of_what_a_library_made_of_a_signal_no_mistake_is_told(
    kanon, folder, monkeypatch, raised
):
    """DuckDB raises a RuntimeError where a signal comes while it works."""

    def made_another(*_):
        try:
            kill(signal.SIGTERM)()
        except KeyboardInterrupt as stop:
            raise RuntimeError("Query interrupted") from stop

    monkeypatch.setattr("kanon.cli.run.run", made_another)
    assert kanon(*RUN) == (143, "", "Interrupted; nothing was written.\n")


@pytest.mark.parametrize("out", ["released", "released.parquet", "new.duckdb#people"])
def test_an_engine_that_is_stopped_leaves_nothing(kanon, folder, monkeypatch, raised, out):
    before = files(folder)
    monkeypatch.setattr("kanon.run.check_files", kill(signal.SIGTERM))
    said = kanon(*RUN[:-1], out, *DUCKDB, "--progress")
    assert said.status == 143
    assert said.err.endswith("\nInterrupted; nothing was written.\n"), "a line below the bar"
    assert files(folder) == before and not [*folder.glob(".*")] and not (folder / "released").exists()


@pytest.mark.parametrize("committed", [False, True])
def test_a_table_of_a_database_was_written_if_it_is_there(
    kanon, folder, monkeypatch, raised, committed
):
    """The file of the database is there before, and tells nothing."""
    assert kanon(*RUN[:-1], "data.duckdb#one", *DUCKDB).status == 0
    place = "kanon.cli.run.json.dumps" if committed else "kanon.sources.engines.duckdb.sql_name"
    monkeypatch.setattr(place, kill(signal.SIGINT))
    said = kanon(*RUN[:-1], "data.duckdb#two", *DUCKDB, "--measures", "m.json")
    done = "'data.duckdb#two' was written, 'm.json' was not" if committed else "nothing was written"
    assert said == (130, "", f"Interrupted; {done}.\n")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("kanon.cli.run.run", None)  # nothing is computed
    check_failure(kanon(*RUN[:-1], "data.duckdb#one", *DUCKDB), 2, ["has a table 'one' already"])
    tables = kanon("measure", "--table", "data.duckdb#none", "--qi", "sex").err
    assert ("'two'" in tables) is committed


def test_what_nobody_may_interrupt_is_not(monkeypatch, raised):
    """``nohup`` has the end of a terminal ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals.raise_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize(("number", "status"), [(None, 130), (signal.SIGTERM, 143)])
def test_an_interruption_of_the_imports_is_one_line(monkeypatch, capsys, raised, number, status):
    """The first one comes before signals are looked after."""
    prepare = broken(KeyboardInterrupt()) if number is None else kill(number)
    monkeypatch.setattr("kanon.__main__._prepare", prepare)
    assert process_main() == status
    assert tuple(capsys.readouterr()) == ("", "Interrupted; nothing was written.\n")


STOPPED = """
import atexit, os, runpy, signal, sys
if sys.argv.pop(1) == "first":
    class Stopping:
        def find_spec(self, name, *_):
            if name == "pandas":
                os.kill(os.getpid(), signal.SIGTERM)
    sys.meta_path.insert(0, Stopping())
else:
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
runpy.run_module("kanon", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("moment", "status", "err"),
    [("first", 143, "Interrupted; nothing was written.\n"), ("last", 0, "")],
)
def test_a_process_says_one_line_at_its_first_and_none_at_its_last(folder, moment, status, err):
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, moment, *RUN],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, err)
    assert (folder / "released.csv").exists() is (status == 0)


# What fails after the release stands


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "'m.json' cannot be written: no space"),
        (ValueError("SECRET"), "failed by a mistake of its own: ValueError"),
    ],
)
def test_what_fails_after_the_release_is_a_warning(kanon, folder, monkeypatch, error, part):
    replace = os.replace
    fails = lambda new, old: broken(error)() if old.name == "m.json" else replace(new, old)  # noqa: E731
    monkeypatch.setattr("kanon.sources.writing.os.replace", fails)
    said = kanon(*BOTH, "--seed", "1")
    assert said.status == 0 and said.err.startswith("kanon: warning: ") and part in said.err
    assert said.err.endswith(". 'released.csv' was written, 'm.json' was not.\n")
    assert said.err.count("\n") == 1 and "SECRET" not in said.err
    assert (folder / "released.csv").exists() and not (folder / "m.json").exists()


def test_what_fails_after_another_file_is_told_with_it(kanon, folder, monkeypatch):
    """The study is kept, but it is the results that the command is called for."""
    monkeypatch.setattr("kanon.cli.simulate.lacking", lambda _: ["one"])
    monkeypatch.setattr("kanon.cli.simulate.run_study", lambda *given: given[-1](None))
    monkeypatch.setattr("kanon.cli.simulate.written_study", lambda *_: b"{}")
    monkeypatch.setattr("kanon.cli.simulate.results", broken(MemoryError()))
    said = kanon("simulate", *RUN[1:], "--state", "study.json")
    check_failure(said, 1, ["mistake of its own", "'study.json' was written, 'released.csv' was not"])


@pytest.mark.parametrize("out", [sys.stdout, sys.stderr], ids=["stdout", "stderr"])
def test_a_full_stream_is_no_failure_of_the_release(kanon, folder, monkeypatch, capsys, out):
    name = "stdout" if out is sys.stdout else "stderr"
    monkeypatch.chdir(folder)
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, name, full)
        status = kanon.__wrapped__(*RUN) if hasattr(kanon, "__wrapped__") else main_of(*RUN)
        assert status == 0
        assert main_of("measure", "--table", "people.csv", "--qi", "sex") == (2 if out is sys.stdout else 0)
    assert (folder / "released.csv").exists()
