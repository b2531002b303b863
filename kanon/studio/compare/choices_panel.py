"""The choice of metrics, algorithms, strategies and saved configurations to compare."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from kanon.algorithms.catalogue import algorithms, serves_every_k, short_title, uses
from kanon.base.formatting import count_noun, write_count
from kanon.cards import Card
from kanon.charts.layout import NODES, Layout, Panel, create_curves_layout
from kanon.experiments.comparison import INTERVALS, PAPER_K, TIE_SEEDS
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.metrics import PUBLISHED
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES, needs_sensitive
from kanon.studio.compare.kept_panel import (
    choose_yardstick,
    show_kept_comparisons,
    show_left_out,
    show_saved_chips,
    show_saved_panel,
)
from kanon.studio.compare.state import CompareView
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
from kanon.studio.session.changed_settings import (
    describe_change,
    is_still_current,
    list_changed_labels,
)
from kanon.studio.session.parts import CompareSettings, Message
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import (
    SessionState,
    list_compared_metrics,
    list_usable_metrics,
    list_usable_strategies,
)
from kanon.studio.shell.frame import get_metric_titles
from kanon.studio.widgets.progress import describe_effort, draw_duration
from kanon.studio.widgets.result import show_outdated_notice

_CHIPS_IN_SIGHT = (Path(__file__).parent / "choices.css").read_text("utf-8")

_SEVEN = tuple(f"s{number}" for number in range(1, 8))
_SENSITIVE = (L_CARD.name, T_CARD.name)
_SIX = create_curves_layout(
    "mean_alteration", "generalised_percent", "root_percent", "l_percent", "t_percent", "min_k"
).panels
_MATRICES = (Panel("matrix", metric="distortion"), Panel("matrix", metric="nllm"))


@dataclass(frozen=True)
class BoardPreset:
    title: str  # the button's label
    about: str  # its help
    panels: tuple[Panel, ...]  # on the board; cost matrices get their column later
    metrics: tuple[str, ...] = ()  # none for the current one, or NLLM
    strategies: tuple[str, ...] = ("s1",)
    algorithms: tuple[str, ...] = ("gaa",)


PRESETS: Mapping[str, BoardPreset] = {
    "metrics": BoardPreset(
        "Metrics",
        "The seven published metrics, one line each: mean alteration, generalised, at root, "
        "minimum k, and the cost matrices of two of them.",
        (
            *create_curves_layout(
                "mean_alteration", "generalised_percent", "root_percent", "min_k"
            ).panels,
            *_MATRICES,
        ),
        PUBLISHED,
    ),
    "strategies": BoardPreset(
        "Strategies",
        "S1 to S7, one line each, guided by the chosen metric if there is just one, else by "
        "NLLM: alteration, l, t, minimum k, and privacy against alteration.",
        (
            *create_curves_layout("mean_alteration", "l_percent", "t_percent", "min_k").panels,
            Panel("scatter", "l_percent"),
            Panel("scatter", "t_percent"),
        ),
        strategies=_SEVEN,
    ),
    "algorithms": BoardPreset(
        "Algorithms",
        "One line per algorithm, guided by the chosen metric if there is just one, else by "
        "NLLM: alteration, generalised, at root, l, t and minimum k.",
        _SIX,
        algorithms=(
            *("gaa", "datafly", "samarati", "improved-greedy"),
            *("optimal", "mondrian", "lattice-sweep"),
        ),
    ),
    "everything": BoardPreset(
        "Everything side by side",
        "The seven published metrics, one line each, on nine panels: two cost matrices, "
        "alteration, generalised, at root, l, t, minimum k, and privacy against alteration.",
        (
            *_MATRICES,
            *_SIX,
            Panel("scatter", "l_percent"),
        ),
        PUBLISHED,
    ),
}  # fmt: skip
"""By name, in the order of their buttons."""


def set_preset(work: SessionState, name: str) -> SessionState:
    settings = _build_settings(work, PRESETS[name])
    view = work.view(CompareView)
    view = replace(view, filling=None, taken=describe_change(work, view.taken, settings))
    return work.replace_sections(settings, view, Message())


def can_undo_preset(work: SessionState) -> bool:
    return is_still_current(work, work.view(CompareView).taken)


def undo_preset(work: SessionState) -> SessionState:
    view = work.view(CompareView)
    if view.taken is None or not can_undo_preset(work):
        return work
    return view.taken.undo(work).replace_sections(
        CompareView(), Message(notice="The preset was undone.")
    )


def _build_settings(work: SessionState, preset: BoardPreset) -> CompareSettings:
    sensitive = bool(work.table.sensitive_columns)
    usable = list_usable_strategies(work.replace_sections(replace(work.settings, algorithm="gaa")))
    strategies, scopes = preset.strategies, work.compare.scopes
    if not set(strategies) <= set(usable):
        strategies = tuple(usable)
    alone = list_compared_metrics(work)
    looks = any(map(needs_sensitive, strategies))
    fitting = [ends for ends in INTERVALS if ends[1] <= work.table.complete_records.n_records]
    column = choose_matrix_column(work)
    return replace(
        work.compare,
        compared=preset.metrics or (tuple(alone) if len(alone) == 1 else ("nllm",)),
        strategies=strategies,
        algorithms=preset.algorithms,
        scopes=scopes if len(scopes) == 1 else ("table",),
        k_preset="thirteen" if looks else "fourteen",
        interval=fitting[-1] if looks and fitting else work.compare.interval,
        visible_table="areas",
        layout=Layout(
            tuple(
                replace(panel, column=column) if panel.kind == "matrix" else panel
                for panel in preset.panels
                if sensitive or panel.measure not in _SENSITIVE
            )
        ),
    )


def choose_matrix_column(work: SessionState) -> str:
    """The column of a preset's cost matrices: the user's, else the largest that fits a panel."""
    trees = work.table.trees
    if work.shared.column in trees:
        return work.shared.column
    sizes = {name: tree.n_nodes for name, tree in trees.items()}
    whole = [name for name, size in sizes.items() if size <= NODES]
    if whole:
        return max(whole, key=sizes.__getitem__)
    return min(sizes, key=sizes.__getitem__, default="")


# --- on the page ------------------------------------------------------------------------------
def show_line_choices(work: SessionState, status: ComparisonOutlook) -> None:
    st.html(f"<style>{_CHIPS_IN_SIGHT}</style>")
    show_presets_row(work)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-under"):
        # Drawn while closed, its fields would miss what a preset sets; and another label would
        # close it.
        icon = ":material/stacked_line_chart:"
        box = st.popover("Lines", icon=icon, key="compare-lines", on_change="rerun")
        if box.open:
            with box:
                show_metrics_row(work)
                show_algorithms_row(work)
                show_strategies_row(work)
                if work.kept.configurations:
                    with st.container(
                        key="compare-kept", horizontal=True, vertical_alignment="center"
                    ):
                        st.caption("Saved", width=100)
                        show_saved_chips(work)
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


def list_cards(cards: Iterable[Card]) -> str:
    return "".join("  \n" + escape_markdown(f"{card.title}: {card.summary}") for card in cards)


def count_new_runs(status: ComparisonOutlook) -> str:
    every_k = all(
        serves_every_k(line.configuration.algorithm, line.plan.outliers or line.plan.level_bounds)
        for line in status.lines
    )
    runs = count_noun(status.runs, "run" if every_k else "line")  # a line has runs for many k
    return f"{write_count(status.lacking)} of {runs} {'is' if status.lacking == 1 else 'are'} new."


def show_status(work: SessionState, status: ComparisonOutlook) -> None:
    if "comparison" in work.running:
        return
    if status.problem:
        st.info(escape_markdown(status.problem))
    elif not status.lines:
        st.info("Choose at least one metric and one strategy, then press Compare.")
    elif status.comparison is None and work.findings.comparison is None:
        st.info(
            "Nothing has been compared for this table yet. Press Compare: a line needs one run for "
            f"all k, or a run for each k. {count_new_runs(status)}"
        )
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
