"""The results for the table of a session."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from kanon.algorithms.lower_bound import LowerBound
from kanon.algorithms.solution import FINISHED_K, Solution, join_solutions
from kanon.base.fingerprint import compute_fingerprint
from kanon.evidence.attack import Evidence
from kanon.evidence.sample_risk import SampleRisk
from kanon.experiments.advisor.repetition import RepeatedLoss
from kanon.experiments.comparison import Comparison
from kanon.experiments.exploration import Exploration
from kanon.experiments.greatest_k import GreatestK
from kanon.experiments.searches import Searches
from kanon.experiments.simulated.study import RunResult
from kanon.experiments.studies import LearntScores, ReleaseMeasures
from kanon.learning.experiments import Outcome
from kanon.measures.along import Curves, Points
from kanon.metrics import Metric
from kanon.plan import Plan
from kanon.privacy.model import SensitiveModel
from kanon.recoding import Trace
from kanon.release.attack_and_use import AttackAndUse
from kanon.release.composition import CombinedReleases
from kanon.release.remark_kinds import Remark
from kanon.report.contents import Report
from kanon.report.origin import Origin
from kanon.run import PreparedRun, Run, release_at
from kanon.studio.session.parts import StateSection


@dataclass(frozen=True, eq=False)
class EngineReleaseFacts:
    """All that a worker tells of a release that an engine wrote."""

    measures: Mapping[str, Any]  # What the command line writes into ``M.json``
    alteration: float  # What it lost, as the plan's metric counts, in percent
    original_classes: int  # The number of classes of the table
    heights: Mapping[str, int]  # Per quasi-identifier the number of levels of its hierarchy
    trace: Trace  # What the algorithm did
    # Sentences, or empty: the parts the classes were cut into, what is proved of the least loss,
    # what every class meets, and what is released.
    parts: str
    proof: str
    met: str
    leaves: str
    remarks: tuple[Remark, ...]  # What the release may reveal although it meets its models


@dataclass(frozen=True, eq=False)
class EngineRelease:
    plan: Plan
    settings: str
    found: EngineReleaseFacts
    place: str  # Where it is
    seconds: float  # How long all of it took


@dataclass(frozen=True, eq=False)
class AnonymisationResult:
    prepared: PreparedRun  # Stays the same object while more k become known
    solution: Solution
    settings: str
    seconds_behind: float = 0.0  # How long runs for other k took that began by themselves
    shown: bool = True  # Whether somebody asked for it; an alternative is dropped before it

    @property
    def known(self) -> tuple[int, ...] | None:
        """The k that were computed, rising; None if every k up to n can be looked up."""
        if self.solution.path is None:
            return self.solution.known or (self.prepared.plan.k,)
        return self.solution.known

    def k_for(self, k: int) -> int:
        """The k that can be shown: any up to n, or the nearest that was computed."""
        most = min(k, self.prepared.classes.n_records)
        if self.known is None:
            return most
        return min(self.known, key=lambda number: abs(math.log(number / most)))

    def list_offered_k(self, also: int) -> list[int] | None:
        """The k of a slider, known or not; None if every k up to n can be looked up."""
        if self.known is None:
            return None
        most = self.prepared.classes.highest_k
        more = {k for k in (*FINISHED_K, min(also, most)) if 2 <= k <= most}
        return sorted(more | {*self.known})

    def list_missing_k(self, near: int) -> list[int]:
        """The k of the slider that are not known yet, the nearest first."""
        missing = {*(self.list_offered_k(near) or ())}.difference(self.known or ())
        return sorted(missing, key=lambda k: (abs(math.log(k / near)), k))

    def compute_release_key(self, k: int) -> str:
        """A fingerprint of a release, as ``hash_release_inputs`` computes it."""
        return compute_fingerprint(self.settings, k)

    def release(self, k: int, order: Literal["released", "table"] = "released") -> Run:
        """Look up the release for k and check it against its plan, without a new run."""
        plan = self.prepared.plan.model_copy(update={"order": order})
        return release_at(replace(self.prepared, plan=plan), self.solution, k)


_MOST_RESULTS, _MOST_CLASSES = 8, 2_000_000
"""So many results of *Anonymise* are kept, with their paths; fewer of more classes."""

_MOST_ALTERNATIVES = 4  # And so many that only ran behind the page


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    comparison: Comparison
    key: str
    wanted: str = ""  # What was asked for, if it ended early and has only the finished lines


@dataclass(frozen=True, eq=False)
class SearchesResult:
    searches: Searches
    settings: str


@dataclass(frozen=True, eq=False)
class GreatestKResult:
    found: GreatestK
    model: SensitiveModel
    metric: Metric
    settings: str


AdviceRequirements = tuple[tuple[int, ...], tuple[tuple[str, float], ...]]
"""The k that the advisor averages over, and the required least k and l and largest t."""


@dataclass(frozen=True, eq=False)
class AdviceResult:
    comparison: Comparison
    settings: str  # A fingerprint of all that it depends on
    # The loss of repeated runs, by what was required and the place of a line.
    repeated_losses: Mapping[tuple[AdviceRequirements, int], RepeatedLoss]


@dataclass(frozen=True, eq=False)
class LatticeResult:
    exploration: Exploration
    settings: str


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """A run of a comparison, kept so that others need not repeat it."""

    numbers: Curves | Points  # The criteria over k
    metric_ids: frozenset[str]  # What each metric was that its releases were measured in
    n_records: int  # n; the number of persons, where k counts them
    best_l: Mapping[str, float]  # See :class:`kanon.experiments.comparison.Line`


@dataclass(frozen=True)
class LowerBoundResult:
    bound: LowerBound
    closely: bool


@dataclass(frozen=True, eq=False)
class AttackAndUseResult:
    measured: AttackAndUse
    release: str  # The key of the release that it is about
    names: frozenset[str]  # The thresholds for which it was measured


@dataclass(frozen=True, eq=False)
class EvidenceResult:
    evidence: Evidence
    release: str  # The key of the release that it is about
    # How it was measured: the most known columns, whether with a control, the population.
    options: tuple[int, bool, Origin | None]
    date: str  # The day, such as 2026-01-31

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same for ``kanon report``."""
        known, with_control, _ = self.options
        return ("--attack", "--known", str(known), *(() if with_control else ("--no-control",)))


# The share in %, the column of weights, the column of households.
SampleOptions = tuple[float | None, str | None, str | None]


@dataclass(frozen=True, eq=False)
class SampleRiskResult:
    risk: SampleRisk
    release: str  # The key of the release that it is about
    options: SampleOptions


@dataclass(frozen=True, eq=False)
class SessionResults(StateSection):
    """All results for a table, replaced whole with it."""

    result: AnonymisationResult | None = None  # Of each kind the last one
    results: Mapping[str, AnonymisationResult] = field(default_factory=dict)  # By their settings
    engine_release: EngineRelease | None = None
    comparison: ComparisonResult | None = None
    searches: SearchesResult | None = None
    greatest_k: GreatestKResult | None = None
    advice: AdviceResult | None = None
    what_if: tuple[ComparisonResult, ComparisonResult] | None = None  # Before and after an edit
    together: tuple[str, CombinedReleases] | None = None  # With a fingerprint of the releases
    lattice: LatticeResult | None = None
    attack_and_use: AttackAndUseResult | None = None
    report: Report | None = None
    report_population: Origin | None = None  # The population that the report counted, if any
    report_release: str = ""  # The key of the release that it is about
    sample_risk: SampleRiskResult | None = None
    evidence: EvidenceResult | None = None  # Of the release that it names, see get_evidence
    # By a fingerprint of all that each depends on; a cancelled study leaves what it found.
    runs: Mapping[str, MeasuredRun] = field(default_factory=dict)
    learnt: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    predictions: Mapping[str, tuple[ReleaseMeasures | LearntScores, ...]] = field(
        default_factory=dict
    )
    simulations: Mapping[str, tuple[RunResult, ...]] = field(default_factory=dict)
    bounds: Mapping[str, LowerBoundResult] = field(default_factory=dict)

    def compute_release_key(self, k: int) -> str:
        """The key of the release on screen where k is chosen; empty without one."""
        result = self.result
        return "" if result is None else result.compute_release_key(result.k_for(k))

    def get_evidence(self, release: str) -> EvidenceResult | None:
        """What was measured of the release with this key; None if that was another one."""
        measured = self.evidence
        return measured if measured is not None and measured.release == release else None

    def get_attack_and_use(self, release: str, names: Collection[str]) -> AttackAndUse | None:
        """What was measured of it for thresholds; None if these need more."""
        result = self.attack_and_use
        if result is None or result.release != release or not result.names.issuperset(names):
            return None
        return result.measured

    def keep_solution(
        self,
        prepared: PreparedRun,
        solution: Solution,
        settings: str,
        show: bool = True,
        seconds_behind: float = 0.0,
    ) -> SessionResults:
        """Keep a solution beside the k known for its settings; the oldest results are dropped."""
        others = {key: result for key, result in self.results.items() if key != settings}
        before = False
        if known := self.results.get(settings):
            solution = join_solutions(known.solution, solution)
            seconds_behind += known.seconds_behind
            before = known.shown
        result = AnonymisationResult(prepared, solution, settings, seconds_behind, show or before)
        most = min(_MOST_RESULTS, max(1, _MOST_CLASSES // max(1, prepared.classes.n_classes)))
        results = {**others, settings: result}
        for kind, limit in ((True, most), (False, _MOST_ALTERNATIVES)):
            oldest = [key for key, other in results.items() if other.shown is kind][:-limit]
            results = {key: other for key, other in results.items() if key not in oldest}
        shown = show or (self.result is not None and self.result.settings == settings)
        return replace(self, results=results, result=result if shown else self.result)
