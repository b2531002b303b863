"""How time and memory grow with the classes: generated tables of up to a million records."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.against_scan import HEADER, Against, against_scan
from benchmarks.case import Case
from benchmarks.fresh import in_fresh_process, peak_megabytes
from benchmarks.markdown import aim, seconds, spread, table, thousands
from benchmarks.plans import content, full_task
from benchmarks.tables import COLUMNS, census_like
from benchmarks.timing import Timed, exponent
from kanon.algorithms import gaa
from kanon.hierarchy.files import to_nodes
from kanon.measures.along import measure_curves
from kanon.measures.summary import measure_release
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.opening import open_table
from kanon.warm import load_kernels

__all__ = ["CASE", "measured"]

RECORDS = (30_000, 60_000, 120_000, 250_000, 500_000, 1_000_000)
SCANNED = 2
"""On so many of the smallest tables the plain scan really runs."""
METRICS = ("nllm", "distortion")
REPETITIONS = 3
K = 5

FROM_ROWS = ("reading", "grouping")
FROM_CLASSES = ("merging", "curves", "release", "measures")


def trees() -> dict[str, Any]:
    """The hierarchies of the generated tables, as a plan holds them."""
    return {name: {"nodes": to_nodes(column.tree)} for name, column in COLUMNS.items()}


def measured(path: str, metric: str) -> dict[str, Any]:
    """Take every step on a table; run in a process of its own.

    Parameters
    ----------
    path
        The table, as Parquet.
    metric
        What guides the merging.

    Returns
    -------
    dict
        ``classes``; per step its seconds, and the most MB that the process held until its end.
    """
    load_kernels()  # what set-up has compiled is loaded
    results: dict[str, float] = {}
    peaks: dict[str, float] = {"start": peak_megabytes()}
    started = time.perf_counter()

    def took(step: str) -> None:
        nonlocal started
        results[step] = time.perf_counter() - started
        peaks[step] = peak_megabytes()
        started = time.perf_counter()

    file = open_table(Path(path))
    took("reading")
    prepared = prepare(Plan.from_content(content(trees(), metric, file.table.shape[0])), file.table)
    took("grouping")
    merged = gaa.merge_path(prepared.task())
    took("merging")
    metrics = [metric_named(name) for name in PUBLISHED]
    measure_curves(merged, metrics)
    took("curves")
    recoding = merged.at(K)
    released = prepared.source.release(recoding)
    took("release")
    measure_release(recoding, metrics)
    took("measures")
    assert len(released) == len(file.table)
    return {"classes": prepared.classes.n_classes, "seconds": results, "peaks": peaks}


@dataclass(frozen=True)
class _Size:
    """One table under one metric, measured several times."""

    records: int
    classes: int
    runs: Sequence[dict[str, Any]]
    peaks: Sequence[float]

    def timed(self, *steps: str) -> Timed:
        """The seconds of some steps together, one number per run."""
        return Timed(tuple(sum(run["seconds"][step] for step in steps) for run in self.runs))


def _run() -> str:
    results: dict[str, list[_Size]] = {metric: [] for metric in METRICS}
    scans: dict[str, list[Against]] = {metric: [] for metric in METRICS}
    with tempfile.TemporaryDirectory() as folder:
        for place, records in enumerate(RECORDS):
            path = Path(folder, "table.parquet")
            drawn = census_like(records)
            drawn.to_parquet(path, index=False)
            if place < SCANNED:
                for metric in METRICS:
                    task = full_task(drawn, trees(), metric)
                    scans[metric].append(against_scan(task, repetitions=2))
            del drawn
            for metric in METRICS:
                runs, peaks = zip(
                    *(in_fresh_process(__name__, "measured", str(path), metric)
                      for _ in range(REPETITIONS)),
                    strict=True,
                )  # fmt: skip
                results[metric].append(_Size(records, runs[0]["classes"], runs, peaks))
    return "\n\n".join(
        [
            "Generated tables with nine quasi-identifiers (benchmarks/tables.py). Every line is "
            f"{REPETITIONS} processes of their own, which read the table from Parquet. *Grouping* "
            "makes classes of rows; the *whole* is from the classes on: merging for all k, the "
            f"curves of all k in seven metrics, the released table at k = {K}, and its measures. "
            "Of each step the best seconds; of the whole best / median / worst.",
            *(_steps(metric, sizes) for metric, sizes in results.items()),
            _exponents(results),
            *(_against(metric, results[metric], scans[metric]) for metric in METRICS),
            _memory(results),
        ]
    )


def _steps(metric: str, sizes: Sequence[_Size]) -> str:
    rows = [
        [
            thousands(size.records),
            thousands(size.classes),
            *(seconds(size.timed(step).best) for step in (*FROM_ROWS, *FROM_CLASSES)),
            spread(size.timed(*FROM_CLASSES)),
        ]
        for size in sizes
    ]
    header = ["records", "classes", *FROM_ROWS, *FROM_CLASSES, "whole"]
    return f"**{metric}**\n\n{table(header, rows)}"


def _exponents(found: dict[str, list[_Size]]) -> str:
    rows, whole = [], []
    for metric, sizes in found.items():
        classes = [size.classes for size in sizes]
        for what, steps in (("whole", FROM_CLASSES), ("merging alone", ("merging",))):
            timed = [size.timed(*steps) for size in sizes]
            best = exponent(classes, [each.best for each in timed])
            median = exponent(classes, [each.median for each in timed])
            rows.append([f"{metric}, {what}", f"{best:.2f}", f"{median:.2f}"])
            whole += [best, median] if what == "whole" else []
    return "\n\n".join(
        [
            "Seconds grow as the number of classes to the power of (least squares on logarithms)",
            table(["what", "of the best", "of the medians"], rows),
            aim("whole below 1.6", f"at most {max(whole):.2f}", max(whole) < 1.6),
        ]
    )


def _against(metric: str, sizes: Sequence[_Size], scans: Sequence[Against]) -> str:
    rows = []
    first = scans[0].scan.best
    for place, size in enumerate(sizes):
        if place < len(scans):
            rows.append([thousands(size.classes), *scans[place].cells])
            continue
        scan = first * (size.classes / sizes[0].classes) ** 2
        merging = size.timed("merging")
        ratio = f"({scan / merging.best:.0f})"
        rows.append([thousands(size.classes), spread(merging), f"({seconds(scan)})", ratio, ""])
    guess = first * (sizes[1].classes / sizes[0].classes) ** 2
    return "\n\n".join(
        [
            f"**{metric}**, merging alone against the plain scan. In brackets: *extrapolated* from "
            "the smallest table, as if the scan were quadratic (for the second table that would "
            f"be {seconds(guess)} s).",
            table(["classes", *HEADER], rows),
        ]
    )


def _memory(found: dict[str, list[_Size]]) -> str:
    rows = []
    steps = ("start", *FROM_ROWS, *FROM_CLASSES)
    for metric, sizes in found.items():
        worst = max(sizes[-1].runs, key=lambda run: run["peaks"]["measures"])
        rows.append([metric, *(thousands(worst["peaks"][step]) for step in steps)])
    most = max(peak for sizes in found.values() for peak in sizes[-1].peaks)
    return "\n\n".join(
        [
            f"Most memory that the process held until the end of each step, in MB, with "
            f"{thousands(RECORDS[-1])} records (the run that took most):",
            table(["metric", *steps], rows),
            aim("below 1,000 MB", f"{thousands(most)} MB", most < 1000),
        ]
    )


CASE = Case(
    name="growth",
    about="generated tables from 30,000 to 1,000,000 records: exponent of time, peak memory",
    classes=312_363,
    run=_run,
)
