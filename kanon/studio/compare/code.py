"""What a comparison shows, as Python to download."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kanon.experiments.comparison import K_PRESETS, TIE_SEEDS, Comparison
from kanon.plan import Plan
from kanon.studio.compare.board_layout import get_layout
from kanon.studio.jobs.comparison import ComparisonOutlook
from kanon.studio.jobs.configurations import PlannedLine, apply_configuration_to_plan
from kanon.studio.session import state
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.files import draw_code_buttons


def draw_comparison_code(
    work: SessionState, outlook: ComparisonOutlook, comparison: Comparison
) -> None:
    """Buttons for a current comparison; a line differs from the first in some keys of its plan."""
    first, lines, measured_by = state.get_or_compute(
        "compared code", outlook.key, lambda: describe_lines(outlook.lines)
    )
    panels = [asdict(panel).items() for panel in get_layout(work, comparison).panels]
    settings = {
        "LINES": lines,
        "MEASURED_BY": measured_by,
        "KS": list(comparison.ks),
        "K": work.settings.k,
        "TIE_SEEDS": list(TIE_SEEDS) if comparison.has_bands else [],
        "COLUMN": comparison.sensitive,
        "PANELS": [{key: value for key, value in panel if value} for panel in panels],
        "INTERVAL": work.compare.interval or comparison.interval,
        "AREA_KS": list(K_PRESETS[work.compare.k_preset]),
    }
    draw_code_buttons("compare", lambda: first, settings)


def describe_lines(lines: Sequence[PlannedLine]) -> tuple[Plan, dict[str, Any], Any]:
    """The plan of the first line, the changes of each, and those of what measures them all."""
    first = build_line_plan(lines[0])
    measuring = [line.measuring_inputs for line in lines if line.measuring_inputs is not None]
    changes = {line.name: list_changes(first, build_line_plan(line)) for line in lines}
    return first, changes, list_changes(first, measuring[0].plan) if measuring else None


def build_line_plan(line: PlannedLine) -> Plan:
    """The plan of a line's runs."""
    own = {"algorithm": line.plan.algorithm, "suppression_limit": line.plan.suppression_limit}
    return apply_configuration_to_plan(line.ground.plan.model_copy(update=own), line.configuration)


def list_changes(first: Plan, other: Plan) -> dict[str, Any]:
    """The keys of a plan, with their values, that differ from those of the first."""
    content, new = (plan.model_dump(mode="json", exclude_none=True) for plan in (first, other))
    return {key: new.get(key) for key in {**content, **new} if content.get(key) != new.get(key)}
