"""The advisor of a session: what it is asked, what it found, what is done with a proposal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from kanon.base.formatting import counted, round_apart, thin
from kanon.base.how_texts import Sections
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments.advisor.advice import Advice, try_ways
from kanon.experiments.advisor.repetition import RepeatedLoss, run_again
from kanon.experiments.advisor.ways import averaged_k, plan_to_advise, runs_of, tried_k, ways
from kanon.experiments.advisor.weights import weigh
from kanon.experiments.comparison import Comparison
from kanon.experiments.criteria import COSTLESS
from kanon.experiments.sweep import Configuration, PlannedRun
from kanon.measures.along import Points
from kanon.plan import Plan
from kanon.privacy.k_anonymity import too_few_records
from kanon.privacy.persons import too_few_persons
from kanon.release.context import least_k, thresholds
from kanon.run import prepare
from kanon.studio.decide.settings_undo import with_taken
from kanon.studio.decide.state import DecideView
from kanon.studio.session.findings import AdviceResult, AskedOfWays
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.work import Request, Work

_how = Sections(__file__)

WAY = "Way"  # the head of the column that names a way


@dataclass(frozen=True, eq=False)
class AdviceJob:
    """What a worker is given to try every metric, strategy and scope."""

    runs: list[PlannedRun]
    wanted: tuple[Configuration, ...]
    tried: tuple[int, ...]  # all k that are run
    ks: tuple[int, ...]  # the k that are averaged over
    limits: Mapping[str, float]  # what part 1 asks of k, l and t
    settings: str  # a fingerprint of all that the ways depend on

    @property
    def asked(self) -> AskedOfWays:
        return self.ks, tuple(sorted(self.limits.items()))


def plan_of_advice(work: Work) -> Plan:
    """The plan of the advisor: GAA, whatever algorithm is chosen."""
    chosen = work.with_parts(
        replace(
            work.settings,
            algorithm="gaa",
            metric="nllm",
            strategy="s1",
            scope="table",
            sensitive=None,
        )
    )
    plan = plan_of(chosen)
    named = plan.algorithm.model_copy(update={"sensitive": work.focus or None})
    return plan_to_advise(plan.model_copy(update={"algorithm": named}))


def settings_of_advice(work: Work) -> str:
    """A fingerprint of all that the ways depend on, but for k."""
    return settings_of(work, plan_of_advice(work))


def ks_of(work: Work) -> tuple[int, ...]:
    """The k that are averaged over; PlanError if their range is empty."""
    view = work.view(DecideView).advice
    return averaged_k(view.low or work.settings.k, view.high)


def limits_of(work: Work) -> dict[str, float]:
    """What part 1 asks of k, l and t, if that counts here; k only if it is more than asked here."""
    if not work.view(DecideView).advice.limited:
        return {}
    asked = thresholds(work.purpose.context)
    wanted: dict[str, float | None] = {}
    if least_k(work.purpose.context) > ks_of(work)[0]:
        wanted["k"] = least_k(work.purpose.context)
    if work.table.sensitive_columns:
        wanted |= {name: asked[name].wanted for name in ("l", "t")}
    return {name: float(value) for name, value in wanted.items() if value is not None}


def limits_said(work: Work) -> str:
    view = replace(work.view(DecideView).advice, limited=True)
    limits = limits_of(work.with_parts(replace(work.view(DecideView), advice=view)))
    signs = {"k": "≥", "l": "≥", "t": "≤"}
    return ", ".join(f"{name} {signs[name]} {value:g}" for name, value in limits.items())


def asked_of(work: Work) -> AdviceJob:
    """What a worker is given to try every way; KanonError if a k or a model cannot be reached."""
    plan = plan_of_advice(work)
    ks, prepared = ks_of(work), prepare(plan, work.table.records)
    wanted = ways(plan.led_by is not None, plan.algorithm.tie_seed)
    runs = runs_of(prepared, wanted)
    runs[0].task.for_k(max(ks)).check()
    tried = tried_k(ks, prepared.classes.highest_k)
    return AdviceJob(runs, wanted, tried, ks, limits_of(work), settings_of(work, plan))


CONCERNS: Mapping[str, str] = {
    "utility": "Little is lost",
    "l": "Mixed classes (l)",
    "t": "Classes like the table (t)",
}
"""What each concern is called beside its slider."""


def concerns_of(work: Work) -> list[str]:
    """The concerns that can matter here: without a sensitive column, the utility alone."""
    return list(CONCERNS) if work.table.sensitive_columns else ["utility"]


def check_matters(work: Work) -> None:
    """Raise PlanError if all concerns weigh 0."""
    names = concerns_of(work)
    if not any(work.view(DecideView).advice.weights[name] for name in names):
        raise PlanError(
            "All weights are 0, so nothing matters; move at least one above 0: "
            f"{', '.join(CONCERNS[name] for name in names)}."
        )


def advice_request(work: Work) -> Request:
    asked, weights = asked_of(work), work.view(DecideView).advice.weights
    check_matters(work)
    then = partial(with_ways, asked.settings, asked.asked)
    given = (asked.runs, asked.wanted, asked.tried, asked.ks, weights, asked.limits)
    return Request("advising", try_ways, given, then, limit="study_minutes")


def repetition_request(work: Work, places: Sequence[int]) -> Request:
    """Run some proposals again, in other orders of ties and on other records."""
    asked = asked_of(work)
    runs, then = [asked.runs[place] for place in places], partial(with_again, asked.asked, places)
    given = (runs, asked.ks, asked.limits)
    return Request("advising", run_again, given, then, limit="study_minutes")


def with_ways(
    settings: str,
    asked: AskedOfWays,
    work: Work,
    found: tuple[Comparison, Mapping[int, RepeatedLoss]],
) -> Work:
    comparison, again = found
    known = {(asked, place): one for place, one in again.items()}
    advised = AdviceResult(comparison, settings, known)
    return work.with_parts(replace(work.findings, advised=advised))


def with_again(
    asked: AskedOfWays, places: Sequence[int], work: Work, found: Sequence[RepeatedLoss]
) -> Work:
    advised = work.findings.advised
    if advised is None:
        return work
    more = {(asked, place): one for place, one in zip(places, found, strict=True)}
    advised = replace(advised, again={**advised.again, **more})
    return work.with_parts(replace(work.findings, advised=advised))


def advice_of(work: Work, advised: AdviceResult) -> Advice:
    """What the advisor says for the present weights, limits and k; nothing is run."""
    ks, comparison = ks_of(work), advised.comparison
    if max(ks) > comparison.n_records:
        too_few = too_few_records if work.table.person is None else too_few_persons
        raise Unsatisfiable(too_few(max(ks), comparison.n_records))
    view = work.view(DecideView).advice
    weighed = weigh(comparison, ks, view.weights, limits_of(work))
    asked = ks, tuple(sorted(weighed.limits.items()))
    own = {place: one for (known, place), one in advised.again.items() if known == asked}
    return Advice(weighed, own)


def tried(work: Work, advised: AdviceResult) -> bool:
    """Whether the k that are asked for were tried."""
    ks, comparison = ks_of(work), advised.comparison
    if any(isinstance(run, Points) for line in comparison.lines for run in line.runs.values()):
        return set(ks) <= set(comparison.ks)
    return max(ks) <= max(comparison.ks)


def k_asked(work: Work) -> int:
    """The k that a proposal is taken for: of a range that of the settings, if it is inside."""
    ks = ks_of(work)
    return work.settings.k if ks[0] <= work.settings.k <= ks[-1] else ks[0]


def with_proposal(work: Work, configuration: Configuration, k: int) -> Work:
    """The work with the settings of a proposal for ``k``, as if they had been chosen by hand.

    A strategy that counts no cost leaves the metric as it is.
    """
    return with_taken(
        work,
        "settings",
        "The settings were taken; press Anonymise on the page Anonymise.",
        replace(
            work.settings,
            algorithm="gaa",
            metric=work.settings.metric
            if configuration.strategy in COSTLESS
            else configuration.metric,
            strategy=configuration.strategy,
            scope=configuration.scope,
            sensitive=work.focus or None,
            k=k,
        ),
    )


def ways_said(work: Work) -> str:
    if not work.table.sensitive_columns:
        return (
            "No column is sensitive, so there is no l and no t, and only S1 can be followed: "
            f"{len(ways(False))} ways, compared by their alteration."
        )
    return counted(
        len(ways(True)), "way is tried, once for every k.", "ways are tried, each once for every k."
    )


def ways_shown(table: pd.DataFrame) -> pd.DataFrame:
    heads = {
        "rank": "Rank",
        "way": WAY,
        "score": "Score, % ↓",
        "mean_alteration": "Alteration, % ↓",
        "l": "l ↑",
        "t": "t, 0 to 1 ↓",
        "front": "Nothing beats it",
        "meets_limits": "As part 1 asks",
    }
    found = table[[name for name in heads if name in table]].rename(columns=heads)
    numbers = found.select_dtypes("float").columns
    return found.assign(**{name: round_apart(found[name], 2) for name in numbers})


def how_advised(work: Work) -> str:
    weights = work.view(DecideView).advice.weights
    return _how(
        "advised",
        utility=weights["utility"],
        mixed=weights["l"],
        alike=weights["t"],
        whole=sum(weights.values()),
        records=thin(work.table.complete_records.n_records),
    )
