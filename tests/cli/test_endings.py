"""What is said at the end of a command: true of what lies on the disk, whatever stopped it."""

import contextlib
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

import duckdb
import pytest

from kanon.__main__ import main as process_main
from kanon.cli import signals
from kanon.cli.main import main
from support.command_line import PLAN, RELEASED, RUN, TABLE, check_failure, files, write_plan
from support.paths import ROOT
from support.plans import qi_with

BOTH = (*RUN, "--measures", "m.json")
DUCKDB = ("--engine", "duckdb")


def broken(error):
    """What a monkeypatched function does: it fails."""

    def fail(*_, **__):
        raise error

    return fail


# --- Interrupted --------------------------------------------------------------------------------
@pytest.fixture
def raised(monkeypatch):
    """Signals raised as in a process of its own; all as it was after the test."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(signals, "_handled_signals", [])
    monkeypatch.setattr(signals, "_received_signals", [])
    for number, handler in before.items():
        if handler is signal.SIG_IGN:  # as under nohup, where it is to stay so
            signal.signal(number, signal.SIG_DFL)
    signals.raise_signals()
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before.items():
        signal.signal(number, handler)


def kill(number):
    """What a monkeypatched function does: the process gets a signal, and it goes on."""
    return lambda *_, **__: signal.raise_signal(number)  # in this thread, before it goes on


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


def test_who_does_not_wait_for_the_bound_has_everything_else(kanon, folder, monkeypatch, raised):
    monkeypatch.setattr("kanon.cli.run.compute_close_bound", kill(signal.SIGINT))
    said = kanon(*BOTH, "--bound")
    done = "'released.csv' and 'm.json' were written. 'm.json' lacks lower_bound."
    assert said == (130, "", f"Interrupted; {done}\n")
    assert "lower_bound" not in json.loads((folder / "m.json").read_text("utf-8"))


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


def test_of_what_a_library_made_of_a_signal_no_mistake_is_told(kanon, folder, monkeypatch, raised):
    """DuckDB raises a RuntimeError where a signal comes while it works."""

    def made_another(*_):
        try:
            kill(signal.SIGTERM)()
        except KeyboardInterrupt as stop:
            raise RuntimeError("Query interrupted") from stop

    monkeypatch.setattr("kanon.cli.run.run", made_another)
    assert kanon(*RUN) == (143, "", "Interrupted; nothing was written.\n")


class Unheard:
    """Nothing can be raised where an object goes."""

    def __del__(self):
        kill(signal.SIGTERM)()


def swallowed():
    with contextlib.suppress(BaseException):
        kill(signal.SIGTERM)()


@pytest.mark.parametrize("lost", [Unheard, swallowed])
def test_a_signal_that_a_library_swallows_is_raised_again(kanon, folder, monkeypatch, raised, lost):
    """Numba loses it where LLVM calls back, and some packages where they are imported."""

    def going_on(*_):
        lost()
        for _ in range(1000):
            time.sleep(0.01)
        raise AssertionError("nothing stops it")

    monkeypatch.setattr("kanon.cli.run.run", going_on)
    assert kanon(*RUN) == (143, "", "Interrupted; nothing was written.\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("out", ["released", "released.parquet", "new.duckdb#people"])
def test_an_engine_that_is_stopped_leaves_nothing(kanon, folder, monkeypatch, raised, out):
    before = files(folder)
    monkeypatch.setattr("kanon.run.execution.check_files", kill(signal.SIGTERM))
    said = kanon(*RUN[:-1], out, *DUCKDB, "--progress")
    assert said.status == 143
    assert said.err.endswith("\nInterrupted; nothing was written.\n"), "a line below the bar"
    assert {path.name for path in folder.iterdir()} == {*before}


@pytest.mark.parametrize("committed", [False, True])
def test_a_table_of_a_database_was_written_if_it_is_there(
    kanon, folder, monkeypatch, raised, committed
):
    """The file of the database is there before, and tells nothing."""
    path = str(folder / "data.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE one AS SELECT 1 AS a")
    place = "kanon.cli.run.json.dumps" if committed else "kanon.run.execution.check_files"
    call = (*RUN[:-1], "data.duckdb#two", *DUCKDB, "--measures", "m.json")
    with monkeypatch.context() as patch:
        patch.setattr(place, kill(signal.SIGINT))
        said = kanon(*call)
    done = "'data.duckdb#two' was written, 'm.json' was not" if committed else "nothing was written"
    assert said == (130, "", f"Interrupted; {done}.\n")
    with duckdb.connect(path) as connection:
        tables = {name for (name,) in connection.sql("SHOW TABLES").fetchall()}
    assert tables == ({"one", "two"} if committed else {"one"})


def test_what_nobody_may_interrupt_is_not(monkeypatch, raised):
    """``nohup`` has the end of a terminal ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals.raise_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize(("number", "status"), [(None, 130), (signal.SIGTERM, 143)])
def test_an_interruption_of_the_imports_is_one_line(monkeypatch, capsys, raised, number, status):
    """The first one comes before signals are looked after."""
    prepare = broken(KeyboardInterrupt()) if number is None else kill(number)
    monkeypatch.setattr("kanon.__main__._prepare_process", prepare)
    assert process_main() == status
    assert tuple(capsys.readouterr()) == ("", "Interrupted; nothing was written.\n")


STOPPED = """
import atexit, os, runpy, signal, sys
if sys.argv.pop(1) == "first":
    class Stopping:
        def find_spec(self, name, *_):
            if name == "pandas":
                sys.meta_path.remove(self)
                exec("os.kill(os.getpid(), signal.SIGTERM)")  # as dataclasses and others do
    sys.meta_path.insert(0, Stopping())
else:
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
runpy.run_module("kanon", run_name="__main__")
"""


@pytest.mark.sampled(2)
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
    released = folder / "released.csv"
    rows = [line.split(",") for line in released.read_text("utf-8").split()] if not status else []
    assert rows[1:] == (RELEASED if not status else []) and released.exists() is (status == 0)


# --- What fails after the release stands --------------------------------------------------------
@pytest.mark.parametrize(
    ("error", "part"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "'m.json' cannot be written: no space"),
        (ValueError("SECRET"), "failed because of an error in kanon: ValueError"),
    ],
)
def test_what_fails_after_the_release_is_a_warning(kanon, folder, monkeypatch, error, part):
    real = os.replace

    def replace(part, path):
        if path.name == "m.json":
            raise error
        real(part, path)

    monkeypatch.setattr("kanon.sources.writing.os.replace", replace)
    said = kanon(*BOTH, "--seed", "1")
    assert said.status == 0 and said.err.startswith("kanon: warning: ") and part in said.err
    assert said.err.endswith(". 'released.csv' was written, 'm.json' was not.\n")
    assert said.err.count("\n") == 1 and "SECRET" not in said.err
    assert (folder / "released.csv").exists() and not (folder / "m.json").exists()


def test_what_fails_after_another_file_is_told_with_it(kanon, folder, monkeypatch):
    """The study is kept, but it is the results that the command is called for."""
    monkeypatch.setattr("kanon.cli.simulate.list_missing_runs", lambda _: ["one"])
    monkeypatch.setattr("kanon.cli.simulate.run_study", lambda *given: given[-1](None))
    monkeypatch.setattr("kanon.cli.simulate.write_study", lambda *_: b"{}")
    monkeypatch.setattr("kanon.cli.simulate.build_results_table", broken(MemoryError()))
    said = kanon("simulate", *RUN[1:], "--state", "study.json")
    written = "'study.json' was written, 'released.csv' was not"
    check_failure(said, 1, ["because of an error in kanon", written])


@pytest.mark.parametrize(
    ("name", "measured"), [("stdout", (2, "no space left on device.\n")), ("stderr", (0, ""))]
)
def test_a_full_stream_does_not_undo_the_release(folder, monkeypatch, capsys, name, measured):
    monkeypatch.chdir(folder)
    with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patch:
        patch.setattr(sys, name, full)
        assert main([*RUN, "--progress"]) == 0
    err = capsys.readouterr().err
    assert err.endswith(": no space left on device. 'released.csv' was written.\n") or not err
    with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patch:
        patch.setattr(sys, name, full)
        status = main(["measure", "--table", "people.csv", "--qi", "sex"])
    assert status == measured[0] and capsys.readouterr().err.endswith(measured[1])


NOISY = """
import os, runpy
from kanon.sources import writing
replace = writing.os.replace
def noisy(*paths):
    try:
        os.write(1, b"noise")
    except OSError:
        pass
    replace(*paths)
writing.os.replace = noisy
runpy.run_module("kanon", run_name="__main__")
"""


@pytest.mark.nightly
def test_a_closed_stream_is_none_that_a_release_gets(folder):
    """The first file that is opened would get its number, and with it what others print."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", NOISY, *RUN],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr.endswith("bad file descriptor. 'released.csv' was written.\n")
    assert [line.split(",") for line in (folder / "released.csv").read_text("utf-8").split()] == [
        ["age", "sex", "disease"], *RELEASED,
    ]  # fmt: skip


# --- Before anything is computed ----------------------------------------------------------------
WRITING = [
    BOTH,
    (*RUN, "--pin", "m.json"),
    ("sweep", *RUN[1:4], "--k", "2", "--out", "m.json"),
    ("advise", *RUN[1:4], "--out", "m.json"),
    ("reverse", *RUN[1:4], "--out", "m.json"),
    ("simulate", *RUN[1:], "--state", "m.json"),
    ("report", *RUN[1:4], "--out", "m.html"),
    ("exercises", "score", "plan.json", "sex.csv", "--out", "m.json"),
]


@pytest.mark.parametrize("call", WRITING, ids=lambda call: f"{call[0]} {call[-2]}")
def test_what_cannot_be_written_is_said_before_anything_is_read(kanon, folder, monkeypatch, call):
    """Whoever is root may write to a protected file: the file says that it is protected."""
    name = call[-1]
    monkeypatch.setattr("kanon.cli.inputs.open_address", None)
    monkeypatch.setattr("kanon.cli.exercises.read_exercises", None)
    before = files(folder)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))  # as on a full disk, names have room
    try:
        said = kanon(*call)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    check_failure(said, 2, ["cannot be written there", "the disk needs room"])
    assert files(folder) == before and not [*folder.glob(".*")]
    (folder / name).write_text("mine", "utf-8")
    (folder / name).chmod(0o444)
    check_failure(kanon(*call), 2, [f"'{name}' is write-protected: choose another name"])
    assert files(folder) == {**before, name: b"mine"}


def test_a_folder_that_takes_no_file_is_refused(kanon):
    """Not even one of the administrator."""
    check_failure(kanon(*RUN[:-1], "/proc/released.csv"), 2, ["cannot be written there"])


def test_a_table_that_a_database_has_is_no_new_one(kanon, folder, monkeypatch):
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.execute("CREATE TABLE one AS SELECT 1 AS a")
    monkeypatch.setattr("kanon.cli.run.run", None)  # nothing is computed
    call = (*RUN[:-1], "data.duckdb#one", *DUCKDB)
    check_failure(kanon(*call), 2, ["'data.duckdb' already has a table 'one'"])


NUL = "a\0b"


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (RUN, "The hierarchy file"),
        ((*RUN[:3], NUL, *RUN[4:]), "does not exist"),
        ((*RUN[:-1], NUL), "cannot be"),
        ((*RUN, "--measures", NUL), "cannot be written there"),
        (("run", NUL, *RUN[2:]), "The plan"),
    ],
    ids=["hierarchy", "table", "out", "measures", "plan"],
)
def test_a_nul_in_a_path_is_said(kanon, folder, call, part):
    column = qi_with(NUL)
    if call is RUN:
        write_plan(folder, columns={**PLAN["columns"], "sex": column})
    before = files(folder)
    check_failure(kanon(*call), 2, [part])
    assert files(folder) == before


# --- What a terminal gets -----------------------------------------------------------------------
HOSTILE = "\x1b[2J\x07\x9b\x7f\u202e\u2066"
SEEN = r"\u001b[2J\u0007\u009b\u007f"
SIGNS = {*HOSTILE} - {*"[2J"}


def test_control_characters_are_shown_and_control_nothing(kanon, folder, capsys):
    (folder / "people.csv").write_text(TABLE.replace("disease", HOSTILE), "utf-8")
    (folder / "sex.csv").write_text(f"F;*\n{HOSTILE};*\n", "utf-8")
    columns = {**PLAN["columns"], HOSTILE: {"role": "sensitive"}}
    del columns["disease"]
    write_plan(folder, columns=columns)
    measure = ("measure", "--table", "people.csv", "--qi", "sex", "--sensitive", f"age,{HOSTILE}")
    said = [
        kanon(*RUN, "--progress"),  # M lacks: the value of a hierarchy
        kanon(*RUN[:3], f"{HOSTILE}.csv", *RUN[4:]),
        kanon("measure", "--table", "people.csv", "--qi", f"x{HOSTILE}"),
        kanon(*measure),
        kanon("check", *RUN[1:4], "--before", "plan.json"),
        kanon("quasi-identifiers", "--table", "people.csv", "--share", "0", "--k", "7"),
    ]
    with pytest.raises(SystemExit):
        kanon(*RUN, f"--x{HOSTILE}")
    everything = "".join(one.out + one.err for one in said) + capsys.readouterr().err
    assert not SIGNS & {*everything}
    assert SEEN in said[1].err and SEEN in said[2].err
    assert SEEN + r"\u202e\u2066" in said[3].out and SEEN in everything.splitlines()[-1]
    printed = kanon(*measure, "--json").out
    assert HOSTILE in json.loads(printed)["sensitive"] and not SIGNS & {*printed}


def test_what_is_written_keeps_its_control_characters(kanon, folder):
    (folder / "people.csv").write_text(TABLE.replace("cold", "a\x1b[2Jb"), "utf-8")
    assert kanon(*RUN).status == 0
    assert "a\x1b[2Jb" in (folder / "released.csv").read_text("utf-8")


def test_a_mistake_is_shown_whole_without_control(kanon, monkeypatch):
    monkeypatch.setenv("KANON_TRACEBACK", "1")
    monkeypatch.setattr("kanon.cli.run.run", broken(ValueError(HOSTILE)))
    said = kanon(*RUN)
    assert said.status == 1 and f"ValueError: {SEEN}" in said.err and not SIGNS & {*said.err}
