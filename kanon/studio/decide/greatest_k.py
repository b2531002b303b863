"""The greatest k that a required model allows: its settings, results and sentences."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kanon.base.formatting import counted, percent, thin
from kanon.base.how_texts import Sections
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.experiments.greatest_k import WAYS, GreatestK, reverse
from kanon.metrics import Metric
from kanon.plan import Plan
from kanon.privacy.model import SensitiveModel
from kanon.sources.tables import Table
from kanon.strategies import STRATEGIES
from kanon.studio.decide.settings_undo import with_taken
from kanon.studio.decide.state import DecideView
from kanon.studio.session.findings import GreatestKResult
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work
from kanon.studio.widgets.requirements import short, suggested

_how = Sections(__file__)

MODELS = ("entropy-l-diversity", "t-closeness", "distinct-l-diversity")
"""The models that can be required, by name: each has one number."""


def model_given(work: Work, whole: EquivalenceClasses) -> SensitiveModel:
    chosen_model = work.view(DecideView).given
    if chosen_model is not None and chosen_model.column in work.table.sensitive_columns:
        return chosen_model
    return model_named(work, MODELS[0], whole)


def model_named(work: Work, name: str, whole: EquivalenceClasses) -> SensitiveModel:
    """A model with its usual number, or half of the most that the table can meet."""
    return suggested(work.with_parts(replace(work.settings, models=())), name, whole)


def plan_of_reverse(work: Work, model: SensitiveModel) -> Plan:
    return plan_of(
        work.with_parts(replace(work.settings, algorithm="gaa", strategy="s1", models=(model,)))
    )


def settings_of_reverse(work: Work, model: SensitiveModel) -> str:
    return settings_of(work, plan_of_reverse(work, model))


def greatest_k(progress: Progress, content: Mapping[str, Any], table: Table) -> GreatestK:
    """Find the greatest k in a worker, which receives the plan as its content."""
    return reverse(Plan.from_content(content), table, progress=progress)


def greatest_k_request(work: Work, model: SensitiveModel) -> Request:
    plan = plan_of_reverse(work, model)
    then = partial(_store_greatest_k, model, plan.metric, settings_of_reverse(work, model))
    stays = work.table.records.in_engine
    return Request(
        "reverse", greatest_k, (plan.model_dump(mode="json"), work.table.records), then,
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def _store_greatest_k(
    model: SensitiveModel, metric: Metric, about: str, work: Work, greatest: GreatestK
) -> Work:
    return work.with_parts(
        replace(work.findings, greatest=GreatestKResult(greatest, model, metric, about))
    )


def with_reached(work: Work, model: SensitiveModel, k: int) -> Work:
    others = [
        other
        for other in work.settings.models
        if (other.card, other.column) != (model.card, model.column)
    ]
    notice = (
        f"k = {thin(k)} and {short(model)} are now required, with GAA and strategy S1: least cost. "
        "Press Anonymise on the page Anonymise. The alteration may differ from the curve."
    )
    return with_taken(
        work,
        "reverse",
        notice,
        replace(work.settings, k=k, models=(*others, model), algorithm="gaa", strategy="s1"),
    )


def least_said(greatest: GreatestKResult) -> str:
    first = greatest.found.curve.iloc[0]
    least, k = percent(float(first["alteration"])), thin(int(first["k"]))
    classes = counted(int(first["classes"]), "class", "classes")
    model = short(greatest.model)
    return f"The lowest alteration that meets {model} is {least}, with k = {k} in {classes}."


def reached_said(greatest: GreatestKResult, most: float) -> str:
    curve = greatest.found.curve
    within = curve[curve["alteration"] <= most]
    if not len(within):
        return "No release with so little alteration was found that meets it."
    last = within.iloc[-1]
    alteration, way = percent(float(last["alteration"])), WAYS[last["way"]].title
    classes = counted(int(last["classes"]), "class", "classes")
    return f"This release loses {alteration} and has {classes}. It was found by “{way}”."


def how_reversed() -> str:
    ways = "\n".join(f"- **{plain(card.title)}.** {plain(card.summary)}" for card in WAYS.values())
    card = STRATEGIES["k"]
    strategy = f"**{plain(card.title)}.** {plain(card.summary)}"
    return _how("reversed", ways=ways, strategy=strategy, source=plain(card.source))
