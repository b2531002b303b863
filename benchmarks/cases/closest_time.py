"""How long the effort closest takes, alone and beside a second one, and its memory."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.case import Case, CaseError
from benchmarks.cases.adult_lattice_sweep import general_task, per_cell
from benchmarks.fresh import in_fresh_process
from benchmarks.markdown import aim, seconds, table
from benchmarks.plans import full_task
from kanon.algorithms import lattice_sweep
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.task import Task
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import intervals, suppression
from kanon.hierarchy.files import to_nodes
from kanon.hierarchy.plans import NodesPlan

__all__ = ["CASE", "airline_like", "airline_task", "release"]

KS = (5, 10, 100)

ALONE, ADULT_5, TOGETHER, MEMORY = 60.0, 30.0, 2.0, 500.0
"""Seconds alone, at most, and on Adult with k = 5; how many times as long two at once take; MB."""

DISTANCES = [str(miles) for miles in range(31, 4984)]


def _trees() -> dict[str, Hierarchy]:
    return {
        "gender": suppression(["female", "male"]),
        "customer": suppression(["loyal", "disloyal"]),
        "age": intervals([str(age) for age in range(7, 86)], [5, 10, 20]),
        "travel": suppression(["business", "personal"]),
        "class": suppression(["business", "eco", "eco plus"]),
        "distance": intervals(DISTANCES, [50, 100, 500, 1000]),
    }


def airline_like(records: int = 25_976, seed: int = 1) -> pd.DataFrame:
    """Passengers of an airline, drawn at random: few values but for ages and flown miles."""
    rng = np.random.default_rng(seed)
    private = rng.random(records) < 0.31
    first = rng.random(records) < np.where(private, 0.1, 0.68)
    age = np.clip(rng.normal(np.where(private, 38, 40), np.where(private, 18, 12)), 7, 85)
    economy = rng.choice(["eco", "eco plus"], records, p=[0.86, 0.14])
    miles = np.clip(rng.lognormal(np.where(first, 7.1, 6.4), 0.8), 31, 4983)
    return pd.DataFrame(
        {
            "gender": rng.choice(["female", "male"], records),
            "customer": rng.choice(["loyal", "disloyal"], records, p=[0.82, 0.18]),
            "age": age.astype(int).astype(str),
            "travel": np.where(private, "personal", "business"),
            "class": np.where(first, "business", economy),
            "distance": miles.astype(int).astype(str),
        }
    )  # fmt: skip


def airline_task(k: int) -> Task:
    hierarchies: dict[str, Any] = {
        name: json.loads(NodesPlan(nodes=to_nodes(tree)).model_dump_json())
        for name, tree in _trees().items()
    }
    return replace(full_task(airline_like(), hierarchies, "general-loss"), k=k)


def release(name: str, effort: str, k: int) -> dict[str, float]:
    """A release in a process that has run the same on few records: its loss, and the seconds."""
    task = airline_task(k) if name == "airline" else general_task(k)
    task = replace(task, options={"effort": effort})
    classes = task.classes
    few = replace(classes, nodes=classes.nodes[:100], counts=classes.counts[:100])
    lattice_sweep.anonymise(replace(task, classes=few, k=2))
    started = time.perf_counter()
    recoding = lattice_sweep.anonymise(task)
    lasted = time.perf_counter() - started
    if int(recoding.counts.min()) < k:
        raise CaseError(f"A release has a class of fewer than {k} records.")
    return {"loss": per_cell(task, total_loss(task, recoding)), "seconds": lasted}


def _run_twice(name: str, k: int) -> float:
    """The seconds of the slower of two at once."""
    with ThreadPoolExecutor(2) as pool:
        both = pool.map(lambda _: in_fresh_process(__name__, "release", name, "closest", k), "ab")
        return max(result["seconds"] for result, _ in both)


def _run() -> str:
    rows, ends = [], []
    for name in ("Adult", "airline"):
        for k in KS:
            reference, _ = in_fresh_process(__name__, "release", name, "thorough", k)
            closest, peak = in_fresh_process(__name__, "release", name, "closest", k)
            together, alone = _run_twice(name, k), closest["seconds"]
            rows.append(
                [f"{name}, k = {k}", f"{reference['loss']:.4f}", f"{closest['loss']:.4f}",
                 seconds(reference["seconds"]), seconds(alone), seconds(together),
                 f"{together / alone:.2f}", f"{peak:.0f}"]
            )  # fmt: skip
            limit = ADULT_5 if (name, k) == ("Adult", 5) else ALONE
            ends.append(
                aim(
                    f"{name}, k = {k}: alone at most {limit:g} s, two at once at most "
                    f"{TOGETHER:g} times as long, at most {MEMORY:.0f} MB",
                    f"{alone:.0f} s, {together / alone:.2f} times, {peak:.0f} MB",
                    alone <= limit and together <= TOGETHER * alone and peak <= MEMORY,
                )
            )
    header = ["table", "thorough: loss", "closest: loss", "thorough: s", "closest alone: s",
              "two at once: s", "× alone", "MB"]  # fmt: skip
    return "\n\n".join(
        [
            "The loss is that of adult-lattice-sweep. Each run is in a process of its own; of two "
            "at once, the seconds of the slower. The airline table is drawn at random: 25,976 "
            "records, six quasi-identifiers. `thorough` is the reference for how fast the machine "
            "is at that minute.",
            table(header, rows),
            *ends,
        ]
    )


CASE = Case(
    name="closest-time",
    about="the effort closest alone and two at once, with its memory: against thorough",
    classes=19_503,
    run=_run,
    needs_adult=True,
)
