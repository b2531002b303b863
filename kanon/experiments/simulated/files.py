"""An unfinished study as a file: saved, read strictly and continued.

The file holds areas and fingerprints, no value of the table. Anyone who has it can check a guess at
the whole table by its fingerprint, so it may go only where the table may go.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StringConstraints

import kanon
from kanon.algorithms.gaa import PARTS
from kanon.base.checked_json import Strict, read_json, validate
from kanon.base.formatting import join_words, write_count
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, StudyError
from kanon.experiments.simulated.columns import Column, Distribution
from kanon.experiments.simulated.study import CRITERIA, RUNS, RunResult, Study, StudyRun
from kanon.hierarchy.files import to_nodes
from kanon.settings import MEGABYTE, read_up_to

FORMAT = "kanon-simulated-study"  # what the file says it is

MEGABYTES = 1  # the most megabytes of a file

_FILE_TYPE = "study file"

_Text = Annotated[str, StringConstraints(min_length=1)]
_Percent = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]


class StudyInputs(Strict):
    """What a study was made with; the descriptions say what has changed."""

    # fingerprints
    table: _Text = Field(description="another table")
    hierarchies: _Text = Field(description="other hierarchies")
    # what guides the merging
    metric: _Text = Field(description="another metric")
    attribute_weights: _Text = Field(description="other attribute weights")
    cost: _Text = Field(description="another cost")
    scope: _Text = Field(description="another scope")
    tie_seed: _Text = Field(description="another tie seed")
    parts: _Text = Field(description="another number of parts")
    seed: _Text = Field(description="another seed")  # what the columns are drawn with
    version: _Text = Field(description="another version of kanon")

    def changed(self, before: StudyInputs) -> list[str]:
        return [
            str(part.description)
            for key, part in StudyInputs.model_fields.items()
            if getattr(self, key) != getattr(before, key)
        ]


class _Result(Strict):
    distribution: Distribution
    values: Literal[5, 10, 20, 50, 100, 200, 500]
    strategy: Literal["s1", "s2", "s3", "s4", "s5", "s6", "s7"]
    alteration: _Percent
    l_percent: _Percent
    t_percent: _Percent

    @property
    def run_result(self) -> RunResult:
        run = StudyRun(Column(self.distribution, self.values), self.strategy)
        return RunResult(run, (self.alteration, self.l_percent, self.t_percent))


class _StudyFile(Strict):
    format: Literal["kanon-simulated-study"]
    version: Literal[2]
    made_with: StudyInputs
    found: list[_Result] = Field(max_length=len(RUNS))


def create_study_inputs(study: Study) -> StudyInputs:
    task = study.task
    classes = task.classes
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    metric = study.metric
    return StudyInputs(
        table=_compute_fingerprint(classes),
        hierarchies=_compute_digest(
            json.dumps([[column, to_nodes(tree)] for column, tree in trees])
        ),
        metric=" ".join(filter(None, [metric.intermediate, metric.multiplier])) or metric.name,
        attribute_weights=" ".join(map(repr, study.attribute_weights)),
        cost="weighted" if task.weighted else "representatives",
        scope=task.scope,
        tie_seed=str(task.tie_seed),
        parts=task.option(PARTS),
        seed=str(task.seed),
        version=kanon.__version__,
    )


def _compute_fingerprint(classes: EquivalenceClasses) -> str:
    """A fingerprint of the tuples of labels and how often each occurs, whatever their order."""
    names, ranks = [], []
    for column, tree, nodes in zip(
        classes.attributes, classes.hierarchies, classes.nodes.T, strict=True
    ):
        occurring, place = np.unique(nodes, return_inverse=True)
        labels = [tree.labels[node] for node in occurring]
        by_label = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(labels), dtype=np.int64)
        rank[by_label] = np.arange(len(labels))
        names.append([column, sorted(labels)])
        ranks.append(rank[place])
    rows = np.column_stack([*ranks, classes.counts])
    order = np.lexsort(rows.T[::-1])
    hashed_names: list[Any] = names
    if classes.persons is not None:
        persons = classes.persons
        of_class = np.repeat(np.argsort(order), np.diff(persons.start))
        tuples_of = defaultdict(list)
        for person, *counts in zip(persons.value, of_class, persons.count, strict=True):
            tuples_of[person].append([*map(int, counts)])
        hashed_names = [names, sorted(sorted(tuples) for tuples in tuples_of.values())]
    return _compute_digest(json.dumps(hashed_names), rows[order].astype("<i8").tobytes())


def _compute_digest(text: str, more: bytes = b"") -> str:
    return hashlib.sha256(text.encode() + b"\n" + more).hexdigest()


def write_study(inputs: StudyInputs, run_results: Iterable[RunResult]) -> bytes:
    result_by_run = {result.run: result for result in run_results}
    results = [
        {
            "distribution": run.column.distribution,
            "values": run.column.values,
            "strategy": run.strategy,
            **dict(zip(CRITERIA, result_by_run[run].areas, strict=True)),
        }
        for run in RUNS
        if run in result_by_run
    ]
    content = {"format": FORMAT, "version": 2, "made_with": inputs.model_dump(), "found": results}
    return (json.dumps(content, indent=1) + "\n").encode()


def read_study(source: Path | bytes, inputs: StudyInputs) -> list[RunResult]:
    content = _read_content(source)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StudyError(
            f"This is not a {_FILE_TYPE}: it has to be an object with the format '{FORMAT}'."
        )
    if content.get("version") == 1:
        raise StudyError(
            f"This {_FILE_TYPE} was made by an earlier version (1), which counted alteration "
            "differently; start a new study."
        )
    try:
        file = validate(_StudyFile, content, _FILE_TYPE)
    except PlanError as error:
        raise StudyError(*error.args) from None
    changes = inputs.changed(file.made_with)
    if changes:
        raise StudyError(
            f"The {_FILE_TYPE} was made with {join_words(changes)}; choose the same again, or "
            "start a new study."
        )
    run_results = [saved.run_result for saved in file.found]
    runs = [result.run for result in run_results]
    for place, run in enumerate(runs):
        if run in runs[:place]:
            raise StudyError(
                f"The {_FILE_TYPE} has two results of {run.strategy} on the "
                f"{run.column.distribution} column of {run.column.values} values; each run may "
                "appear only once."
            )
    return run_results


def _read_content(source: Path | bytes) -> Any:
    most = MEGABYTES * MEGABYTE
    try:
        data, size = read_up_to(most, source) if isinstance(source, Path) else (source, len(source))
    except (OSError, ValueError):
        raise StudyError(f"The {_FILE_TYPE} cannot be read; it has to be JSON in UTF-8.") from None
    if size > most:
        raise StudyError(
            f"The {_FILE_TYPE} is {write_count(size)} bytes; the limit is {write_count(most)}."
        )
    try:
        return read_json(data, f"The {_FILE_TYPE}")
    except PlanError as error:
        raise StudyError(str(error)) from None
