"""GAA for all k on Adult: the prefix tree against the plain scan."""

from __future__ import annotations

import numpy as np

from benchmarks.against_scan import HEADER, against_scan
from benchmarks.case import Case
from benchmarks.markdown import aim, table, thousands
from benchmarks.plans import adult_task
from kanon.metrics import PUBLISHED

__all__ = ["CASE"]


def _run() -> str:
    tasks = {metric: adult_task(metric) for metric in PUBLISHED}
    results = {metric: against_scan(task) for metric, task in tasks.items()}
    ratios = [each.ratio for each in results.values()]
    mean, least = float(np.mean(ratios)), min(ratios)
    classes = tasks[PUBLISHED[0]].classes
    return "\n\n".join(
        [
            f"{thousands(classes.n_records)} records, {thousands(classes.n_classes)} classes, nine "
            "quasi-identifiers, merged until one class is left. Both took identical merges.",
            table(
                ["metric", "merges", *HEADER],
                [[name, thousands(each.merges), *each.cells] for name, each in results.items()],
            ),
            aim(
                "mean ratio at least 10, each at least 3",
                f"mean {mean:.1f}, least {least:.1f}",
                mean >= 10 and least >= 3,
            ),
        ]
    )


CASE = Case(
    name="adult-gaa",
    about="GAA for all k on Adult, each of the seven metrics: prefix tree against plain scan",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
