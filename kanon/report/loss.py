"""All measures of what a release lost, beside those of the two ends between which it lies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from kanon.base.formatting import write_number
from kanon.base.rounding import round_apart
from kanon.measures import association_change, c_avg, distribution_change
from kanon.measures.association_change import Associations
from kanon.measures.distribution_change import Distribution
from kanon.measures.number_change import Moment, compare_moments
from kanon.measures.overview import MeasureValue, build_all_at_root, build_identity, build_overview
from kanon.measures.query_error import QueryStudy, study
from kanon.measures.summary import measure_release
from kanon.run import PreparedRun, Run, measured_metrics

Ends = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Measures of the table as it is, and with every quasi-identifier at its root, for k = 1."""


def measure_loss_ends(prepared: PreparedRun) -> Ends:
    """The measures of the two ends between which every release lies; they do not depend on k."""
    metrics = measured_metrics(prepared.plan, [prepared.plan.metric.name])
    classes = prepared.classes
    return (
        measure_release(build_identity(classes), metrics),
        measure_release(build_all_at_root(classes), metrics),
    )


def list_loss_measures(run: Run, ends: Ends) -> tuple[MeasureValue, ...]:
    """All measures of a release, beside those of both ends; shares in percent."""
    plan, classes = run.prepared.plan, run.prepared.classes
    name = c_avg.CARD.name  # the only one that depends on k; of a table it is a number
    before, at_root = ({**measures, name: measures[name] / plan.k} for measures in ends)
    metrics = measured_metrics(plan, [plan.metric.name])
    columns = [sensitive.name for sensitive in classes.sensitive]
    measures = build_overview(before, run.measures, at_root, metrics, columns)
    return tuple(measure.in_percent for measure in measures)


@dataclass(frozen=True, eq=False)
class Changes:
    distributions: tuple[Distribution, ...]  # of each quasi-identifier's values; most changed first
    before: Associations  # how closely columns go together in the table
    after: Associations  # the same in the release
    queries: QueryStudy  # counts on the table, and the release's answers
    moments: tuple[Moment, ...]  # means, variances and correlations of numeric columns


def measure_changes(run: Run) -> Changes:
    """Distributions, associations and counts of a table, before and after."""
    recoding = run.recoding
    distributions = distribution_change.distributions(recoding)
    return Changes(
        tuple(sorted(distributions, key=lambda distribution: -distribution.total_variation)),
        association_change.before(recoding.classes),
        association_change.after(recoding),
        study(recoding),
        compare_moments(recoding),
    )


# --- the table of all measures ----------------------------------------------------------------
WAY = "Share of the way to the root"  # sorts measures with different units


def build_loss_table(values: Sequence[MeasureValue]) -> pd.DataFrame:
    """A row per measure: before, after, at the root; what lost most of its way comes first."""
    columns = {value.column for value in values if value.column}
    rows = [
        {
            "Measure": value.card.title + (f": {value.column}" if len(columns) > 1 else "")
            if value.column
            else value.card.title,
            "Before": value.before,
            "After": value.after,
            "All at root": value.at_root,
            WAY: value.way,
            "Unit": value.card.unit,
            "Better": value.card.arrow.split(" ")[0],
            "Lowest": value.card.lowest,
            "Highest": value.card.highest,
            "What it says": value.card.summary,
            "Source": value.card.source,
        }
        for value in values
    ]
    numbers = dict.fromkeys(("Before", "After", "All at root", WAY), float)
    table = pd.DataFrame(rows).astype(numbers)
    table = table.sort_values(WAY, ascending=False, kind="stable", ignore_index=True)
    texts = {name: [*map(write_number, table[name])] for name in numbers if name != WAY}
    return table.assign(**texts, **{WAY: round_apart(table[WAY], 1)}).astype(numbers)
