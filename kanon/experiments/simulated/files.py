"""A study that is not finished, as a file: saved, read strictly, and gone on with.

The file holds areas and fingerprints, no value of the table. Who has the file can check a guess of
the whole table by its fingerprint, so it goes where the table may go.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StringConstraints, ValidationError

import kanon
from kanon.algorithms.gaa import PARTS
from kanon.base.checked_json import Strict, problem, read_json
from kanon.base.formatting import joined, thin
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, StudyError
from kanon.experiments.simulated.columns import Column, Distribution
from kanon.experiments.simulated.study import CRITERIA, RUNS, RunResult, Study, StudyRun
from kanon.hierarchy.files import to_nodes
from kanon.settings import MEGABYTE, read_up_to

FORMAT = "kanon-simulated-study"  # what the file says it is

MEGABYTES = 1  # the most megabytes of a file

_WHAT = "study file"

_Text = Annotated[str, StringConstraints(min_length=1)]
_Percent = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]


class StudyInputs(Strict):
    # fingerprints
    table: _Text
    hierarchies: _Text
    # what guides the merging
    metric: _Text
    attribute_weights: _Text
    cost: _Text
    scope: _Text
    tie_seed: _Text
    parts: _Text
    seed: _Text  # what the columns are drawn with
    version: _Text  # that of kanon

    def changed(self, before: StudyInputs) -> list[str]:
        return [said for key, said in _SAID.items() if getattr(self, key) != getattr(before, key)]


_SAID = {
    "table": "another table",
    "hierarchies": "other hierarchies",
    "metric": "another metric",
    "attribute_weights": "other attribute weights",
    "cost": "another cost",
    "scope": "another scope",
    "tie_seed": "another tie seed",
    "parts": "another number of parts",
    "seed": "another seed",
    "version": "another version of kanon",
}
"""What is said of each part that has changed."""


class _Result(Strict):
    distribution: Distribution
    values: Literal[5, 10, 20, 50, 100, 200, 500]
    strategy: Literal["s1", "s2", "s3", "s4", "s5", "s6", "s7"]
    alteration: _Percent
    l_percent: _Percent
    t_percent: _Percent

    @property
    def found(self) -> RunResult:
        run = StudyRun(Column(self.distribution, self.values), self.strategy)
        return RunResult(run, (self.alteration, self.l_percent, self.t_percent))


class _StudyFile(Strict):
    format: Literal["kanon-simulated-study"]
    version: Literal[2]
    made_with: StudyInputs
    found: list[_Result] = Field(max_length=len(RUNS))


def made_with(study: Study) -> StudyInputs:
    task = study.task
    classes = task.classes
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    metric = study.metric
    return StudyInputs(
        table=_fingerprint_of(classes),
        hierarchies=_digest(json.dumps([[column, to_nodes(tree)] for column, tree in trees])),
        metric=" ".join(filter(None, [metric.intermediate, metric.multiplier])) or metric.name,
        attribute_weights=" ".join(map(repr, study.attribute_weights)),
        cost="weighted" if task.weighted else "representatives",
        scope=task.scope,
        tie_seed=str(task.tie_seed),
        parts=task.option(PARTS),
        seed=str(task.seed),
        version=kanon.__version__,
    )


def _fingerprint_of(classes: EquivalenceClasses) -> str:
    """A fingerprint of the tuples of labels and how often each occurs, whatever their order."""
    names, ranks = [], []
    for column, tree, nodes in zip(
        classes.attributes, classes.hierarchies, classes.nodes.T, strict=True
    ):
        used, place = np.unique(nodes, return_inverse=True)
        labels = [tree.labels[node] for node in used]
        by_label = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(labels), dtype=np.int64)
        rank[by_label] = np.arange(len(labels))
        names.append([column, sorted(labels)])
        ranks.append(rank[place])
    rows = np.column_stack([*ranks, classes.counts])
    order = np.lexsort(rows.T[::-1])
    named: list[Any] = names
    if classes.persons is not None:
        own = classes.persons
        of_class = np.repeat(np.argsort(order), np.diff(own.start))
        tuples_of = defaultdict(list)
        for person, *has in zip(own.value, of_class, own.count, strict=True):
            tuples_of[person].append([*map(int, has)])
        named = [names, sorted(sorted(each) for each in tuples_of.values())]
    return _digest(json.dumps(named), rows[order].astype("<i8").tobytes())


def _digest(text: str, more: bytes = b"") -> str:
    return hashlib.sha256(text.encode() + b"\n" + more).hexdigest()


def written_study(made: StudyInputs, found: Iterable[RunResult]) -> bytes:
    there = {one.run: one for one in found}
    results = [
        {
            "distribution": run.column.distribution,
            "values": run.column.values,
            "strategy": run.strategy,
            **dict(zip(CRITERIA, there[run].areas, strict=True)),
        }
        for run in RUNS
        if run in there
    ]
    content = {"format": FORMAT, "version": 2, "made_with": made.model_dump(), "found": results}
    return (json.dumps(content, indent=1) + "\n").encode()


def read_study(source: Path | bytes, made: StudyInputs) -> list[RunResult]:
    content = _content(source)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StudyError(f"This is no {_WHAT}: it has to be an object with the format '{FORMAT}'.")
    if content.get("version") == 1:
        raise StudyError(
            f"The {_WHAT} is of version 1, in which alteration was the mean over seven metrics and "
            "an original value counted as a leaf of itself; begin a new one."
        )
    try:
        file = _StudyFile.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise problem(first, ".".join(map(str, first["loc"])), _WHAT, StudyError) from None
    changed = made.changed(file.made_with)
    if changed:
        raise StudyError(
            f"The {_WHAT} was made with {joined(changed)}; a study goes on with what it began with "
            "alone, so choose that again, or begin a new one."
        )
    found = [each.found for each in file.found]
    runs = [one.run for one in found]
    for place, run in enumerate(runs):
        if run in runs[:place]:
            raise StudyError(
                f"The {_WHAT} has two results of {run.strategy} on the {run.column.distribution} "
                f"column of {run.column.values} values; each run stands once."
            )
    return found


def _content(source: Path | bytes) -> Any:
    most = MEGABYTES * MEGABYTE
    try:
        data, size = read_up_to(most, source) if isinstance(source, Path) else (source, len(source))
        text = data.decode("utf-8-sig")
    except (OSError, ValueError):
        raise StudyError(f"The {_WHAT} cannot be read; it has to be JSON in UTF-8.") from None
    if size > most:
        raise StudyError(f"The {_WHAT} has {thin(size)} bytes; the most allowed is {MEGABYTES} MB.")
    try:
        return read_json(text, f"The {_WHAT}")
    except PlanError as error:
        raise StudyError(str(error)) from None
