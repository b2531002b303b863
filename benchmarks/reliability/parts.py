"""The parts of ``make reliability``: each measures and returns figures that JSON can hold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.case import CaseError
from benchmarks.fresh import ROOT
from benchmarks.reliability.classroom import BROWSERS, hold_class, limit_memory, summarise
from benchmarks.reliability.files import Files, release_files
from benchmarks.reliability.fuzz import feed_all
from benchmarks.reliability.kills import kill_workers
from benchmarks.reliability.mutants import plant_and_test
from benchmarks.reliability.releases import Counts, release_many
from benchmarks.reliability.signals import stop_runs
from benchmarks.reliability.soak import growth, soak
from benchmarks.reliability.visitors import COMPARED, FEW, MANY, STORED, visit

__all__ = ["PARTS"]

RELEASES, RELEASE_SEEDS = 100_000, (2, 3, 4, 5)
FILES, FILE_SEEDS = 100_000, (2, 3, 4, 5)
INPUTS, INPUT_SEED = 1_000_000, 7
KILLS, KILL_SEED, KILL_RECORDS = 100, 7, 6_000
STOPS, STOP_SEED, STOP_RECORDS = 300, 7, 20_000
MUTANTS, MUTANT_SEED = 200, 7
SESSIONS, SOAK_SECONDS, SOAK_SEED = 20, 600.0, 7
CLASS_SESSIONS, CLASS_SECONDS, CLASS_SEED = 60, 600.0, 7
VISIT_SECONDS, VISIT_SEED = 600.0, 7

OUTPUT = ROOT / "tests" / "output"


def releases() -> dict[str, Any]:
    """Random tables released by every algorithm."""
    began, each = time.perf_counter(), RELEASES // len(RELEASE_SEEDS)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(release_many, [each] * len(RELEASE_SEEDS), RELEASE_SEEDS))
    total = Counts()
    for one in results:
        for name in ("released", "refused", "models", "metrics", "strategies"):
            getattr(total, name).update(getattr(one, name))
        for name in ("suppressed", "checked", "tables"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    total.seconds = time.perf_counter() - began
    return {"seeds": list(RELEASE_SEEDS), **vars(total)}


def files() -> dict[str, Any]:
    """Files of every kind, by every engine, read by others than kanon."""
    began, each = time.perf_counter(), FILES // len(FILE_SEEDS)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(release_files, [each] * len(FILE_SEEDS), FILE_SEEDS))
    total = Files()
    for one in results:
        total.add(one)
    total.seconds = time.perf_counter() - began
    return {"seeds": list(FILE_SEEDS), **vars(total)}


def fuzz() -> dict[str, Any]:
    """Broken input for every target."""
    began = time.perf_counter()
    found = feed_all(INPUTS, INPUT_SEED)
    targets = {name: vars(fed) for name, fed in found.items()}
    return {"seed": INPUT_SEED, "targets": targets, "seconds": time.perf_counter() - began}


def kills() -> dict[str, Any]:
    """Workers killed at random moments."""
    found = kill_workers(KILLS, KILL_SEED, KILL_RECORDS)
    return {"seed": KILL_SEED, "records": KILL_RECORDS, **vars(found)}


def signals() -> dict[str, Any]:
    """Commands that are stopped at random moments."""
    found = stop_runs(STOPS, STOP_SEED, STOP_RECORDS)
    return {"seed": STOP_SEED, "records": STOP_RECORDS, **vars(found)}


def mutants() -> dict[str, Any]:
    """Faults planted in what a release rests on."""
    return {"seed": MUTANT_SEED, **vars(plant_and_test(MUTANTS, MUTANT_SEED))}


def sessions() -> dict[str, Any]:
    """Many sessions at once for minutes."""
    chromium = os.environ.get("KANON_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        raise CaseError("A browser is missing: install Chromium or set KANON_CHROMIUM.")
    found = soak(chromium, SESSIONS, SOAK_SECONDS, SOAK_SEED)
    plateau, end = growth(found.memory)
    halves = range(int(found.memory[-1][0] // 30))
    curve = [(half / 2, median(_between(found.memory, half))) for half in halves]
    said = {**vars(found), "memory": curve}
    return {"seed": SOAK_SEED, "seconds": SOAK_SECONDS, "plateau": plateau, "end": end, **said}


def _between(memory: Sequence[tuple[float, float]], half: int) -> list[float]:
    """What was seen in one half of a minute."""
    return [size for at, size in memory if half * 30 <= at < half * 30 + 30]


def classroom(sessions: int = CLASS_SESSIONS, seconds: float = CLASS_SECONDS) -> dict[str, Any]:
    """A class at one server for ten minutes, or a smaller one for a shorter time."""
    browsers = min(BROWSERS, sessions)
    found = hold_class(sessions, seconds, CLASS_SEED, browsers)
    servers, workers = zip(*(size for _, size in found.memory), strict=True)
    first, most = servers[0], max(servers)
    return {
        "seed": CLASS_SEED, "sessions": sessions, "browsers": browsers, "seconds": seconds,
        "waits": {action: summarise(waits) for action, waits in found.waits.items()},
        "all": summarise([wait for waits in found.waits.values() for wait in waits]),
        "errors": found.errors, "busy": found.busy, "limit": limit_memory(sessions),
        "memory": [[first, most], max(workers)], "session": (most - first) / sessions,
    }  # fmt: skip


def visitors() -> dict[str, Any]:
    """A visitor with short runs beside five with long ones for minutes."""
    found = visit(VISIT_SECONDS, VISIT_SEED)
    return {
        "seed": VISIT_SEED,
        "seconds": VISIT_SECONDS,
        "records": {"short": FEW, "compared": COMPARED, "long": MANY, "stored": STORED},
        "heavy": found.heavy,
        "runs": len(found.results),
        "begins": [median(found.begins), max(found.begins)],
        "results": [median(found.results), max(found.results)],
    }


def browser() -> dict[str, Any]:
    """The whole suite in a browser, with its nightly tests: what it asked for, how fast it was."""
    for old in OUTPUT.glob("*.json"):
        old.unlink()
    command = ["-m", "pytest", "-q", "-m", "browser", "tests"]
    began = time.perf_counter()
    process = subprocess.run(
        [sys.executable, *command, f"--junitxml={OUTPUT / 'browser.xml'}"],
        cwd=ROOT, env={**os.environ, "CI": "true"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    said = process.stdout.strip().splitlines()[-1].strip("= ")
    # Tests that failed are a figure too, but not what stood in the way of running them.
    if process.returncode > 1 or "error" in said:
        raise CaseError(f"The tests in the browser could not be run: {said}.")
    return {
        "said": said,
        "passed": process.returncode == 0,
        "seconds": time.perf_counter() - began,
        "requests": _read("requests.json"),
        "measured": _read("timings-reliability.json"),
        "cancel": _read("timings.json").get("cancel, s"),
    }


def _read(name: str) -> dict[str, Any]:
    path: Path = OUTPUT / name
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


PARTS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "releases": releases,
    "files": files,
    "fuzz": fuzz,
    "kills": kills,
    "signals": signals,
    "mutants": mutants,
    "sessions": sessions,
    "classroom": classroom,
    "visitors": visitors,
    "browser": browser,
}
"""In the order of the page, in minutes on two cores: 20, 20, 35, 10, 15, 40, 12, 12, 11 and 15."""
