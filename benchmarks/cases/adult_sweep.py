"""The command ``sweep`` on Adult, from start to exit, against seven plain scans."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.case import Case, CaseError
from benchmarks.fresh import ROOT
from benchmarks.markdown import spread, table
from benchmarks.plans import adult_content, adult_path, adult_task
from benchmarks.reference import scan
from benchmarks.timing import alternately
from kanon.experiments.comparison import PAPER_K as KS
from kanon.measures.summary import measure_release
from kanon.metrics import PUBLISHED, metric_named
from kanon.recoding import MergePath

__all__ = ["CASE"]

REPETITIONS = 3


def _run() -> str:
    tasks = {metric: adult_task(metric) for metric in PUBLISHED}
    with tempfile.TemporaryDirectory() as folder:
        plan, curves = Path(folder, "plan.json"), Path(folder, "curves.csv")
        plan.write_text(json.dumps(adult_content("nllm", 5)), "utf-8")
        command = [sys.executable, "-m", "kanon", "sweep", str(plan), "--table", str(adult_path())]
        command += ["--k", ",".join(map(str, KS)), "--metrics", "all", "--strategies", "s1"]
        command += ["--out", str(curves)]

        def swept() -> None:
            process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            if process.returncode:
                last = (process.stderr.strip().splitlines() or ["no message"])[-1]
                raise CaseError(f"`python -m kanon sweep` ended with {process.returncode}: {last}")

        (process, scans), (_, paths) = alternately(
            swept,
            lambda: {metric: scan(task) for metric, task in tasks.items()},
            repetitions=REPETITIONS,
        )
        _check(pd.read_csv(curves), paths)
    return "\n\n".join(
        [
            f"Seven metrics and {len(KS)} k from {KS[0]} to {KS[-1]}: start of Python, reading, "
            "grouping, seven runs, all measures and writing CURVES.csv, against the plain scans "
            "alone, which merge until one class is left. The numbers of all "
            f"{len(KS) * len(PUBLISHED)} rows equal the measures of the plain scans' releases.",
            table(
                ["what", "seconds"],
                [
                    ["`python -m kanon sweep`, whole process", spread(process)],
                    ["seven plain scans, added up", spread(scans)],
                    ["ratio, best against best", f"{scans.best / process.best:.1f}"],
                    ["ratio of medians", f"{scans.median / process.median:.1f}"],
                ],
            ),
        ]
    )


def _check(curves: pd.DataFrame, paths: dict[str, MergePath]) -> None:
    """Check every number of the sweep against the measures of the plain scan's releases."""
    metrics = [metric_named(name) for name in PUBLISHED]
    if curves[["metric", "k"]].to_numpy().tolist() != [[m, k] for m in PUBLISHED for k in KS]:
        raise CaseError("CURVES.csv does not have one row per metric and k, in their order.")
    for row in curves.to_dict("records"):
        found = measure_release(paths[row["metric"]].at(row["k"]), metrics)
        expected = {f"alteration_{name}": value for name, value in found["alteration"].items()}
        expected |= {name: found[name] for name in row if name in found}
        for name, value in expected.items():
            if not np.isclose(row[name], value, rtol=1e-6, atol=1e-6):
                raise CaseError(f"CURVES.csv has {name} {row[name]} instead of {value}.")


CASE = Case(
    name="adult-sweep",
    about="`python -m kanon sweep` on Adult, the whole process, against seven plain scans",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
