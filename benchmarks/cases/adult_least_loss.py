"""How near the least loss a release of Adult comes: the effort closest, and the lower bound."""

from __future__ import annotations

import time
from dataclasses import replace

from benchmarks.case import Case, CaseError
from benchmarks.cases.adult_lattice_sweep import general_task, per_cell
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import aim, table
from kanon.algorithms import lattice_sweep
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lower_bound import lower_bound
from kanon.algorithms.task import Task

__all__ = ["CASE", "bounded", "released"]

LEAST = {5: 0.0410, 100: 0.145}
MOST = {5: 0.0478, 100: 0.184}
"""Per k the bound and the loss that are aimed at."""

MINUTES = {"bound": 10.0, "closest": 3.0}
MEMORY = 2000.0
"""Minutes of two cores, and MB."""


def released(effort: str, k: int) -> dict[str, float]:
    """A release in a process that has run the same on few records: its loss, and the seconds."""
    task = replace(general_task(k), options={"effort": effort})
    _ready(task)
    started = time.perf_counter()
    release = lattice_sweep.anonymise(task)
    seconds = time.perf_counter() - started
    if int(release.counts.min()) < k:
        raise CaseError(f"A release has a class of fewer than {k} records.")
    return {"loss": per_cell(task, total_loss(task, release)), "seconds": seconds}


def bounded(closely: bool, k: int) -> dict[str, float]:
    """The lower bound in such a process, with nothing suppressed, and the seconds."""
    task = general_task(k)
    _ready(task)
    started = time.perf_counter()
    found = lower_bound(task, closely=closely)
    return {"loss": per_cell(task, found.loss), "seconds": time.perf_counter() - started}


def _run() -> str:
    rows, ends = [], []
    for k in LEAST:
        found, peaks = {}, {}
        for name, closely in (("quick bound", False), ("bound", True)):
            found[name], peaks[name] = in_fresh_process(__name__, "bounded", closely, k)
        for effort in ("fast", "thorough", "closest"):
            found[effort], peaks[effort] = in_fresh_process(__name__, "released", effort, k)
        least = found["bound"]["loss"]
        for name, each in found.items():
            more = 100 * (each["loss"] / least - 1)
            rows.append(
                [f"{name}, k = {k}", f"{each['loss']:.4f}", f"{more:+.1f}",
                 f"{each['seconds']:.1f}", f"{peaks[name]:.0f}"]
            )  # fmt: skip
        for name, loss in (("bound", LEAST[k]), ("closest", MOST[k])):
            each, peak, minutes = found[name], peaks[name], MINUTES[name]
            there = each["loss"] >= loss if name == "bound" else each["loss"] <= loss
            ends.append(
                aim(
                    f"{name}, k = {k}: {'at least' if name == 'bound' else 'at most'} {loss:.4f} "
                    f"in less than {minutes:g} minutes of two cores, below {MEMORY:.0f} MB",
                    f"{each['loss']:.4f} in {each['seconds']:.0f} s, {peak:.0f} MB",
                    there and each["seconds"] < 60 * minutes and peak < MEMORY,
                )
            )
    return "\n\n".join(
        [
            "The loss is that of adult-lattice-sweep, which guides all runs; nothing is "
            "suppressed. No release with these hierarchies can lose less than the "
            "bound. Each run is one in a process of its own; how much more it loses than the bound "
            "is in percent.",
            table(["what", "loss", "than the bound, %", "seconds", "MB"], rows),
            *ends,
        ]
    )


def _ready(task: Task) -> None:
    """Have compiled what the run needs, on a hundred records."""
    classes = task.classes
    few = replace(classes, nodes=classes.nodes[:100], counts=classes.counts[:100])
    small = replace(task, classes=few, k=2)
    lattice_sweep.anonymise(small)
    lower_bound(small)
    lower_bound(small, closely=False)


CASE = Case(
    name="adult-least-loss",
    about="how near the least loss of Adult a release comes: against the lower bound",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
