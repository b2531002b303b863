"""Attack a release as its readers could: four figures, each beside what needs no release.

>>> from kanon.plan import Plan
>>> from kanon.run import run
>>> import pandas as pd
>>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
...      "ill": {"role": "sensitive"}}, "privacy": [{"model": "k-anonymity", "k": 3}]})
>>> table = pd.DataFrame({"sex": ["F"] * 3 + ["M"] * 3, "ill": ["flu", "flu", "cold"] * 2})
>>> evidence = attack(run(plan, table), with_control=False)
>>> round(evidence.singling_out.value, 4), round(evidence.inference["ill"].value, 4)
(0.3333, 0.6667)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_percent
from kanon.base.progress import Progress, ignore_progress
from kanon.base.spelling import fold_spelling
from kanon.base.values import encode_texts
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, Unsatisfiable, quote
from kanon.evidence import KNOWN
from kanon.evidence.assignment import measure_assignment
from kanon.evidence.figures import (
    Figure,
    compute_wilson_interval,
    find_most_frequent_share,
    find_singled_out,
    limit_set_size,
    measure_inference,
    measure_linkability,
)
from kanon.evidence.records import number_persons, read_records
from kanon.privacy.delta_presence import compute_presence
from kanon.run import Run, run_prepared
from kanon.sources.memory import MemorySource
from kanon.sources.population import count_population
from kanon.sources.tables import Table

IN_ENGINE = (
    "An attack compares released rows with the table, which needs the table in memory: add "
    "--engine memory, or load the table as a file."
)

_HEADS = ("Figure", "With the release", "Without it", "For people outside")

_PARTS = 5  # for the control, the release is made without each part of the persons in turn


@dataclass(frozen=True)
class Evidence:
    """What an attacker gains from a release.

    Attributes
    ----------
    persons
        The number of persons in the table, or of records where no column identifies persons.
    of
        ``persons`` or ``records``: what is counted.
    known
        The columns of a person that are known for singling out, at most.
    columns
        The columns that are released, identifiers left out.
    singling_out, linkability
        Of all persons; see :mod:`kanon.evidence.figures`.
    inference
        By sensitive column.
    assignment
        Of the released records, by their numbers; None without a numeric quasi-identifier.
    membership
        Given a population: the largest probability of a person to be in the table, and the mean
        over those in it. None without one.
    reason
        Why there is no control; empty if there is one.
    """

    persons: int
    of: str
    known: int
    columns: tuple[str, ...]
    singling_out: Figure
    linkability: Figure
    inference: Mapping[str, Figure]
    assignment: Figure | None
    membership: Figure | None
    reason: str = ""

    @property
    def numbers(self) -> dict[str, Any]:
        """The figures as the command line and reports write them."""
        further = {"assignment": self.assignment, "membership": self.membership}
        return {
            self.of: self.persons,
            "known": self.known,
            "singling_out": self.singling_out.numbers,
            "linkability": self.linkability.numbers,
            "inference": {name: figure.numbers for name, figure in self.inference.items()},
            **{name: figure.numbers for name, figure in further.items() if figure is not None},
        }

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by their titles, as tables and pictures list them."""
        figures = {"Singling out": self.singling_out, "Linkability": self.linkability}
        if self.assignment is not None:
            figures["Assignment of numbers"] = self.assignment
        figures |= {f"Inference of {quote(name)}": part for name, part in self.inference.items()}
        if self.membership is not None and self.membership.mean is not None:
            figures["Membership, surest"] = Figure(self.membership.value)
            figures["Membership, on average"] = Figure(self.membership.mean)
        return figures

    @property
    def rows(self) -> list[dict[str, str]]:
        """The figures as texts; the interval stands beside what was sampled."""
        rows = []
        for title, figure in self.figures.items():
            shares = (figure.value, figure.baseline, figure.control)
            texts = ["–" if share is None else _write(share) for share in shares]
            if figure.low is not None and figure.high is not None:
                interval = f" ({_write(figure.low)} to {_write(figure.high)})"
                texts[0 if figure.control is None else 2] += interval
            rows.append(dict(zip(_HEADS, (title, *texts), strict=True)))
        return rows

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for each figure, and one on the control that there is not."""
        of = "people" if self.of == "persons" else "records"
        columns = count_noun(self.known, "column")
        single, link = self.singling_out, self.linkability
        assert single.baseline is not None and link.baseline is not None
        sentences = [
            f"Someone who knows {columns} of a person finds exactly one released record, the right "
            f"one, for {_write(single.value)} of {of}; in the table as it was, for "
            f"{_write(single.baseline)}.",
            "Two sources that each know half of the released columns of a person link the right "
            f"record with a chance of {_write(link.value)} on average; without the release, with "
            f"{_write(link.baseline)}.",
        ]
        if self.assignment is not None and self.assignment.baseline is not None:
            sentences.append(
                "Someone who knows the numbers of all records and links them to the released rows "
                f"all at once links {_write(self.assignment.value)} of them right; by chance, "
                f"{_write(self.assignment.baseline)}."
            )
        for column, figure in self.inference.items():
            assert figure.baseline is not None
            gains = [_compare(figure.value - figure.baseline, "without it")]
            if figure.control is not None:
                gains.append(
                    _compare(figure.value - figure.control, "for people who are not in it")
                )
            sentences.append(
                f"The release lets someone guess {quote(column)} of {_write(figure.value)} of {of} "
                f"right, {' and '.join(gains)}."
            )
        if self.membership is not None and self.membership.mean is not None:
            sentences.append(
                "Someone who has the release and a list of the population is at most "
                f"{_write(self.membership.value)} sure that a person is in the table, and "
                f"{_write(self.membership.mean)} on average for the people in it."
            )
        return (*sentences, *([self.reason] if self.reason else []))


def _write(share: float) -> str:
    return write_percent(100 * share) if share else "0 %"


def _compare(difference: float, with_what: str) -> str:
    points = f"{abs(100 * difference):.1f}".removesuffix(".0")
    if points == "0":
        return f"as many as {with_what}"
    unit = "point" if points == "1" else "points"
    return f"{points} {unit} {'more' if difference > 0 else 'fewer'} than {with_what}"


def count_people(run: Run, population: Table | pd.DataFrame | None) -> EquivalenceClasses | None:
    """The classes of a population by the hierarchies of a release; None without one."""
    if population is None:
        return None
    classes, repairs = run.prepared.classes, run.prepared.plan.repairs
    return count_population(classes, population, repairs).classes


def attack(
    run: Run,
    known: int = KNOWN,
    people: EquivalenceClasses | None = None,
    with_control: bool = True,
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> Evidence:
    """Measure what an attacker gains from a release.

    Parameters
    ----------
    run
        The release, of a table in memory.
    known
        The most columns of a person that are known for singling out; at least 1.
    people
        The classes of a population, by the hierarchies of the table: for membership.
    with_control
        Whether to make the release again without each fifth of the persons, and guess the
        sensitive values of those left out.
    seed
        Decides who is left out together.

    Raises
    ------
    TableError
        The rows are in an engine, or every record is suppressed.
    PlanError
        Fewer than one column is known.
    """
    if known < 1:
        raise PlanError(f"{known} known columns are not allowed; give a number of at least 1.")
    source, recoding = run.prepared.source, run.recoding
    if not isinstance(source, MemorySource):
        raise TableError(IN_ENGINE)
    rows = np.flatnonzero(recoding.assigned[source.row_class] >= 0)
    if not len(rows):
        raise TableError("Every record is suppressed, so there is nothing to attack.")
    persons = number_persons(source)
    table, released = read_records(source, recoding, persons)
    n, size = len(np.unique(persons)), limit_set_size(len(table.columns), known)
    columns = list(range(len(table.columns)))
    own = table.select(rows)
    alone = find_singled_out(own, released, size, lambda share, _: progress(share / 2, "attack"))
    singling_out = Figure(len(alone) / n, baseline=len(find_singled_out(table, table, size)) / n)
    linked = measure_linkability(own, released, columns)
    linkability = Figure(math.fsum(linked.tolist()) / n, baseline=1 / n)
    values = {part.name: _read_values(source, part.name) for part in source.classes.sensitive}
    inference = {
        column: Figure(
            measure_inference(table, released, codes, codes[rows]),
            baseline=find_most_frequent_share(table, codes),
        )
        for column, codes in values.items()
    }
    reason = ""
    if with_control and values:
        try:
            inference = _add_controls(
                run, persons, values, seed, inference,
                lambda share, text: progress(0.5 + share / 2, text),
            )  # fmt: skip
        except Unsatisfiable:
            reason = (
                "There is no control: without a fifth of the people, no record would be released."
            )
    membership = None
    if people is not None:
        presence = compute_presence(recoding.released, people)
        own_presence = compute_presence(recoding.released, people, source.classes)
        weights = np.bincount(source.row_class, table.weights, len(own_presence))
        membership = Figure(
            float(presence.max(initial=0)), mean=math.fsum((weights * own_presence).tolist())
        )
    return Evidence(
        n, source.classes.of, size, table.columns, singling_out, linkability, inference,
        measure_assignment(own, released, seed), membership, reason,
    )  # fmt: skip


def _add_controls(
    run: Run,
    persons: np.ndarray,
    values: Mapping[str, np.ndarray],
    seed: int,
    inference: Mapping[str, Figure],
    progress: Progress,
) -> dict[str, Figure]:
    """The figures beside those of releases that are made without the persons they are about.

    Five releases are made, each without a fifth of the persons, so that each is left out once.
    Unsatisfiable: one of them would have no records.
    """
    source = run.prepared.source
    assert isinstance(source, MemorySource)
    numbers, person = np.unique(persons, return_inverse=True)
    part = np.random.default_rng(seed).permutation(len(numbers))[person] % _PARTS
    controls = dict.fromkeys(inference, 0.0)
    for place in range(min(_PARTS, len(numbers))):
        progress(place / _PARTS, f"control {place + 1} of {_PARTS}")
        out = part == place
        smaller = run_prepared(run.prepared.select_rows(~out))
        own = smaller.prepared.source
        assert isinstance(own, MemorySource)
        inside, released = read_records(own, smaller.recoding, persons[~out])
        outside = replace(
            inside, nodes=source.classes.nodes[source.row_class[out]], persons=persons[out]
        )
        rows = np.flatnonzero(smaller.recoding.assigned[own.row_class] >= 0)
        if not len(rows):
            raise Unsatisfiable("Every record is suppressed.")
        share = len(np.unique(persons[out])) / len(numbers)
        for column, codes in values.items():
            right = measure_inference(outside, released, codes[out], codes[~out][rows])
            controls[column] += share * right
    completed = {}
    for column, figure in inference.items():
        interval = compute_wilson_interval(min(controls[column], 1.0), len(numbers))
        completed[column] = replace(
            figure, control=controls[column], low=interval.low, high=interval.high
        )
    return completed


def _read_values(source: MemorySource, column: str) -> np.ndarray:
    """Per record the value of a sensitive column, as a number; spellings of one value are one."""
    codes, texts = encode_texts(source.table.frame[column])
    number: dict[Hashable, int] = {}
    folded = [number.setdefault(fold_spelling(text), len(number)) for text in texts]
    return np.array([*folded, len(number)])[codes]  # the last is for missing cells
