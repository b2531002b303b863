"""A finished comparison that is kept: its numbers and settings, and no record of its table.

Two of them stand on one board: the same colours, and another dash and open markers for the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from pydantic import StrictBool, StrictInt, StrictStr

from kanon.algorithms.catalogue import algorithms
from kanon.base.checked_json import Number, Strict, validate
from kanon.base.formatting import CountedUnit, write_count
from kanon.errors import PlanError, list_names
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import Configuration
from kanon.measures.along import Curves, Points
from kanon.metrics import METRICS, Metric
from kanon.plan import MetricPlan, build_composed_metrics
from kanon.strategies import STRATEGIES

VERSION = 1
MOST_LINES = 48  # of one board

_MAPPINGS = ("alteration", "entropy_l", "t_norm1", "numbers", "further")

Numbers = list[StrictInt | Number | None]


@dataclass(frozen=True, eq=False)
class KeptComparison:
    title: str  # Its name
    about: str  # Its table, hierarchies, k and models, in a sentence
    comparison: Comparison


class _KeptRun(Strict):
    kind: Literal["curves", "points"]
    tie_seed: StrictInt | None
    arrays: dict[StrictStr, Numbers]
    mappings: dict[StrictStr, dict[StrictStr, Numbers]]
    class_sizes: list[list[StrictInt]] | None
    measured_at: list[StrictInt]


class _KeptLine(Strict):
    name: StrictStr
    title: StrictStr
    kept: StrictBool
    configuration: Configuration
    best_l: dict[StrictStr, Number]
    runs: list[_KeptRun]


class _KeptContent(Strict):
    version: Literal[1]
    title: StrictStr
    about: StrictStr
    records: StrictInt
    of: CountedUnit
    sensitive: StrictStr
    ks: list[StrictInt]
    metrics: dict[StrictStr, MetricPlan | None]  # None for a known one
    measured: list[StrictStr]
    lines: list[_KeptLine]


def export_comparison(kept: KeptComparison) -> dict[str, Any]:
    """What a project file says of it."""
    comparison = kept.comparison
    guides = {line.guide.name: line.guide for line in comparison.lines}
    metrics = {**{metric.name: metric for metric in comparison.metrics}, **guides}
    return {
        "version": VERSION,
        "title": kept.title,
        "about": kept.about,
        "records": comparison.n_records,
        "of": comparison.of,
        "sensitive": comparison.sensitive,
        "ks": list(comparison.ks),
        "metrics": {
            name: None
            if name in METRICS
            else {"intermediate": metric.intermediate, "multiplier": metric.multiplier}
            for name, metric in metrics.items()
        },
        "measured": [metric.name for metric in comparison.metrics],
        "lines": [_export_line(line) for line in comparison.lines],
    }


def _export_line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "title": line.title,
        "kept": line.kept,
        "configuration": asdict(line.configuration),
        "best_l": {column: float(level) for column, level in line.best_l.items()},
        "runs": [_export_run(seed, run) for seed, run in line.runs.items()],
    }


def _export_run(seed: int | None, run: Curves | Points) -> dict[str, Any]:
    parts = {item.name: getattr(run, item.name) for item in fields(run)}
    sizes = parts.pop("class_sizes")
    return {
        "kind": "curves" if isinstance(run, Curves) else "points",
        "tie_seed": seed,
        "arrays": {
            name: _to_list(part) for name, part in parts.items() if isinstance(part, np.ndarray)
        },
        "mappings": {
            name: {key: _to_list(values) for key, values in part.items()}
            for name, part in parts.items()
            if isinstance(part, Mapping) and name in _MAPPINGS
        },
        "class_sizes": None if sizes is None else sizes.tolist(),
        "measured_at": list(parts.get("measured_at", ())),
    }


def _to_list(values: np.ndarray) -> Numbers:
    """Numbers as JSON has them: an unknown one is null."""
    return [number if np.isfinite(number) else None for number in values.tolist()]


def parse_comparison(content: Any, where: str) -> KeptComparison:
    """Read a kept comparison back; PlanError, which names the place ``where``, if it is none."""
    if isinstance(content, dict) and content.get("version", VERSION) != VERSION:
        raise PlanError(
            f"The {where} was saved by another version of kanon; this one reads version {VERSION}."
        )
    kept = validate(_KeptContent, content, where)
    composed = {name: plan for name, plan in kept.metrics.items() if plan is not None}
    known = {**METRICS, **build_composed_metrics(composed)}
    unknown = [name for name in kept.metrics if name not in known]
    guides = {line.configuration.metric for line in kept.lines}
    unknown += sorted(guides - set(kept.metrics))
    if unknown:
        raise PlanError(f"The {where} names metrics that are not defined: {list_names(unknown)}.")
    try:
        lines = tuple(_build_line(line, known) for line in kept.lines)
        measured = tuple(known[name] for name in kept.measured)
        comparison = Comparison(
            lines, measured, kept.records, tuple(kept.ks), kept.sensitive, kept.of
        )
        comparison.table()  # reads every number that a page shows
        comparison.compare_means()
    except (KeyError, IndexError, TypeError, ValueError, PlanError):
        raise PlanError(f"The {where} lacks numbers for some of its lines.") from None
    return KeptComparison(kept.title, kept.about, comparison)


def _build_line(line: _KeptLine, metrics: Mapping[str, Metric]) -> Line:
    config = line.configuration
    if config.strategy not in STRATEGIES or config.algorithm not in algorithms() or not line.runs:
        raise ValueError
    runs = {run.tie_seed: _build_run(run) for run in line.runs}
    guide = metrics[config.metric]
    return Line(config, guide, runs, line.name, line.title, line.kept, line.best_l)


def _build_run(run: _KeptRun) -> Curves | Points:
    kind = Curves if run.kind == "curves" else Points
    arrays = {name: _to_array(values) for name, values in run.arrays.items()}
    parts: dict[str, Any] = dict(arrays)
    for name, mapping in run.mappings.items():
        parts[name] = {key: _to_array(values) for key, values in mapping.items()}
    parts["class_sizes"] = None if run.class_sizes is None else np.array(run.class_sizes)
    if kind is Curves:
        parts["measured_at"] = tuple(run.measured_at)
    return kind(**parts)


def _to_array(values: Numbers) -> np.ndarray:
    whole = all(isinstance(number, int) for number in values)
    return np.array([np.nan if number is None else number for number in values],
                    dtype=np.int64 if whole and values else float)  # fmt: skip


def put_beside(first: Comparison, second: Comparison) -> Comparison:
    """Two comparisons on one board, at the k and in the metrics that both know."""
    if first.of != second.of:
        raise PlanError(
            f"These comparisons cannot be put beside each other: k counts {first.of} in the first "
            f"and {second.of} in the second."
        )
    n_lines = len(first.lines) + len(second.lines)
    if n_lines > MOST_LINES:
        raise PlanError(
            f"Together these comparisons have {write_count(n_lines)} lines; a board can have at "
            f"most {MOST_LINES}."
        )
    ks = tuple(sorted({*first.ks} & {*second.ks}))
    if not ks:
        raise PlanError("These comparisons have no k in common, so no numbers to compare.")
    bands = first.has_bands and second.has_bands
    lines = []
    for mark, comparison in ((1, first), (2, second)):
        for line in comparison.only([line.name for line in comparison.lines], bands).lines:
            sizes = first.n_records == second.n_records
            runs = {
                seed: run if sizes else replace(run, class_sizes=None)
                for seed, run in line.runs.items()
            }
            name, title = f"{line.name} ({mark})", f"{line.title} ({mark})"
            lines.append(replace(line, runs=runs, name=name, title=title, board=mark))
    theirs = {metric.name: metric for metric in second.metrics}
    metrics = tuple(
        metric
        for metric in first.metrics
        if metric.name in theirs
        and (metric.intermediate, metric.multiplier)
        == (theirs[metric.name].intermediate, theirs[metric.name].multiplier)
    )
    n_records = min(first.n_records, second.n_records)
    both = Comparison(tuple(lines), metrics, n_records, ks, of=first.of)
    shared = both.sensitive_columns
    return replace(
        both, sensitive=first.sensitive if first.sensitive in shared else next(iter(shared), "")
    )
