"""The numbers behind the curves, one table at a time."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from kanon.base.formatting import percent, thin
from kanon.base.sentences import average_height
from kanon.charts.difference import difference_chart, difference_table, verdicts
from kanon.errors import KanonError
from kanon.experiments.comparison import INTERVALS, K_PRESETS, Comparison, by_characteristic
from kanon.experiments.criteria import SUPPRESSED_CARD
from kanon.experiments.titles import guided
from kanon.measures.comparing import Standing
from kanon.report.optimality_gap import QUICKLY, OptimalityGap, may_show_ranges, why_no_bound
from kanon.run import PreparedRun, prepare
from kanon.studio.jobs.comparison import ComparisonState
from kanon.studio.jobs.configurations import PlannedLine
from kanon.studio.jobs.lower_bounds import BoundWanted
from kanon.studio.session import state
from kanon.studio.session.parts import CompareSettings
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.how import how_bound
from kanon.studio.widgets.numbers import closer_button, found_soon
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.standings import (
    bands_table,
    grouped_table,
    line_titles,
    standing_table,
    titles_of,
    wide,
)

_UNKNOWN = "–"

_ASKED_FOR = 10 * QUICKLY
"""Up to so much effort bounds are found once somebody opens the table, in about ten seconds."""

TABLES = {
    "areas": "Whole curves: NAUC",
    "places": "At this k, by criterion",
    "alterations": "At this k, by metric",
    "closeness": "How close to the least loss",
    "difference": "Two of them",
    "searches": "Searches of the lattice",
}
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


def table_choice(work: Work, compared: bool) -> None:
    """Which numbers are shown: those behind the curves, or the searches, which need no curves."""
    offered = list(TABLES) if compared else ["searches"]
    shown = work.compare.table_shown
    st.segmented_control(
        "Numbers",
        offered,
        **bound(
            "compare-table",
            shown if shown in offered else None,
            "table_shown",
            into=CompareSettings,
            read=lambda value: value or (shown if compared else "areas"),
        ),
        format_func=lambda name: TABLES[name],
        label_visibility="collapsed",
    )


def tables(
    work: Work,
    seen: ComparisonState,
    comparison: Comparison,
    k: int,
    key: Hashable,
    about: str,
    settings: PictureSettings,
) -> None:
    if work.compare.table_shown == "areas":
        areas(work, comparison, key, about)
    elif work.compare.table_shown == "places":
        places(work, comparison, k, key, about)
    elif work.compare.table_shown == "alterations":
        alterations(work, comparison, k, key, about)
    elif work.compare.table_shown == "closeness":
        closeness(work, seen, comparison, k, key, about)
    else:
        difference(work, comparison, k, key, about, settings)


def areas(work: Work, comparison: Comparison, key: Hashable, about: str) -> None:
    ends = work.compare.interval or comparison.interval
    if ends is None:
        st.info("An area needs two k at least, and this table has one.")
        return
    low, high = ends
    interval_choice(work, ends)
    points = K_PRESETS[work.compare.counted_k]
    try:
        found = state.remembered(
            "areas", (key, low, high, points), lambda: comparison.areas(low, high, points)
        )
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    st.caption(f"{average_height(low, high)} {how_to_read(comparison)}")
    about = f"{about}|{work.compare.counted_k}"
    standings(found, comparison, "areas", about, from_k=low, to_k=high, over=work.compare.counted_k)
    guides = [line.guide for line in comparison.lines]
    made = [line.configuration for line in comparison.lines]
    if (
        len({one.algorithm for one in made}) > 1
        or {one.strategy for one in made} != {"s1"}
        or not all(map(guided, made))
        or any(line.kept for line in comparison.lines)
    ):
        return  # then lines differ in more than what their metrics have in common
    groups = state.remembered(
        "groups", (key, low, high, points), lambda: by_characteristic(found, guides)
    )
    if len(groups):
        st.markdown("**By what the metrics have in common**, mean area in percent")
        st.table(grouped_table(groups, titles_of(comparison)))
        data_button(
            "Data by characteristic",
            lambda: groups.reset_index().assign(from_k=low, to_k=high),
            "characteristics",
            f"{about}|{low}|{high}",
        )


def interval_choice(work: Work, ends: tuple[int, int]) -> None:
    low, high = ends
    preset = f"compare-preset-{work.version}"  # no answer about another table
    known = ends if ends in INTERVALS else None
    listed = "; ".join(f"{len(ks)}: {', '.join(map(thin, ks))}" for ks in K_PRESETS.values())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Interval of k",
            INTERVALS,
            index=None,
            **bound(preset, known, "interval", into=CompareSettings),
            format_func=lambda ends: f"{thin(ends[0])} to {thin(ends[1])}",
            placeholder="your own",
            width=200,
        )
        fields = (("from-k", "from k", low), ("to-k", "to k", high))
        for place, (name, label, value) in enumerate(fields):
            st.number_input(
                label,
                step=1,
                **bound(f"compare-{name}-{work.version}", value, take_end, place, ends, keep=True),
                width=150,
            )
        st.selectbox(
            "over the papers' k",
            list(K_PRESETS),
            **bound("compare-counted", work.compare.counted_k, "counted_k", into=CompareSettings),
            format_func=lambda name: COUNTED[name],
            help=f"The k between which the curve is taken as straight: {listed}. Those inside the "
            "interval, and both of its ends.",
            width=230,
        )


def take_end(place: int, ends: tuple[int, int], typed: int) -> None:
    interval = (typed, ends[1]) if place == 0 else (ends[0], typed)
    state.change(replace(state.work().compare, interval=interval))


def places(work: Work, comparison: Comparison, k: int, key: Hashable, about: str) -> None:
    what = f"Every criterion at k = {thin(k)}, in percent."
    st.caption(f"{what} {how_to_read(comparison)}")
    found = state.remembered("places", (key, k), lambda: comparison.places(k))
    standings(found, comparison, "criteria", about, k=k)


def alterations(work: Work, comparison: Comparison, k: int, key: Hashable, about: str) -> None:
    what = (
        f"Alteration at k = {thin(k)}, % ↓ better: how much of all that could be lost was lost, "
        "as each metric counts."
    )
    st.caption(f"{what} {how_to_read(comparison)}")
    st.toggle(
        "Rank whole percentages, as the paper does",
        **bound(
            "compare-rounded", work.compare.rounded, "rounded", into=CompareSettings, read=bool
        ),
    )
    digits = 0 if work.compare.rounded else 1
    found = state.remembered(
        "alterations", (key, k, digits), lambda: comparison.alterations(k, digits)
    )
    standings(found, comparison, "alterations", f"{about}|{digits}", digits, k=k)


def standings(
    found: Standing, comparison: Comparison, name: str, about: str, digits: int = 1, **said: Any
) -> None:
    rows, columns, turned = titles_of(comparison), line_titles(comparison), wide(comparison)
    st.table(standing_table(found, rows, columns, digits, turned))
    if comparison.has_bands:
        with st.expander("The bands in numbers"):
            st.table(bands_table(found, rows, columns, turned))
    data_button(DATA[name], lambda: found.table(**said), name, f"{about}|{said}")


def how_to_read(comparison: Comparison) -> str:
    line = "column" if wide(comparison) else "row"
    shades = (
        f"Green is the best place of its {line}, orange the last; in brackets the rank. Numbers "
        "that look equal share it."
    )
    if not comparison.has_bands:
        return shades
    grey = "Grey and ≈: its band over the tie seeds overlaps that of the best, so it is undecided."
    return f"{shades} {grey}"


# --- two lines, one minus the other -----------------------------------------------------------
def difference(
    work: Work, comparison: Comparison, k: int, key: Hashable, about: str, settings: PictureSettings
) -> None:
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
        fields = (("This one", first), ("minus this one", second))
        for place, (label, value) in enumerate(fields):
            st.selectbox(
                label,
                names,
                **bound(f"compare-pair-{place}", value, take_pair, place, (first, second)),
                format_func=lambda name: plain(titles[name]),
                width=260,
            )
        st.caption(
            ":blue[Blue]: the first is better; :orange[brown]: the second is. In percentage "
            "points; t in hundredths. "
            + (
                "Grey: what it can be over all tie seeds; undecided where that holds 0."
                if comparison.has_bands
                else "Whether more than luck is ahead shows once ties are shown."
            )
        )
    found = state.remembered(
        "difference",
        (key, first, second, k),
        lambda: (
            difference_chart(comparison, first, second, k),
            verdicts(comparison, first, second, k),
        ),
    )
    picture(
        found[0],
        lambda: difference_table(comparison, first, second),
        "difference",
        f"{about}|{first}|{second}",
        settings,
    )
    told = "\n".join(f"- {plain(one)}" for one in found[1])
    st.markdown(f"**At k = {thin(k)}**\n\n{told}")


def take_pair(place: int, pair: tuple[str, str], typed: str) -> None:
    """Copy one of the two; the one that was there takes the other's place."""
    other = pair[1 - place] if typed != pair[1 - place] else pair[place]
    new = (typed, other) if place == 0 else (other, typed)
    state.change(replace(state.work().compare, pair=new))


# --- how close to the least loss --------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class BoundedLine:
    """A line, the bound to look for, and what it loses as its metric counts."""

    line: PlannedLine
    prepared: PreparedRun
    wanted: BoundWanted
    lost: float | None  # None where the bound does not hold for it, or it was not measured
    suppresses: bool  # whether its release leaves out records

    @property
    def gap(self) -> OptimalityGap | None:
        """How far it is from the bound; None as long as that is not known."""
        known = state.work().findings.bounds.get(self.wanted.key)
        if known is None:
            return None
        return OptimalityGap.at(self.prepared, self.lost, self.suppresses, known.bound)


def closeness(
    work: Work, seen: ComparisonState, comparison: Comparison, k: int, key: Hashable, about: str
) -> None:
    """Per line what it loses, as the metric counts that guides it, beside the lower bound."""
    if seen.comparison is None:
        st.info("Press Compare first: the lines above are of earlier settings.")
        return
    lines = state.remembered("bounded", (key, k), lambda: _bounded(work, seen, comparison, k))
    if said := next(filter(None, (why_no_bound(one.prepared.classes) for one in lines)), ""):
        st.info(plain(said))
        return
    wanted = [one.wanted for one in lines]
    found_soon(wanted, most=_ASKED_FOR)
    st.caption(
        f"At k = {thin(k)}: what each loses, as the metric counts that guides it; what no "
        "release by its hierarchies, of any tool, can lose less than, of those that keep "
        "every record where it does; and how much more than the least possible it loses at "
        "most."
    )
    st.table(_shown(lines).set_index("Configuration"))
    if any(one.lost is None for one in lines):
        st.caption(
            f"{_UNKNOWN}: its releases show ranges, or are measured by other hierarchies than "
            "its own or not by its metric, so the bound says nothing about them."
        )
    closer_button(wanted, "compare")
    known = [gap for one in lines if (gap := one.gap) is not None]
    data_button("Data of the bounds", lambda: _numbers(lines, k), "bounds", f"{about}|{k}|{known}")
    for gap in known[:1]:
        st.caption(how_bound(gap))


def _bounded(
    work: Work, seen: ComparisonState, comparison: Comparison, k: int
) -> list[BoundedLine]:
    """Every line with what its bound is of: its hierarchies, its metric and k, no other model."""
    grounds: dict[str, PreparedRun] = {}
    found = []
    for line in seen.lines:
        ground = line.ground
        if ground.digest not in grounds:
            grounds[ground.digest] = prepare(ground.plan, work.table.records)
        plan = ground.plan.model_copy(update={"algorithm": line.plan.algorithm}).with_k(k)
        prepared = replace(grounds[ground.digest], plan=plan)
        made, measured = comparison.line(line.name), [one.name for one in comparison.measured]
        lost = None
        holds = line.yardstick is None and not may_show_ranges(line.plan)
        if holds and line.guide.name in measured:
            lost = float(made.at(f"alteration_{line.guide.name}", [k], comparison.sensitive)[0, 0])
        gone = bool(made.at(SUPPRESSED_CARD.name, [k], comparison.sensitive)[0, 0])
        found.append(BoundedLine(line, prepared, BoundWanted.of(prepared), lost, gone))
    return found


def _shown(lines: list[BoundedLine]) -> pd.DataFrame:
    rows = []
    for one in lines:
        gap = one.gap
        least, far = ("", "") if gap is None else (gap.least_said, gap.at_most)
        rows.append(
            {
                "Configuration": plain(one.line.title),
                "Counted by": plain(one.line.guide.card.title),
                "Loses ↓": _UNKNOWN if one.lost is None else percent(one.lost),
                "No release below": least or _UNKNOWN,
                "How far above the least, at most ↓": far or _UNKNOWN,
            }
        )
    return pd.DataFrame(rows)


def _numbers(lines: list[BoundedLine], k: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "configuration": one.line.title,
            "metric": one.line.guide.name,
            "k": k,
            "alteration": one.lost,
            "lower_bound": None if (gap := one.gap) is None else gap.least,
        }
        for one in lines
    )
