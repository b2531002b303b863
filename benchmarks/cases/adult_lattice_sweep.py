"""The lattice sweep on Adult by general loss: what it loses, how long it takes, against GAA."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.case import Case, CaseError
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import aim, seconds, spread, table, thousands
from benchmarks.plans import adult_path, beside_adult, full_task
from benchmarks.timing import Timed, alternately
from kanon.algorithms import gaa, lattice_sweep
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.task import Task
from kanon.recoding import Recoding
from kanon.sources.opening import open_table

__all__ = ["CASE", "general_task", "in_its_own"]

KS = (5, 100)

LOSSES = {("fast", 5): 0.0530, ("fast", 100): 0.1960, ("thorough", 5): 0.0495,
          ("thorough", 100): 0.1898}  # fmt: skip
LONGEST = {("fast", 5): 0.3, ("fast", 100): 1.5, ("thorough", 5): 20.0, ("thorough", 100): 20.0}
"""The losses and seconds that are aimed at."""

MEMORY, SILENCE = 500.0, 0.2
"""MB that a process may take, and seconds that it may be silent."""


def general_task(k: int) -> Task:
    """Adult with the hierarchies that lie beside its file, by general loss.

    The loss of a cell v is (|v| - 1) / (|root| - 1), |v| being the leaves that it stands for.
    """
    path = adult_path()
    given = open_table(path).table
    trees = beside_adult(path, map(str, given.columns))
    return replace(full_task(given, trees, "general-loss"), k=k)


def per_cell(task: Task, loss: int) -> float:
    """A loss in scaled units as the mean over all cells, between 0 and 1."""
    return loss / (task.classes.n_cells * max(float(depth.max()) for depth in task.potentials))


@dataclass(frozen=True)
class Found:
    """A release, and how long it took."""

    loss: float
    seconds: Timed


def in_its_own(effort: str, k: int) -> dict[str, float]:
    """Runs in a process that does nothing else, the least of three each.

    Returns
    -------
    dict
        ``processor``: the seconds that the processor worked for it. ``silence``: the most of them
        between two reports of progress.
    """
    task = replace(general_task(k), options={"effort": effort})
    lattice_sweep.anonymise(task)  # compiles, or loads what was compiled
    spent, silent = [], []
    for _ in range(3):
        told = [time.process_time()]
        lattice_sweep.anonymise(task, lambda *_, told=told: told.append(time.process_time()))
        told.append(time.process_time())
        spent.append(told[-1] - told[0])
        silent.append(float(np.diff(told).max()))
    return {"processor": min(spent), "silence": min(silent)}


def _run() -> str:
    rows, ends = [], []
    for k in KS:
        task = general_task(k)
        works: dict[str, Callable[[], Recoding]] = {
            "GAA": lambda task=task: gaa.anonymise(task),
            "fast": lambda task=task: lattice_sweep.anonymise(task),
            "thorough": lambda task=task: lattice_sweep.anonymise(
                replace(task, options={"effort": "thorough"})
            ),
        }
        timed, releases = alternately(*works.values(), repetitions=2)
        results = {
            name: Found(per_cell(task, total_loss(task, release)), each)
            for name, release, each in zip(works, releases, timed, strict=True)
        }
        if min(int(release.counts.min()) for release in releases) < k:
            raise CaseError(f"A release has a class of fewer than {k} records.")
        for name, each in results.items():
            rows.append(
                [
                    f"{name}, k = {k}",
                    f"{each.loss:.4f}",
                    f"{each.loss / results['GAA'].loss:.2f}",
                    spread(each.seconds),
                    f"{each.seconds.best / results['GAA'].seconds.best:.1f}",
                ]
            )
        bound = per_cell(task, lattice_sweep.lower_bound(task))
        rows.append([f"lower bound, k = {k}", f"{bound:.4f}", "", "", ""])
        for effort in ("fast", "thorough"):
            own, peak = in_fresh_process(
                "benchmarks.cases.adult_lattice_sweep", "in_its_own", effort, k
            )
            loss, longest, each = LOSSES[effort, k], LONGEST[effort, k], results[effort]
            ends.append(
                aim(
                    f"{effort}, k = {k}: loss at most {loss:.4f} in less than {longest:g} seconds "
                    f"of one core, never silent for {SILENCE} of them, below {MEMORY:.0f} MB",
                    f"{each.loss:.4f} in {seconds(own['processor'])} s, silent for at most "
                    f"{own['silence']:.2f} s, {peak:.0f} MB",
                    each.loss <= loss
                    and own["processor"] < longest
                    and peak < MEMORY
                    and own["silence"] < SILENCE,
                )
            )
    classes = general_task(KS[0]).classes
    return "\n\n".join(
        [
            f"{thousands(classes.n_records)} records, {thousands(classes.n_classes)} classes, nine "
            "quasi-identifiers, the hierarchies beside the table; nothing suppressed. The loss is "
            "the mean over all cells of (n − 1)/(n(root) − 1), n being the leaves that a value "
            "stands for, which guides all runs. No release can go below the lower bound; whether "
            "one can reach it is not known. "
            "Seconds of one core are what the processor worked, in a process of its own: the best "
            "of three runs.",
            table(["run", "loss", "× GAA", "seconds", "× GAA"], rows),
            *ends,
        ]
    )


CASE = Case(
    name="adult-lattice-sweep",
    about="the lattice sweep on Adult by general loss, fast and thorough: against GAA",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
