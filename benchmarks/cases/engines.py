"""The same plan by every engine: in memory, DuckDB, Spark and SQLite, on generated tables.

Spark is measured if pyspark is importable (requirements-spark.txt); it runs on ``local[2]`` unless
the environment variable KANON_SPARK names another master.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.case import Case
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import seconds, table, thousands, times
from benchmarks.plans import census_trees, content
from benchmarks.tables import COLUMNS, census_like
from benchmarks.timing import exponent
from kanon.plan import Plan
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable
from kanon.sources.stored import StoredTable, open_stored

__all__ = [
    "CASE",
    "ENGINES",
    "children_megabytes",
    "class_sizes",
    "disagreement",
    "engines_here",
    "released",
    "write_census",
]

K = 10
SIZES = (30_000, 300_000, 1_000_000)
REPETITIONS = 3
FEW = 2_000
NAMES = tuple(name for name in COLUMNS if name != "postcode")
STEPS = ("open", "count", "merge", "write")

ENGINES: Mapping[str, str] = {
    "in memory": "people.parquet",
    "DuckDB": "people.parquet",
    "Spark": "people.parquet",
    "SQLite": "people.sqlite",
}
"""The engines and the file that each reads; the first is what the others are compared with."""

_FIRST = next(iter(ENGINES))


def engines_here() -> tuple[str, ...]:
    """The engines that can be measured: Spark needs pyspark."""
    lacking = {"Spark"} if importlib.util.find_spec("pyspark") is None else set()
    return tuple(name for name in ENGINES if name not in lacking)


def write_census(folder: str, records: int) -> None:
    """Write a generated table as Parquet and as a table of SQLite; in a fresh process."""
    drawn = census_like(records)[[*NAMES]]
    drawn.to_parquet(Path(folder, "people.parquet"), index=False)
    connection = sqlite3.connect(Path(folder, "people.sqlite"))
    with connection:
        drawn.to_sql("people", connection, index=False, chunksize=100_000)
    connection.close()


def _opened(engine: str, path: Path) -> MemoryTable | StoredTable:
    if engine == "in memory":
        return MemoryTable(pd.read_parquet(path))
    if engine == "Spark":
        os.environ.setdefault("KANON_SPARK", "local[2]")
        return open_stored(Address(str(path)), "spark")
    return open_stored(Address(str(path), "people" if engine == "SQLite" else None))


def released(engine: str, folder: str, out: str, k: int = K) -> dict[str, Any]:
    """Count, merge and release by one engine; in a fresh process.

    Parameters
    ----------
    engine
        One of :data:`ENGINES`.
    folder
        Where :func:`write_census` wrote the table.
    out
        Where the release goes: a Parquet file, or for Spark a folder.
    k
        The k asked for.

    Returns
    -------
    dict
        The seconds of each step, what the original and the released classes are (a digest of their
        tuples and sizes), and the most memory of the processes that this one started, in MB.
    """
    plan = Plan.from_content(content(census_trees(NAMES), "nllm", k))
    started = time.perf_counter()
    people = _opened(engine, Path(folder, ENGINES[engine]))
    opened = time.perf_counter()
    run_result = run(plan, people)
    merged = time.perf_counter()
    run_result.write(Address(out))
    wrote = time.perf_counter()
    classes = run_result.prepared.classes
    return {
        "open": opened - started,
        "count": merged - opened - run_result.seconds,
        "merge": run_result.seconds,
        "write": wrote - merged,
        "records": classes.n_records,
        "classes": classes.n_classes,
        "original": _digest(classes.nodes.tobytes(), classes.counts.tobytes()),
        "recoding": _digest(
            run_result.recoding.assigned.tobytes(), run_result.recoding.nodes.tobytes()
        ),
        "min_k": int(run_result.recoding.counts.min()),
        "children": children_megabytes(),
    }


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def children_megabytes(proc: Path = Path("/proc")) -> float | None:
    """The most memory of each process that this one started and that still runs, added up, in MB.

    Spark's work is done by a Java machine, a process of its own. None where there is no ``/proc``.

    Parameters
    ----------
    proc
        Where the system keeps what it knows of its processes.
    """
    if not (proc / "self").exists():
        return None
    results: dict[int, tuple[int, float]] = {}
    for status in proc.glob("[0-9]*/status"):
        try:
            lines = status.read_text("utf-8", errors="replace").splitlines()
        except OSError:  # it ended meanwhile
            continue
        said = dict(line.split(":", 1) for line in lines if ":" in line)
        most = said.get("VmHWM", "0 kB").split()[0]  # one that ended has none
        results[int(status.parent.name)] = int(said["PPid"]), int(most) * 1024 / 1e6
    family, grown = {os.getpid()}, True
    while grown:
        more = {process for process, (parent, _) in results.items() if parent in family} - family
        grown = bool(more)
        family |= more
    return sum(most for process, (_, most) in results.items() if process in family - {os.getpid()})


def class_sizes(out: str, columns: Sequence[str] = NAMES) -> dict[str, Any]:
    """What a release holds, by a group-by of pandas that knows nothing of kanon."""
    sizes = pd.read_parquet(out).groupby([*columns], dropna=False).size()
    return {
        "records": int(sizes.sum()),
        "classes": len(sizes),
        "min_k": int(sizes.min()),
        "rows": _digest(sizes.to_csv().encode()),
    }


def disagreement(found: Mapping[str, Mapping[str, Any]]) -> str:
    """What two engines differ in, in a sentence; empty if they agree.

    Parameters
    ----------
    found
        Per engine what :func:`released` and :func:`class_sizes` found.

    >>> disagreement({"a": {"min_k": 10, "rows": "x"}, "b": {"min_k": 11, "rows": "x"}})
    'a and b differ in min_k.'
    """
    (first, its), *others = found.items()
    for other, theirs in others:
        for what in ("records", "classes", "original", "recoding", "min_k", "rows"):
            if its.get(what) != theirs.get(what):
                return f"{first} and {other} differ in {what}."
    return ""


@dataclass(frozen=True)
class _Measured:
    """What several processes of one engine took on one table: the best seconds, the most memory."""

    steps: Mapping[str, float]
    peak: float
    children: float | None

    @property
    def engine(self) -> float:
        """The seconds that are the engine's: counting and writing."""
        return self.steps["count"] + self.steps["write"]


def _measure(
    records: int, engines: Sequence[str], repetitions: int
) -> tuple[dict[str, _Measured], dict[str, Any]]:
    """Every engine on one table, in turn; and what all of them found."""
    print(f"  {thousands(records)} records", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        in_fresh_process(__name__, "write_census", folder, records)
        return _in_turn(Path(folder), engines, repetitions)


def _in_turn(
    folder: Path, engines: Sequence[str], repetitions: int
) -> tuple[dict[str, _Measured], dict[str, Any]]:
    runs: dict[str, list[tuple[dict[str, Any], float]]] = {engine: [] for engine in engines}
    for repetition in range(repetitions):
        seen = {}
        for place, engine in enumerate(engines):
            out = folder / f"released-{place}-{repetition}"
            out = out if engine == "Spark" else out.with_suffix(".parquet")
            one, peak = in_fresh_process(__name__, "released", engine, str(folder), str(out))
            runs[engine].append((one, peak))
            checked = class_sizes(str(out))
            assert checked["min_k"] == one["min_k"] >= K, f"{engine} wrote another release"
            seen[engine] = one | {"released": checked["classes"], "rows": checked["rows"]}
        differs = disagreement(seen)
        assert not differs, differs
    return {engine: _best(runs[engine]) for engine in engines}, seen[engines[0]]


def _best(runs: Sequence[tuple[Mapping[str, Any], float]]) -> _Measured:
    children = [one["children"] for one, _ in runs if one["children"] is not None]
    return _Measured(
        {step: min(one[step] for one, _ in runs) for step in STEPS},
        max(peak for _, peak in runs),
        max(children, default=None),
    )


def _row(records: int, engine: str, its: _Measured, first: _Measured) -> list[str]:
    def beside(one: float, other: float) -> str:
        return f"{seconds(one)} ({times(one / other)})"

    of_children = "?" if its.children is None else thousands(its.children) if its.children else ""
    both = its.peak + (its.children or 0.0)
    return [
        engine,
        thousands(records),
        seconds(its.steps["open"]),
        beside(its.steps["count"], first.steps["count"]),
        seconds(its.steps["merge"]),
        beside(its.steps["write"], first.steps["write"]),
        beside(its.engine, first.engine),
        f"{thousands(both)} ({times(both / (first.peak + (first.children or 0.0)))})",
        of_children,
    ]


def _run() -> str:
    engines = engines_here()
    results: dict[int, dict[str, _Measured]] = {}
    sizes = []
    _measure(FEW, engines, 1)  # compiles the kernels and fills the system's file cache
    for records in SIZES:
        results[records], agreed = _measure(records, engines, REPETITIONS)
        sizes.append(
            f"{thousands(records)} records are {thousands(agreed['classes'])} classes, released as "
            f"{thousands(agreed['released'])}, the smallest of {agreed['min_k']}"
        )
    rows = [
        _row(records, engine, its, each[_FIRST])
        for records, each in results.items()
        for engine, its in each.items()
    ]
    grown = []
    for engine in engines:
        each = [results[records][engine] for records in SIZES]
        taken = [[its.steps[step] for its in each] for step in ("count", "write")]
        powers = [exponent(SIZES, spent) for spent in (*taken, [its.engine for its in each])]
        grown.append([engine, *(f"{power:.2f}".replace("-", "−") for power in powers)])
    left_out = [
        f"**{name}** was not measured: pyspark is not installed (requirements-spark.txt)."
        for name in ENGINES
        if name not in engines
    ]
    master = os.environ.get("KANON_SPARK", "local[2]")
    return "\n\n".join(
        [
            f"Generated tables (benchmarks/tables.py, without the postcode), GAA at k = {K}, by "
            f"NLLM. {'; '.join(sizes)}. In every run all engines found the same classes with the "
            "same sizes, merged them alike and wrote the same rows, as a group-by of pandas over "
            "the written files says.",
            "*Open* is reading the Parquet file (in memory), connecting (DuckDB, SQLite), or "
            f"starting Spark's Java machine ({master}). *Count* is all from then until the merging "
            "begins: distinct values, classes, hierarchies, the plan's checks; an engine reads the "
            "file meanwhile, which in memory was done before. *Merge* is the same work for all. "
            "*Write* has the release in Parquet. *(×)* is against the run in memory of the same "
            f"table. Seconds are the best of {REPETITIONS}, each in a fresh process, the engines "
            "in turn; memory is the most of them, of the whole process and of those it started, "
            "which the last column holds apart: Spark's Java machine takes what its heap allows, "
            "not what it needs.",
            table(
                [
                    "engine", "records", "open, s", "count, s (×)", "merge, s", "write, s (×)",
                    "count and write, s (×)", "peak, MB (×)", "of it children, MB",
                ],
                rows,
            ),
            f"Seconds grow as the number of records, {thousands(SIZES[0])} to "
            f"{thousands(SIZES[-1])}, to the power of (least squares on logarithms; below 1 where "
            "what every run costs outweighs what a record costs)",
            table(["engine", "count", "write", "both"], grown),
            *left_out,
        ]
    )  # fmt: skip


CASE = Case(
    name="engines",
    about="the same plan in memory, by DuckDB, Spark and SQLite: seconds, memory, growth",
    classes=290_000,
    run=_run,
)
