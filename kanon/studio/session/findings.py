"""What was worked out for the table of a session."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from kanon.algorithms.lower_bound import LowerBound
from kanon.algorithms.solution import Solution
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
from kanon.release.composition import CombinedReleases
from kanon.release.remark_kinds import Remark
from kanon.report.contents import Report
from kanon.report.origin import Origin
from kanon.run import PreparedRun, Run, release_at
from kanon.studio.session.parts import SessionPart


@dataclass(frozen=True, eq=False)
class EngineFindings:
    """What a worker tells of a release that an engine made and wrote: all but the release."""

    measures: Mapping[str, Any]  # What the command line writes into ``M.json``
    alteration: float  # What it lost, as the plan's metric counts, in percent
    original_classes: int  # The number of classes of the table
    heights: Mapping[str, int]  # Per quasi-identifier the number of levels of its hierarchy
    trace: Trace  # What the algorithm did
    # Into how many parts the classes were cut, what is proved of the least loss, what every class
    # meets, and what leaves: sentences, or nothing.
    parts: str
    proof: str
    met: str
    leaves: str
    remarks: tuple[Remark, ...]  # What the release may give away although it meets its models


@dataclass(frozen=True, eq=False)
class EngineRelease:
    plan: Plan  # What it was made by, and a fingerprint of that
    settings: str
    found: EngineFindings  # What is known of it
    place: str  # Where it is
    seconds: float  # How long all of it took


@dataclass(frozen=True, eq=False)
class Result:
    prepared: PreparedRun
    solution: Solution
    settings: str

    @property
    def known(self) -> tuple[int, ...] | None:
        """The k that were computed, rising; None if every k up to n can be looked up."""
        if self.solution.path is None:
            return self.solution.known or (self.prepared.plan.k,)
        return self.solution.known

    def k_for(self, k: int) -> int:
        """The k that can be shown: any up to n, or the nearest of those that were computed."""
        most = min(k, self.prepared.classes.n_records)
        if self.known is None:
            return most
        return min(self.known, key=lambda number: abs(math.log(number / most)))

    def release(self, k: int, order: Literal["released", "table"] = "released") -> Run:
        """The release for k: looked up, checked against its plan, not computed again."""
        plan = self.prepared.plan.model_copy(update={"order": order})
        return release_at(replace(self.prepared, plan=plan), self.solution, k)


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    comparison: Comparison
    settings: str
    seconds: float
    key: str = ""


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


AskedOfWays = tuple[tuple[int, ...], tuple[tuple[str, float], ...]]
"""The k that the advisor averages over, and what k and l should be at least and t at most."""


@dataclass(frozen=True, eq=False)
class AdviceResult:
    comparison: Comparison  # The ways side by side
    settings: str  # A fingerprint of all that they depend on
    # Per what was asked and place of a way what it lost when it was run again.
    again: Mapping[tuple[AskedOfWays, int], RepeatedLoss]


@dataclass(frozen=True, eq=False)
class LatticeResult:
    explored: Exploration
    settings: str


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """A run that a comparison made, so that no other one makes it again."""

    numbers: Curves | Points  # The criteria over k
    measured: frozenset[str]  # What each metric was that its releases were measured in
    n_records: int  # n; the number of persons, where k counts them
    best_l: Mapping[str, float]  # See :class:`kanon.experiments.comparison.Line`


@dataclass(frozen=True)
class FoundBound:
    """A lower bound of all releases, and whether it was looked for closely."""

    bound: LowerBound
    closely: bool


@dataclass(frozen=True, eq=False)
class Findings(SessionPart):
    """All that was worked out for a table: replaced whole when there is another one."""

    # The last finished run, comparison, measurement of the searches, and greatest k with a model.
    result: Result | None = None
    # The last release that an engine made and wrote, of classes that stay there.
    engine_release: EngineRelease | None = None
    comparison: ComparisonResult | None = None
    searched: SearchesResult | None = None
    greatest: GreatestKResult | None = None
    # Every metric, strategy and scope, as the advisor tried them last.
    advised: AdviceResult | None = None
    # The comparison before an edit and the one after it.
    what_if: tuple[ComparisonResult, ComparisonResult] | None = None
    # What several releases say together, with a fingerprint of which.
    together: tuple[str, CombinedReleases] | None = None
    found_lattice: LatticeResult | None = None  # The last lattice that a worker looked at
    # The report made last; and the fingerprint of the population that it counted, None if it
    # counted none.
    reported: Report | None = None
    reported_people: Origin | None = None
    # What comparisons have found, what trained classifiers scored, what releases were measured and
    # learnt from, and what came of the runs of the simulated study: by a fingerprint of all that
    # each depends on. A cancelled study leaves what it found.
    runs: Mapping[str, MeasuredRun] = field(default_factory=dict)
    learnt: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    predicted: Mapping[str, tuple[ReleaseMeasures | LearntScores, ...]] = field(
        default_factory=dict
    )
    simulations: Mapping[str, tuple[RunResult, ...]] = field(default_factory=dict)
    # What no release can lose less than, by a fingerprint of all that it depends on.
    bounds: Mapping[str, FoundBound] = field(default_factory=dict)
