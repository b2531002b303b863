"""GAA in parts against GAA on the whole: what it loses, how fast it is, what memory it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.case import Case
from benchmarks.cases.census_gaa import SAMPLES
from benchmarks.cases.growth import trees
from benchmarks.fresh import ROOT, in_fresh_process, peak_megabytes
from benchmarks.markdown import aim, seconds, spread, table, thousands
from benchmarks.plans import adult_task, content, full_task
from benchmarks.tables import census_like
from benchmarks.timing import Timed
from kanon.algorithms import gaa
from kanon.algorithms.task import Task
from kanon.base.parallel import count_cores
from kanon.measures.alteration import value
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.recoding import MergePath
from kanon.run import run
from kanon.sources.opening import open_table
from kanon.warm import load_kernels

__all__ = ["CASE", "largest"]

PARTS = ("2", "4", "8", "16")
KS = (10, 100)
LOST, GENERATED = 1.03, 120_000
MILLION, FASTER, REPETITIONS = 1_500_000, 1.6, 2
LARGE, MOST_MEGABYTES = 10_000_000, 6_000
PULL = 0.6
"""With so much of the pull left, 1.5 million records have a million classes, and ten have six."""


def _in(parts: str, task: Task) -> MergePath:
    return gaa.merge_path(replace(task, options={"parts": parts}))


def _census(metric: str) -> Task:
    columns = SAMPLES["census with household-size"].split()
    folder = ROOT / "hierarchies" / "census"
    named = {column: str(folder / f"{column}.csv") for column in columns}
    return full_task(open_table(ROOT / "sample_data" / "census.csv").table, named, metric)


def _losses() -> str:
    drawn = census_like(GENERATED)
    tables: Mapping[str, Callable[[str], Task]] = {
        "Adult": adult_task,
        "census": _census,
        "generated": lambda metric: full_task(drawn, trees(), metric),
    }
    rows, most = [], 0.0
    for name, task_of in tables.items():
        for metric in PUBLISHED:
            task, counted = replace(task_of(metric), k=max(KS)), metric_named(metric)
            whole = _in("1", task)
            cells = []
            for k in KS:
                least = value(whole.at(k), counted)
                ratios = [value(_in(parts, task).at(k), counted) / least for parts in PARTS]
                cells += [f"{least:.2f}", *(f"{ratio:.3f}" for ratio in ratios)]
                most = max(most, *ratios)
            rows.append([name, metric, *cells])
    header = ["table", "metric"]
    for k in KS:
        header += [f"k = {k}, whole, %", *(f"{parts} parts" for parts in PARTS)]
    return "\n\n".join(
        [
            "Alteration of the whole run in percent, and how many times that is what the run in "
            f"parts has; the generated table has {thousands(GENERATED)} records.",
            table(header, rows),
            aim(f"at most {LOST}", f"at most {most:.3f}", most <= LOST),
        ]
    )


def _speed() -> str:
    task = full_task(census_like(MILLION, pull=PULL), trees(), "nllm")
    results: dict[str, list[float]] = {parts: [] for parts in ("1", *PARTS)}
    told: dict[str, float | None] = {}
    lost: dict[str, float] = {}
    for _ in range(REPETITIONS):
        for parts, spent in results.items():
            started = time.perf_counter()
            path = _in(parts, task)
            spent.append(time.perf_counter() - started)
            if parts not in lost:
                release = path.at(KS[0])
                told[parts] = release.trace.loss_ratio
                lost[parts] = value(release, metric_named("nllm"))
                del release
            del path
    timed = {parts: Timed(tuple(spent)) for parts, spent in results.items()}
    faster = {parts: timed["1"].best / each.best for parts, each in timed.items()}
    rows = [
        [
            parts,
            spread(each),
            f"{faster[parts]:.2f}",
            f"{timed['1'].median / each.median:.2f}",
            f"{lost[parts] / lost['1']:.3f}",
            "" if told[parts] is None else f"{told[parts]:.3f}",
        ]
        for parts, each in timed.items()
    ]
    best = max(faster.values())
    return "\n\n".join(
        [
            f"{thousands(task.classes.n_classes)} classes of a generated table, merged for all k "
            f"with nllm on {count_cores()} cores, all in turn in one process; cut and sample "
            f"included. *Loss*: how many times that of the whole run it is at k = {KS[0]}, and on "
            "the sample, as the run tells it.",
            table(
                ["parts", "seconds", "times faster", "of medians", "loss", "on the sample"], rows
            ),
            aim(f"{FASTER} times faster", f"{best:.2f} times", best >= FASTER),
        ]
    )


def largest(records: int) -> dict[str, Any]:
    """Run a plan on a generated table; in a process of its own."""
    load_kernels(["gaa"])
    drawn = census_like(records, pull=PULL)
    held = peak_megabytes()
    run_result = run(Plan.from_content(content(trees(), "nllm", KS[0])), drawn)
    return {
        "classes": run_result.prepared.classes.n_classes,
        "held": held,
        "seconds": run_result.seconds,
        "min_k": run_result.recoding.min_k,
        "parts": run_result.recoding.trace.parts,
        "ratio": run_result.recoding.trace.loss_ratio,
    }


def _memory() -> str:
    found, peak = in_fresh_process(__name__, "largest", LARGE)
    assert found["min_k"] >= KS[0]
    row = [
        thousands(LARGE), thousands(found["classes"]), str(found["parts"]),
        seconds(found["seconds"]), f"{found['ratio']:.3f}", thousands(found["held"]),
        thousands(peak),
    ]  # fmt: skip
    header = [
        "records",
        "classes",
        "parts",
        "seconds",
        "on the sample",
        "MB with the table",
        "MB at most",
    ]
    return "\n\n".join(
        [
            f"A plan with `parts` left open, k = {KS[0]}, in a process of its own. *MB before* "
            "is with the table in memory.",
            table(header, [row]),
            aim(
                f"below {thousands(MOST_MEGABYTES)} MB",
                f"{thousands(peak)} MB",
                peak < MOST_MEGABYTES,
            ),
        ]
    )


def _run() -> str:
    return "\n\n".join([_losses(), _speed(), _memory()])


CASE = Case(
    name="gaa-parts",
    about="GAA in 2 to 16 parts against the whole: loss, speed with a million classes, memory",
    classes=6_000_000,
    run=_run,
    needs_adult=True,
)
