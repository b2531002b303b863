"""Metrics that the user composes of two phases."""

from __future__ import annotations

from dataclasses import replace

from kanon.errors import MetricError, quoted
from kanon.metrics import METRICS, PUBLISHED, Metric
from kanon.plan import MetricPlan
from kanon.studio.work import MatrixView, Work, metric_called

__all__ = ["LONGEST_METRIC_NAME", "equal_metrics", "with_composed", "without_composed"]

LONGEST_METRIC_NAME = 40
"""The most characters in the name of a metric of one's own."""


def with_composed(work: Work, name: str, intermediate: str, multiplier: str) -> Work:
    """The work with a metric of the user's own, composed of two phases.

    Raises
    ------
    MetricError
        The name is empty, too long or taken.
    """
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_METRIC_NAME:
        raise MetricError(f"A metric needs a name of 1 to {LONGEST_METRIC_NAME} characters.")
    taken = {text.casefold() for m in METRICS.values() for text in (m.name, m.card.title)}
    if name.casefold() in taken | {one.casefold() for one in work.composed}:
        raise MetricError(f"The name {quoted(name)} is taken; a metric needs one of its own.")
    part = MetricPlan.model_validate({"intermediate": intermediate, "multiplier": multiplier})
    composed = {**work.composed, name: part}
    return replace(work, composed=composed, problem=None, notice=None)


def without_composed(work: Work, name: str) -> Work:
    """The work without one of the user's metrics; where it was chosen, the default is."""
    made = work.comparison
    lines = () if made is None else made.comparison.lines
    compared = any(line.configuration.metric == name for line in lines)
    return replace(
        work,
        composed={other: part for other, part in work.composed.items() if other != name},
        compared=tuple(other for other in work.compared if other != name),
        metric="nllm" if work.metric == name else work.metric,
        shown="" if work.shown == name else work.shown,
        matrix=MatrixView(),
        comparison=None if compared else made,
        what_if=None,
        problem=None,
        notice=None,
    )


def equal_metrics(work: Work, metric: Metric) -> list[str]:
    """What the other metrics are called that count exactly as this one does."""
    others = [metric_called(work, name) for name in (*PUBLISHED, *work.composed)]
    phases = (metric.intermediate, metric.multiplier)
    return [one.card.title for one in others if (one.intermediate, one.multiplier) == phases]
