"""Decide whether a release meets the thresholds of its context: what it reached, and a verdict.

k, l and t are recounted from the released rows alone, as in :mod:`kanon.release.check`; the risk of
being found follows from the classes. A verdict says what was checked, what was reached and what was
not considered, and no more.

>>> from kanon.plan import VERSION, Plan
>>> from kanon.run import run
>>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
...     "privacy": [{"model": "k-anonymity", "k": 3}]})
>>> found = measure_reached_levels(run(plan, pd.DataFrame({"sex": ["F"] * 3 + ["M"] * 4})))
>>> decision = compare_with_thresholds(Context(release="internal"), found)
>>> [(part.threshold.card.name, part.reached, part.met) for part in decision.parts]
[('k', 3, True), ('highest_risk', 3.0, True), ('mean_risk', 3.5, False)]
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from kanon.base.data_files import read_data
from kanon.base.formatting import CountedUnit, count_noun, join_words, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, quote
from kanon.evidence.attack import Evidence
from kanon.measures.linkage import project_classes
from kanon.plan import VERSION, Plan
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.model import rounded
from kanon.privacy.population_matches import count_people_below
from kanon.privacy.reidentification import journalist, prosecutor
from kanon.release.check import NOT_CONSIDERED, TABLE_ORDER, check_release, require_verdicts
from kanon.release.context import Context, Release, Threshold, list_thresholds
from kanon.release.threshold_cards import OF_COLUMNS, OF_EVIDENCE, OF_USEFULNESS
from kanon.run import Run
from kanon.sources.memory import MemorySource, remove_suppressed_rows
from kanon.sources.population import count_population

MOST_CHOICES = 1000  # the most choices of known quasi-identifiers that are searched

_LevelKey = tuple[str, str]


@dataclass(frozen=True, eq=False)
class ReachedNumbers:
    """What a release reaches, whatever the thresholds."""

    records: int  # the released records, without suppressed ones
    # how many quasi-identifiers of a person are known; the choice that tells most counts
    known: int
    n_quasi_identifiers: int
    population: bool  # whether a population was counted
    sensitive: tuple[str, ...]  # the sensitive columns
    # by threshold and column ("" for the whole table) the level of the worst class, in the unit of
    # the card; empty if no class is left
    levels: Mapping[_LevelKey, float]
    of: CountedUnit = "records"  # what k and the risks count
    order: str = "released"  # the row order, as in a plan
    required_of: tuple[str, ...] = ()  # the columns that some model of the plan is about


def measure_reached_levels(
    run: Run,
    known: int | None = None,
    people: pd.DataFrame | None = None,
    progress: Progress = ignore_progress,
) -> ReachedNumbers:
    """Measure a release against an attacker who knows some quasi-identifiers of a person.

    At most ``known`` of them are known, None for all; ``people`` are the population behind the
    table, one row per person with the original values: then the risk is that of a person who may or
    may not be in the table. k, l and t are counted from the released rows; the risks are 1 / risk.

    Raises
    ------
    TableError
        The rows are in an engine, or the population lacks a quasi-identifier or a person of the
        table.
    PlanError
        There are more than :data:`MOST_CHOICES` ways to choose that many quasi-identifiers.
    """
    if not isinstance(run.prepared.source, MemorySource):
        raise TableError(
            "For a verdict the released rows are recounted, which needs the table in memory: add "
            "--engine memory, or load the table as a file."
        )
    released = run.recoding.released
    m = len(released.attributes)
    known = m if known is None else min(known, m)
    n_choices = math.comb(m, known)
    if n_choices > MOST_CHOICES:
        raise PlanError(
            f"There are {write_count(n_choices)} ways to choose {known} of {m} quasi-identifiers, "
            f"and at most {write_count(MOST_CHOICES)} are searched; assume that fewer are known, "
            "or all."
        )
    population = None
    if people is not None:
        prepared = run.prepared
        population = count_population(prepared.classes, people, prepared.plan.repairs).classes
    columns = tuple(sensitive.name for sensitive in released.sensitive)
    about = (released.n_records, known, m, population is not None, columns)
    plan = run.prepared.plan
    models = [getattr(model, "column", "") for model in plan.models]
    of_plan = (released.of, plan.order, tuple(name for name in columns if name in models))
    if not released.n_classes:
        return ReachedNumbers(*about, {}, *of_plan)
    worst: dict[_LevelKey, float] = {}
    choice_of_level: dict[_LevelKey, tuple[int, ...]] = {}
    for place, places in enumerate(combinations(range(m), known)):
        progress(place / n_choices, f"choice {place + 1} of {n_choices}")
        for key, level in _measure_levels(released, places, population):
            if key not in worst or _is_worse(key, level, worst[key]):
                worst[key], choice_of_level[key] = level, places
    recounted = [choice_of_level[key] for key in worst if key[0] in ("k", *OF_COLUMNS)]
    for places in dict.fromkeys(recounted):
        for key, level in _count_rows_again(run, places):
            if choice_of_level[key] == places:
                worst[key] = level
    return ReachedNumbers(*about, worst, *of_plan)


def _is_worse(key: _LevelKey, level: float, worst: float) -> bool:
    return level > worst if key[0] == "t" else level < worst


def _measure_levels(
    released: EquivalenceClasses, places: Sequence[int], behind: EquivalenceClasses | None
) -> Iterator[tuple[_LevelKey, float]]:
    alike = project_classes(released, places)
    yield ("k", ""), int(alike.hiding.min())
    risk = prosecutor(alike)
    if behind is not None:
        risk = journalist(alike, count_people_below(alike, project_classes(behind, places)))
    assert risk is not None
    yield ("highest_risk", ""), 1 / risk.highest
    yield ("mean_risk", ""), 1 / risk.mean
    for sensitive in alike.sensitive:
        yield ("l", sensitive.name), float(entropy_l_diversity.each(sensitive).min())
        yield ("t", sensitive.name), float(t_closeness.each(sensitive, "variational").max())


def _count_rows_again(run: Run, places: Sequence[int]) -> Iterator[tuple[_LevelKey, float]]:
    released = run.recoding.released
    quasi = [released.attributes[place] for place in places]
    sensitive = [column_name.name for column_name in released.sensitive]
    person, persons = run.prepared.plan.person, run.persons_released()
    closeness = {"model": "t-closeness", "t": 1, "distance": "variational"}
    plan = Plan.from_content(
        {
            "version": VERSION,
            "columns": {
                **{name: {"role": "quasi-identifier"} for name in quasi},
                **{name: {"role": "sensitive"} for name in sensitive},
                **({} if person is None else {person: {"role": "identifier", "pseudonym": True}}),
            },
            "person": person,
            "algorithm": {"name": run.prepared.plan.algorithm.name},
            "privacy": [
                {"model": "k-anonymity", "k": 2},
                *({"model": "entropy-l-diversity", "l": 1, "column": name} for name in sensitive),
                *({**closeness, "column": name} for name in sensitive),
            ],
        }
    )
    rows = run.released(index=True)
    if run.prepared.plan.suppressed == "keep":
        rows = rows.reset_index(drop=True)
        rows, _ = remove_suppressed_rows(rows)
        persons = None if persons is None else persons.iloc[rows.index]
    verdicts = check_release(rows, plan, None, persons)
    k = "k-anonymity" if person is None else "k-in-persons"
    names = {k: "k", "entropy-l-diversity": "l", "t-closeness": "t"}
    require_verdicts(
        [verdict for verdict in verdicts if verdict.model not in (*names, "k-anonymity")]
    )
    for verdict in verdicts:
        if verdict.model in names:
            assert verdict.level is not None  # there are classes
            column = verdict.column if names[verdict.model] in OF_COLUMNS else ""
            yield (names[verdict.model], column), verdict.level


_AUDIENCES: Mapping[Release, str] = {
    "public": "for a release that anyone may get",
    "research": "for a release to researchers under a contract",
    "internal": "for a release only inside the organisation",
}

_SENTENCES = read_data(__file__)


# --- the verdict ----------------------------------------------------------------------------
@dataclass(frozen=True)
class ThresholdResult:
    """One threshold, and what a release reached."""

    threshold: Threshold
    column: str  # the sensitive column that it is about, or ""
    reached: float | None  # the level of the worst class; None: not measured
    of: CountedUnit = "records"  # what k counts
    reason: str = ""  # why it was not measured

    @property
    def unit(self) -> str:
        """The unit of the level reached: records or persons for k, else that of the threshold."""
        return self.of if self.threshold.card.name == "k" else self.threshold.card.unit

    @property
    def met(self) -> bool:
        """Whether the level reached satisfies the threshold; what was not measured does not."""
        return self.reached is not None and self.threshold.met(self.reached)

    @property
    def verdict(self) -> str:
        """Met, not met or not measured."""
        if self.reached is None:
            return "not measured"
        return "met" if self.met else "not met"

    @property
    def mark(self) -> str:
        """The verdict as a sign."""
        return {"met": "✓", "not met": "✗", "not measured": "?"}[self.verdict]

    @property
    def sentence(self) -> str:
        """What was reached and what is required, without names of measures.

        >>> print(ThresholdResult(list_thresholds(Context(release="public"))["k"], "", 5).sentence)
        at least 5 records look alike (required: 11)
        """
        reached, wanted = self.shown
        if self.reached is None:
            about = f", {quote(self.column)}" if self.column else ""
            return f"{self.threshold.card.title}{about}: {self.reason} (required: {wanted})"
        name = self.threshold.card.name
        template = _SENTENCES["l_of_one" if (name, reached) == ("l", "1") else name]
        return template.format(
            reached=reached, wanted=wanted, column=quote(self.column), of=self.of
        )

    @property
    def shown(self) -> tuple[str, str]:
        """What was reached, never rounded to the better side, and what is required."""
        assert self.threshold.wanted is not None
        wanted = f"{self.threshold.wanted:.12g}"
        if self.reached is None:
            return "not measured", wanted
        up = self.threshold.card.direction == "lower"
        return rounded(float(self.reached), up=up), wanted


@dataclass(frozen=True, eq=False)
class Decision:
    """The thresholds of a context, and what a release reached."""

    context: Context
    reached: ReachedNumbers
    parts: tuple[ThresholdResult, ...]  # one per threshold that the context sets

    @property
    def holds(self) -> bool:
        """Whether all thresholds are met; so too where there is none.

        Where nothing is released, only the use of the release is judged.
        """
        return all(part.met for part in self.parts)

    @property
    def sentence(self) -> str:
        """The verdict: what was checked, met, not met, and not considered."""
        first, *last = self.apart
        sentences_of_heading = {
            heading: [part.sentence for part in self.parts if part.verdict == heading.lower()]
            for heading in ("Not met", "Not measured", "Met")
        }
        listed = [
            f"{heading}: {'; '.join(parts)}."
            for heading, parts in sentences_of_heading.items()
            if parts
        ]
        return " ".join([first, *listed, *last])

    @property
    def tally(self) -> str:
        """How many thresholds are met, and of how many."""
        return f"{sum(part.met for part in self.parts)} of {len(self.parts)}"

    @property
    def apart(self) -> tuple[str, ...]:
        """The sentences of the verdict around the list of thresholds."""
        if not self.reached.levels:
            first = "Nothing is released: every record is suppressed"
            return (f"{first}." if self.parts else f"{first}, so nothing was checked.",)
        if not self.parts:
            return ("No threshold is set that can be counted here, so nothing was checked.",)
        records = count_noun(self.reached.records, "released record")
        met, n_thresholds = sum(part.met for part in self.parts), len(self.parts)
        audience, controls = _AUDIENCES[self.context.release], self.context.controls
        if self.context.invasion is not None and not (controls and controls.contract):
            audience = audience.removesuffix(" under a contract")  # asked for, and there is none
        first = (
            f"Checked on {records}, {audience}, against someone who looks "
            f"for a person and {self._knows}: {met} of {count_noun(n_thresholds, 'threshold')} "
            f"{'is' if met == 1 else 'are'} met."
        )
        unasked = [f"No threshold protects {self._unprotected}."] if self._unprotected else []
        return (first, *unasked, f"Not considered: {self._caveats}.")

    @property
    def _knows(self) -> str:
        m, known = self.reached.n_quasi_identifiers, self.reached.known
        columns = "all their quasi-identifiers"
        if known < m:
            columns = f"any {known} of their {m} quasi-identifiers"
        if self.context.attacker == "prosecutor":
            return f"knows {columns} and that the person is in the table"
        return f"knows {columns}, but not whether the person is in the table"

    @property
    def _unprotected(self) -> str:
        if any(part.column for part in self.parts):
            return ""
        if not self.reached.sensitive:
            return "sensitive values, because no column has the role sensitive"
        required = self.reached.required_of
        columns = [quote(name) for name in self.reached.sensitive if name not in required]
        if not columns:
            return ""
        return f"{join_words(columns)}, so everyone in a class might share one value there"

    @property
    def _caveats(self) -> str:
        text = NOT_CONSIDERED + (TABLE_ORDER if self.reached.order == "table" else "")
        if self.reached.known < self.reached.n_quasi_identifiers:
            known = count_noun(self.reached.known, "quasi-identifier")
            text = f"that someone knows more than {known}, {text}"
        if self.context.attacker == "journalist" and not self.reached.population:
            text += (
                ". No population was given, so everyone counts as known to be in the table; this "
                "never makes the risk look smaller"
            )
        return text

    @property
    def numbers(self) -> dict[str, Any]:
        """The context, the verdict, and each threshold with its level, as JSON can store them."""
        return {
            "context": self.context.content,
            "records": self.reached.records,
            "known": self.reached.known,
            "population": self.reached.population,
            "holds": self.holds,
            "verdict": self.sentence,
            "thresholds": [
                {
                    "threshold": part.threshold.card.name,
                    "column": part.column or None,
                    "unit": part.unit,
                    "direction": part.threshold.card.direction,
                    "wanted": part.threshold.wanted,
                    "reached": part.reached,
                    "met": part.met,
                    "source": part.threshold.source,
                }
                for part in self.parts
            ],
        }


def compare_with_thresholds(
    context: Context,
    reached: ReachedNumbers,
    evidence: Evidence | None = None,
    usefulness: Mapping[str, float | None] | None = None,
) -> Decision:
    """Compare what a release reached with the thresholds of a context; see this module's example.

    ``reached`` has to be measured for as many known quasi-identifiers as the context says. A
    threshold on the attack or on the use of the release is not met where these are not measured.
    """
    required = list_thresholds(context)
    levels: dict[_LevelKey, float | None] = dict(reached.levels)
    if reached.levels and evidence is not None:
        levels |= _list_attack_levels(evidence)
    if usefulness is not None:
        levels |= {(name, ""): value for name, value in usefulness.items()}
    for name in (*(OF_EVIDENCE if reached.levels else ()), *OF_USEFULNESS):
        for column in reached.sensitive if name in OF_COLUMNS else ("",):
            levels.setdefault((name, column), None)
    known = {*(usefulness or ())}
    parts = [
        ThresholdResult(
            required[name], column, level, reached.of, _explain_missing_figure(name in known, level)
        )
        for (name, column), level in levels.items()
        if required[name].wanted is not None
    ]
    order = list(required)
    parts.sort(key=lambda part: order.index(part.threshold.card.name))
    return Decision(context, reached, tuple(parts))


def _list_attack_levels(evidence: Evidence) -> Iterator[tuple[_LevelKey, float]]:
    yield ("singling_out", ""), 100 * evidence.singling_out.value
    yield ("linkability", ""), 100 * evidence.linkability.value
    for column, figure in evidence.inference.items():
        without = figure.baseline if figure.control is None else figure.control
        assert without is not None
        yield ("inference", column), 100 * (figure.value - without)


def _explain_missing_figure(tried: bool, level: float | None) -> str:
    if level is not None:
        return ""
    return "this table has nothing to measure it on" if tried else "not measured yet"


def build_decision_table(decision: Decision) -> pd.DataFrame:
    """A row per threshold."""
    return pd.DataFrame(
        [
            (
                part.threshold.card.title,
                part.column,
                part.unit,
                *reversed(part.shown),
                part.verdict,
                part.threshold.source,
            )
            for part in decision.parts
        ],
        columns=["Threshold", "Column", "Unit", "Wanted", "Reached", "Verdict", "Source"],
    )
