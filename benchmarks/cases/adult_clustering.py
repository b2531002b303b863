"""The clustering algorithms on Adult: k-member, KACA and OKA against GAA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from benchmarks.case import Case
from benchmarks.markdown import aim, seconds, spread, table, thousands
from benchmarks.plans import adult_task
from benchmarks.timing import Timed, alternately
from kanon.algorithms import gaa, k_member, kaca, oka
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.recoding import Recoding

__all__ = ["CASE"]

KS = (2, 5, 10, 100)
ALGORITHMS = (gaa, k_member, kaca, oka)
MEASURED = ("nllm", "ncp")
LONGEST = 60.0


def _rows(k: int, timed: Sequence[Timed], found: Sequence[Recoding]) -> list[list[str]]:
    """A row per algorithm; the first is the one that all are held against."""
    return [
        [
            module.CARD.name,
            str(k),
            thousands(recoding.n_classes),
            *(f"{alteration.value(recoding, metric_named(name)):.2f}" for name in MEASURED),
            spread(times),
            f"{times.best / timed[0].best:.1f}",
        ]
        for module, times, recoding in zip(ALGORITHMS, timed, found, strict=True)
    ]


def _run() -> str:
    task = adult_task("nllm")
    rows: list[list[str]] = []
    worst = 0.0
    for k in KS:
        works = [partial(module.anonymise, replace(task, k=k)) for module in ALGORITHMS]
        timed, found = alternately(*works, repetitions=3)
        assert all((recoding.min_k or 0) >= k for recoding in found)
        worst = max(worst, *(times.worst for times in timed))
        rows += _rows(k, timed, found)
    return "\n\n".join(
        [
            f"{thousands(task.classes.n_records)} records, {thousands(task.classes.n_classes)} "
            "classes, nine quasi-identifiers, NLLM guides, seed 0. Alteration in percent by NLLM "
            "and NCP; seconds best / median / worst of three; the ratio is of the best to GAA's.",
            table(
                ["algorithm", "k", "classes", "NLLM", "NCP", "seconds", "ratio to GAA"],
                rows,
            ),
            aim(
                f"no run longer than {seconds(LONGEST)} s",
                f"{seconds(worst)} s",
                worst <= LONGEST,
            ),
        ]
    )


CASE = Case(
    name="adult-clustering",
    about="k-member, KACA and OKA on Adult at k = 2, 5, 10, 100: seconds and loss against GAA",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
