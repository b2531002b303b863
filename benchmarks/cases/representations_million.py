"""Representations of a million records: seconds and memory, a fresh process for each."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import aim, seconds, table, thousands
from benchmarks.tables import COLUMNS, census_like
from kanon.algorithms import gaa
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.learning.representations import REPRESENTATIONS, represent
from kanon.metrics import exact_potentials, metric_named
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource

__all__ = ["CASE", "MOST_MEGABYTES", "measured", "release_to"]

RECORDS = 1_000_000
K = 5
MOST_MEGABYTES = 2000

_NAMES = tuple(name for name in COLUMNS if name != "postcode")
"""The postcode has 1,249 nodes; the other columns together 296."""


def release_to(folder: str, records: int) -> dict[str, int]:
    """Make a release of a generated table and keep its classes; run in a process of its own."""
    drawn = census_like(records)[[*_NAMES]]
    trees = {name: COLUMNS[name].tree for name in _NAMES}
    source = MemorySource(drawn, Schema(dict.fromkeys(trees, Role.QUASI_IDENTIFIER)), trees)
    classes = source.classes
    depths = scale_potentials(
        exact_potentials(metric_named("nllm"), classes.hierarchies), classes.n_records
    )
    recoding = gaa.anonymise(Task(classes, depths, K))
    np.savez(
        Path(folder, "release.npz"),
        original=classes.nodes, sizes=classes.counts, nodes=recoding.nodes, counts=recoding.counts,
        assigned=recoding.assigned, of_record=source.get_released_positions(recoding),
    )  # fmt: skip
    return {"classes": classes.n_classes, "released": recoding.n_classes}


def measured(folder: str, name: str) -> dict[str, Any]:
    """Represent the release and go through all its records; run in a process of its own."""
    kept = np.load(Path(folder, "release.npz"))
    trees = tuple(COLUMNS[name].tree for name in _NAMES)
    classes = EquivalenceClasses(_NAMES, trees, kept["original"], kept["sizes"])
    recoding = Recoding(classes, kept["nodes"], kept["counts"], kept["assigned"])
    of_record = kept["of_record"]
    started = time.perf_counter()
    matrix = represent(name, recoding)
    made = time.perf_counter() - started
    started = time.perf_counter()
    total = sum(float(rows.sum(dtype=float)) for rows in matrix.batches(of_record))
    return {
        "columns": len(matrix.columns),
        "filled": int(matrix.rows.nnz),
        "made": made,
        "batches": time.perf_counter() - started,
        "total": total,
    }


def _run() -> str:
    rows, peaks = [], []
    with tempfile.TemporaryDirectory() as folder:
        sizes, _ = in_fresh_process(__name__, "release_to", folder, RECORDS)
        for name, card in REPRESENTATIONS.items():
            found, peak = in_fresh_process(__name__, "measured", folder, name)
            peaks.append(peak)
            rows.append(
                [
                    card.title,
                    thousands(found["columns"]),
                    thousands(found["filled"]),
                    seconds(found["made"]),
                    seconds(found["batches"]),
                    thousands(peak),
                ]
            )
    header = ["representation", "columns", "filled cells", "made, s", "all records, s", "peak, MB"]
    return "\n\n".join(
        [
            f"{thousands(RECORDS)} generated records (benchmarks/tables.py, without the postcode), "
            f"{thousands(sizes['classes'])} classes, released by GAA at k = {K} as "
            f"{thousands(sizes['released'])}. The matrix is *made* with one row per class; *all "
            "records* are then written out as dense float32, batch by batch. Each representation "
            "in a process of its own; the peak is that of the whole process.",
            table(header, rows),
            aim(
                f"below {thousands(MOST_MEGABYTES)} MB",
                f"{thousands(max(peaks))} MB",
                max(peaks) < MOST_MEGABYTES,
            ),
        ]
    )


CASE = Case(
    name="representations-million",
    about="the four representations of a million records: seconds, peak memory",
    classes=300_000,
    run=_run,
)
