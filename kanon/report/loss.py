"""All measures of what a release lost, beside those of the two ends between which it lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon.measures import c_avg
from kanon.measures.overview import MeasureValue, build_all_at_root, build_identity, build_overview
from kanon.measures.summary import measure_release
from kanon.run import PreparedRun, Run, measured_metrics


@dataclass(frozen=True, eq=False)
class LossEnds:
    """The measures of the two ends between which every release lies."""

    # of the table as it is, and with every quasi-identifier at its root, for k = 1
    before: Mapping[str, Any]
    at_root: Mapping[str, Any]


def measure_loss_ends(prepared: PreparedRun) -> LossEnds:
    """The measures of the original table and of losing everything; they do not depend on k."""
    metrics = measured_metrics(prepared.plan, [prepared.plan.metric.name])
    classes = prepared.classes
    return LossEnds(
        measure_release(build_identity(classes), metrics),
        measure_release(build_all_at_root(classes), metrics),
    )


def list_loss_measures(run: Run, ends: LossEnds) -> tuple[MeasureValue, ...]:
    """All measures of a release, beside those of both ends; shares in percent."""
    plan, classes = run.prepared.plan, run.prepared.classes
    name = c_avg.CARD.name  # the only one that depends on k; of a table it is a number
    before, at_root = (
        {**measures, name: measures[name] / plan.k} for measures in (ends.before, ends.at_root)
    )
    metrics = measured_metrics(plan, [plan.metric.name])
    columns = [sensitive.name for sensitive in classes.sensitive]
    measures = build_overview(before, run.measures, at_root, metrics, columns)
    return tuple(measure.in_percent for measure in measures)
