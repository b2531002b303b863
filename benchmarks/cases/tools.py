"""Tools that people would pick instead: ANJANA makes a table k-anonymous, pyCANON measures one.

Neither is a dependency of kanon. Each is run by a Python of its own, which a variable names; a tool
whose variable is not set is not measured, and the report says so::

    python3 -m venv /tmp/anjana && /tmp/anjana/bin/pip install anjana
    export KANON_BENCH_ANJANA=/tmp/anjana/bin/python

    python3 -m venv /tmp/pycanon && /tmp/pycanon/bin/pip install pycanon
    export KANON_BENCH_PYCANON=/tmp/pycanon/bin/python

(ANJANA brings pyCANON: one Python may serve both.) The Adult table has to have its hierarchy files
beside it. ARX (Java) and sdcMicro (R) are not run by this case.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.case import Case, CaseError
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import spread, table, thousands, times
from benchmarks.plans import adult_path, adult_with_sensitive, beside_adult, content
from benchmarks.timing import Timed
from kanon.algorithms.catalogue import algorithm_named, short_title
from kanon.cli.main import main
from kanon.measures.privacy import privacy_summary
from kanon.measures.summary import measure_release
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import prepare, run
from kanon.sources.memory import MemorySource, MemoryTable
from kanon.sources.opening import open_table

__all__ = [
    "CASE",
    "TOOLS",
    "anonymised",
    "commanded",
    "losses",
    "measured",
    "program",
    "recoding_of",
]

K = 5
PERCENT = 5.0
CALLS, PROCESSES = 3, 3
SENSITIVE = "salary-class"
OURS = ("datafly", "optimal", "flash", "samarati")
"""The full-domain searches; ANJANA's is Datafly's, the others look for the least loss or level."""

TOOLS: Mapping[str, str] = {"ANJANA": "KANON_BENCH_ANJANA", "pyCANON": "KANON_BENCH_PYCANON"}
"""The variables that name a Python, by the tools that it has to have."""


def program(tool: str) -> str | None:
    """The Python that has a tool; None if its variable is not set.

    Raises
    ------
    CaseError
        The variable names no Python that has the tool.
    """
    given = os.environ.get(TOOLS[tool], "").strip()
    if not given:
        return None
    try:
        asked = subprocess.run(
            [given, "-c", f"import {tool.lower()}"], capture_output=True, check=False
        )
    except OSError:
        raise CaseError(f"{TOOLS[tool]} names {given!r}, which cannot be run.") from None
    if asked.returncode:
        raise CaseError(f"{TOOLS[tool]} names {given!r}, which cannot import {tool.lower()}.")
    return given


def _plan(algorithm: str, trees: Mapping[str, str], k: int, percent: float) -> dict[str, Any]:
    """A plan for full-domain recoding; what guides where the algorithm takes a metric is NCP."""
    planned = content(trees, "ncp", k)
    guided = {"metric": "ncp"} if "metric" in algorithm_named(algorithm).CARD.uses else {}
    return planned | {
        "algorithm": {"name": algorithm, **guided},
        "suppression_limit": percent / 100,
    }


def anonymised(path: str, plan: dict[str, Any], calls: int) -> dict[str, Any]:
    """Run a plan on a table in memory; in a fresh process.

    Returns
    -------
    dict
        The processor's seconds of every call, from the table in memory and the hierarchy files to
        the release in memory.
    """
    given = open_table(Path(path)).table
    parsed = Plan.from_content(plan)
    spent = []
    for _ in range(calls):
        started = time.process_time()
        run(parsed, given).released()
        spent.append(time.process_time() - started)
    return {"seconds": spent}


def measured(path: str, columns: Sequence[str], sensitive: str, calls: int) -> dict[str, Any]:
    """Measure a table in memory; in a fresh process.

    Returns
    -------
    dict
        k, distinct l, t by equal distances, and the processor's seconds of every call.
    """
    given = MemoryTable(open_table(Path(path)).table)
    spent = []
    for _ in range(calls):
        started = time.process_time()
        classes = given.build_classes(columns, [sensitive])
        found = privacy_summary(classes)
        spent.append(time.process_time() - started)
    return {
        "k": classes.min_k, "l": found["distinct_l"], "t": found["t_emd_equal"], "seconds": spent,
    }  # fmt: skip


def commanded(*arguments: str) -> dict[str, Any]:
    """Run the command line; in a fresh process.

    Returns
    -------
    dict
        What it printed, and the processor's seconds since the process began.

    Raises
    ------
    RuntimeError
        It failed.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = main(list(arguments))
    if status:
        raise RuntimeError(f"python -m kanon ended with {status}")
    return {"printed": printed.getvalue(), "worked": time.process_time()}


def recoding_of(source: MemorySource, released: pd.DataFrame, record: Sequence[int]) -> Recoding:
    """The recoding that a full-domain release of some tool stands for.

    Parameters
    ----------
    source
        The original table with its hierarchies.
    released
        The release, in labels of the hierarchies; records that are not in it are suppressed.
    record
        Per row of the release its place in the original table.

    Raises
    ------
    ValueError
        A cell is no label of its hierarchy, or none that the original value is below; or two
        records of a class were not released alike.
    """
    classes = source.classes
    places = np.asarray(record)
    of_row = source.row_class[places]
    targets = classes.nodes.copy()
    for j, (column, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        nodes = released[column].map(tree.node_of)
        if nodes.isna().any():
            raise ValueError(f"{column}: {released[column][nodes.isna()].iloc[0]!r} is no label")
        shown = nodes.to_numpy(dtype=np.int64)
        below = classes.nodes[of_row, j]
        inside = (tree.first[shown] <= tree.first[below]) & (tree.last[below] <= tree.last[shown])
        if not inside.all():
            raise ValueError(f"{column}: a value was released as a node that it is not below")
        targets[of_row, j] = shown
        if (targets[of_row, j] != shown).any():
            raise ValueError(f"{column}: a class was released in two ways")
    kept = np.bincount(of_row, minlength=classes.n_classes)
    if len(np.unique(places)) < len(places) or ((kept > 0) & (kept < classes.counts)).any():
        raise ValueError("a class was released in part, or a record twice")
    return Recoding.from_targets(classes, targets, kept == 0)


def losses(recoding: Recoding, k: int) -> dict[str, Any]:
    """What kanon says of a release, whoever made it."""
    return measure_release(recoding, [metric_named("ncp"), metric_named("nllm")], k)


def _least(released: pd.DataFrame, columns: Sequence[str]) -> int:
    """The smallest class of a release, by a group-by of pandas."""
    return int(released.groupby([*columns], dropna=False).size().min())


def _of_release(name: str, found: Mapping[str, Any]) -> list[str]:
    """A line about a release."""
    return [
        name,
        thousands(found["classes"]),
        thousands(found["min_k"]),
        thousands(found["suppressed"]),
        f"{found['alteration']['ncp']:.2f}",
        f"{found['alteration']['nllm']:.2f}",
        f"{found['generalised_percent']:.2f}",
    ]


@dataclass(frozen=True)
class _Timed:
    """The processor's seconds of calls and of whole processes, and the most MB of the latter."""

    call: Timed
    whole: Timed
    peak: float

    def row(self, name: str, other: _Timed) -> list[str]:
        """Beside the tool that it is compared with."""
        return [
            name,
            spread(self.call),
            times(other.call.best / self.call.best),
            spread(self.whole),
            times(other.whole.best / self.whole.best),
            thousands(self.peak),
            times(self.peak / other.peak),
        ]


_Work = Callable[..., tuple[Any, float]]
"""Something done in a process of its own: what came out, and its peak in MB."""


def _in_turn(
    works: Mapping[str, tuple[_Work, _Work]],
) -> tuple[dict[str, _Timed], dict[str, tuple[Any, Any]]]:
    """Time several tools in turn, so that a busy minute disturbs all of them alike.

    Parameters
    ----------
    works
        Per name what makes so many calls in one process, and what is a whole process of one call.

    Returns
    -------
    timed, found
        By name: how long, and what came out of both.
    """
    many = {name: calls(1 + CALLS)[0] for name, (calls, _) in works.items()}
    worked: dict[str, list[float]] = {name: [] for name in works}
    peaks: dict[str, list[float]] = {name: [] for name in works}
    last = {}
    for _ in range(PROCESSES):
        for name, (_, once) in works.items():
            last[name], peak = once()
            worked[name].append(last[name]["worked"])
            peaks[name].append(peak)
    timed = {
        name: _Timed(
            Timed(tuple(many[name]["seconds"][1:])), Timed(tuple(worked[name])), max(peaks[name])
        )
        for name in works
    }
    return timed, {name: (many[name], last[name]) for name in works}


_HEADER = ["run", "one call, s", "ratio", "whole process, s", "ratio", "peak, MB"]


def _anonymising(anjana: str, folder: Path) -> str:
    """ANJANA and the full-domain searches on Adult."""
    path = adult_path()
    original = open_table(path).table
    columns = [str(column) for column in original.columns]
    trees = beside_adult(path, columns)
    out = folder / "anjana.csv"
    theirs = partial(
        in_fresh_process, "benchmarks.others.with_anjana", "anonymised", str(path), ";", trees, K,
        PERCENT, str(out), python=anjana,
    )  # fmt: skip
    works: dict[str, tuple[_Work, _Work]] = {"ANJANA": (theirs, partial(theirs, 1))}
    plans = {algorithm: _plan(algorithm, trees, K, PERCENT) for algorithm in OURS}
    for algorithm, plan in plans.items():
        written = folder / f"{algorithm}.json"
        written.write_text(json.dumps(plan), "utf-8")
        works[algorithm] = (
            partial(in_fresh_process, __name__, "anonymised", str(path), plan),
            partial(
                in_fresh_process, __name__, "commanded", "run", str(written), "--table", str(path),
                "--out", str(folder / f"{algorithm}.csv"),
                "--measures", str(folder / f"{algorithm}-measures.json"),
            ),
        )  # fmt: skip
    timed, found = _in_turn(works)
    titles = {"ANJANA": f"ANJANA {found['ANJANA'][0]['version']}"} | {
        algorithm: f"kanon, {short_title(algorithm)}" for algorithm in OURS
    }
    recodings = {
        algorithm: run(Plan.from_content(plan), original).recoding
        for algorithm, plan in plans.items()
    }
    released = pd.read_csv(out, dtype=str)
    source = prepare(Plan.from_content(plans["datafly"]), original).source
    assert isinstance(source, MemorySource)
    read = recoding_of(source, released, released["record"].astype(int).tolist())
    datafly = recodings["datafly"]
    same = np.array_equal(datafly.assigned, read.assigned) and np.array_equal(
        datafly.nodes, read.nodes
    )
    measures = {name: losses(each, K) for name, each in {"ANJANA": read, **recodings}.items()}
    for name, its in measures.items():
        least = _least(pd.read_csv(folder / f"{name.lower()}.csv", dtype=str), columns)
        assert least == its["min_k"] >= K, f"{name} wrote another release"
    return "\n\n".join(
        [
            f"**k-anonymity.** Adult, {thousands(len(original))} records, nine quasi-identifiers, "
            f"the hierarchy files beside the table, k = {K}, at most {PERCENT:g} % of the records "
            "suppressed, full-domain recoding. ANJANA's procedure is Datafly's; its release "
            f"{'is the same as' if same else 'differs from'} that of kanon's Datafly. Bounded "
            "search and Flash find the least NCP, Samarati the least height. All releases are "
            "measured by kanon in the same way, ANJANA's from the file that it wrote; suppressed "
            "records count as root cells. A group-by of pandas over the written files finds the "
            "same least k.",
            table(
                ["release", "classes", "min k", "suppressed", "NCP, %", "NLLM, %",
                 "generalised, %"],
                [_of_release(titles[name], its) for name, its in measures.items()],
            ),
            "Seconds are what the processor worked, all threads together, since other processes "
            "run beside; the runs take turns. *One call* goes from the table in memory to the "
            f"release in memory (kanon reads the hierarchy files in it too): best / median / worst "
            f"of {CALLS} after one that is not counted. The *whole process* starts Python, "
            "imports, reads, anonymises once and writes the release; kanon's is "
            "`python -m kanon run … --measures`, which computes all measures of the release as "
            f"well. {PROCESSES} processes each; the peak is of the most. *Ratio* is how many times "
            "as fast as ANJANA.",
            table(
                [*_HEADER, "× ANJANA"],
                [its.row(titles[name], timed["ANJANA"]) for name, its in timed.items()],
            ),
        ]
    )  # fmt: skip


def _measuring(pycanon: str, folder: Path) -> str:
    """PyCANON and `python -m kanon measure` on Adult, and on a release of it."""
    path = adult_path()
    original = open_table(path).table
    columns = [str(column) for column in original.columns if column != SENSITIVE]
    prepared = adult_with_sensitive(original, SENSITIVE, "nllm", K)
    merged = folder / "gaa.csv"
    run(prepared.plan, original).released().to_csv(merged, index=False)
    rows, numbers, version = [], [], ""
    for name, file, separator in (("Adult", path, ";"), (f"by GAA, k = {K}", merged, ",")):
        theirs = partial(
            in_fresh_process, "benchmarks.others.with_pycanon", "measured", str(file), separator,
            columns, SENSITIVE, python=pycanon,
        )  # fmt: skip
        command = ["measure", "--table", str(file), "--qi", ",".join(columns)]
        timed, found = _in_turn(
            {
                "pyCANON": (theirs, partial(theirs, 1)),
                "kanon": (
                    partial(
                        in_fresh_process, __name__, "measured", str(file), columns, SENSITIVE
                    ),
                    partial(
                        in_fresh_process, __name__, "commanded", *command,
                        "--sensitive", SENSITIVE, "--json",
                    ),
                ),
            }
        )  # fmt: skip
        mine, its = found["kanon"][0], found["pyCANON"][0]
        said = json.loads(found["kanon"][1]["printed"])
        assert (said["min_k"], said["distinct_l"]) == (mine["k"], mine["l"])
        assert mine["k"] == _least(pd.read_csv(file, sep=separator, dtype=str), columns)
        version = f"pyCANON {its['version']}"
        for who, title in (("pyCANON", version), ("kanon", "kanon")):
            rows.append(timed[who].row(f"{title}, {name}", timed["pyCANON"]))
        for title, one in ((version, its), ("kanon", mine)):
            numbers.append([f"{title}, {name}", str(one["k"]), str(one["l"]), f"{one['t']:.6f}"])
    return "\n\n".join(
        [
            f"**Measuring.** {SENSITIVE} is sensitive, the other {len(columns)} columns are "
            f"quasi-identifiers. {version} is asked for k, distinct l and t alone; kanon, which "
            "counts the classes once, computes all its measures of privacy meanwhile: entropy l, "
            "recursive (c, l), α, β and δ too. The whole process of kanon is "
            "`python -m kanon measure`. Seconds of the processor, as above.",
            table(["table", "k", "l", "t"], numbers),
            table([*_HEADER, "× pyCANON"], rows),
        ]
    )


_NOT_COMPARED = (
    "**Not compared.** ARX (Java) and sdcMicro (R) are not run by this case, so nothing is said "
    "about either. ANJANA does not search for the least loss: kanon's bounded search, Flash and "
    "Samarati look through the lattice, and stand here for what that costs and buys. ANJANA has no "
    "local recoding, so kanon's merging has no counterpart. k, distinct l and t are what pyCANON "
    "and kanon define alike; pyCANON cuts its entropy l and its c to whole numbers."
)


def _run() -> str:
    work = {"ANJANA": _anonymising, "pyCANON": _measuring}
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for tool, compare in work.items():
            found = program(tool)
            if found is None:
                parts.append(f"**{tool}** was not measured: {TOOLS[tool]} is not set.")
            else:
                parts.append(compare(found, Path(folder)))
    return "\n\n".join([*parts, _NOT_COMPARED])


CASE = Case(
    name="tools",
    about="ANJANA and pyCANON on Adult, if they are installed: seconds, memory and loss",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
