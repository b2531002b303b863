"""Runs of the command line that are stopped at random moments: what is said is what is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.fresh import ROOT
from benchmarks.reliability.files import read_file

__all__ = ["SIGNALS", "Stopped", "stop_runs"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)

PLAN: dict[str, Any] = {
    "version": 2,
    "columns": {
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"build": "intervals", "widths": [10, 50]},
        },
        "zip": {"role": "quasi-identifier", "hierarchy": {"build": "mask", "keep": [3, 2, 1]}},
        "ill": {"role": "sensitive"},
    },
    "algorithm": {"name": "gaa"},
    "privacy": [
        {"model": "k-anonymity", "k": 5},
        {"model": "distinct-l-diversity", "l": 2},
    ],
}

RUNS: Mapping[str, Sequence[str]] = {
    "csv": ("table.csv", "memory", "out.csv"),
    "parquet": ("table.parquet", "memory", "out.parquet"),
    "xlsx": ("table.csv", "memory", "out.xlsx"),
    "duckdb, parquet": ("table.parquet", "duckdb", "out.parquet"),
    "duckdb, folder": ("table.parquet", "duckdb", "out"),
}
"""Per kind of run the table, what reads it and the release."""

MEASURES = "measures.json"

OLD = b"of yesterday"
"""What may stand where a run writes to; it stays until the new file is there as a whole."""

PATIENCE = 120.0
"""Seconds after which a run that was told to stop, and goes on, is a finding."""


class Broken(AssertionError):
    """Something else is on disk than what was said, or something was left."""


@dataclass
class Stopped:
    """How often a run was stopped, and what it left.

    Attributes
    ----------
    by
        Per signal how many runs it stopped.
    left
        How many of them had written which of their files.
    spared
        How many runs were over before the signal came.
    slowest
        The most seconds from a signal to the end of the process.
    seconds
        How long it took.
    """

    by: Counter = field(default_factory=Counter)
    left: Counter = field(default_factory=Counter)
    spared: int = 0
    slowest: float = 0.0
    seconds: float = 0.0


def stop_runs(wanted: int, seed: int, records: int) -> Stopped:
    """Stop runs until so many were stopped, each signal in turn.

    Parameters
    ----------
    wanted
        How many; a run that was over before the signal came does not count.
    seed
        Of the moments.
    records
        How many records the table has, which decides how long a run lasts.

    Raises
    ------
    Broken
        See there.
    """
    # A shell has what it starts behind its back ignore Ctrl-C, and whatever that starts in turn.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw, found, began = Random(seed), Stopped(), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kanon-signals-") as name:
        folder = Path(name)
        _write_input(folder, records)
        whole = {kind: _Whole.of(folder, kind) for kind in RUNS}
        while found.by.total() < wanted:
            kind = draw.choice(list(RUNS))
            by = min(SIGNALS, key=lambda each: found.by[each.name])
            old = draw.random() < 0.5
            # Half of the moments are where files are written, which is soon done.
            earliest = draw.choice([0, 0.7]) * whole[kind].seconds
            after = draw.uniform(earliest, whole[kind].seconds)
            _stop(folder, kind, by, after, old, whole[kind], found)
    found.seconds = time.perf_counter() - began
    return found


def _write_input(folder: Path, records: int) -> None:
    draw = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": draw.integers(0, 100, records),
            "zip": [f"{code:05}" for code in draw.integers(0, 99_999, records)],
            "ill": draw.choice(["flu", "cold", "angina"], records),
        }
    )
    table.to_csv(folder / "table.csv", index=False)
    table.to_parquet(folder / "table.parquet")
    (folder / "plan.json").write_text(json.dumps(PLAN))


@dataclass(frozen=True)
class _Whole:
    """What a run writes that nobody stops, and how long it goes on after it has begun."""

    release: Counter
    measures: dict[str, Any]
    seconds: float

    @classmethod
    def of(cls, folder: Path, kind: str) -> _Whole:
        for _ in range(2):  # the first one may compile kernels
            with _workplace(folder) as name:
                place = Path(name)
                process = _begun(folder, place, kind)
                began = time.perf_counter()
                _, said = process.communicate(timeout=600)
                took = time.perf_counter() - began
                _require(process.returncode == 0, f"{kind}, not stopped: {said}")
                out = place / "out" / RUNS[kind][2]
                found = cls(_rows(out), _measured(out.with_name(MEASURES)), took)
        return found


def _workplace(folder: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=folder)


def _begun(folder: Path, place: Path, kind: str) -> subprocess.Popen[str]:
    """A run that has begun: it takes signals now."""
    table, engine, out = RUNS[kind]
    (place / "out").mkdir(exist_ok=True)
    (place / "temporary").mkdir()
    process = subprocess.Popen(
        [
            sys.executable, "-m", "kanon", "run", str(folder / "plan.json"), "--engine", engine,
            "--table", str(folder / table), "--out", str(place / "out" / out),
            "--measures", str(place / "out" / MEASURES),
        ],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(place / "temporary")}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    while process.poll() is None and not _takes(process.pid, signal.SIGTERM):
        time.sleep(0.002)
    return process


def _takes(process: int, number: int) -> bool:
    """Whether a process has said what is to be done at a signal. Linux only."""
    try:
        lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    except OSError:
        return False
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt", "SigIgn"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def _stop(
    folder: Path, kind: str, by: signal.Signals, after: float, old: bool, whole: _Whole,
    found: Stopped,
) -> None:  # fmt: skip
    with _workplace(folder) as name:
        place = Path(name)
        out, measures = place / "out" / RUNS[kind][2], place / "out" / MEASURES
        if old:  # a folder would have to be empty
            for path in (out, measures) if out.suffix else (measures,):
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(OLD)
        process = _begun(folder, place, kind)
        time.sleep(after)
        began = time.perf_counter()
        process.send_signal(by)
        output, said = process.communicate(timeout=PATIENCE)
        took = time.perf_counter() - began
        _require(not _group_lives(process.pid), f"{kind}, {by.name}: a process is left")
        written = {path.name for path in (out, measures) if path.exists() and not _is_old(path)}
        try:
            _check(process.returncode, said, by, written, {out.name, measures.name}, place, old)
            if out.name in written:
                _require(_rows(out) == whole.release, "half a release has a name")
            if measures.name in written:
                _require(_measured(measures) == whole.measures, "other measures")
        except Broken as error:
            raise Broken(
                f"{kind}, {by.name} after {after:.3f} s: {error}; status {process.returncode}, "
                f"said {said!r} and {output!r}, written {sorted(written)}"
            ) from error
    if process.returncode == 0:
        found.spared += 1
        return
    found.by[by.name] += 1
    found.left[" and ".join(_shown(each) for each in sorted(written)) or "nothing"] += 1
    found.slowest = max(found.slowest, took)


def _shown(name: str) -> str:
    return "measures" if name == MEASURES else "release"


def _check(
    status: int, said: str, by: signal.Signals, written: set[str], wanted: set[str], place: Path,
    old: bool,
) -> None:  # fmt: skip
    """Whether the status and what was said are what is on disk, and nothing else is."""
    named = {path.name for path in (place / "out").iterdir()}
    stray = named - wanted
    if by is signal.SIGKILL and status == -by:
        # Nobody is left to clear away, but nothing half done looks like a release.
        _require(all(name.startswith(".") for name in stray), f"{stray} look finished")
        return
    _require(not stray, f"{stray} are left")
    _require(not any((place / "temporary").iterdir()), "a temporary file is left")
    _require("Traceback" not in said, "a traceback")
    if status == 0:
        _require(written == wanted, "it says that it worked")
        return
    _require(status == 128 + by, "another status")
    last = said.strip().splitlines()[-1]
    _require("Interrupted" in last, "it does not say that it was interrupted")
    told = _told(last, wanted)
    _require(told == written, f"it says that {sorted(told)} were written")
    _require(not old or named >= wanted - {"out"}, "what stood there before is gone")


def _told(said: str, wanted: set[str]) -> set[str]:
    """What a command says that it has written: all that it names before the word."""
    if "nothing was written" in said:
        return set()
    done, word, _ = said.partition(" written")
    _require(word and "written" not in _, f"it says {said!r}")
    return {name for name in wanted if f"/{name}'" in done}


def _is_old(path: Path) -> bool:
    return path.is_file() and path.read_bytes() == OLD


def _rows(path: Path) -> Counter:
    """The rows of a release, in whatever order: an engine has none."""
    _, columns = read_file(path)
    return Counter(zip(*columns, strict=True))


def _measured(path: Path) -> dict[str, Any]:
    return {**json.loads(path.read_text("utf-8")), "seconds": None}


def _group_lives(leader: int) -> bool:
    """Whether any process that a command has started outlives it."""
    for _ in range(100):
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


def _require(true: object, otherwise: str) -> None:
    if not true:
        raise Broken(otherwise)
