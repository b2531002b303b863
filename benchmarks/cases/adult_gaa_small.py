"""The variant gaa-small on Adult: the prefix tree against the plain scan."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.against_scan import HEADER, against_scan
from benchmarks.case import Case
from benchmarks.markdown import table, thousands
from benchmarks.plans import adult_task

__all__ = ["CASE"]


def _run() -> str:
    rows = []
    for metric in ("nllm", "total"):
        task = adult_task(metric)
        for k in (10, 100):
            found = against_scan(replace(task, k=k), first_below_k=True)
            rows.append([metric, str(k), thousands(found.merges), *found.cells])
    return "\n\n".join(
        [
            "The variant merges only classes below k, so each k is a run of its own. Both took "
            "identical merges.",
            table(["metric", "k", "merges", *HEADER], rows),
        ]
    )


CASE = Case(
    name="adult-gaa-small",
    about="gaa-small on Adult at k = 10 and 100, two metrics: prefix tree against plain scan",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
