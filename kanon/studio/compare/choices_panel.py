"""The choice of metrics, algorithms, strategies and saved configurations to compare."""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from kanon.algorithms.catalogue import algorithms, serves_every_k, short_title, uses
from kanon.base.formatting import counted, one_or_many
from kanon.cards import Card
from kanon.charts.dark import on_dark
from kanon.charts.line_style import looks_of
from kanon.charts.style import STRATEGY_COLOURS, colour_of_metric
from kanon.experiments.comparison import TIE_SEEDS
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from kanon.studio.compare.pinned_panel import keeping, kept_aside, kept_chips, yardstick_choice
from kanon.studio.compare.presets import PRESETS, as_before, can_go_back, with_preset
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import (
    ComparisonState,
    comparison_request,
    outlook,
    runs_wanted,
    ties_matter,
)
from kanon.studio.jobs.configurations import (
    algorithms_offered,
    compared_algorithms,
    compared_strategies,
    strategies_offered,
)
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.parts import CompareSettings
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, compared_metrics, usable_metrics
from kanon.studio.shell.frame import metric_titles
from kanon.studio.widgets.result import outdated_notice

# Chips wrap to the next line; by default Streamlit scrolls them out of their field.
_CHIPS_IN_SIGHT = """
[class*="st-key-compare-"] [data-testid="stButtonGroup"] > div { flex-wrap: wrap; row-gap: 0.4rem; }
[class*="st-key-compare-"], [class*="st-key-board-"] {
  & [data-testid="stMultiSelect"] div:has(> [data-testid="stMultiSelectTagsContainer"]),
  & [data-testid="stMultiSelectTagsContainer"] {
    height: auto; max-height: none; overflow: visible; mask: none;
  }
  & [data-testid="stMultiSelectTagsContainer"] { flex-wrap: wrap; gap: 4px; padding-block: 4px; }
  & [data-testid="stMultiSelectTagsContainer"] > [role="group"] { display: contents; }
  & [data-testid="stMultiSelectTagsContainer"] input { min-width: 3rem; }
  & [data-tag] { flex: none; }
}
.st-key-compare-under { min-height: 3.5rem; }
"""


def choices(work: Work, status: ComparisonState) -> None:
    st.html(f"<style>{_CHIPS_IN_SIGHT} {chip_styles(work, status)}</style>")
    presets_row(work)
    metrics_row(work)
    algorithms_row(work, status)
    strategies_row(work)
    if work.kept.pinned:
        with st.container(key="compare-kept", horizontal=True, vertical_alignment="center"):
            st.caption("Saved", width=100)
            kept_chips(work)
        kept_aside(work)
        yardstick_choice(work)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-under"):
        under_choices(work, status)


def hints(work: Work, status: ComparisonState) -> None:
    said(work, status)
    beside_k(work)


def chip_styles(work: Work, status: ComparisonState) -> str:
    offered, strategies = strategies_offered(work), compared_strategies(work)
    one_algorithm = len(compared_algorithms(work)) == 1
    one_metric = len(compared_metrics(work)) == 1 and len(strategies) > 1
    styles = ""  # with several algorithms, colours stand for algorithms
    if one_algorithm and one_metric:
        styles = coloured("compare-strategies", (STRATEGY_COLOURS[name] for name in offered))
    elif one_algorithm:
        styles = coloured("compare-metrics", map(colour_of_metric, usable_metrics(work)))
    if status.comparison is not None and work.kept.pinned:
        looks = looks_of(status.comparison)
        own = {line.title: looks[line.name].colour for line in status.lines if line.kept}
        styles += coloured("compare-kept", [own.get(f"★ {p.title}", "") for p in work.kept.pinned])
    return styles


def metrics_row(work: Work) -> None:
    titles, metrics = metric_titles(work), compared_metrics(work)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Metrics", width=100, help="How loss is counted. The metric guides the search.")
        st.pills(
            "Metrics that guide the search",
            usable_metrics(work),
            selection_mode="multi",
            label_visibility="collapsed",
            **bound("compare-metrics", metrics, "compared", into=CompareSettings, read=tuple),
            format_func=lambda name: plain(titles[name]),
        )


def algorithms_row(work: Work, status: ComparisonState) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Algorithms",
            width=100,
            help="How the release is found. Their details are set on the page Anonymise."
            + listed(module.CARD for module in algorithms().values()),
        )
        st.multiselect(
            "Algorithms",
            algorithms_offered(),
            label_visibility="collapsed",
            **bound("compare-algorithms", compared_algorithms(work), "algorithms", read=tuple),
            format_func=short_title,
            width=520,
        )
        st.button(
            "Compare",
            type="primary" if status.comparison is None else "secondary",
            icon=":material/play_arrow:",
            disabled="comparison" in work.running or not (status.lines or status.problem),
            on_click=runner.run,
            args=(comparison_request,),
            key="compare",
        )


def strategies_row(work: Work) -> None:
    offered, strategies = strategies_offered(work), compared_strategies(work)
    has_choice = len(offered) > 1
    with st.container(horizontal=True, vertical_alignment="center"):
        titles = "  \n".join(plain(card.title) for card in STRATEGIES.values())
        st.caption(
            "Strategies",
            width=100,
            help=f"How a class chooses the class that it merges with.  \n{titles}\n\n"
            f"Where l, t and k are measured:{listed(SCOPES.values())}",
        )
        st.pills(
            "Strategies: how a class chooses the class that it merges with",
            offered,
            selection_mode="multi",
            label_visibility="collapsed",
            **bound(
                "compare-strategies", strategies, "strategies", into=CompareSettings, read=tuple
            ),
            format_func=str.upper,
            disabled=not has_choice,
        )
        if has_choice:
            st.segmented_control(
                "Where strategies measure l, t and k",
                list(SCOPES),
                selection_mode="multi",
                label_visibility="collapsed",
                **bound(
                    "compare-scopes",
                    list(work.compare.scopes),
                    lambda value: state.change(
                        replace(state.work().compare, scopes=tuple(value) or ("table",))
                    ),
                ),
                format_func=lambda name: f"l, t, k of {SCOPES[name].title}",
                disabled=not any(LOOKS_AT[name] for name in strategies),
            )
        elif not any(uses(name, "strategy") for name in compared_algorithms(work)):
            st.caption("Only GAA has strategies.")
        if has_choice and not work.table.sensitive_columns:
            st.caption("S2 to S7, L and T need a sensitive column, and there is none yet.")
            st.page_link("pages/data.py", label="Choose one on Data", icon=":material/table:")


def under_choices(work: Work, status: ComparisonState) -> None:
    lucky = [line for line in status.lines if ties_matter(line.configuration.algorithm)]
    more = 0 if work.compare.bands else len(lucky) * len(TIE_SEEDS)
    runs = f" ({counted(more, 'run')})" if more else ""
    st.toggle(
        f"Show what ties decide{runs}",
        **bound("compare-bands", work.compare.bands, want_bands),
        help=f"Runs every line {len(TIE_SEEDS)} more times, each time with a different order of "
        "ties. Where bands overlap, luck decides which line is ahead. Earlier runs are reused.",
        disabled="comparison" in work.running,
        width="content",
    )
    keeping(work, status.lines)
    if "comparison" in work.running and status.lacking:
        st.caption(new_runs(status), width="content")


def want_bands(value: bool) -> None:
    state.change(replace(state.work().compare, bands=bool(value)))
    work = state.work()
    if work.findings.comparison is not None and work.compare.bands and outlook(work).lacking:
        runner.run(comparison_request)


def coloured(key: str, colours: Iterable[str]) -> str:
    return "".join(
        f".st-key-{key} button:nth-of-type({place}) "
        f"{{ border-left: 0.5rem solid light-dark({colour}, {on_dark(colour)}) !important; }}"
        for place, colour in enumerate(colours, 1)
        if colour
    )


def listed(cards: Iterable[Card]) -> str:
    return "".join("  \n" + plain(f"{card.title}: {card.summary}") for card in cards)


def new_runs(status: ComparisonState) -> str:
    every_k = all(serves_every_k(line.configuration.algorithm) for line in status.lines)
    runs = counted(status.runs, "run" if every_k else "line")  # a line has runs for many k
    if status.lacking == status.runs:
        return f"{runs}, all new."
    return one_or_many(
        status.lacking, "{count} of {runs} is new.", "{count} of {runs} are new.", runs=runs
    )


def said(work: Work, status: ComparisonState) -> None:
    if "comparison" in work.running:
        return
    if status.problem:
        st.info(plain(status.problem))
    elif not status.lines:
        st.info("Choose at least one metric and one strategy, then press Compare.")
    elif status.comparison is None and work.findings.comparison is None:
        frequency = "each line runs once and serves every k"
        if not all(serves_every_k(name) for name in compared_algorithms(work)):
            frequency = "lines of GAA run once and serve every k; other lines run once per k"
        nothing = "Nothing has been compared for this table yet."
        st.info(f"{nothing} Press Compare: {frequency}. {new_runs(status)}")
    elif status.comparison is None:
        outdated_notice("Compare", changed_since(work, "comparison", runs_wanted), new_runs(status))


def beside_k(work: Work) -> None:
    """Say which requirements are not part of the comparison."""
    if work.settings.models:
        models = plain("; ".join(model.sentence for model in work.settings.models))
        are = "is" if len(work.settings.models) == 1 else "are"
        st.caption(
            f"Lines run with k alone. {models} {are} required on Anonymise but not here; the "
            "resulting l and t are shown instead."
        )
    if "datafly" in compared_algorithms(work) and work.settings.suppression is None:
        st.caption(
            "Anonymise sets no limit on suppressed records. So Datafly may suppress k records, as "
            "published, and the other algorithms none. The criterion Suppressed shows how many."
        )


def presets_row(work: Work) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="compare-presets"):
        st.caption("Presets", width=100, help="Each sets the lines and panels and compares them.")
        for name, preset in PRESETS.items():
            st.button(
                preset.title,
                icon=":material/bolt:",
                disabled="comparison" in work.running,
                on_click=_take_preset,
                args=(name,),
                key=f"preset-{name}",
                help=preset.about,
            )
        if can_go_back(work):
            st.button(
                "Undo the preset",
                type="tertiary",
                icon=":material/undo:",
                disabled="comparison" in work.running,
                on_click=lambda: state.put(as_before(state.work())),
                key="preset-undo",
                help="Brings back the lines and panels from before the preset.",
            )
    if not work.table.sensitive_columns:
        st.caption(
            "There is no sensitive column, so presets leave out l, t, privacy against "
            "alteration and the strategies that need one."
        )


def _take_preset(name: str) -> None:
    state.put(with_preset(state.work(), name))
    runner.run(comparison_request)
