"""The strategies on Adult with a real sensitive attribute, against S1."""

from __future__ import annotations

from benchmarks.against_s1 import Against, against_s1, report
from benchmarks.case import Case
from benchmarks.markdown import thousands
from benchmarks.plans import adult_path, adult_with_sensitive
from kanon.sources.opening import open_table

__all__ = ["CASE"]

COLUMNS = ("marital-status", "occupation", "age")
METRICS = ("nllm", "total")
K = 15_000


def _run() -> str:
    adult = open_table(adult_path()).table
    tables = {}
    for column in COLUMNS:
        results: list[Against] = []
        for metric in METRICS:
            prepared = adult_with_sensitive(adult, column, metric, K)
            results.append(against_s1(f"{column}, {metric}", prepared.task()))
        tables[column] = prepared.classes.n_classes, results
    return (
        "One column is sensitive, all eight others are quasi-identifiers; merged to k = "
        f"{thousands(K)}. Best seconds of five, all in turn in one process, and how many times the "
        "best of S1 that is. That the merges are those of a full scan is held by "
        "tests/algorithms/test_strategies_adult.py, not here: a full scan takes up to half a "
        "minute.\n\n"
        f"{report(tables)}"
    )


CASE = Case(
    name="adult-strategies",
    about="every strategy at both scopes on Adult, three sensitive columns: against S1",
    classes=16_290,
    run=_run,
    needs_adult=True,
)
