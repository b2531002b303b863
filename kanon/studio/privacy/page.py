"""What can still be found out about someone? Worst classes first, then an attack to try."""

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from kanon.base.formatting import choose_plural, count_noun, write_count
from kanon.charts.curves import build_curves_table
from kanon.charts.privacy import (
    AFTER_COLOUR,
    Series,
    build_distribution_table,
    draw_distribution_bars,
    draw_worst_levels,
)
from kanon.charts.style import INK
from kanon.errors import KanonError
from kanon.measures.along import Curves, Points, get_worst_levels
from kanon.measures.worst_classes import (
    LEVELS,
    MOST_CLASSES,
    find_worst_classes,
    list_class_measures,
)
from kanon.privacy.population_matches import count_people_below
from kanon.run import Run
from kanon.sources.population import count_population
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import has_outdated_result
from kanon.studio.jobs.upload import AT_ONCE, request_population
from kanon.studio.privacy.attack_panel import set_privacy_view, show_attack
from kanon.studio.privacy.attacker import PrivacyView, remove_population
from kanon.studio.privacy.disclosure import (
    THRESHOLDS,
    build_attribute_numbers,
    build_population_numbers,
    build_risk_numbers,
    describe_class,
    describe_disclosure,
    explain_attack,
    explain_class,
    explain_risk,
    find_class_position,
    get_number_format,
    write_threshold,
)
from kanon.studio.privacy.evidence_panel import show_evidence
from kanon.studio.privacy.intruder_panel import show_intruder_test
from kanon.studio.privacy.sample_panel import show_sample_risk
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, format_released_class, get_released_tuple
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import (
    draw_page_head,
    draw_sensitive_choice,
    show_classes_in_engine,
    show_unready,
)
from kanon.studio.widgets.controls import draw_upload_field
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.how import explain_check
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, show_picture
from kanon.studio.widgets.result import (
    draw_anonymise_button,
    draw_in_columns,
    draw_k_slider,
    get_shown_release,
    list_script_k,
    show_result_notice,
)
from kanon.studio.widgets.tables import build_before_and_after


def show_missing(work: SessionState, stale: bool) -> None:
    if not work.table.sensitive_columns:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(
                "No column is sensitive yet, so only the risk of being found is shown.",
                icon=":material/visibility_off:",
            )
            st.page_link("pages/data.py", label="Choose a column", icon=":material/table:")
    if work.findings.result is None or stale or "run" in work.running:
        with st.container(horizontal=True):
            draw_anonymise_button(work, stale, "privacy-run")


def show_level_curves(
    work: SessionState, result: AnonymisationResult, run: Run, k: int, column: str | None
) -> None:
    curves = result.solution.curves
    if column is not None and curves is not None:
        draw_level_charts(result, curves, run, k, column)
    several = len(work.table.sensitive_columns) > 1
    place, data, choice = st.columns([6, 1, 2 if several else 0.1], vertical_alignment="center")
    if several:
        with choice:
            draw_sensitive_choice("privacy-sensitive")
    with place:
        draw_k_slider(work, result, k, "privacy-k")
    if column is not None and curves is not None:
        with data:
            draw_data_button(
                "Data", lambda: build_curves_table(curves), "privacy-curves",
                f"{result.settings}|{result.known}|curves", kind="tertiary",
            )  # fmt: skip


def draw_level_charts(
    result: AnonymisationResult, curves: Curves | Points, run: Run, k: int, column: str
) -> None:
    columns = [sensitive_column.name for sensitive_column in run.prepared.classes.sensitive]
    levels = state.get_or_compute(
        "levels", (curves, column), lambda: get_worst_levels(curves, column, columns)
    )
    charts = draw_worst_levels(curves, levels, run.recoding.released, column, k)
    settings = PictureSettings.from_run(state.get_session(), run.prepared, k)
    places = zip(st.columns(2), charts, ("privacy-l", "privacy-t"), strict=True)
    for place, chart, name in places:
        with place:
            show_picture(chart, None, name, "", settings)


def show_privacy_numbers(work: SessionState, run: Run, column: str | None) -> None:
    released, threshold = run.recoding.released, work.view(PrivacyView).threshold
    if column is not None:
        st.markdown(f"**Learning the value: {escape_markdown(column)}**")
        st.markdown(describe_disclosure(released, column))
        draw_in_columns(build_attribute_numbers(run, column))
    st.markdown("**Finding the record**")
    draw_in_columns(build_risk_numbers(released, run.prepared.classes, threshold))
    threshold_side, check_side = st.columns([1, 2], vertical_alignment="bottom")
    threshold_side.select_slider(
        "A risk is high above",
        sorted({*THRESHOLDS, threshold}, reverse=True),
        **attach_widget("privacy-threshold", threshold, "threshold", into=PrivacyView),
        format_func=write_threshold,
        help="1/5 is the risk in a class of five. It is a starting point, not a standard.",
    )
    check_side.markdown(explain_check(run))


def show_classes(
    work: SessionState, result: AnonymisationResult, run: Run, column: str, k: int
) -> int:
    released, view = run.recoding.released, work.view(PrivacyView)
    sensitive = released.sensitive_named(column)
    offered = list_class_measures(sensitive)
    by = view.by if view.by in offered else "entropy_l"
    extra = tuple(name for name in view.extra if name in offered)
    st.subheader("Worst classes first")
    sort_side, extra_side = st.columns([1, 2], vertical_alignment="bottom")
    sort_side.selectbox(
        "Worst by",
        offered,
        **attach_widget("privacy-by", by, lambda value: set_privacy_view(by=value, chosen=None)),
        format_func=lambda name: LEVELS[name].heading,
        help=escape_markdown(LEVELS[by].card.summary),
    )
    extra_side.multiselect(
        "Also show",
        [name for name in offered if name not in ("entropy_l", "t_variational")],
        **attach_widget("privacy-extra", list(extra), "extra", into=PrivacyView, read=tuple),
        format_func=lambda name: LEVELS[name].heading,
        placeholder="Other measures",
    )
    order, table = state.get_or_compute(
        "worst", (result.settings, k, column, by, extra),
        lambda: find_worst_classes(released, column, by, extra),
    )  # fmt: skip
    # Every list has its own key: a row number means something only in its list.
    place = work.table.sensitive_columns.index(column)
    key = f"worst-{work.version}-{result.settings[:16]}-{k}-{offered.index(by)}-{place}"
    event = st.dataframe(
        table,
        height=min(260, 38 + 35 * len(table)),
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            level.heading: st.column_config.NumberColumn(
                format=get_number_format(level), help=level.card.summary
            )
            for level in LEVELS.values()
        },
    )
    text = count_noun(released.n_classes, "class", "classes")
    text += f"; the {MOST_CLASSES} worst are listed." if released.n_classes > len(order) else "."
    reading = (
        "Select a row to see its class. The arrows say which direction is better for the people "
        "in the class. l is in values, rounded down; t is the total variation distance from 0 to "
        "1, rounded up."
    )
    st.caption(f"{text} {reading}")
    if event["selection"]["rows"]:
        # Stored by its labels: at another k the class may still exist.
        row = order[event["selection"]["rows"][0]]
        set_privacy_view(chosen=get_released_tuple(released, row))
    position = find_class_position(released, state.get_session().view(PrivacyView).chosen, order)
    show_class(result, run, column, k, position)
    return position


def show_class(result: AnonymisationResult, run: Run, column: str, k: int, position: int) -> None:
    released = run.recoding.released
    sensitive = released.sensitive_named(column)
    label = format_released_class(released, position)
    st.markdown(f"**{escape_markdown(label)}** — {describe_class(released, column, position)}")
    inside = sensitive.only(np.array([position])).dense()[0]
    table = build_distribution_table(
        sensitive.values, sensitive.numeric, {"table": sensitive.total, "class": inside}
    )
    size = write_count(int(released.counts[position]))
    whole = Series("table", INK, "whole table")
    about = f"{result.settings}|{k}|{column}|{released.nodes[position].tolist()}"
    chart, records = st.columns([1, 1])
    with chart:
        show_picture(
            draw_distribution_bars(
                table, whole, [Series("class", AFTER_COLOUR, "this class")],
                "This class against the whole table", f"Share of the {size} records of the class",
            ),
            lambda: table, "privacy-class", about,
            PictureSettings.from_run(state.get_session(), run.prepared, k),
        )  # fmt: skip
    *both, count = state.get_or_compute(
        "records", (result.settings, k, position), lambda: get_class_records(run, position)
    )
    with records:
        st.markdown(f"**Its records**, {write_count(count)} of {size}")
        tabs = st.tabs(["After", "Before"])
        for tab, name, rows in zip(tabs, ("after", "before"), both[::-1], strict=True):
            tab.dataframe(
                rows,
                height=min(300, 38 + 35 * count),
                hide_index=True,
                column_order=[column, *(c for c in rows.columns if c != column)],
                key=f"class-{name}",
            )


def get_class_records(run: Run, position: int) -> tuple[Styler | pd.DataFrame, Styler, int]:
    before, after = build_before_and_after(run, position=position)
    return before, after, len(after.data)


def show_population(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    classes, released = run.prepared.classes, run.recoding.released
    st.markdown(
        "An attacker who does not know whether a person is in the table must consider the whole "
        "population. Upload it as a table, with the same quasi-identifiers under the same "
        f"names: {escape_markdown(', '.join(classes.attributes))}. The table stays in memory for "
        "this session only and is never written to disk."
    )
    key = f"privacy-population-{work.version}-{work.view(PrivacyView).uploads}"
    draw_upload_field("A table of the population", key=key, on_change=take_population, args=(key,))
    people = work.purpose.population
    if people is None:
        return
    try:
        counted_people = state.get_or_compute(
            "population", (result.settings, people),
            lambda: count_population(classes, people.table, run.prepared.plan.repairs),
        )  # fmt: skip
        inside = state.get_or_compute(
            "people below", (result.settings, k, people),
            lambda: count_people_below(released, counted_people.classes),
        )  # fmt: skip
        numbers = build_population_numbers(released, inside, work.view(PrivacyView).threshold)
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    draw_in_columns(numbers)
    beyond = counted_people.unplaced
    sentence = (
        f"{escape_markdown(people.name)}: {count_noun(len(people.table), 'person', 'people')}."
    )
    if beyond:
        sentence += " " + choose_plural(
            beyond,
            "{count} of them has a missing value or one that is in no hierarchy. This person "
            "matches only where the release hides that value completely (the root), so the risk "
            "may be overstated.",
            "{count} of them have a missing value or one that is in no hierarchy. They match only "
            "where the release hides that value completely (the root), so the risk may be "
            "overstated.",
        )
    st.caption(sentence)
    st.button("Delete", icon=":material/delete:", on_click=delete_population)


def delete_population() -> None:
    state.clear_cache_entry("population")
    state.clear_cache_entry("people below")
    state.set_session(remove_population(state.get_session_without_message()))


def take_population(key: str) -> None:
    file = state.get_widget_value(key)
    if file is None:
        delete_population()
        return
    runner.run_request(request_population, file.getvalue(), file.name, wait=AT_ONCE)


def show_privacy(work: SessionState, result: AnonymisationResult) -> None:
    k, run = get_shown_release(work, result)
    released = run.recoding.released
    if not released.n_classes:
        st.info("Every record was suppressed: the release is empty.")
        draw_k_slider(work, result, k, "privacy-k")
        return
    columns = [sensitive.name for sensitive in released.sensitive]
    column = work.focus if work.focus in columns else None
    show_level_curves(work, result, run, k, column)
    show_privacy_numbers(work, run, column)
    position = None if column is None else show_classes(work, result, run, column, k)
    names, person = show_attack(work, result, run, column, k)
    show_evidence(work, result, run, k)
    if not work.table.records.in_engine:
        with st.expander("Motivated intruder test: did anyone recognise a person?"):
            show_intruder_test(work, run, k)
        with st.expander("Is the table a sample? Who is unique in the population?"):
            show_sample_risk(work, run)
    with st.expander("A population behind the table: who else could it be?"):
        show_population(work, result, run, k)
    with st.expander("How it is computed"):
        if column is not None and position is not None:
            st.markdown(explain_class(released, column, position))
        st.markdown(explain_risk(released, work.view(PrivacyView).threshold))
        st.markdown(explain_attack(person, names))
        view = work.view(PrivacyView)
        asked = {"COLUMN": column, "BY": view.by, "THRESHOLD": view.threshold}
        settings = {"KS": list_script_k(result, k), **asked}
        draw_code_buttons("privacy", lambda: run.prepared.plan, settings)


def page() -> None:
    work = draw_page_head("What can still be found out about someone?", as_toast=True)
    stale = has_outdated_result(work)
    show_unready(work)
    if show_classes_in_engine(work):
        return
    show_missing(work, stale)
    show_result_notice(work, stale)
    if work.findings.result is not None:
        with st.container(key="result"):
            show_privacy(work, work.findings.result)
