"""The risk in the population behind a table that is a sample of it, before and after a release."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kanon.base.formatting import join_words, write_percent
from kanon.base.kinds import read_numbers
from kanon.base.values import encode_texts
from kanon.errors import PlanError, TableError, quote
from kanon.evidence.households import compute_household_risks
from kanon.evidence.individual_risk import Risks, estimate_individual_risk
from kanon.evidence.population_uniqueness import (
    PopulationUniqueness,
    estimate_population_uniqueness,
)
from kanon.evidence.special_uniques import SpecialUniques, find_special_uniques
from kanon.run import Run
from kanon.schema import check_columns
from kanon.sources.memory import MemorySource

MOST_COLUMNS = 3  # of a set that makes a record special

METHODS = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "slide negative binomial"}


@dataclass(frozen=True)
class SampleRisk:
    """What a sample tells about the population; of each pair the table, then its release.

    Attributes
    ----------
    uniqueness
        Of the table, given a sampling fraction. A release with recoded values is no random sample
        of a population with such values, so nothing is estimated from it.
    risks
        Of records: by sampling weights where a column has them, else 1 / size of the class.
    households
        Given a column of households.
    special
        The special uniques of the table, by its quasi-identifiers.
    """

    uniqueness: PopulationUniqueness | None
    risks: tuple[Risks, Risks]
    households: tuple[Risks, Risks] | None
    special: SpecialUniques

    @property
    def numbers(self) -> dict[str, Any]:
        """The figures as the command line writes them."""
        numbers: dict[str, Any] = {"individual_risk": _list_risks(self.risks)}
        if self.households is not None:
            numbers["household_risk"] = _list_risks(self.households)
        if self.uniqueness is not None:
            numbers["population_uniqueness"] = asdict(self.uniqueness)
        special = {"uniques": self.special.uniques, "contributions": self.special.contributions}
        return {**numbers, "special_uniques": special}

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for each figure."""
        sentences = [] if self.uniqueness is None else [_describe_uniqueness(self.uniqueness)]
        for name, pair in (("record", self.risks), ("household", self.households)):
            if pair is not None:
                before, after = (write_percent(100 * part.mean) for part in pair)
                sentences.append(
                    f"A {name} is found with a chance of {after} on average by the release, and of "
                    f"{before} by the table; at most {write_percent(100 * pair[1].largest)} and "
                    f"{write_percent(100 * pair[0].largest)}."
                )
        scores = sorted(self.special.contributions.items(), key=lambda pair: -pair[1])
        names = [f"{quote(name)} ({write_percent(100 * share)})" for name, share in scores if share]
        if names:
            sentences.append(
                f"In the table, sets of up to {MOST_COLUMNS} columns make records special; most by "
                f"{join_words(names[:3])} of the SUDA scores."
            )
        return tuple(sentences)


def _list_risks(pair: tuple[Risks, Risks]) -> dict[str, dict[str, float]]:
    return {
        name: {"expected": risks.expected, "mean": risks.mean, "largest": risks.largest}
        for name, risks in zip(("table", "release"), pair, strict=True)
    }


def _describe_uniqueness(estimates: PopulationUniqueness) -> str:
    chosen = estimates.estimates[estimates.chosen]
    low, high = (
        write_percent(100 * end / estimates.population) for end in (estimates.least, estimates.most)
    )
    text = f"Of the population, {low} to {high} are unique by the table's quasi-identifiers"
    if chosen.unreliable is not None or chosen.share is None:
        reason = chosen.unreliable or f"{text}."
        return f"No estimate of how many people are unique in the population is reliable. {reason}"
    share = write_percent(100 * chosen.share)
    return f"{text}, {share} by the estimate of {METHODS[estimates.chosen]}."


def measure_sample_risk(
    run: Run,
    fraction: float | None = None,
    weights: str | None = None,
    households: str | None = None,
) -> SampleRisk:
    """Measure what the table and its release tell about the population that they are a sample of.

    Parameters
    ----------
    run
        The release, of a table in memory.
    fraction
        The share of the population that is in the table, above 0 and up to 1.
    weights
        The column of sampling weights: how many people each record stands for.
    households
        The column that says which records are of one household.

    Raises
    ------
    TableError
        The rows are in an engine, or a weight or a household is missing or wrong.
    PlanError
        The table has no such column, or the fraction is not allowed.
    """
    source = run.prepared.source
    if not isinstance(source, MemorySource):
        raise TableError(
            "Risks in the population need the table in memory: add --engine memory, or load the "
            "table as a file."
        )
    frame, classes, recoding = source.table.frame, source.classes, run.recoding
    check_columns(source.table.columns, [name for name in (weights, households) if name])
    assigned = recoding.assigned[source.row_class]
    rows = np.flatnonzero(assigned >= 0)
    if not len(rows):
        raise TableError("Every record is suppressed, so there is no risk to measure.")
    uniqueness = None
    if fraction is not None:
        uniqueness = estimate_population_uniqueness(classes.hiding, fraction)
    if weights is None:
        risks = (
            Risks(1 / classes.hiding[source.row_class]),
            Risks(1 / recoding.released.hiding[assigned[rows]]),
        )
    else:
        values = _read_weights(source, weights)
        risks = (
            estimate_individual_risk(source.row_class, values),
            estimate_individual_risk(assigned[rows], values[rows]),
        )
    of_household = None
    if households is not None:
        names = frame[households]
        of_household = (
            compute_household_risks(risks[0], names, households),
            compute_household_risks(risks[1], names.iloc[rows], households),
        )
    special = find_special_uniques(classes, min(MOST_COLUMNS, len(classes.attributes)))
    return SampleRisk(uniqueness, risks, of_household, special)


def _read_weights(source: MemorySource, column: str) -> np.ndarray:
    codes, texts = encode_texts(source.table.frame[column])
    numbers = read_numbers(texts, source.table.kinds.get(column))
    if numbers is None or (codes < 0).any():
        raise PlanError(
            f"The column {quote(column)} cannot be the weights: every record needs a number of at "
            "least 1."
        )
    return np.asarray(numbers, dtype=float)[codes]
