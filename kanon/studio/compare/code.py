"""What a comparison shows, as Python to download."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Any

from kanon.experiments.comparison import TIE_SEEDS, Comparison
from kanon.measures.along import Curves
from kanon.plan import Plan
from kanon.studio.compare.board_layout import get_layout
from kanon.studio.jobs.configurations import PlannedLine, build_run_plan
from kanon.studio.session import state
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.files import draw_code_buttons


def draw_comparison_code(
    work: SessionState, lines: Sequence[PlannedLine], comparison: Comparison, key: Hashable
) -> None:
    """Buttons for a current comparison; a line differs from the first in some keys of its plan."""
    first, settings = state.get_or_compute(
        "compared code", key, lambda: describe_comparison_code(lines, comparison)
    )
    panels = [asdict(panel).items() for panel in get_layout(work, comparison).panels]
    settings = {
        **settings,
        "K": work.settings.k,
        "PANELS": [{key: value for key, value in panel if value} for panel in panels],
        "INTERVAL": work.compare.interval or comparison.interval,
        "OVER": work.compare.k_preset,
    }
    draw_code_buttons("compare", lambda: first, settings)


def describe_comparison_code(
    lines: Sequence[PlannedLine], comparison: Comparison
) -> tuple[Plan, dict[str, Any]]:
    """The plan of the first line, and what differs in the others; without lines left out."""
    kept = {line.name: line for line in comparison.lines}
    lines = [line for line in lines if line.name in kept]
    plans = {line.name: build_run_plan(line, line.configuration.tie_seed) for line in lines}
    first = next(iter(plans.values()))
    measuring = [line.measuring_inputs for line in lines if line.measuring_inputs is not None]
    measured_by = _list_changes(first, measuring[0].plan) if measuring else None
    if measured_by is not None:  # by its hierarchies; none may differ from those of the first
        measured_by.pop("algorithm", None)
    ks, runs = list(comparison.ks), [run for line in kept.values() for run in line.runs.values()]
    own_ks = {name: comparison.list_ks(line) for name, line in kept.items()}
    return first, {
        "LINES": {name: _list_changes(first, plan) for name, plan in plans.items()},
        "KS": ks,
        "OWN_KS": {name: own for name, own in own_ks.items() if own != ks},
        "TIE_SEEDS": list(TIE_SEEDS) if comparison.has_bands else [],
        "COLUMN": comparison.sensitive,
        "MEASURED_BY": measured_by,
        "REQUIREMENT": comparison.requirement,
        "ALSO_AT": max((run.measured_at for run in runs if isinstance(run, Curves)), default=()),
    }


def _list_changes(first: Plan, other: Plan) -> dict[str, Any]:
    """What differs from the first plan, by key; of the algorithm, what differs in it."""
    content, new = (plan.model_dump(mode="json", exclude_none=True) for plan in (first, other))
    changes = _compare_keys(content, new)
    if "algorithm" in changes:
        changes["algorithm"] = _compare_keys(content["algorithm"], new["algorithm"])
    return changes


def _compare_keys(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {key: other.get(key) for key in {**first, **other} if first.get(key) != other.get(key)}
