"""The numbers behind the curves, one table at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from kanon.base.formatting import write_count, write_percent
from kanon.base.sentences import describe_nauc
from kanon.charts.difference import build_difference_table, describe_differences, draw_difference
from kanon.errors import KanonError
from kanon.experiments.comparison import (
    INTERVALS,
    K_PRESETS,
    Comparison,
    compute_means_by_characteristic,
)
from kanon.experiments.criteria import SUPPRESSED_CARD
from kanon.experiments.titles import is_guided
from kanon.measures.comparing import Standing
from kanon.report.optimality_gap import QUICKLY, OptimalityGap, can_show_ranges, explain_no_bound
from kanon.run import PreparedRun, prepare
from kanon.studio.compare.board import BoardInputs
from kanon.studio.jobs.comparison import ComparisonOutlook
from kanon.studio.jobs.configurations import PlannedLine
from kanon.studio.jobs.lower_bounds import BoundTask
from kanon.studio.session import state
from kanon.studio.session.parts import CompareSettings
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.how import explain_bound
from kanon.studio.widgets.numbers import draw_bound_button, find_quick_bounds
from kanon.studio.widgets.picture import draw_data_button, show_picture
from kanon.studio.widgets.standings import (
    build_bands_table,
    build_grouped_table,
    build_standing_table,
    get_criterion_titles,
    get_line_titles,
    needs_line_rows,
)

_UNKNOWN = "–"

_ASKED_FOR = 10 * QUICKLY
"""Bounds of up to this effort are found when the table is opened, in about ten seconds."""

TABLES = {
    "areas": "Whole curves: NAUC",
    "places": "At this k, by criterion",
    "alterations": "At this k, by metric",
    "closeness": "How close to the least loss",
    "difference": "Difference of two lines",
    "searches": "Searches of the lattice",
}
OF_CURRENT_LINES = ("closeness", "searches")
DATA = {
    "areas": "Data of the areas",
    "criteria": "Data of the criteria",
    "alterations": "Data of the alterations",
}
COUNTED = {
    "fourteen": "14 k, for metrics",
    "thirteen": "13 k, for strategies",
    "eleven": "11 k, for simulated columns",
}


def choose_table(work: SessionState, compared: bool, kept: bool = False) -> None:
    offered = list(TABLES) if compared else ["searches"]
    if kept:  # these are about the current table and lines
        offered = [name for name in offered if name not in OF_CURRENT_LINES]
    table = work.compare.visible_table
    st.segmented_control(
        "Numbers",
        offered,
        **attach_widget(
            "compare-table",
            table if table in offered else None,
            "visible_table",
            into=CompareSettings,
            read=lambda value: value or (table if compared else "areas"),
        ),
        format_func=lambda name: TABLES[name],
        label_visibility="collapsed",
    )


def show_chosen_table(work: SessionState, status: ComparisonOutlook, inputs: BoardInputs) -> None:
    table = work.compare.visible_table
    if table == "areas":
        show_areas(work, inputs)
    elif table == "places":
        show_places(inputs)
    elif table == "alterations":
        show_alterations(work, inputs)
    elif table == "closeness":
        show_closeness(work, status, inputs)
    else:
        show_difference(work, inputs)


def show_areas(work: SessionState, inputs: BoardInputs) -> None:
    comparison = inputs.comparison
    ends = work.compare.interval or comparison.interval
    if ends is None:
        st.info("An area needs at least two values of k, and this table has only one.")
        return
    low, high = ends
    choose_interval(work, ends)
    points = K_PRESETS[work.compare.k_preset]
    try:
        ranks = state.get_or_compute(
            "areas", (inputs.key, low, high, points), lambda: comparison.areas(low, high, points)
        )
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    _show_caption(
        f"{describe_nauc(low, high)} {explain_colours(comparison)}",
        comparison,
        comparison.list_area_ks(low, high, points),
    )
    about = f"{inputs.key}|{work.compare.k_preset}"
    show_standings(
        ranks, comparison, "areas", about, from_k=low, to_k=high, over=work.compare.k_preset
    )
    guides = [comparison.line(name).guide for name in ranks.values.columns]
    configurations = [line.configuration for line in comparison.lines]
    if (
        len({configuration.algorithm for configuration in configurations}) > 1
        or {configuration.strategy for configuration in configurations} != {"s1"}
        or not all(map(is_guided, configurations))
        or any(line.kept for line in comparison.lines)
    ):
        return  # lines differ in more than their metrics
    groups = state.get_or_compute(
        "groups",
        (inputs.key, low, high, points),
        lambda: compute_means_by_characteristic(ranks, guides),
    )
    if len(groups):
        st.markdown("**By what the metrics have in common**: mean area in percent")
        st.table(build_grouped_table(groups, get_criterion_titles(comparison)))
        draw_data_button(
            "Data by characteristic",
            lambda: comparison.add_requirement(groups.reset_index().assign(from_k=low, to_k=high)),
            "characteristics",
            f"{about}|{low}|{high}",
        )


def choose_interval(work: SessionState, ends: tuple[int, int]) -> None:
    low, high = ends
    preset = f"compare-preset-{work.version}"  # ignores answers about another table
    preset_interval = ends if ends in INTERVALS else None
    lists = "; ".join(f"{len(ks)}: {', '.join(map(write_count, ks))}" for ks in K_PRESETS.values())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Interval of k",
            INTERVALS,
            index=None,
            **attach_widget(preset, preset_interval, "interval", into=CompareSettings),
            format_func=lambda ends: f"{write_count(ends[0])} to {write_count(ends[1])}",
            placeholder="custom",
            width=200,
        )
        fields = (("from-k", "from k", low), ("to-k", "to k", high))
        for place, (name, label, value) in enumerate(fields):
            st.number_input(
                label,
                step=1,
                **attach_widget(
                    f"compare-{name}-{work.version}", value, take_end, place, ends, keep=True
                ),
                width=150,
            )
        st.selectbox(
            "over the papers' k",
            list(K_PRESETS),
            **attach_widget(
                "compare-counted", work.compare.k_preset, "k_preset", into=CompareSettings
            ),
            format_func=lambda name: COUNTED[name],
            help=f"Between these values of k the curve is taken as a straight line: {lists}. The "
            "listed k inside the interval are used, and so are both of its ends.",
            width=230,
        )


def take_end(place: int, ends: tuple[int, int], value: int) -> None:
    interval = (value, ends[1]) if place == 0 else (ends[0], value)
    state.update_sections(replace(state.get_session().compare, interval=interval))


def show_places(inputs: BoardInputs) -> None:
    comparison, k = inputs.comparison, inputs.k
    sentence = f"Every criterion at k = {write_count(k)}, in percent."
    _show_caption(f"{sentence} {explain_colours(comparison)}", comparison, [k])
    standing = state.get_or_compute("places", (inputs.key, k), lambda: comparison.places(k))
    show_standings(standing, comparison, "criteria", inputs.key, k=k)


def show_alterations(work: SessionState, inputs: BoardInputs) -> None:
    comparison, k = inputs.comparison, inputs.k
    sentence = (
        f"Alteration at k = {write_count(k)}, % ↓ better: the share that was lost of all that "
        "could be lost, as each metric counts it."
    )
    _show_caption(f"{sentence} {explain_colours(comparison)}", comparison, [k])
    st.toggle(
        "Rank whole percentages, as the paper does",
        **attach_widget(
            "compare-rounded", work.compare.rounded, "rounded", into=CompareSettings, read=bool
        ),
    )
    digits = 0 if work.compare.rounded else 1
    standing = state.get_or_compute(
        "alterations", (inputs.key, k, digits), lambda: comparison.compare_alterations(k, digits)
    )
    show_standings(standing, comparison, "alterations", f"{inputs.key}|{digits}", digits, k=k)


def show_standings(
    ranks: Standing, comparison: Comparison, name: str, about: str, digits: int = 1, **fields: Any
) -> None:
    rows, columns, is_wide = (
        get_criterion_titles(comparison),
        get_line_titles(comparison),
        needs_line_rows(comparison),
    )
    st.table(build_standing_table(ranks, rows, columns, digits, is_wide))
    if comparison.has_bands:
        with st.expander("The bands in numbers"):
            st.table(build_bands_table(ranks, rows, columns, is_wide))
    draw_data_button(
        DATA[name],
        lambda: comparison.add_requirement(ranks.table(**fields)),
        name,
        f"{about}|{fields}",
    )


def _show_caption(sentence: str, comparison: Comparison, ks: Sequence[int] = ()) -> None:
    """A caption, with what lines meet beside k, and which have no release for one of these k."""
    more = escape_markdown(f"{comparison.requirement} {comparison.describe_lacks(ks)}".strip())
    st.caption(f"{sentence} {more}".strip())


def explain_colours(comparison: Comparison) -> str:
    line = "column" if needs_line_rows(comparison) else "row"
    shades = (
        f"Green is the best of its {line}, orange the worst; the rank is in brackets. Numbers "
        "that look equal share a rank."
    )
    if not comparison.has_bands:
        return shades
    grey = "Grey and ≈: undecided, because the band over the tie seeds overlaps that of the best."
    return f"{shades} {grey}"


# --- two lines, one minus the other -----------------------------------------------------------
def show_difference(work: SessionState, inputs: BoardInputs) -> None:
    comparison, k = inputs.comparison, inputs.k
    titles = {line.name: line.title for line in comparison.lines}
    names = list(titles)
    if len(names) < 2:
        st.info("A difference needs two lines: choose another metric or strategy.")
        return
    first, second = work.compare.pair
    first = first if first in names else names[0]
    if second not in names or second == first:
        second = next(name for name in reversed(names) if name != first)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        fields = (("First line", first), ("minus second line", second))
        for place, (label, value) in enumerate(fields):
            st.selectbox(
                label,
                names,
                **attach_widget(f"compare-pair-{place}", value, take_pair, place, (first, second)),
                format_func=lambda name: escape_markdown(titles[name]),
                width=260,
            )
        _show_caption(
            ":blue[Blue]: the first line is better; :orange[brown]: the second is. In percentage "
            "points; t in hundredths. "
            + (
                "Grey: the range over all tie seeds. If it includes 0, nothing is decided."
                if comparison.has_bands
                else "Switch on “Show what ties decide” to see whether it is more than luck."
            ),
            comparison,
        )
    figure, verdicts = state.get_or_compute(
        "difference",
        (inputs.key, first, second, k),
        lambda: (
            draw_difference(comparison, first, second, k),
            describe_differences(comparison, first, second, k),
        ),
    )
    show_picture(
        figure,
        lambda: build_difference_table(comparison, first, second),
        "difference",
        f"{inputs.key}|{first}|{second}",
        inputs.settings,
    )
    verdict_list = "\n".join(f"- {escape_markdown(verdict)}" for verdict in verdicts)
    st.markdown(f"**At k = {write_count(k)}**\n\n{verdict_list}")


def take_pair(place: int, pair: tuple[str, str], name: str) -> None:
    other = pair[1 - place] if name != pair[1 - place] else pair[place]
    new = (name, other) if place == 0 else (other, name)
    state.update_sections(replace(state.get_session().compare, pair=new))


# --- how close to the least loss --------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class BoundedLine:
    line: PlannedLine
    prepared: PreparedRun
    bound_wanted: BoundTask
    loss: float | None  # None where the bound does not hold for it, or it was not measured
    suppresses: bool  # whether its release leaves out records

    @property
    def gap(self) -> OptimalityGap | None:
        result = state.get_session().findings.bounds.get(self.bound_wanted.key)
        if result is None:
            return None
        return OptimalityGap.at(self.prepared, self.loss, self.suppresses, result.bound)


def show_closeness(work: SessionState, status: ComparisonOutlook, inputs: BoardInputs) -> None:
    comparison, k = inputs.comparison, inputs.k
    if status.comparison is None:
        st.info("Press Compare first: the lines above were made with earlier settings.")
        return
    lines = state.get_or_compute(
        "bounded", (inputs.key, k), lambda: _find_bounds(work, status, comparison, k)
    )
    if reason := next(
        filter(None, (explain_no_bound(line.prepared.classes) for line in lines)), ""
    ):
        st.info(escape_markdown(reason))
        return
    wanted = [line.bound_wanted for line in lines]
    find_quick_bounds(wanted, most=_ASKED_FOR)
    _show_caption(
        f"Each line's loss at k = {write_count(k)}, as its own metric counts it. No release with "
        "the same hierarchies can lose less than the least possible loss. For a line that keeps "
        "all records, this applies only to releases that keep all records. The last column says "
        "by how much the line can exceed the least possible loss.",
        comparison,
        [k],
    )
    st.table(_build_bounds_table(lines).set_index("Configuration"))
    if any(line.loss is None for line in lines):
        st.caption(
            f"{_UNKNOWN}: the bound says nothing about lines whose releases show ranges, or that "
            "are not measured by their own hierarchies and metric."
        )
    draw_bound_button(wanted, "compare")
    gaps = [gap for line in lines if (gap := line.gap) is not None]
    draw_data_button(
        "Data of the bounds",
        lambda: comparison.add_requirement(_list_bounds(lines, k)),
        "bounds",
        f"{inputs.key}|{k}|{gaps}",
    )
    for gap in gaps[:1]:
        st.caption(explain_bound(gap))


def _find_bounds(
    work: SessionState, status: ComparisonOutlook, comparison: Comparison, k: int
) -> list[BoundedLine]:
    """Every line with its hierarchies, metric and k, on which its bound depends."""
    grounds: dict[str, PreparedRun] = {}
    rows = []
    known_names = {line.name for line in comparison.select_lines_at([k]).lines}
    for line in (line for line in status.lines if line.name in known_names):
        ground = line.ground
        if ground.digest not in grounds:
            grounds[ground.digest] = prepare(ground.plan, work.table.records)
        plan = ground.plan.model_copy(update={"algorithm": line.plan.algorithm}).with_k(k)
        prepared = replace(grounds[ground.digest], plan=plan)
        curve = comparison.line(line.name)
        metrics = [metric.name for metric in comparison.metrics]
        lost = None
        holds = line.measuring_inputs is None and not can_show_ranges(line.plan)
        if holds and line.guide.name in metrics:
            lost = float(curve.at(f"alteration_{line.guide.name}", [k], comparison.sensitive)[0, 0])
        drops = bool(curve.at(SUPPRESSED_CARD.name, [k], comparison.sensitive)[0, 0])
        rows.append(BoundedLine(line, prepared, BoundTask.from_prepared(prepared), lost, drops))
    return rows


def _build_bounds_table(lines: list[BoundedLine]) -> pd.DataFrame:
    rows = []
    for line in lines:
        gap = line.gap
        least, far = ("", "") if gap is None else (gap.bound_text, gap.gap_text)
        rows.append(
            {
                "Configuration": escape_markdown(line.line.title),
                "Metric": escape_markdown(line.line.guide.card.title),
                "Loss ↓": _UNKNOWN if line.loss is None else write_percent(line.loss),
                "Least possible loss": least or _UNKNOWN,
                "At most, compared with the least ↓": far or _UNKNOWN,
            }
        )
    return pd.DataFrame(rows)


def _list_bounds(lines: list[BoundedLine], k: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "configuration": line.line.title,
            "metric": line.line.guide.name,
            "k": k,
            "alteration": line.loss,
            "lower_bound": None if (gap := line.gap) is None else gap.least,
        }
        for line in lines
    )
