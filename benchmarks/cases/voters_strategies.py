"""The strategies on a table of many small classes with few sensitive values, against S1."""

from __future__ import annotations

from benchmarks.against_s1 import against_s1, report
from benchmarks.case import Case
from benchmarks.markdown import thousands
from benchmarks.plans import voters

__all__ = ["CASE"]

METRIC = "nllm"
K = 15_000


def _run() -> str:
    task = voters(METRIC).task()
    found = against_s1(METRIC, task, K)
    return (
        "The sample of voters: the party is sensitive, all other columns are quasi-identifiers; "
        f"merged to k = {thousands(K)}. Best seconds of five, all in turn in one process, and how "
        "many times the best of S1 that is.\n\n"
        f"{report({'party': (task.classes.n_classes, [found])})}"
    )


CASE = Case(
    name="voters-strategies",
    about="every strategy at both scopes on voters, many small classes: against S1",
    classes=27_571,
    run=_run,
)
