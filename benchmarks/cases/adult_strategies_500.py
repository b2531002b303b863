"""The strategies on Adult with a generated sensitive attribute of 500 values, against S1."""

from __future__ import annotations

from benchmarks.against_s1 import Against, against_s1, report
from benchmarks.case import Case
from benchmarks.markdown import thousands
from benchmarks.plans import adult_path, adult_with_sensitive
from kanon.experiments.simulated.columns import Column, Distribution, draw_values, list_value_names
from kanon.sources.opening import open_table

__all__ = ["CASE"]

VALUES = 500
DISTRIBUTIONS: tuple[Distribution, ...] = ("equivalent", "geometric")
METRICS = ("nllm", "total")
K = 15_000


def _run() -> str:
    adult = open_table(adult_path()).table
    tables = {}
    for distribution in DISTRIBUTIONS:
        column = Column(distribution, VALUES)
        names = list_value_names(column)
        cells = [names[place] for place in draw_values(len(adult), column, seed=1)]
        table = adult.assign(drawn=cells)
        results: list[Against] = []
        for metric in METRICS:
            prepared = adult_with_sensitive(table, "drawn", metric, K)
            task = prepared.task()
            results.append(against_s1(f"{distribution}, {metric}", task, repetitions=3))
        tables[distribution] = prepared.classes.n_classes, results
    return (
        "All nine columns are quasi-identifiers; the sensitive one is drawn with seed 1, "
        "equivalent or geometric (the last value is about a hundred times rarer than the first); "
        f"merged to k = {thousands(K)}. Best seconds of three, all in turn in one process, and how "
        f"many times the best of S1 that is.\n\n{report(tables)}"
    )


CASE = Case(
    name="adult-strategies-500",
    about="every strategy at both scopes on Adult, 500 generated sensitive values: against S1",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
