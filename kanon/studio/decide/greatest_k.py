"""The greatest k that a required model allows: its settings, results and sentences."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.experiments.greatest_k import GREATEST_K_SEARCHES, GreatestK, find_greatest_k
from kanon.metrics import Metric
from kanon.plan import Plan
from kanon.privacy.model import SensitiveModel
from kanon.sources.tables import Table
from kanon.strategies import STRATEGIES
from kanon.studio.decide.settings_undo import take_settings
from kanon.studio.decide.state import DecideView
from kanon.studio.session.findings import GreatestKResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.requirements import format_model, suggest_model

_how = Sections(__file__)

MODELS = ("entropy-l-diversity", "t-closeness", "distinct-l-diversity")
"""The models that can be required, by name: each has one number."""


def get_required_model(work: SessionState, whole: EquivalenceClasses) -> SensitiveModel:
    chosen_model = work.view(DecideView).given
    if chosen_model is not None and chosen_model.column in work.table.sensitive_columns:
        return chosen_model
    return build_required_model(work, MODELS[0], whole)


def build_required_model(
    work: SessionState, name: str, whole: EquivalenceClasses
) -> SensitiveModel:
    """A model with its usual number, or half of the most that the table can meet."""
    return suggest_model(work.replace_sections(replace(work.settings, models=())), name, whole)


def plan_reverse(work: SessionState, model: SensitiveModel) -> Plan:
    return build_plan(
        work.replace_sections(
            replace(work.settings, algorithm="gaa", strategy="s1", models=(model,))
        )
    )


def get_reverse_settings(work: SessionState, model: SensitiveModel) -> str:
    return hash_run_inputs(work, plan_reverse(work, model))


def start_greatest_k(progress: Progress, content: Mapping[str, Any], table: Table) -> GreatestK:
    """Find the greatest k in a worker, which receives the plan as its content."""
    return find_greatest_k(Plan.from_content(content), table, progress=progress)


def build_greatest_k_request(work: SessionState, model: SensitiveModel) -> JobRequest:
    plan = plan_reverse(work, model)
    then = partial(_store_greatest_k, model, plan.metric, get_reverse_settings(work, model))
    stays = work.table.records.in_engine
    return JobRequest(
        "reverse", start_greatest_k, (plan.model_dump(mode="json"), work.table.records), then,
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def _store_greatest_k(
    model: SensitiveModel, metric: Metric, about: str, work: SessionState, greatest: GreatestK
) -> SessionState:
    return work.replace_sections(
        replace(work.findings, greatest_k=GreatestKResult(greatest, model, metric, about))
    )


def require_reached(work: SessionState, model: SensitiveModel, k: int) -> SessionState:
    others = [
        other
        for other in work.settings.models
        if (other.card, getattr(other, "column", "")) != (model.card, model.column)
    ]
    notice = (
        f"k = {write_count(k)} and {format_model(model)} are "
        "now required, with GAA and strategy S1: least cost. "
        "Press Anonymise on the Anonymise page. The alteration may differ from the curve."
    )
    return take_settings(
        work,
        "reverse",
        notice,
        replace(work.settings, k=k, models=(*others, model), algorithm="gaa", strategy="s1"),
    )


def describe_least(greatest: GreatestKResult) -> str:
    first = greatest.found.curve.iloc[0]
    least, k = write_percent(float(first["alteration"])), write_count(int(first["k"]))
    classes = count_noun(int(first["classes"]), "class", "classes")
    model = format_model(greatest.model)
    return f"The lowest alteration that meets {model} is {least}, with k = {k} in {classes}."


def describe_reached_k(greatest: GreatestKResult, most: float) -> str:
    curve = greatest.found.curve
    within = curve[curve["alteration"] <= most]
    if not len(within):
        return "No release that meets the model was found with so little alteration."
    last = within.iloc[-1]
    alteration, way = (
        write_percent(float(last["alteration"])),
        GREATEST_K_SEARCHES[last["way"]].title,
    )
    classes = count_noun(int(last["classes"]), "class", "classes")
    return f"This release loses {alteration} and has {classes}. It was found by “{way}”."


def explain_reverse() -> str:
    ways = "\n".join(
        f"- **{escape_markdown(card.title)}.** {escape_markdown(card.summary)}"
        for card in GREATEST_K_SEARCHES.values()
    )
    card = STRATEGIES["k"]
    strategy = f"**{escape_markdown(card.title)}.** {escape_markdown(card.summary)}"
    return _how("reversed", ways=ways, strategy=strategy, source=escape_markdown(card.source))
