"""GAA for all k on the samples that come with kanon: the prefix tree against the plain scan."""

from __future__ import annotations

from benchmarks.against_scan import HEADER, against_scan
from benchmarks.case import Case
from benchmarks.fresh import ROOT
from benchmarks.markdown import table, thousands
from benchmarks.plans import full_task
from kanon.sources.opening import open_table

__all__ = ["CASE"]

SAMPLES = {
    "census": "age sex region education marital-status occupation",
    "census with household-size": "age sex region education marital-status occupation "
    "household-size",
    "voters": "zip gender race birth-year",
}
"""Per line of the report the quasi-identifiers; the first word names the sample."""


def _run() -> str:
    rows = []
    for line, columns in SAMPLES.items():
        name = line.split()[0]
        sample = open_table(ROOT / "sample_data" / f"{name}.csv").table
        folder = ROOT / "hierarchies" / name
        trees = {column: str(folder / f"{column}.csv") for column in columns.split()}
        for metric in ("nllm", "total", "distortion"):
            task = full_task(sample, trees, metric)
            found = against_scan(task, repetitions=3)
            rows.append([line, metric, thousands(task.classes.n_classes), *found.cells])
    return "\n\n".join(
        [
            "The two larger samples, 30,000 records each, with the hierarchies that come with "
            "them, merged until one class is left. Both took identical merges.",
            table(["sample", "metric", "classes", *HEADER], rows),
        ]
    )


CASE = Case(
    name="census-gaa",
    about="GAA for all k on the samples census and voters: prefix tree against plain scan",
    classes=27_571,
    run=_run,
)
