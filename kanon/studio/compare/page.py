"""Which choice is better here? Metrics and strategies side by side, over every k."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import streamlit as st

from kanon.base.formatting import write_count
from kanon.errors import PlanError
from kanon.experiments.comparison import TIE_SEEDS, Comparison
from kanon.measures.along import Curves
from kanon.plan import Plan
from kanon.studio.compare.board import BoardInputs, get_layout, show_board
from kanon.studio.compare.choices_panel import show_line_choices, show_requirements, show_status
from kanon.studio.compare.kept_panel import build_kept_board, show_board_titles, show_way_back
from kanon.studio.compare.searches_panel import show_searches
from kanon.studio.compare.tables_panel import OF_CURRENT_LINES, choose_table, show_chosen_table
from kanon.studio.compare.use_line import show_line_use, take_line
from kanon.studio.jobs.comparison import ComparisonOutlook, describe_comparison
from kanon.studio.jobs.configurations import PlannedLine, build_run_plan
from kanon.studio.session import state
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import draw_page_head, show_classes_in_engine, show_unready
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.how import explain_comparison
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, get_start_state


def get_board_inputs(work: SessionState, status: ComparisonOutlook) -> BoardInputs | None:
    """The comparison of the chosen lines, or else the last one."""
    comparison, key, then = status.comparison, status.key, work
    if comparison is None:
        if work.findings.comparison is None:
            return None
        last, then = work.findings.comparison.comparison, get_start_state(work, "comparison")
        names = [line.name for line in last.lines]
        comparison = last.only(names, work.compare.bands and last.has_bands)
        key = f"{work.findings.comparison.key}|{comparison.has_bands}"
    comparison = comparison.add_k(work.settings.k)
    k = comparison.nearest(work.settings.k)
    settings = PictureSettings.from_comparison(then, comparison, k)
    return BoardInputs(comparison, k, f"{key}|{comparison.ks}", settings)


def draw_curves(work: SessionState, inputs: BoardInputs) -> None:
    comparison, k = inputs.comparison, inputs.k
    show_board(inputs, lambda place, k: take_line(comparison.lines[place], k))
    if k != work.settings.k:
        st.caption(
            f"k = {write_count(work.settings.k)} was not "
            f"computed; the numbers are for k = {write_count(k)}, "
            f"the nearest. Press Compare to compute k = {write_count(work.settings.k)}."
        )
    elif lacks := comparison.describe_lacks([k]):
        untried = any(
            not line.knows([k])[0] and not line.explain_lack(k) for line in comparison.lines
        )
        hint = f" Press Compare to compute k = {write_count(k)}." if untried else ""
        st.caption(escape_markdown(f"{lacks}{hint}"))
    draw_data_button("Data of the curves", comparison.table, "curves", inputs.key, kind="tertiary")


def show_kept_board(work: SessionState, status: ComparisonOutlook) -> bool:
    """Show the kept comparisons that were chosen; whether there are any."""
    try:
        board = build_kept_board(work, status)
    except PlanError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        show_way_back()
        return True
    if board is None:
        return False
    show_board_titles(board)
    comparison = board.comparison.add_k(work.settings.k)
    k = comparison.nearest(work.settings.k)
    settings = PictureSettings.from_texts(
        "Kept", board.titles[0], [], *board.titles[1:], k=k, counting=comparison.of
    )
    inputs = BoardInputs(comparison, k, f"{board.key}|{comparison.ks}", settings)
    show_board(inputs, has_costs=False)
    draw_data_button("Data of the curves", comparison.table, "curves", inputs.key, kind="tertiary")
    if work.compare.visible_table in OF_CURRENT_LINES:
        work = work.replace_sections(replace(work.compare, visible_table="areas"))
    choose_table(work, True, kept=True)
    show_chosen_table(work, status, inputs)
    return True


def page() -> None:
    work = draw_page_head("Which choice is better here?", as_toast=True)
    show_unready(work)
    if show_classes_in_engine(work):
        return
    status = describe_comparison(work)
    show_line_choices(work, status)
    with st.container():  # always there, so that what follows stays where it is
        show_status(work, status)
        show_requirements(work, status)
    if show_kept_board(work, status):
        return
    is_old = (status.comparison is None and not status.unfinished) or "comparison" in work.running
    faint = f"{{ opacity: {0.45 if is_old else 1}; }}"
    st.html(f"<style>.st-key-compared {faint} .st-key-compared-numbers {faint}</style>")
    inputs = get_board_inputs(work, status)
    if inputs is None or not (status.lines or status.problem):
        choose_table(work, False)
        if work.compare.visible_table == "searches":
            show_searches(work)
        return
    with st.container(key="compared"):
        draw_curves(work, inputs)
    show_line_use(work, inputs.comparison, inputs.k)
    choose_table(work, True)
    if work.compare.visible_table == "searches":
        show_searches(work)
        return
    with st.container(key="compared-numbers"):
        show_chosen_table(work, status, inputs)
        with st.expander("How it is computed"):
            st.markdown(explain_comparison(inputs.comparison))
            if status.comparison is not None:
                draw_comparison_code(work, status.lines, inputs)


# --- what it shows, as Python ------------------------------------------------------------------
def draw_comparison_code(
    work: SessionState, lines: Sequence[PlannedLine], inputs: BoardInputs
) -> None:
    """Buttons for a current comparison; a line differs from the first in some keys of its plan."""
    comparison = inputs.comparison
    first, settings = state.get_or_compute(
        "compared code", inputs.key, lambda: describe_comparison_code(lines, comparison)
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
