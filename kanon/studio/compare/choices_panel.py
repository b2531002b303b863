"""The choice of metrics, algorithms, strategies and saved configurations to compare."""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from kanon.algorithms.catalogue import algorithms, serves_every_k, short_title, uses
from kanon.base.formatting import count_noun, write_count
from kanon.cards import Card
from kanon.charts.dark import convert_colour_to_dark
from kanon.charts.line_style import choose_looks
from kanon.charts.style import STRATEGY_COLOURS, get_metric_colour
from kanon.experiments.comparison import PAPER_K, TIE_SEEDS
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from kanon.studio.compare.kept_panel import show_kept_comparisons
from kanon.studio.compare.pinned_panel import (
    choose_yardstick,
    show_left_out,
    show_saved_chips,
    show_saved_panel,
)
from kanon.studio.compare.presets import (
    PRESETS,
    BoardPreset,
    can_undo_preset,
    set_preset,
    undo_preset,
)
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import (
    ComparisonOutlook,
    describe_comparison,
    has_random_ties,
    list_run_keys,
    request_comparison,
)
from kanon.studio.jobs.configurations import (
    describe_requirement,
    list_compared_algorithms,
    list_compared_strategies,
    list_offered_algorithms,
    list_offered_strategies,
)
from kanon.studio.jobs.durations import measure_runs
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.parts import CompareSettings
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, list_compared_metrics, list_usable_metrics
from kanon.studio.shell.frame import get_metric_titles
from kanon.studio.widgets.progress import describe_effort, draw_duration
from kanon.studio.widgets.result import show_outdated_notice

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


def show_line_choices(work: SessionState, status: ComparisonOutlook) -> None:
    st.html(f"<style>{_CHIPS_IN_SIGHT} {build_chip_styles(work, status)}</style>")
    show_presets_row(work)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-under"):
        # Drawn while closed, its fields would miss what a preset sets; and another label would
        # close it.
        icon = ":material/stacked_line_chart:"
        box = st.popover("Lines", icon=icon, key="compare-lines", on_change="rerun")
        if box.open:
            with box:
                show_line_chips(work)
        st.caption(describe_lines(work), width="content")
        show_compare_button(work, status)
        show_row_below(work, status)
    if work.kept.configurations:
        show_left_out(work)
        choose_yardstick(work)


def describe_lines(work: SessionState) -> str:
    """What is compared, in few words: "7 metrics × S1, GAA"."""
    titles = get_metric_titles(work)
    metrics = [titles[name] for name in list_compared_metrics(work)]
    algorithms_compared = list_compared_algorithms(work)
    groups = [(metrics, "metrics")]
    if any(uses(name, "strategy") for name in algorithms_compared):
        strategies = [name.upper() for name in list_compared_strategies(work)]
        groups.append((strategies, "strategies"))
    groups.append(([short_title(name) for name in algorithms_compared], "algorithms"))
    *crossed, algorithm = [
        names[0] if len(names) == 1 else f"{len(names)} {plural}" for names, plural in groups
    ]
    kept = sum(configuration.shown for configuration in work.kept.configurations)
    saved = f" and {kept} saved" if kept else ""
    return escape_markdown(f"{' × '.join(crossed)}, {algorithm}{saved}")


def show_line_chips(work: SessionState) -> None:
    show_metrics_row(work)
    show_algorithms_row(work)
    show_strategies_row(work)
    if work.kept.configurations:
        with st.container(key="compare-kept", horizontal=True, vertical_alignment="center"):
            st.caption("Saved", width=100)
            show_saved_chips(work)


def show_hints(work: SessionState, status: ComparisonOutlook) -> None:
    show_status(work, status)
    show_requirements(work, status)


def build_chip_styles(work: SessionState, status: ComparisonOutlook) -> str:
    offered, strategies = list_offered_strategies(work), list_compared_strategies(work)
    one_algorithm = len(list_compared_algorithms(work)) == 1
    one_metric = len(list_compared_metrics(work)) == 1 and len(strategies) > 1
    styles = ""  # with several algorithms, colours stand for algorithms
    if one_algorithm and one_metric:
        styles = build_stripes("compare-strategies", (STRATEGY_COLOURS[name] for name in offered))
    elif one_algorithm:
        styles = build_stripes("compare-metrics", map(get_metric_colour, list_usable_metrics(work)))
    if status.comparison is not None and work.kept.configurations:
        looks = choose_looks(status.comparison)
        own = {line.title: looks[line.name].colour for line in status.comparison.lines if line.kept}
        styles += build_stripes(
            "compare-kept", [own.get(f"★ {p.title}", "") for p in work.kept.configurations]
        )
    return styles


def show_metrics_row(work: SessionState) -> None:
    titles, metrics = get_metric_titles(work), list_compared_metrics(work)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Metrics", width=100, help="How loss is counted. The metric guides the search.")
        st.pills(
            "Metrics that guide the search",
            list_usable_metrics(work),
            selection_mode="multi",
            label_visibility="collapsed",
            **attach_widget(
                "compare-metrics", metrics, "compared", into=CompareSettings, read=tuple
            ),
            format_func=lambda name: escape_markdown(titles[name]),
        )


def show_algorithms_row(work: SessionState) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Algorithms",
            width=100,
            help="How the release is found. You set the details of each algorithm on the "
            "Anonymise page." + list_cards(module.CARD for module in algorithms().values()),
        )
        st.multiselect(
            "Algorithms",
            list_offered_algorithms(),
            label_visibility="collapsed",
            **attach_widget(
                "compare-algorithms",
                list_compared_algorithms(work),
                "algorithms",
                into=CompareSettings,
                read=tuple,
            ),
            format_func=short_title,
            width=520,
        )


def show_compare_button(work: SessionState, status: ComparisonOutlook) -> None:
    st.button(
        "Compare",
        type="primary" if status.comparison is None else "secondary",
        icon=":material/play_arrow:",
        disabled="comparison" in work.running or not (status.lines or status.problem),
        on_click=runner.run_request,
        args=(request_comparison,),
        kwargs={"effort": status.effort},
        key="compare",
    )
    draw_duration("comparison", status.effort)


def show_strategies_row(work: SessionState) -> None:
    offered, strategies = list_offered_strategies(work), list_compared_strategies(work)
    has_choice = len(offered) > 1
    with st.container(horizontal=True, vertical_alignment="center"):
        titles = "  \n".join(escape_markdown(card.title) for card in STRATEGIES.values())
        st.caption(
            "Strategies",
            width=100,
            help=f"How a class chooses the class that it merges with.  \n{titles}\n\n"
            f"Where l, t and k are measured:{list_cards(SCOPES.values())}",
        )
        st.pills(
            "Strategies: how a class chooses the class that it merges with",
            offered,
            selection_mode="multi",
            label_visibility="collapsed",
            **attach_widget(
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
                **attach_widget(
                    "compare-scopes",
                    list(work.compare.scopes),
                    lambda value: state.update_sections(
                        replace(state.get_session().compare, scopes=tuple(value) or ("table",))
                    ),
                ),
                format_func=lambda name: f"l, t, k of {SCOPES[name].title}",
                disabled=not any(LOOKS_AT[name] for name in strategies),
            )
        elif not any(uses(name, "strategy") for name in list_compared_algorithms(work)):
            st.caption("Only GAA has strategies.")
        if has_choice and not work.table.sensitive_columns:
            st.caption("S2 to S7, L and T need a sensitive column, and there is none yet.")
            st.page_link("pages/data.py", label="Choose one on Data", icon=":material/table:")


def show_row_below(work: SessionState, status: ComparisonOutlook) -> None:
    lucky = [line for line in status.lines if has_random_ties(line.configuration.algorithm)]
    more = 0 if work.compare.bands else len(lucky) * len(TIE_SEEDS)
    runs = f" ({count_noun(more, 'run')})" if more else ""
    st.toggle(
        f"Show what ties decide{runs}",
        **attach_widget("compare-bands", work.compare.bands, set_bands),
        help=f"Runs every line {len(TIE_SEEDS)} more times, each time with a different order of "
        "ties. Where bands overlap, luck decides which line is ahead. Earlier runs are reused.",
        disabled="comparison" in work.running,
        width="content",
    )
    if work.settings.models:
        st.toggle(
            "k only",
            **attach_widget("compare-k-only", work.compare.k_only, set_k_only),
            help="Off: every line meets what Anonymise requires, so the ranking is that of "
            "releases that you can use. On: lines meet k only, as in the papers.",
            disabled="comparison" in work.running,
            width="content",
        )
    show_saved_panel(work, status.lines)
    show_kept_comparisons(work, status)
    if "comparison" in work.running and status.lacking:
        st.caption(count_new_runs(status), width="content")


def set_bands(value: bool) -> None:
    state.update_sections(replace(state.get_session().compare, bands=bool(value)))
    if value:
        start_lacking_runs()


def set_k_only(value: bool) -> None:
    state.update_sections(replace(state.get_session().compare, k_only=bool(value)))
    start_lacking_runs()


def start_lacking_runs() -> None:
    work = state.get_session()
    if work.findings.comparison is not None and describe_comparison(work).lacking:
        runner.run_request(request_comparison)


def build_stripes(key: str, colours: Iterable[str]) -> str:
    return "".join(
        f".st-key-{key} button:nth-of-type({place}) {{ border-left: 0.5rem solid "
        f"light-dark({colour}, {convert_colour_to_dark(colour)}) !important; }}"
        for place, colour in enumerate(colours, 1)
        if colour
    )


def list_cards(cards: Iterable[Card]) -> str:
    return "".join("  \n" + escape_markdown(f"{card.title}: {card.summary}") for card in cards)


def count_new_runs(status: ComparisonOutlook) -> str:
    every_k = all(
        serves_every_k(line.configuration.algorithm, line.plan.outliers or line.plan.level_bounds)
        for line in status.lines
    )
    runs = count_noun(status.runs, "run" if every_k else "line")  # a line has runs for many k
    if status.lacking == status.runs:
        return f"{runs}, all new."
    known = status.runs - status.lacking
    are, too = ("is" if number == 1 else "are" for number in (known, status.lacking))
    return f"{write_count(known)} of {runs} {are} known; {write_count(status.lacking)} {too} new."


def show_status(work: SessionState, status: ComparisonOutlook) -> None:
    if "comparison" in work.running:
        return
    if status.problem:
        st.info(escape_markdown(status.problem))
    elif not status.lines:
        st.info("Choose at least one metric and one strategy, then press Compare.")
    elif status.comparison is None and work.findings.comparison is None:
        frequency = "each line needs one run for all k"
        if work.settings.outliers and any(
            uses(line.configuration.algorithm, "outliers") for line in status.lines
        ):
            frequency = "lines with outliers need a run for each k"
        elif not all(serves_every_k(name) for name in list_compared_algorithms(work)):
            frequency = "lines of GAA need one run for all k; other lines need a run for each k"
        nothing = "Nothing has been compared for this table yet."
        st.info(f"{nothing} Press Compare: {frequency}. {count_new_runs(status)}")
    elif status.unfinished:
        st.info(f"These lines are finished. {count_new_runs(status)} Press Compare for the rest.")
    elif status.comparison is None:
        show_outdated_notice(
            "Compare",
            list_changed_labels(work, "comparison", list_run_keys),
            count_new_runs(status),
        )


def show_requirements(work: SessionState, status: ComparisonOutlook) -> None:
    """Say what lines meet, which lines are left out, and how many records Datafly suppresses."""
    last = work.findings.comparison
    shown = status.comparison or (last.comparison if last is not None else None)
    if requirement := describe_requirement(work) if shown is None else shown.requirement:
        st.caption(escape_markdown(requirement))
    if status.comparison is not None:
        for title, why in status.comparison.left_out.items():
            st.caption(escape_markdown(f"{title} is left out: {why}"))
    if "datafly" in list_compared_algorithms(work) and work.settings.suppression is None:
        others = "the others only outliers" if work.settings.outliers else "the others none"
        st.caption(
            "Anonymise sets no limit on suppressed records. So Datafly can suppress up to k "
            f"records, as published, and {others}. The criterion Suppressed shows how many."
        )


def show_presets_row(work: SessionState) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="compare-presets"):
        st.caption("Presets", width=100, help="Each sets the lines and panels, then compares.")
        for name, preset in PRESETS.items():
            st.button(
                preset.title,
                icon=":material/bolt:",
                disabled="comparison" in work.running,
                on_click=_take_preset,
                args=(name,),
                key=f"preset-{name}",
                help=_describe_preset(work, preset),
            )
        if can_undo_preset(work):
            st.button(
                "Undo the preset",
                type="tertiary",
                icon=":material/undo:",
                disabled="comparison" in work.running,
                on_click=lambda: state.set_session(undo_preset(state.get_session())),
                key="preset-undo",
                help="Brings back the lines and panels from before the preset.",
            )
    if not work.table.sensitive_columns:
        st.caption(
            "There is no sensitive column, so presets leave out l, t, privacy against "
            "alteration and the strategies that need one."
        )


def _describe_preset(work: SessionState, preset: BoardPreset) -> str:
    lines = max(1, len(preset.metrics)) * len(preset.strategies)
    effort = measure_runs(work, {(name, len(PAPER_K) + 1): lines for name in preset.algorithms})
    text = describe_effort(effort)
    return f"{preset.about} Takes {text} if nothing is known yet." if text else preset.about


def _take_preset(name: str) -> None:
    state.set_session(set_preset(state.get_session(), name))
    runner.run_request(request_comparison)
