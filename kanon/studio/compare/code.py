"""What a comparison shows, as Python to download."""

from dataclasses import asdict
from typing import Any

from kanon.experiments.comparison import K_PRESETS, TIE_SEEDS, Comparison
from kanon.plan import Plan
from kanon.studio.compare.board_layout import get_layout
from kanon.studio.jobs.configurations import (
    PlannedLine,
    apply_configuration_to_plan,
    list_planned_lines,
)
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.files import draw_code_buttons


def draw_comparison_code(work: SessionState, comparison: Comparison) -> None:
    """Buttons for a current comparison; a line differs from the first in some keys of its plan."""
    planned = list_planned_lines(work)
    first = build_line_plan(planned[0])
    measuring = [line.measuring_inputs for line in planned if line.measuring_inputs is not None]
    panels = [asdict(panel).items() for panel in get_layout(work, comparison).panels]
    settings = {
        "LINES": {line.name: list_changes(first, build_line_plan(line)) for line in planned},
        "MEASURED_BY": list_changes(first, measuring[0].plan) if measuring else None,
        "KS": list(comparison.ks),
        "K": work.settings.k,
        "TIE_SEEDS": list(TIE_SEEDS) if comparison.has_bands else [],
        "COLUMN": comparison.sensitive,
        "PANELS": [{key: value for key, value in panel if value} for panel in panels],
        "INTERVAL": work.compare.interval or comparison.interval,
        "AREA_KS": list(K_PRESETS[work.compare.k_preset]),
    }
    draw_code_buttons("compare", lambda: first, settings)


def build_line_plan(line: PlannedLine) -> Plan:
    """The plan of a line's runs."""
    own = {"algorithm": line.plan.algorithm, "suppression_limit": line.plan.suppression_limit}
    return apply_configuration_to_plan(line.ground.plan.model_copy(update=own), line.configuration)


def list_changes(first: Plan, other: Plan) -> dict[str, Any]:
    """The keys of a plan, with their values, that differ from those of the first."""
    content, new = (plan.model_dump(mode="json", exclude_none=True) for plan in (first, other))
    return {key: new.get(key) for key in {**content, **new} if content.get(key) != new.get(key)}
