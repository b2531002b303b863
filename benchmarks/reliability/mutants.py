"""Faults planted in what a release rests on, one at a time: whether the tests notice.

Each is planted in a copy of the project, never in the project itself, and the tests that concern
the module are run there until one fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from random import Random

from benchmarks.case import CaseError
from benchmarks.fresh import ROOT
from benchmarks.reliability.mutated_modules import AREAS, PLAIN_PYTHON
from benchmarks.reliability.mutation import Mutant, mutants_of

__all__ = ["Tested", "plant_and_test"]

EXAMPLES = "0.05"
"""The share of hypothesis' examples; they are the same ones every time."""

LONGER = 5.0
"""A mutant whose tests take so many times as long as without it hangs."""

LEFT_OUT = (".git", ".venv*", "build", "dist", "output", ".*_cache", ".hypothesis")
"""What the tests of these modules do not need, and what is not the project's."""


@dataclass
class Tested:
    """What came of the mutants.

    Attributes
    ----------
    planted, killed
        Per area how many there were, and how many made a test fail.
    hung
        How many of the killed ones made the tests hang.
    survivors
        Of each that no test noticed: module, line, what stood there and what stands there now.
    seconds
        How long it took.
    """

    planted: Counter = field(default_factory=Counter)
    killed: Counter = field(default_factory=Counter)
    hung: int = 0
    survivors: list[tuple[str, int, str, str]] = field(default_factory=list)
    seconds: float = 0.0


def plant_and_test(
    wanted: int, seed: int, areas: Sequence[str] = tuple(AREAS), processes: int = 2
) -> Tested:
    """Plant so many mutants, the same number in each area, and run the tests of each.

    Parameters
    ----------
    wanted
        How many in all.
    seed
        Of the choice: each place in the code of an area is as likely as any other.
    areas
        Where.
    processes
        How many tests run side by side.

    Raises
    ------
    CaseError
        The tests fail without a mutant.
    """
    found, began = Tested(), time.perf_counter()
    planted = [each for area in _chosen(wanted, seed, areas) for each in area]
    with (
        tempfile.TemporaryDirectory(prefix="kanon-mutants-") as folder,
        ThreadPoolExecutor(processes) as pool,
    ):
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            copies.put(_copy(Path(folder) / str(number)))
        takes = _unharmed({module for _, module, _ in planted}, copies, pool)
        ends = pool.map(lambda each: _end(*each[1:], takes[each[1]], copies), planted)
        for (area, module, mutant), end in zip(planted, ends, strict=True):
            found.planted[area] += 1
            found.killed[area] += end != "survived"
            found.hung += end == "hung"
            if end == "survived":
                found.survivors.append((module, mutant.line, mutant.was, mutant.now))
                print(f"{module}:{mutant.line}: {mutant.was} → {mutant.now}", flush=True)
    found.seconds = time.perf_counter() - began
    return found


def _chosen(wanted: int, seed: int, areas: Sequence[str]) -> list[list[tuple[str, str, Mutant]]]:
    """Per area its mutants, with the name of the area and the path of the module."""
    chosen = []
    for number, area in enumerate(areas):
        draw = Random(f"{seed}/{area}")
        places = [
            (area, module, mutant)
            for module in sorted(AREAS[area])
            for mutant in mutants_of((ROOT / module).read_text("utf-8"), draw)
        ]
        share = wanted // len(areas) + (number < wanted % len(areas))
        chosen.append(draw.sample(places, min(share, len(places))))
    return chosen


def _copy(target: Path) -> Path:
    """The project as it stands, with what was compiled of it."""
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    return target


def _unharmed(
    modules: Collection[str], copies: SimpleQueue[Path], pool: ThreadPoolExecutor
) -> dict[str, float]:
    """How many seconds the tests of each module take without a mutant, at most."""
    alike: dict[tuple[str, Sequence[str]], list[str]] = {}
    for module in sorted(modules):
        area = _area(module)
        alike.setdefault((area, AREAS[area][module]), []).append(module)

    def seconds(together: Sequence[str]) -> float:
        began = time.perf_counter()
        copy = copies.get()
        try:
            # Numba and Python keep what they compile, so that later runs are quicker, not slower.
            code, said = _test(together, copy, 1200.0, keep=True)
        finally:
            copies.put(copy)
        if code != 0:
            raise CaseError(f"Tests fail without a mutant in {together}:\n{said[-2000:]}")
        return time.perf_counter() - began

    takes = pool.map(seconds, alike.values())
    return {
        module: each
        for together, each in zip(alike.values(), takes, strict=True)
        for module in together
    }


def _end(module: str, mutant: Mutant, takes: float, copies: SimpleQueue[Path]) -> str:
    """What became of a mutant: ``killed``, ``hung`` or ``survived``."""
    copy = copies.get()
    path = copy / module
    original, stat = path.read_bytes(), path.stat()
    try:
        path.write_text(mutant.source, "utf-8")
        code, _ = _test([module], copy, 30 + LONGER * takes)
    except subprocess.TimeoutExpired:
        return "hung"
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # what was compiled of it holds
        copies.put(copy)
    return "killed" if code else "survived"


def _area(module: str) -> str:
    return next(name for name, modules in AREAS.items() if module in modules)


def _test(
    modules: Sequence[str], copy: Path, longest: float, keep: bool = False
) -> tuple[int, str]:
    """Run the tests of modules that have the same ones in a copy; pytest's status, what it said."""
    area = _area(modules[0])
    left_out, more = "nightly or adult or browser", []
    if area in PLAIN_PYTHON:
        left_out, more = f"{left_out} or slow", ["-W", "ignore::RuntimeWarning"]
    environment = {
        **os.environ,
        "KANON_EXAMPLES": EXAMPLES,
        "PYTHONDONTWRITEBYTECODE": "" if keep else "1",
        "NUMBA_DISABLE_JIT": str(int(area in PLAIN_PYTHON)),
    }
    for name in ("KANON_ADULT", "CI", "PYTHONPATH"):
        environment.pop(name, None)
    process = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-x", "-q", "--hypothesis-seed=0", "--no-header",
            "-m", f"not ({left_out})", *more, *modules, *AREAS[area][modules[0]],
        ],
        cwd=copy, env=environment, timeout=longest, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return process.returncode, process.stdout
