"""A finished comparison that is kept: its numbers and settings, and no record of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StrictBool, StrictInt, StrictStr

from kanon.algorithms.catalogue import algorithms
from kanon.base.checked_json import Number, Strict, validate
from kanon.base.formatting import CountedUnit, write_count
from kanon.errors import PlanError, list_names
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import Configuration
from kanon.measures.along import Curves, Points, name_privacy_column
from kanon.measures.class_sizes import count_size_bins
from kanon.metrics import METRICS, Metric
from kanon.plan_parts import MetricPlan, build_composed_metrics
from kanon.strategies import STRATEGIES

MOST_LINES = 48  # of one board
MOST_KEPT = 20  # comparisons of one session
_MOST_RECORDS = 10**12
_MOST_KS = 500  # a slider has at most 177
_MOST_NUMBERS = 50_000_000  # of all lines at all k
# the fields of a run that have an array per name
_BY_NAME = ("numbers", "alteration", "entropy_l", "t_norm1", "further")


@dataclass(frozen=True, eq=False)
class KeptComparison:
    title: str  # Its name
    about: str  # Its table, hierarchies, k and models, in a sentence
    comparison: Comparison


class _KeptRun(Strict):
    kind: Literal["curves", "points"]
    tie_seed: StrictInt | None
    parts: dict[StrictStr, Any]  # the fields of its kind


class _KeptLine(Strict):
    name: StrictStr
    title: StrictStr
    kept: StrictBool
    configuration: Configuration
    best_l: dict[StrictStr, Number]
    runs: list[_KeptRun]


class _KeptContent(Strict):
    title: StrictStr
    about: StrictStr
    records: Annotated[StrictInt, Field(ge=2, le=_MOST_RECORDS)]
    of: CountedUnit
    sensitive: StrictStr
    requirement: StrictStr
    left_out: dict[StrictStr, StrictStr]
    ks: Annotated[list[StrictInt], Field(max_length=_MOST_KS)]
    metrics: dict[StrictStr, MetricPlan | None]  # None for a known one
    # the seven published metrics and those that guide
    measured: Annotated[list[StrictStr], Field(max_length=2 * MOST_LINES)]
    lines: Annotated[list[_KeptLine], Field(max_length=MOST_LINES)]


def export_comparison(kept: KeptComparison) -> dict[str, Any]:
    comparison = kept.comparison
    metrics = [*comparison.metrics, *(line.guide for line in comparison.lines)]
    return {
        "title": kept.title,
        "about": kept.about,
        "records": comparison.n_records,
        "of": comparison.of,
        "sensitive": comparison.sensitive,
        "requirement": comparison.requirement,
        "left_out": dict(comparison.left_out),
        "ks": list(comparison.ks),
        "metrics": {
            metric.name: None
            if metric.name in METRICS
            else {"intermediate": metric.intermediate, "multiplier": metric.multiplier}
            for metric in metrics
        },
        "measured": [metric.name for metric in comparison.metrics],
        "lines": [
            {
                "name": line.name,
                "title": line.title,
                "kept": line.kept,
                "configuration": asdict(line.configuration),
                "best_l": {column: float(level) for column, level in line.best_l.items()},
                "runs": [_export_run(seed, run) for seed, run in line.runs.items()],
            }
            for line in comparison.lines
        ],
    }


def _export_run(seed: int | None, run: Curves | Points) -> dict[str, Any]:
    return {
        "kind": "curves" if isinstance(run, Curves) else "points",
        "tie_seed": seed,
        "parts": {item.name: _write_part(getattr(run, item.name)) for item in fields(run)},
    }


def _write_part(part: Any) -> Any:
    """A field of a run as JSON has it; an unknown number is null."""
    if isinstance(part, Mapping):
        return {str(key): _write_part(value) for key, value in part.items()}
    if isinstance(part, np.ndarray):
        numbers = part.astype(object)
        numbers[~np.isfinite(part)] = None
        return numbers.tolist()
    return list(part) if isinstance(part, tuple) else part


def parse_comparison(content: Any, where: str) -> KeptComparison:
    """Read a kept comparison back; PlanError, which names the place ``where``, if it is none."""
    kept = validate(_KeptContent, content, where)
    composed = {name: plan for name, plan in kept.metrics.items() if plan is not None}
    metrics = {**METRICS, **build_composed_metrics(composed)}
    named = {*kept.metrics, *kept.measured, *(line.configuration.metric for line in kept.lines)}
    if unknown := sorted(named - set(metrics)):
        raise PlanError(f"The {where} names metrics that are not defined: {list_names(unknown)}.")
    if not all(low < high for low, high in pairwise([1, *kept.ks, kept.records + 1])):
        raise PlanError(f"The {where}: 'ks' has to rise from at least 2 to at most 'records'.")
    n_numbers = len(kept.ks) * sum(_count_arrays(run) for line in kept.lines for run in line.runs)
    if n_numbers > _MOST_NUMBERS:
        raise PlanError(f"The {where} exceeds the limit of {write_count(_MOST_NUMBERS)} numbers.")
    try:
        comparison = Comparison(
            tuple(_build_line(line, metrics[line.configuration.metric]) for line in kept.lines),
            tuple(metrics[name] for name in kept.measured),
            kept.records,
            tuple(kept.ks),
            kept.sensitive,
            kept.of,
            kept.requirement,
            kept.left_out,
        )
        _check_class_sizes(comparison)
        comparison.table()  # reads nearly every number that a page shows
        alterations = [f"alteration_{metric.name}" for metric in comparison.metrics]
        for criterion in (*comparison.criteria, *alterations):
            comparison.at(criterion, comparison.ks)
        comparison.compare_means()
    except (
        ArithmeticError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
        PlanError,
    ):
        raise PlanError(f"The {where} lacks numbers for some of its lines.") from None
    return KeptComparison(kept.title, kept.about, comparison)


def _count_arrays(run: _KeptRun) -> int:
    return sum(len(part) if isinstance(part, dict) else 1 for part in run.parts.values())


def _build_line(line: _KeptLine, guide: Metric) -> Line:
    config = line.configuration
    if config.strategy not in STRATEGIES or config.algorithm not in algorithms() or not line.runs:
        raise ValueError
    runs = {run.tie_seed: _build_run(run) for run in line.runs}
    if config.tie_seed not in runs:
        raise ValueError
    for run in runs.values():
        _check_shapes(run)
        _check_sensitive_columns(run, list(line.best_l))
    return Line(config, guide, runs, line.name, line.title, line.kept, line.best_l)


def _build_run(run: _KeptRun) -> Curves | Points:
    parts = {name: _read_part(part) for name, part in run.parts.items()}
    if run.kind == "curves":
        measured_at = tuple(run.parts["measured_at"])
        if not all(type(k) is int for k in measured_at):
            raise ValueError
        return Curves(**{**parts, "measured_at": measured_at})
    if not all(isinstance(why, str) for why in parts["refused"].values()):
        raise ValueError
    return Points(**{**parts, "refused": {int(k): why for k, why in parts["refused"].items()}})


def _read_part(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _read_part(value) for key, value in part.items()}
    if not isinstance(part, list):
        return part
    numbers = np.array(part)
    if numbers.dtype.kind not in "ifO":  # O: with null
        raise ValueError
    numbers = numbers.astype(float) if numbers.dtype.kind == "O" else numbers
    if (abs(numbers) >= 2.0**63).any():  # pages write some of them as whole numbers
        raise ValueError
    return numbers


def _check_shapes(run: Curves | Points) -> None:
    n_rows = len(run.min_k if isinstance(run, Curves) else run.numbers["k"])
    for item in fields(run):
        part = getattr(run, item.name)
        if item.name in ("measured_at", "refused"):
            continue
        if part is None and item.name in ("class_sizes", "suppressed"):
            continue
        arrays = part.values() if item.name in _BY_NAME else [part]
        n_axes = 2 if item.name == "class_sizes" else 1
        if any(array.ndim != n_axes or len(array) != n_rows for array in arrays):
            raise ValueError


def _check_sensitive_columns(run: Curves | Points, columns: list[str]) -> None:
    numbers = run.columns() if isinstance(run, Curves) else run.numbers
    for column in columns if len(numbers) > 1 else ():  # without any release, there is only k
        for measure in ("entropy_l", "t_norm1"):
            if name_privacy_column(measure, column, columns) not in numbers:
                raise ValueError


def _check_class_sizes(comparison: Comparison) -> None:
    runs = [run for line in comparison.lines for run in line.runs.values()]
    n_bins = {run.class_sizes.shape[1] for run in runs if run.class_sizes is not None}
    if comparison.of == "records" and n_bins:
        n_bins.add(count_size_bins(comparison.n_records))
    if len(n_bins) > 1 or max(n_bins, default=0) > count_size_bins(_MOST_RECORDS):
        raise ValueError


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
    bands, sizes = first.has_bands and second.has_bands, first.n_records == second.n_records
    lines, requirements = [], []
    left_out: dict[str, str] = {}
    for mark, comparison in ((1, first), (2, second)):
        requirements.append(comparison.requirement)
        left_out |= {f"{title} ({mark})": why for title, why in comparison.left_out.items()}
        for line in comparison.only([line.name for line in comparison.lines], bands).lines:
            runs = {
                seed: run if sizes else replace(run, class_sizes=None)
                for seed, run in line.runs.items()
            }
            name, title = f"{line.name} ({mark})", f"{line.title} ({mark})"
            lines.append(replace(line, runs=runs, name=name, title=title, board=mark))
    requirement = requirements[0]
    if len({*requirements}) > 1:
        one, two = (sentence or "Lines meet k only." for sentence in requirements)
        requirement = f"(1) {one} (2) {two}"
    phases = {(metric.name, metric.intermediate, metric.multiplier) for metric in second.metrics}
    metrics = tuple(
        metric
        for metric in first.metrics
        if (metric.name, metric.intermediate, metric.multiplier) in phases
    )
    n_records = min(first.n_records, second.n_records)
    both = Comparison(tuple(lines), metrics, n_records, ks, "", first.of, requirement, left_out)
    shared = both.sensitive_columns
    return replace(
        both, sensitive=first.sensitive if first.sensitive in shared else next(iter(shared), "")
    )
