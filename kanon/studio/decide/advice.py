"""The advisor of a session: its settings, results and proposals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from kanon.base.formatting import write_count
from kanon.base.how_texts import Sections
from kanon.base.rounding import round_apart
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments.advisor.advice import Advice, run_configurations
from kanon.experiments.advisor.repetition import RepeatedLoss, run_again
from kanon.experiments.advisor.ways import (
    choose_averaged_k,
    choose_tried_k,
    create_advisor_runs,
    list_advisor_configurations,
    plan_to_advise,
)
from kanon.experiments.advisor.weights import rank_configurations
from kanon.experiments.comparison import Comparison
from kanon.experiments.criteria import COSTLESS
from kanon.experiments.sweep import Configuration, PlannedRun
from kanon.measures.along import Points
from kanon.plan import Plan
from kanon.privacy.k_anonymity import too_few_records
from kanon.privacy.persons import describe_too_few_persons
from kanon.release.context import compute_least_k, list_thresholds
from kanon.run import prepare
from kanon.studio.decide.settings_undo import take_settings
from kanon.studio.decide.state import AdviceView
from kanon.studio.session.findings import AdviceRequirements, AdviceResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.work import JobRequest, SessionState

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
    def asked(self) -> AdviceRequirements:
        return self.ks, tuple(sorted(self.limits.items()))


def plan_advice(work: SessionState) -> Plan:
    with_gaa = work.replace_sections(
        replace(
            work.settings,
            algorithm="gaa",
            metric="nllm",
            strategy="s1",
            scope="table",
            sensitive=None,
        )
    )
    plan = build_plan(with_gaa)
    algorithm = plan.algorithm.model_copy(update={"sensitive": work.focus or None})
    return plan_to_advise(plan.model_copy(update={"algorithm": algorithm}))


def get_advice_settings(work: SessionState) -> str:
    return hash_run_inputs(work, plan_advice(work))


def get_advice_ks(work: SessionState) -> tuple[int, ...]:
    """The k of the averages; PlanError if their range is empty."""
    view = work.view(AdviceView)
    return choose_averaged_k(view.low or work.settings.k, view.high)


def get_advice_limits(work: SessionState) -> dict[str, float]:
    """The thresholds of part 1, if they count here."""
    return _list_part_1_limits(work) if work.view(AdviceView).limited else {}


def _list_part_1_limits(work: SessionState) -> dict[str, float]:
    """The thresholds of part 1; k only if it is above the k of this part."""
    required = list_thresholds(work.purpose.context)
    limits: dict[str, float | None] = {}
    if compute_least_k(work.purpose.context) > get_advice_ks(work)[0]:
        limits["k"] = compute_least_k(work.purpose.context)
    if work.table.sensitive_columns:
        limits |= {name: required[name].wanted for name in ("l", "t")}
    return {name: float(value) for name, value in limits.items() if value is not None}


def describe_advice_limits(work: SessionState) -> str:
    signs = {"k": "≥", "l": "≥", "t": "≤"}
    return ", ".join(
        f"{name} {signs[name]} {value:g}" for name, value in _list_part_1_limits(work).items()
    )


def build_advice_job(work: SessionState) -> AdviceJob:
    plan = plan_advice(work)
    ks, prepared = get_advice_ks(work), prepare(plan, work.table.records)
    wanted = list_advisor_configurations(plan.led_by is not None, plan.algorithm.tie_seed)
    runs = create_advisor_runs(prepared, wanted)
    runs[0].task.for_k(max(ks)).check()
    tried = choose_tried_k(ks, prepared.classes.highest_k)
    return AdviceJob(runs, wanted, tried, ks, get_advice_limits(work), hash_run_inputs(work, plan))


CONCERNS: Mapping[str, str] = {
    "utility": "Little is lost",
    "l": "Mixed classes (l)",
    "t": "Classes like the table (t)",
}
"""The labels of the concerns beside their sliders."""


def list_concerns(work: SessionState) -> list[str]:
    return list(CONCERNS) if work.table.sensitive_columns else ["utility"]


def check_matters(work: SessionState) -> None:
    names = list_concerns(work)
    if not any(work.view(AdviceView).weights[name] for name in names):
        raise PlanError(
            "All weights are 0, so no concern counts; set at least one above 0: "
            f"{', '.join(CONCERNS[name] for name in names)}."
        )


def build_advice_request(work: SessionState) -> JobRequest:
    job, weights = build_advice_job(work), work.view(AdviceView).weights
    check_matters(work)
    then = partial(store_advice, job.settings, job.asked)
    arguments = (job.runs, job.wanted, job.tried, job.ks, weights, job.limits)
    return JobRequest("advising", run_configurations, arguments, then, limit="study_minutes")


def build_repetition_request(work: SessionState, places: Sequence[int]) -> JobRequest:
    job = build_advice_job(work)
    runs, then = [job.runs[place] for place in places], partial(store_repetition, job.asked, places)
    arguments = (runs, job.ks, job.limits)
    return JobRequest("advising", run_again, arguments, then, limit="study_minutes")


def store_advice(
    settings: str,
    asked: AdviceRequirements,
    work: SessionState,
    result: tuple[Comparison, Mapping[int, RepeatedLoss]],
) -> SessionState:
    comparison, again = result
    losses = {(asked, place): loss for place, loss in again.items()}
    advised = AdviceResult(comparison, settings, losses)
    return work.replace_sections(replace(work.findings, advice=advised))


def store_repetition(
    asked: AdviceRequirements,
    places: Sequence[int],
    work: SessionState,
    losses: Sequence[RepeatedLoss],
) -> SessionState:
    advised = work.findings.advice
    if advised is None:
        return work
    more = {(asked, place): loss for place, loss in zip(places, losses, strict=True)}
    advised = replace(advised, repeated_losses={**advised.repeated_losses, **more})
    return work.replace_sections(replace(work.findings, advice=advised))


def build_advice(work: SessionState, advised: AdviceResult) -> Advice:
    """The advice for the current weights, limits and k; nothing is run."""
    ks, comparison = get_advice_ks(work), advised.comparison
    if max(ks) > comparison.n_records:
        too_few = too_few_records if work.table.person is None else describe_too_few_persons
        raise Unsatisfiable(too_few(max(ks), comparison.n_records))
    view = work.view(AdviceView)
    ranking = rank_configurations(comparison, ks, view.weights, get_advice_limits(work))
    asked = ks, tuple(sorted(ranking.limits.items()))
    own = {
        place: loss
        for (loss_key, place), loss in advised.repeated_losses.items()
        if loss_key == asked
    }
    return Advice(ranking, own)


def has_tried_k(work: SessionState, advised: AdviceResult) -> bool:
    ks, comparison = get_advice_ks(work), advised.comparison
    if any(isinstance(run, Points) for line in comparison.lines for run in line.runs.values()):
        return set(ks) <= set(comparison.ks)
    return max(ks) <= max(comparison.ks)


def choose_proposal_k(work: SessionState) -> int:
    """The k for which a proposal is used: the k of the settings, if it is in the range."""
    ks = get_advice_ks(work)
    return work.settings.k if ks[0] <= work.settings.k <= ks[-1] else ks[0]


def take_proposal(work: SessionState, configuration: Configuration, k: int) -> SessionState:
    """Use the settings of a proposal for ``k``; a strategy without cost keeps the metric."""
    return take_settings(
        work,
        "settings",
        "The settings are now in use; press Anonymise on the Anonymise page.",
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


def describe_advice_size(work: SessionState) -> str:
    number = len(list_advisor_configurations(bool(work.table.sensitive_columns)))
    if work.table.sensitive_columns:
        return f"{number} configurations of metric, strategy and scope are tried for every k."
    return (
        "No column is sensitive, so there is no l or t, and only strategy S1 applies: "
        f"{number} configurations are compared by alteration only."
    )


def build_advice_table(table: pd.DataFrame) -> pd.DataFrame:
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


def explain_advice(work: SessionState) -> str:
    weights = work.view(AdviceView).weights
    return _how(
        "advised",
        utility=weights["utility"],
        mixed=weights["l"],
        alike=weights["t"],
        whole=sum(weights.values()),
        records=write_count(work.table.complete_records.n_records),
    )
