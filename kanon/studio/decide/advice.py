"""The advisor of a session: its settings, results and proposals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
from kanon.base.rounding import round_apart
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

WAY = "Configuration"  # the head of the column that names a configuration


@dataclass(frozen=True, eq=False)
class AdviceJob:
    runs: list[PlannedRun]
    wanted: tuple[Configuration, ...]
    tried: tuple[int, ...]  # all k that are run
    ks: tuple[int, ...]  # the k of the averages
    limits: Mapping[str, float]  # the thresholds of part 1 for k, l and t
    settings: str  # a fingerprint of everything that the results depend on

    @property
    def asked(self) -> AskedOfWays:
        return self.ks, tuple(sorted(self.limits.items()))


def plan_of_advice(work: Work) -> Plan:
    with_gaa = work.with_parts(
        replace(
            work.settings,
            algorithm="gaa",
            metric="nllm",
            strategy="s1",
            scope="table",
            sensitive=None,
        )
    )
    plan = plan_of(with_gaa)
    algorithm = plan.algorithm.model_copy(update={"sensitive": work.focus or None})
    return plan_to_advise(plan.model_copy(update={"algorithm": algorithm}))


def settings_of_advice(work: Work) -> str:
    return settings_of(work, plan_of_advice(work))


def ks_of(work: Work) -> tuple[int, ...]:
    """The k of the averages; PlanError if their range is empty."""
    view = work.view(DecideView).advice
    return averaged_k(view.low or work.settings.k, view.high)


def limits_of(work: Work) -> dict[str, float]:
    """The thresholds of part 1, if they count here; k only if it is above the k of this part."""
    if not work.view(DecideView).advice.limited:
        return {}
    required = thresholds(work.purpose.context)
    limits: dict[str, float | None] = {}
    if least_k(work.purpose.context) > ks_of(work)[0]:
        limits["k"] = least_k(work.purpose.context)
    if work.table.sensitive_columns:
        limits |= {name: required[name].wanted for name in ("l", "t")}
    return {name: float(value) for name, value in limits.items() if value is not None}


def limits_said(work: Work) -> str:
    view = replace(work.view(DecideView).advice, limited=True)
    limits = limits_of(work.with_parts(replace(work.view(DecideView), advice=view)))
    signs = {"k": "≥", "l": "≥", "t": "≤"}
    return ", ".join(f"{name} {signs[name]} {value:g}" for name, value in limits.items())


def asked_of(work: Work) -> AdviceJob:
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
"""The labels of the concerns beside their sliders."""


def concerns_of(work: Work) -> list[str]:
    return list(CONCERNS) if work.table.sensitive_columns else ["utility"]


def check_matters(work: Work) -> None:
    names = concerns_of(work)
    if not any(work.view(DecideView).advice.weights[name] for name in names):
        raise PlanError(
            "All weights are 0, so nothing matters; set at least one above 0: "
            f"{', '.join(CONCERNS[name] for name in names)}."
        )


def advice_request(work: Work) -> Request:
    job, weights = asked_of(work), work.view(DecideView).advice.weights
    check_matters(work)
    then = partial(with_ways, job.settings, job.asked)
    arguments = (job.runs, job.wanted, job.tried, job.ks, weights, job.limits)
    return Request("advising", try_ways, arguments, then, limit="study_minutes")


def repetition_request(work: Work, places: Sequence[int]) -> Request:
    job = asked_of(work)
    runs, then = [job.runs[place] for place in places], partial(with_again, job.asked, places)
    arguments = (runs, job.ks, job.limits)
    return Request("advising", run_again, arguments, then, limit="study_minutes")


def with_ways(
    settings: str,
    asked: AskedOfWays,
    work: Work,
    result: tuple[Comparison, Mapping[int, RepeatedLoss]],
) -> Work:
    comparison, again = result
    losses = {(asked, place): loss for place, loss in again.items()}
    advised = AdviceResult(comparison, settings, losses)
    return work.with_parts(replace(work.findings, advised=advised))


def with_again(
    asked: AskedOfWays, places: Sequence[int], work: Work, losses: Sequence[RepeatedLoss]
) -> Work:
    advised = work.findings.advised
    if advised is None:
        return work
    more = {(asked, place): loss for place, loss in zip(places, losses, strict=True)}
    advised = replace(advised, again={**advised.again, **more})
    return work.with_parts(replace(work.findings, advised=advised))


def advice_of(work: Work, advised: AdviceResult) -> Advice:
    """The advice for the current weights, limits and k; nothing is run."""
    ks, comparison = ks_of(work), advised.comparison
    if max(ks) > comparison.n_records:
        too_few = too_few_records if work.table.person is None else too_few_persons
        raise Unsatisfiable(too_few(max(ks), comparison.n_records))
    view = work.view(DecideView).advice
    ranking = weigh(comparison, ks, view.weights, limits_of(work))
    asked = ks, tuple(sorted(ranking.limits.items()))
    own = {place: loss for (loss_key, place), loss in advised.again.items() if loss_key == asked}
    return Advice(ranking, own)


def tried(work: Work, advised: AdviceResult) -> bool:
    ks, comparison = ks_of(work), advised.comparison
    if any(isinstance(run, Points) for line in comparison.lines for run in line.runs.values()):
        return set(ks) <= set(comparison.ks)
    return max(ks) <= max(comparison.ks)


def k_asked(work: Work) -> int:
    """The k for which a proposal is used: the k of the settings, if it is in the range."""
    ks = ks_of(work)
    return work.settings.k if ks[0] <= work.settings.k <= ks[-1] else ks[0]


def with_proposal(work: Work, configuration: Configuration, k: int) -> Work:
    """Use the settings of a proposal for ``k``; a strategy without cost keeps the metric."""
    return with_taken(
        work,
        "settings",
        "The settings are now in use; press Anonymise on the page Anonymise.",
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
            "No column is sensitive, so there is no l and no t, and only strategy S1 applies: "
            f"{len(ways(False))} configurations are compared by alteration alone."
        )
    return counted(
        len(ways(True)),
        "configuration of metric, strategy and scope is tried for every k.",
        "configurations of metric, strategy and scope are tried for every k.",
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
        "meets_limits": "Meets part 1",
    }
    visible = table[[name for name in heads if name in table]].rename(columns=heads)
    numbers = visible.select_dtypes("float").columns
    return visible.assign(**{name: round_apart(visible[name], 2) for name in numbers})


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
