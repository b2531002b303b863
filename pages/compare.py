"""Which choice is better here? Several metrics side by side, over every k."""

import streamlit as st

from kanon.charts.board import board, board_cursor
from kanon.charts.style import colour_of_metric
from kanon.comparison import INTERVALS, TIE_SEEDS, by_characteristic
from kanon.errors import KanonError
from kanon.run import serves_every_k
from kanon.studio import running, state
from kanon.studio.board import board_with_cursor
from kanon.studio.explain import how_compared
from kanon.studio.frame import head, metric_titles, unready
from kanon.studio.picture import data_button
from kanon.studio.progress import cancel_button, progress
from kanon.studio.standings import bands_table, grouped_table, standing_table, titles_of
from kanon.studio.text import plain
from kanon.studio.work import compared_metrics, usable_metrics
from kanon.words import thin

BANDS_HELP = (
    f"Runs every metric {len(TIE_SEEDS)} times more, each time with another order in which ties "
    "are broken. Where bands overlap, luck decides who is ahead."
)


def want_bands():
    """Bands need runs of their own: start them at once."""
    state.change(bands=bool(state.typed("compare-bands")))
    work = state.work()
    if work.comparison is not None and running.comparison_outdated(work):
        running.compare()


def choices(work, stale):
    """The metrics as chips, in their colours, and the buttons."""
    usable, titles = usable_metrics(work), metric_titles(work)
    colours = "".join(
        f".st-key-compare-metrics button:nth-of-type({place}) "
        f"{{ border-left: 0.5rem solid {colour_of_metric(name)} !important; }}"
        for place, name in enumerate(usable, 1)
    )
    st.html(f"<style>{colours} .st-key-compare-under {{ min-height: 3.5rem; }}</style>")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.pills(
            "Metrics that guide the merging",
            usable,
            selection_mode="multi",
            key=state.seeded("compare-metrics", compared_metrics(work)),
            format_func=lambda name: plain(titles[name]),
            on_change=state.take,
            args=("compared", "compare-metrics", tuple),
        )
        st.button(
            "Compare",
            type="primary" if stale or work.comparison is None else "secondary",
            icon=":material/play_arrow:",
            disabled=work.busy or not compared_metrics(work),
            on_click=running.compare,
            key="compare",
        )
        cancel_button()
    with st.container(horizontal=True, vertical_alignment="center", key="compare-under"):
        st.toggle(
            "Show what ties decide",
            key=state.seeded("compare-bands", work.bands),
            help=BANDS_HELP,
            disabled=work.busy,
            on_change=want_bands,
            width="content",
        )
        with st.container():  # beside it, so that the pictures stay where they are
            progress()


def standings(found, comparison, name, about, digits=1, **said):
    """A table of who is ahead, the bands behind it, and its numbers."""
    titles = titles_of(comparison)
    st.table(standing_table(found, titles, digits))
    if comparison.has_bands:
        with st.expander("The bands in numbers"):
            st.table(bands_table(found, titles))
    data_button(f"Data of the {name}", lambda: found.table(**said), name, f"{about}|{said}")


def alterations(work, comparison, k, key, about):
    """The table of the papers, for the k of the cursor."""
    st.subheader(f"Alteration at k = {thin(k)}, % ↓ better")
    st.caption(
        "A column per metric that guided the merging, a row per metric that counts what was lost; "
        "in brackets the rank." + undecided_note(comparison)
    )
    st.toggle(
        "Rank whole percentages, as the paper does",
        key=state.seeded("compare-rounded", work.rounded),
        on_change=state.take,
        args=("rounded", "compare-rounded", bool),
    )
    digits = 0 if work.rounded else None
    found = state.remembered(
        "alterations", (key, k, digits), lambda: comparison.alterations(k, digits)
    )
    standings(found, comparison, "alterations", f"{about}|{digits}", 0 if work.rounded else 1, k=k)


def areas(work, comparison, key, about):
    """One number per curve."""
    st.subheader("The whole curve in one number: NAUC, % ↓ better")
    ends = work.interval or comparison.interval
    if ends is None:
        st.info("An area needs two k at least, and this table has one.")
        return
    low, high = ends
    preset = f"compare-preset-{work.version}"  # no answer about another table
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Interval of k",
            INTERVALS,
            index=None,
            key=state.seeded(preset, (low, high) if (low, high) in INTERVALS else None),
            format_func=lambda ends: f"{thin(ends[0])} to {thin(ends[1])}",
            placeholder="your own",
            on_change=state.take,
            args=("interval", preset),
            width=200,
        )
        for label, place, value in (("from k", 0, low), ("to k", 1, high)):
            field = f"compare-{label.replace(' ', '-')}-{work.version}"
            st.number_input(
                label,
                step=1,
                key=state.seeded(field, value),
                on_change=take_end,
                args=(field, place, (low, high)),
                width=150,
            )
    try:
        found = state.remembered("areas", (key, low, high), lambda: comparison.areas(low, high))
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    st.caption(
        "The mean height of each curve from one k to the other; a column per metric that guided."
        + undecided_note(comparison)
    )
    standings(found, comparison, "areas", about, from_k=low, to_k=high)
    guides = [line.guide for line in comparison.lines]
    groups = state.remembered("groups", (key, low, high), lambda: by_characteristic(found, guides))
    if len(groups):
        st.markdown("**By what the metrics have in common**, mean area, % ↓ better")
        st.table(grouped_table(groups, titles_of(comparison)))
        data_button(
            "Data by characteristic",
            lambda: groups.reset_index().assign(from_k=low, to_k=high),
            "characteristics",
            f"{about}|{low}|{high}",
        )


def take_end(key, place, ends):
    """Copy one end of the interval; an emptied field changes nothing."""
    typed = state.typed(key)
    if typed is not None:
        state.change(interval=(typed, ends[1]) if place == 0 else (ends[0], typed))


def undecided_note(comparison):
    """What the sign in the tables means, where it can occur."""
    if not comparison.has_bands:
        return ""
    return " ≈: its band over the tie seeds overlaps with that of the best, so it is undecided."


def drawn(comparison):
    """The board, and what its cursor has to know."""
    figure = board(comparison)
    return figure, board_cursor(comparison, figure)


work = head("Which choice is better here?")
stale = running.comparison_outdated(work)
unready(work)
choices(work, stale)
with st.container():  # always there, so that what follows stays where it is
    if not compared_metrics(work):
        st.info("Pick at least one metric, then press Compare.")
    elif work.comparison is None and not work.busy:
        st.info(
            "Nothing has been compared for this table yet. Press Compare: "
            + (
                "each metric runs once, and serves every k."
                if serves_every_k(work.algorithm)
                else "each metric runs once per k."
            )
        )
    elif stale and work.doing != "comparison":
        st.warning(
            "Settings have changed since this comparison was made; press Compare to renew it.",
            icon=":material/history:",
        )
opacity = 0.45 if stale or work.doing == "comparison" else 1
st.html(f"<style>.st-key-compared {{ opacity: {opacity}; }}</style>")
made = work.comparison
if made is not None:
    comparison = made.comparison.only(compared_metrics(work), work.bands).including(work.k)
    if comparison.lines:
        with st.container(key="compared"):
            shown = tuple(line.configuration.metric for line in comparison.lines)
            key = (made, shown, comparison.has_bands, comparison.ks)
            measured = [metric.name for metric in comparison.measured]
            about = f"{made.settings}|{measured}|{key[1:]}"
            k = comparison.nearest(work.k)
            figure, cursor = state.remembered("board", key, lambda: drawn(comparison))
            board_with_cursor(figure, cursor, k, lambda found: state.change(k=found))
            if k != work.k:
                st.caption(
                    f"k = {thin(work.k)} was not computed; this is k = {thin(k)}, the nearest. "
                    "Press Compare to compute it."
                )
            data_button("Data of the curves", comparison.table, "curves", about, kind="tertiary")
            alterations(work, comparison, k, key, about)
            areas(work, comparison, key, about)
            with st.expander("How it is computed"):
                st.markdown(how_compared(comparison, made.seconds))
