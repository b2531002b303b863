"""Which choice is better here? Several metrics side by side, over every k."""

import streamlit as st

from kanon.charts.board import board, board_cursor
from kanon.charts.style import colour_of_metric
from kanon.comparison import INTERVALS, TIE_SEEDS, by_characteristic, fitting_interval
from kanon.errors import KanonError
from kanon.metrics import METRICS
from kanon.run import serves_every_k
from kanon.studio import running, state
from kanon.studio.board import board_with_cursor
from kanon.studio.explain import how_compared
from kanon.studio.frame import head, usable_metrics
from kanon.studio.picture import data_button
from kanon.studio.progress import progress
from kanon.studio.standings import bands_table, grouped_table, standing_table, titles_of
from kanon.studio.text import plain
from kanon.words import thin

BANDS_HELP = (
    f"Runs every metric {len(TIE_SEEDS)} times more, each time with another order in which ties "
    "are broken. Where bands overlap, luck decides who is ahead."
)


def take(field, key, read=lambda value: value):
    """Copy what was chosen in a widget into the state."""
    state.change(**{field: read(state.typed(key))})


def in_order(usable, chosen):
    """The chosen metrics, in the order of the chips instead of that of the clicks."""
    return tuple(name for name in usable if name in chosen)


def want_bands():
    """Bands need runs of their own: start them at once."""
    state.change(bands=bool(state.typed("compare-bands")))
    work = state.work()
    if work.comparison is not None and running.comparison_outdated(work):
        running.compare()


def choices(work, stale):
    """The metrics as chips, in their colours, and the buttons."""
    usable = usable_metrics(work)
    colours = "".join(
        f".st-key-compare-metrics button:nth-of-type({place}) "
        f"{{ border-left: 0.5rem solid {colour_of_metric(name)} !important; }}"
        for place, name in enumerate(usable, 1)
    )
    st.html(f"<style>{colours}</style>")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.pills(
            "Metrics that guide the merging",
            usable,
            selection_mode="multi",
            key=state.seeded("compare-metrics", [name for name in usable if name in work.compared]),
            format_func=lambda name: METRICS[name].card.title,
            on_change=take,
            args=("compared", "compare-metrics", lambda chosen: in_order(usable, chosen)),
        )
        st.button(
            "Compare",
            type="primary" if stale or work.comparison is None else "secondary",
            icon=":material/play_arrow:",
            disabled=work.busy or not work.compared,
            on_click=running.compare,
            key="compare",
        )
        st.button(
            "Cancel",
            icon=":material/stop:",
            disabled=not work.busy,
            on_click=running.cancel,
            key="cancel",
        )
        st.toggle(
            "Show what ties decide",
            key=state.seeded("compare-bands", work.bands),
            help=BANDS_HELP,
            disabled=work.busy,
            on_change=want_bands,
        )


def standings(found, comparison, name, about):
    """A table of who is ahead, the bands behind it, and its numbers."""
    titles = titles_of(comparison)
    st.table(standing_table(found, titles))
    if comparison.has_bands:
        with st.expander("The bands in numbers"):
            st.table(bands_table(found, titles))
    data_button(f"Data of the {name}", found.table, name, about)


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
        on_change=take,
        args=("rounded", "compare-rounded", bool),
    )
    digits = 0 if work.rounded else None
    found = state.remembered(
        "alterations", (key, k, digits), lambda: comparison.alterations(k, digits)
    )
    standings(found, comparison, "alterations", f"{about}{k}{digits}")


def areas(work, comparison, key, about):
    """One number per curve."""
    st.subheader("The whole curve in one number: NAUC, % ↓ better")
    low, high = work.interval or fitting_interval(comparison.n_records)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Interval of k",
            INTERVALS,
            index=None,
            key=state.seeded("compare-preset", (low, high) if (low, high) in INTERVALS else None),
            format_func=lambda ends: f"{thin(ends[0])} to {thin(ends[1])}",
            placeholder="your own",
            on_change=take,
            args=("interval", "compare-preset"),
            width=200,
        )
        for label, place, value in (("from k", 0, low), ("to k", 1, high)):
            field = f"compare-{label.replace(' ', '-')}"
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
    about = f"{about}{low}{high}"
    standings(found, comparison, "areas", about)
    guides = [line.guide for line in comparison.lines]
    groups = state.remembered("groups", (key, low, high), lambda: by_characteristic(found, guides))
    if len(groups):
        st.markdown("**By what the metrics have in common** (means of the areas above)")
        st.table(grouped_table(groups, titles_of(comparison)))
        data_button("Data by characteristic", groups.reset_index, "characteristics", about)


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
choices(work, stale)
progress()
with st.container():  # always there, so that what follows stays where it is
    if not work.compared:
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
    elif stale and not work.busy:
        st.warning(
            "Settings have changed since this comparison was made; press Compare to renew it.",
            icon=":material/history:",
        )
st.html(f"<style>.st-key-compared {{ opacity: {0.45 if work.busy or stale else 1}; }}</style>")
made = work.comparison
if made is not None:
    comparison = made.comparison.only(work.compared, work.bands)
    if comparison.lines:
        with st.container(key="compared"):
            shown = tuple(line.configuration.metric for line in comparison.lines)
            key = (made, shown, comparison.has_bands)
            about = f"{made.settings}{comparison.measured}{shown}{comparison.has_bands}"
            k = comparison.nearest(work.k)
            figure, cursor = state.remembered("board", key, lambda: drawn(comparison))
            board_with_cursor(figure, cursor, k, lambda found: state.change(k=found))
            data_button("Data of the curves", comparison.table, "curves", about, kind="tertiary")
            alterations(work, comparison, k, key, about)
            areas(work, comparison, key, about)
            with st.expander("How it is computed"):
                st.markdown(how_compared(comparison, made.seconds))
