"""Metrics that the user composes of two phases."""

from dataclasses import replace

from kanon.errors import HierarchyError, MetricError, quote
from kanon.hierarchy.tables import parse_weight
from kanon.metrics import PUBLISHED, Metric, check_metric_name
from kanon.plan_parts import MetricPlan, build_composed_metrics
from kanon.studio.metrics.state import MatrixView
from kanon.studio.session.parts import Message
from kanon.studio.session.work import SessionState, get_metric

LARGEST_ATTRIBUTE_WEIGHT = 1000  # a column can count so many times at most


def add_composed(work: SessionState, name: str, intermediate: str, multiplier: str) -> SessionState:
    name = " ".join(name.split())
    check_metric_name(name, work.settings.composed)
    notice = f"{quote(name)} can now be chosen as a metric on every page, and is compared too."
    return work.replace_sections(
        replace(
            work.settings,
            composed={**work.settings.composed, name: _build_metric_plan(intermediate, multiplier)},
        ),
        replace(work.compare, compared=(*work.compare.compared, name)),
        Message(notice=notice),
    )


def compose_phases(intermediate: str, multiplier: str) -> Metric:
    return build_composed_metrics({"": _build_metric_plan(intermediate, multiplier)})[""]


def _build_metric_plan(intermediate: str, multiplier: str) -> MetricPlan:
    return MetricPlan.model_validate({"intermediate": intermediate, "multiplier": multiplier})


def set_attribute_weight(work: SessionState, column: str, text: str) -> SessionState:
    """Set how much a column counts in the search; the weight is 0 to 1000."""
    try:
        weight = parse_weight(text)
    except HierarchyError:
        weight = -1.0
    if not 0 <= weight <= LARGEST_ATTRIBUTE_WEIGHT:
        raise MetricError(
            f"The weight {quote(text)} of {quote(column)} is not allowed; enter a number from "
            f"0 to {LARGEST_ATTRIBUTE_WEIGHT}, with a decimal point if needed. The usual weight "
            "is 1."
        )
    weights = {**work.settings.attribute_weights, column: weight}
    return work.replace_sections(replace(work.settings, attribute_weights=weights), Message())


def remove_composed(work: SessionState, name: str) -> SessionState:
    """Remove one of the user's metrics; where it was chosen, the default takes its place."""
    result = work.findings.comparison
    lines = () if result is None else result.comparison.lines
    is_compared = any(line.configuration.metric == name for line in lines)
    notice = (
        f"Removed {quote(name)} and the comparison that used it."
        if is_compared
        else f"Removed {quote(name)}."
    )
    return work.replace_sections(
        MatrixView(),
        replace(
            work.settings,
            composed={
                other: part for other, part in work.settings.composed.items() if other != name
            },
            metric="nllm" if work.settings.metric == name else work.settings.metric,
        ),
        replace(
            work.compare, compared=tuple(other for other in work.compare.compared if other != name)
        ),
        replace(work.shared, shown="" if work.shared.shown == name else work.shared.shown),
        replace(work.findings, comparison=None if is_compared else result, what_if=None),
        Message(notice=notice),
    )


def find_equal_metrics(work: SessionState, metric: Metric) -> list[str]:
    others = [get_metric(work, name) for name in (*PUBLISHED, *work.settings.composed)]
    phases = (metric.intermediate, metric.multiplier)
    return [
        other.card.title for other in others if (other.intermediate, other.multiplier) == phases
    ]
