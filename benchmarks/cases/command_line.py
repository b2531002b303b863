"""Commands on Adult, from start to exit, against a process that imports pandas and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.case import Case, CaseError
from benchmarks.fresh import ROOT
from benchmarks.markdown import spread, table, times
from benchmarks.plans import adult_content, adult_path
from benchmarks.timing import alternately
from kanon.experiments.comparison import PAPER_K as KS

__all__ = ["CASE"]

REPETITIONS = 5


def _process(*arguments: str) -> Callable[[], None]:
    """What starts Python and waits for its end; the first time it keeps what Python compiles."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

    def called() -> None:
        command = [sys.executable, *arguments]
        process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if process.returncode:
            last = (process.stderr.strip().splitlines() or ["no message"])[-1]
            raise CaseError(f"`{' '.join(arguments)}` ended with {process.returncode}: {last}")

    return called


def _run() -> str:
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan.json")
        plan.write_text(json.dumps(adult_content("nllm", 5)), "utf-8")
        given = (str(plan), "--table", str(adult_path()), "--out", str(Path(folder, "out.csv")))
        ks = ",".join(map(str, KS))
        calls = {
            "`--help`": ["--help"],
            "`run --help`": ["run", "--help"],
            "`run`, k = 5": ["run", *given],
            f"`sweep`, seven metrics and {len(KS)} k": ["sweep", *given, "--k", ks],
        }
        works = [_process("-m", "kanon", *call) for call in calls.values()]
        (pandas, *found), _ = alternately(
            _process("-c", "import pandas"), *works, repetitions=REPETITIONS
        )
    rows = [
        [name, spread(timed), times(timed.best / pandas.best)]
        for name, timed in zip(calls, found, strict=True)
    ]
    head = ["whole process of `python -m kanon`", "seconds", "times `import pandas`"]
    return table(head, [["`import pandas` instead", spread(pandas), "1.0"], *rows])


CASE = Case(
    name="command-line",
    about="commands on Adult, whole processes, against one that imports pandas alone",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
