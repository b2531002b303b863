"""Which choice is better here? Metrics and strategies side by side, over every k."""

from dataclasses import replace

import streamlit as st

from kanon.algorithms.catalogue import algorithms, serves_every_k, short_title, uses
from kanon.base.formatting import thin
from kanon.base.language import say, say_counted, say_of
from kanon.base.sentences import average_height
from kanon.charts.difference import difference_chart, difference_table, verdicts
from kanon.charts.looks import looks_of
from kanon.charts.style import STRATEGY_COLOURS, colour_of_metric
from kanon.errors import KanonError
from kanon.experiments.comparison import INTERVALS, K_PRESETS, TIE_SEEDS, by_characteristic
from kanon.experiments.titles import guided
from kanon.metrics import PUBLISHED
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES, needs_sensitive
from kanon.studio.compare.board import show_board
from kanon.studio.compare.configurations import (
    algorithms_offered,
    compared_algorithms,
    compared_strategies,
    outlook,
    strategies_offered,
    ties_matter,
)
from kanon.studio.compare.pinned_panel import keeping, kept_aside, kept_chips, yardstick_choice
from kanon.studio.compare.searches_panel import show_searches
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.text import plain
from kanon.studio.session.work import compared_metrics, usable_metrics, usable_strategies
from kanon.studio.shell.frame import head, metric_titles, unready
from kanon.studio.widgets.how import how_compared
from kanon.studio.widgets.outdated import outdated_notice
from kanon.studio.widgets.picture import data_button, picture
from kanon.studio.widgets.progress import cancel_button, progress
from kanon.studio.widgets.standings import (
    bands_table,
    grouped_table,
    line_titles,
    standing_table,
    titles_of,
    wide,
)

SEVEN = tuple(f"s{number}" for number in range(1, 8))
ONE_EACH = ("gaa", "datafly", "samarati", "improved-greedy", "optimal", "mondrian", "lattice-sweep")
PRESETS = {
    "Seven metrics": (say("Seven metrics"), PUBLISHED, ("s1",), ("gaa",)),
    "S1–S7, NLLM": (say("S1–S7, NLLM"), ("nllm",), SEVEN, ("gaa",)),
    "S1–S7, Total": (say("S1–S7, Total"), ("total",), SEVEN, ("gaa",)),
    "Algorithms": (say("Algorithms"), ("nllm",), ("s1",), ONE_EACH),
}
TABLES = {
    "areas": say("Whole curves: NAUC"),
    "places": say("At this k, by criterion"),
    "alterations": say("At this k, by metric"),
    "difference": say("Two of them"),
    "searches": say("Searches of the lattice"),
}
DATA = {
    "areas": say("Data of the areas"),
    "criteria": say("Data of the criteria"),
    "alterations": say("Data of the alterations"),
}
COUNTED = {
    "fourteen": say("14 k, for metrics"),
    "thirteen": say("13 k, for strategies"),
    "eleven": say("11 k, for simulated columns"),
}


# --- what is compared -------------------------------------------------------------------------
def preset(metrics, strategies, chosen):
    """Choose a set that the papers compare, and compare it."""
    if state.work().busy:
        return
    looks = any(map(needs_sensitive, strategies))
    widest = [ends for ends in INTERVALS if ends[1] <= state.work().kept.n_records]
    scopes = state.work().scopes
    state.change(
        compared=metrics,
        strategies=strategies,
        algorithms=chosen,
        scopes=scopes if len(scopes) == 1 else ("table",),  # as many lines as the name says
        counted_k="thirteen" if looks else "fourteen",
        interval=widest[-1] if looks and widest else state.work().interval,
        table_shown="areas",
    )
    runner.compare()


def want_bands():
    """Bands need runs of their own: start them at once."""
    state.change(bands=bool(state.typed("compare-bands")))
    work = state.work()
    if work.comparison is not None and work.bands and outlook(work).lacking:
        runner.compare()


def coloured(key, colours):
    """A stripe on every chip, in the colour of its line."""
    return "".join(
        f".st-key-{key} button:nth-of-type({place}) "
        f"{{ border-left: 0.5rem solid {colour} !important; }}"
        for place, colour in enumerate(colours, 1)
        if colour
    )


def choices(work, seen):
    """What is compared, as chips in their colours, and the buttons."""
    usable, titles = usable_metrics(work), metric_titles(work)
    offered, chosen = strategies_offered(work), compared_strategies(work)
    led_by = compared_algorithms(work)
    looking = len(offered) > 1
    one_metric = len(compared_metrics(work)) == 1 and len(chosen) > 1
    styles = ""  # with several algorithms colours say those
    if len(led_by) == 1 and one_metric:
        styles = coloured("compare-strategies", (STRATEGY_COLOURS[name] for name in offered))
    elif len(led_by) == 1:
        styles = coloured("compare-metrics", map(colour_of_metric, usable))
    if seen.comparison is not None and work.pinned:
        looks = looks_of(seen.comparison)
        own = {line.title: looks[line.name].colour for line in seen.lines if line.kept}
        styles += coloured("compare-kept", [own.get(f"★ {p.title}", "") for p in work.pinned])
    st.html(f"<style>{styles} .st-key-compare-under {{ min-height: 3.5rem; }}</style>")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            say("Metrics"), width=100, help=say("What counts as a loss: it guides the merging.")
        )
        st.pills(
            say("Metrics that guide the merging"),
            usable,
            selection_mode="multi",
            label_visibility="collapsed",
            key=state.seeded("compare-metrics", compared_metrics(work)),
            format_func=lambda name: plain(titles[name]),
            on_change=state.take,
            args=("compared", "compare-metrics", tuple),
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            say("Algorithms"),
            width=100,
            help=say("How the release is found. Their own choices are those of the page Anonymise.")
            + listed(module.CARD for module in algorithms().values()),
        )
        st.multiselect(
            say("Algorithms"),
            algorithms_offered(),
            label_visibility="collapsed",
            key=state.seeded("compare-algorithms", led_by),
            format_func=lambda name: say_of(short_title(name)),
            on_change=state.take,
            args=("algorithms", "compare-algorithms", tuple),
            width=520,
        )
        st.button(
            say("Compare"),
            type="primary" if seen.comparison is None else "secondary",
            icon=":material/play_arrow:",
            disabled=work.busy or not (seen.lines or seen.problem),
            on_click=runner.compare,
            key="compare",
        )
        cancel_button()
    with st.container(horizontal=True, vertical_alignment="center"):
        told = "  \n".join(plain(say_of(card.title)) for card in STRATEGIES.values())
        st.caption(
            say("Strategies"),
            width=100,
            help=say("Which partner a class is merged with.")
            + f"  \n{told}\n\n"
            + say("Whose l, t or k count:")
            + listed(SCOPES.values()),
        )
        st.pills(
            say("Strategies: which partner a class is merged with"),
            offered,
            selection_mode="multi",
            label_visibility="collapsed",
            key=state.seeded("compare-strategies", chosen),
            format_func=str.upper,
            disabled=not looking,
            on_change=state.take,
            args=("strategies", "compare-strategies", tuple),
        )
        if looking:
            st.segmented_control(
                say("Whose l, t or k strategies look at"),
                list(SCOPES),
                selection_mode="multi",
                label_visibility="collapsed",
                key=state.seeded("compare-scopes", list(work.scopes)),
                format_func=lambda name: say("l, t, k of {what}", what=say_of(SCOPES[name].title)),
                disabled=not any(LOOKS_AT[name] for name in chosen),
                on_change=lambda: state.change(
                    scopes=tuple(state.typed("compare-scopes")) or ("table",)
                ),
            )
        elif not any(uses(name, "strategy") for name in led_by):
            st.caption(
                say("Strategies are of GAA alone: it picks partners, and the others do not.")
            )
        if looking and not work.sensitive_columns:
            st.caption(say("S2 to S7, L and T look at a sensitive column, and there is none yet."))
            st.page_link("pages/data.py", label=say("Choose one on Data"), icon=":material/table:")
    if work.pinned:
        with st.container(key="compare-kept", horizontal=True, vertical_alignment="center"):
            st.caption(say("Kept"), width=100)
            kept_chips(work)
        kept_aside(work)
        yardstick_choice(work)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-under"):
        # One place for the buttons and for the bar, so that what stands beside them stays there.
        with st.container(horizontal=True, vertical_alignment="center", width=530):
            if work.busy:
                with st.container(width=330):
                    if (work.doing, work.table_shown) != ("searches", "searches"):
                        progress()  # else the bar stands where the searches were started
                if work.doing == "comparison" and seen.lacking:
                    st.caption(new_runs(seen), width="content")
            else:
                progress()
                presets(work)
        lucky = [line for line in seen.lines if ties_matter(line.configuration.algorithm)]
        more = 0 if work.bands else len(lucky) * len(TIE_SEEDS)
        st.toggle(
            say_counted(
                more, "Show what ties decide ({count} run)", "Show what ties decide ({count} runs)"
            )
            if more
            else say("Show what ties decide"),
            key=state.seeded("compare-bands", work.bands),
            help=say(
                "Runs every line {times} times more, each time with another order in which ties "
                "are broken. Where bands overlap, luck decides who is ahead. What was run before "
                "is not run again.",
                times=len(TIE_SEEDS),
            ),
            disabled=work.busy,
            on_change=want_bands,
            width="content",
        )
        keeping(work, seen.lines)


def listed(cards):
    """What parts are called and what they say, one per line, after a sentence."""
    return "".join(
        "  \n" + plain(f"{say_of(card.title)}: {say_of(card.summary)}") for card in cards
    )


def presets(work):
    """One click each: what the papers compare."""
    for name, (title, metrics, strategies, chosen) in PRESETS.items():
        st.button(
            title,
            type="tertiary",
            icon=":material/bolt:",
            disabled=not set(strategies) <= set(usable_strategies(replace(work, algorithm="gaa"))),
            on_click=preset,
            args=(metrics, strategies, chosen),
            key=f"preset-{name}",
        )


def new_runs(seen):
    """How many of the runs are still to be made, in a sentence."""
    every_k = all(serves_every_k(line.configuration.algorithm) for line in seen.lines)
    if every_k:
        what = say_counted(seen.runs, "{count} run", "{count} runs")
    else:  # of many k each
        what = say_counted(seen.runs, "{count} line", "{count} lines")
    if seen.lacking == seen.runs:
        return say("{runs}, all new.", runs=what)
    return say_counted(
        seen.lacking, "{count} of {runs} is new.", "{count} of {runs} are new.", runs=what
    )


def said(work, seen):
    """What there is to do before something can be compared, or to see what is chosen."""
    if work.busy and work.doing == "comparison":
        return
    if seen.problem:
        st.info(plain(seen.problem))
    elif not seen.lines:
        st.info(say("Pick at least one metric and one strategy, then press Compare."))
    elif seen.comparison is None and work.comparison is None:
        nothing = (
            say(
                "Nothing has been compared for this table yet. Press Compare: each line runs once, "
                "and serves every k."
            )
            if all(serves_every_k(name) for name in compared_algorithms(work))
            else say(
                "Nothing has been compared for this table yet. Press Compare: lines run once per "
                "k, but for GAA, where one run serves every k."
            )
        )
        st.info(f"{nothing} {new_runs(seen)}")
    elif seen.comparison is None:
        outdated_notice(say("Compare"), new_runs(seen))


def beside_k(work):
    """That what is required beside k is not part of the comparison."""
    if work.models:
        st.caption(
            say_counted(
                len(work.models),
                "Lines run over k alone. {models} is required on Anonymise and not here: how l and "
                "t come out is shown instead.",
                "Lines run over k alone. {models} are required on Anonymise and not here: how l "
                "and t come out is shown instead.",
                models=plain("; ".join(one.sentence for one in work.models)),
            )
        )
    if "datafly" in compared_algorithms(work) and work.suppression is None:
        st.caption(
            say(
                "As Anonymise sets no limit on suppressed records, Datafly may suppress k of them, "
                "as published, and the others none; the criterion Suppressed says how many were."
            )
        )


# --- the numbers ------------------------------------------------------------------------------
def how_to_read(comparison):
    """What shades, brackets and signs in a table mean, where they can occur."""
    shades = (
        say(
            "Green is the best place of its column, orange the last; in brackets the rank. Numbers "
            "that look equal share it."
        )
        if wide(comparison)
        else say(
            "Green is the best place of its row, orange the last; in brackets the rank. Numbers "
            "that look equal share it."
        )
    )
    if not comparison.has_bands:
        return shades
    grey = say(
        "Grey and ≈: its band over the tie seeds overlaps that of the best, so it is undecided."
    )
    return f"{shades} {grey}"


def standings(found, comparison, name, about, digits=1, **said):
    """A table of who is ahead, the bands behind it, and its numbers."""
    rows, columns, turned = titles_of(comparison), line_titles(comparison), wide(comparison)
    st.table(standing_table(found, rows, columns, digits, turned))
    if comparison.has_bands:
        with st.expander(say("The bands in numbers")):
            st.table(bands_table(found, rows, columns, turned))
    data_button(DATA[name], lambda: found.table(**said), name, f"{about}|{said}")


def places(work, comparison, k, key, about):
    """Every criterion at the k of the cursor."""
    what = say("Every criterion at k = {k}, in percent.", k=thin(k))
    st.caption(f"{what} {how_to_read(comparison)}")
    found = state.remembered("places", (key, k), lambda: comparison.places(k))
    standings(found, comparison, "criteria", about, k=k)


def alterations(work, comparison, k, key, about):
    """The table of the papers, for the k of the cursor."""
    what = say(
        "Alteration at k = {k}, % ↓ better: how much of all that could be lost was lost, as each "
        "metric counts.",
        k=thin(k),
    )
    st.caption(f"{what} {how_to_read(comparison)}")
    st.toggle(
        say("Rank whole percentages, as the paper does"),
        key=state.seeded("compare-rounded", work.rounded),
        on_change=state.take,
        args=("rounded", "compare-rounded", bool),
    )
    digits = 0 if work.rounded else 1
    found = state.remembered(
        "alterations", (key, k, digits), lambda: comparison.alterations(k, digits)
    )
    standings(found, comparison, "alterations", f"{about}|{digits}", digits, k=k)


def interval_choice(work, ends):
    """From which k to which, and which k count."""
    low, high = ends
    preset = f"compare-preset-{work.version}"  # no answer about another table
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            say("Interval of k"),
            INTERVALS,
            index=None,
            key=state.seeded(preset, (low, high) if (low, high) in INTERVALS else None),
            format_func=lambda ends: say("{low} to {high}", low=thin(ends[0]), high=thin(ends[1])),
            placeholder=say("your own"),
            on_change=state.take,
            args=("interval", preset),
            width=200,
        )
        fields = (("from-k", say("from k"), low), ("to-k", say("to k"), high))
        for place, (name, label, value) in enumerate(fields):
            field = f"compare-{name}-{work.version}"
            st.number_input(
                label,
                step=1,
                key=state.seeded(field, value),
                on_change=take_end,
                args=(field, place, (low, high)),
                width=150,
            )
        st.selectbox(
            say("over the papers' k"),
            list(K_PRESETS),
            key=state.seeded("compare-counted", work.counted_k),
            format_func=COUNTED.get,
            help=say(
                "The k between which the curve is taken as straight: {listed}. Those inside the "
                "interval, and both of its ends.",
                listed="; ".join(
                    f"{len(ks)}: {', '.join(map(thin, ks))}" for ks in K_PRESETS.values()
                ),
            ),
            on_change=state.take,
            args=("counted_k", "compare-counted"),
            width=230,
        )


def take_end(key, place, ends):
    """Copy one end of the interval; an emptied field changes nothing."""
    typed = state.typed(key)
    if typed is not None:
        state.change(interval=(typed, ends[1]) if place == 0 else (ends[0], typed))


def areas(work, comparison, key, about):
    """One number per curve."""
    ends = work.interval or comparison.interval
    if ends is None:
        st.info(say("An area needs two k at least, and this table has one."))
        return
    low, high = ends
    interval_choice(work, ends)
    points = K_PRESETS[work.counted_k]
    try:
        found = state.remembered(
            "areas", (key, low, high, points), lambda: comparison.areas(low, high, points)
        )
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    st.caption(f"{average_height(low, high)} {how_to_read(comparison)}")
    about = f"{about}|{work.counted_k}"
    standings(found, comparison, "areas", about, from_k=low, to_k=high, over=work.counted_k)
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
        st.markdown(say("**By what the metrics have in common**, mean area in percent"))
        st.table(grouped_table(groups, titles_of(comparison)))
        data_button(
            say("Data by characteristic"),
            lambda: groups.reset_index().assign(from_k=low, to_k=high),
            "characteristics",
            f"{about}|{low}|{high}",
        )


def difference(work, comparison, k, key, about):
    """Two lines, one minus the other."""
    titles = {line.name: line.title for line in comparison.lines}
    names = list(titles)
    if len(names) < 2:
        st.info(say("A difference needs two lines: choose another metric or strategy."))
        return
    first, second = work.pair
    first = first if first in names else names[0]
    if second not in names or second == first:
        second = next(name for name in reversed(names) if name != first)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        fields = ((say("This one"), first), (say("minus this one"), second))
        for place, (label, value) in enumerate(fields):
            field = f"compare-pair-{place}"
            st.selectbox(
                label,
                names,
                key=state.seeded(field, value),
                format_func=lambda name: plain(titles[name]),
                on_change=take_pair,
                args=(field, place, (first, second)),
                width=260,
            )
        st.caption(
            say(
                ":blue[Blue]: the first is better; :orange[brown]: the second is. In points of a "
                "percentage."
            )
            + " "
            + (
                say("Grey: what it can be over all tie seeds; undecided where that holds 0.")
                if comparison.has_bands
                else say("Whether more than luck is ahead shows once ties are shown.")
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
    )
    told = "\n".join(f"- {plain(one)}" for one in found[1])
    st.markdown(say("**At k = {k}**", k=thin(k)) + f"\n\n{told}")


def take_pair(key, place, pair):
    """Copy one of the two; the one that was there takes the other's place."""
    typed = state.typed(key)
    other = pair[1 - place] if typed != pair[1 - place] else pair[place]
    state.change(pair=(typed, other) if place == 0 else (other, typed))


def table_choice(work, compared):
    """Which numbers are shown: those behind the curves, or the searches, which need no curves."""
    offered = list(TABLES) if compared else ["searches"]
    st.segmented_control(
        say("Numbers"),
        offered,
        key=state.seeded(
            "compare-table", work.table_shown if work.table_shown in offered else None
        ),
        format_func=TABLES.get,
        on_change=lambda: state.change(
            table_shown=state.typed("compare-table")
            or ("areas" if not compared else work.table_shown)
        ),
        label_visibility="collapsed",
    )


def tables(work, comparison, k, key, about):
    """The numbers behind the curves, one table at a time."""
    if work.table_shown == "areas":
        areas(work, comparison, key, about)
    elif work.table_shown == "places":
        places(work, comparison, k, key, about)
    elif work.table_shown == "alterations":
        alterations(work, comparison, k, key, about)
    else:
        difference(work, comparison, k, key, about)


def last_made(work):
    """The comparison that was made last, and keys for it; None before the first one."""
    if work.comparison is None:
        return None, "", ""
    made = work.comparison.comparison
    shown = made.only([line.name for line in made.lines], work.bands and made.has_bands)
    key = f"{work.comparison.key}|{shown.has_bands}"
    return shown, key, key


# --- the page ---------------------------------------------------------------------------------
work = head(say("Which choice is better here?"))
unready(work)
seen = outlook(work)
choices(work, seen)
with st.container():  # always there, so that what follows stays where it is
    said(work, seen)
    beside_k(work)
comparison, key, about = seen.comparison, seen.key, seen.key
if comparison is None:
    comparison, key, about = last_made(work)
old = seen.comparison is None or work.doing == "comparison"
faint = f"{{ opacity: {0.45 if old else 1}; }}"
st.html(f"<style>.st-key-compared {faint} .st-key-compared-numbers {faint}</style>")
shown = comparison is not None and bool(seen.lines or seen.problem)
if shown:
    comparison = comparison.including(work.k)
    key, about = (key, comparison.ks), f"{about}|{comparison.ks}"
    k = comparison.nearest(work.k)
    with st.container(key="compared"):
        show_board(comparison, k, lambda found: state.change(k=found), key, about)
        if k != work.k:
            st.caption(
                say(
                    "k = {asked} was not computed; this is k = {nearest}, the nearest. Press "
                    "Compare to compute it.",
                    asked=thin(work.k),
                    nearest=thin(k),
                )
            )
        data_button(say("Data of the curves"), comparison.table, "curves", about, kind="tertiary")
table_choice(work, shown)
if work.table_shown == "searches":
    show_searches(work)
elif shown:
    with st.container(key="compared-numbers"):
        tables(work, comparison, k, key, about)
        with st.expander(say("How it is computed")):
            made = work.comparison
            st.markdown(how_compared(comparison, made.seconds if made is not None else 0.0))
