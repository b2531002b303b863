"""The numbers behind the curves, one table at a time."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import thin
from kanon.base.sentences import average_height
from kanon.errors import KanonError
from kanon.experiments.comparison import INTERVALS, K_PRESETS, Comparison, by_characteristic
from kanon.experiments.titles import guided
from kanon.measures.comparing import Standing
from kanon.studio.compare.closeness_panel import closeness
from kanon.studio.compare.difference_panel import difference
from kanon.studio.jobs.comparison import ComparisonState
from kanon.studio.session import state
from kanon.studio.session.parts import CompareSettings
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.picture import PictureSettings, data_button
from kanon.studio.widgets.standings import (
    bands_table,
    grouped_table,
    line_titles,
    standing_table,
    titles_of,
    wide,
)

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
