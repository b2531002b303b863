"""What was the best on each known table, and how often the guess was right."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.guess.tables import Known
from kanon.algorithms.task import no_progress
from kanon.experiments.advisor.guessing import (
    QUESTIONS,
    RIGHT,
    most_alike,
    question_of,
    shape_of,
    weights_asked,
)
from kanon.experiments.advisor.ways import MEASURED, compared, runs_of, ways
from kanon.experiments.advisor.weighing import weigh
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import solve_sweep

__all__ = ["KS", "Answered", "Finding", "answered", "findings", "known_content"]

KS = (5, 50)


@dataclass(frozen=True, eq=False)
class Answered:
    """A known table with its answers.

    Attributes
    ----------
    name, origin
        See :class:`benchmarks.guess.tables.Known`.
    shape
        See :func:`kanon.experiments.advisor.guessing.shape_of`.
    best
        Per question the place of the best way among ``ways``.
    behind
        Per question how many points each way is behind the best. Shape (W,); infinite for one
        that the question does not allow.
    """

    name: str
    origin: str
    shape: list[float]
    best: Mapping[str, int]
    behind: Mapping[str, np.ndarray]


def answered(known: Known) -> Answered:
    """Try every way on a known table."""
    started = time.perf_counter()
    prepared = known.prepared()
    classes = prepared.classes
    wanted = ways(True)
    ks = [k for k in KS if k <= classes.n_records]
    runs = runs_of(prepared, wanted)
    made = solve_sweep(no_progress, runs, ks, MEASURED)
    found = compared(runs[0].task, wanted, made, ks)
    best, behind = {}, {}
    for k in ks:
        for concerns in QUESTIONS:
            question = question_of(k, concerns)
            best[question], behind[question] = _ranked(found, k, concerns)
    print(f"{known.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    shape = [round(one, 4) for one in shape_of(classes, prepared.plan.led_by)]
    return Answered(known.name, known.origin, shape, best, behind)


def _ranked(found: Comparison, k: int, concerns: str) -> tuple[int, np.ndarray]:
    weighed = weigh(found, [k], weights_asked(concerns))
    allowed = np.array([concerns != "alone" or _s1(line) for line in weighed.ways])
    best = next(int(place) for place in weighed.order if allowed[place])
    return best, np.where(allowed, weighed.scores - weighed.scores[best], np.inf)


def _s1(line: Line) -> bool:
    return line.configuration.strategy == "s1"


@dataclass(frozen=True)
class Finding:
    """How a rule did on a question, tables of the same origin left out.

    Attributes
    ----------
    right
        How often it was within a point of the best.
    tried
        Of how many tables.
    behind
        By how many points it was behind the best, in the mean.
    """

    right: int
    tried: int
    behind: float


def findings(tables: Sequence[Answered]) -> dict[str, dict[str, Finding]]:
    """Per question how the guess did, and always taking what was best in the mean elsewhere."""
    found: dict[str, dict[str, Finding]] = {}
    for k in KS:
        for concerns in QUESTIONS:
            question = question_of(k, concerns)
            asked = [table for table in tables if question in table.best]
            behind: dict[str, list[float]] = {"guess": [], "constant": []}
            for table in asked:
                others = [one for one in asked if one.origin != table.origin]
                near = others[most_alike(table.shape, [one.shape for one in others])]
                usual = int(np.mean([one.behind[question] for one in others], axis=0).argmin())
                behind["guess"].append(float(table.behind[question][near.best[question]]))
                behind["constant"].append(float(table.behind[question][usual]))
            found[question] = {
                rule: Finding(
                    sum(points <= RIGHT for points in each), len(each), float(np.mean(each))
                )
                for rule, each in behind.items()
            }
    return found


def known_content(tables: Sequence[Answered], found: Mapping[str, Mapping[str, Finding]]) -> str:
    """The file that the guess goes by."""
    listed = ways(True)

    def way(place: int) -> list[str]:
        own = listed[place]
        return [own.metric, own.strategy, own.scope]

    content: dict[str, Any] = {
        "tables": [
            {
                "name": table.name,
                "shape": table.shape,
                "best": {question: way(place) for question, place in table.best.items()},
            }
            for table in tables
        ],
        "right": {
            question: [each["guess"].right, each["guess"].tried] for question, each in found.items()
        },
    }
    return json.dumps(content, indent=1) + "\n"
