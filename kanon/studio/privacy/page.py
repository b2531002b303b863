"""What can still be found out about someone? Worst classes first, then an attack to try."""

import numpy as np
import streamlit as st
from pandas.io.formats.style import Styler

from kanon.base.formatting import counted, one_or_many, thin
from kanon.charts.curves import curves_table
from kanon.charts.privacy import (
    AFTER_COLOUR,
    Series,
    distribution_chart,
    distribution_table,
    level_chart,
)
from kanon.charts.style import INK
from kanon.errors import KanonError
from kanon.measures.along import Curves, Points, levels_along
from kanon.measures.linkage import people_below
from kanon.privacy.model import rounded
from kanon.run import Run
from kanon.sources.population import population_of
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.jobs.upload import AT_ONCE, people_request
from kanon.studio.privacy.attack_panel import attack, look
from kanon.studio.privacy.attacker import PrivacyView, without_population
from kanon.studio.privacy.disclosure import (
    LEVELS,
    MOST_CLASSES,
    THRESHOLDS,
    class_named,
    class_sentence,
    how_attacked,
    how_class,
    how_found,
    levels_offered,
    number_format,
    of_attribute,
    of_population,
    of_risk,
    threshold_text,
    what_it_means,
    worst_classes,
)
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, released_label, released_tuple
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import classes_elsewhere, head, sensitive_choice, unready
from kanon.studio.widgets.controls import upload_field
from kanon.studio.widgets.how import what_was_checked
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.result import choose_k, in_columns, notice, release_shown, start_button
from kanon.studio.widgets.tables import before_and_after


def lacking(work: Work, stale: bool) -> None:
    if not work.table.sensitive_columns:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(
                "No column is sensitive yet, so only the risk of being found is shown.",
                icon=":material/visibility_off:",
            )
            st.page_link("pages/data.py", label="Choose a column", icon=":material/table:")
    if work.findings.result is None or stale or "run" in work.running:
        with st.container(horizontal=True):
            start_button(work, stale, "privacy-run")


def levels_of(work: Work, result: Result, run: Run, k: int, column: str | None) -> None:
    curves = result.solution.curves
    if column is not None and curves is not None:
        level_charts(result, curves, run, k, column)
    several = len(work.table.sensitive_columns) > 1
    place, data, choice = st.columns([6, 1, 2 if several else 0.1], vertical_alignment="center")
    if several:
        with choice:
            sensitive_choice("privacy-sensitive")
    with place:
        choose_k(work, result, k, "privacy-k")
    if column is not None and curves is not None:
        with data:
            data_button(
                "Data", lambda: curves_table(curves), "privacy-curves",
                f"{result.settings}|curves", kind="tertiary",
            )  # fmt: skip


def level_charts(result: Result, curves: Curves | Points, run: Run, k: int, column: str) -> None:
    columns = [sensitive_column.name for sensitive_column in run.prepared.classes.sensitive]
    diverse, distance = state.remembered(
        "levels", (result.settings, column), lambda: levels_along(curves, column, columns)
    )
    sensitive = run.recoding.released.sensitive_named(column)
    l_here = float(LEVELS["entropy_l"].each(sensitive).min())
    t_here = float(LEVELS["t_variational"].each(sensitive).max())
    best, of = float(LEVELS["entropy_l"].each(sensitive.whole())[0]), run.prepared.classes.of
    settings = PictureSettings.of_run(state.work(), run.prepared, k)
    l_side, t_side = st.columns(2)
    with l_side:
        picture(
            level_chart(
                curves, diverse, k, l_here,
                f"k = {thin(k)}: the worst class has l = {rounded(l_here, up=False)} of "
                f"{rounded(best, up=False)}",
                "l, values (↑ better)", best, best, of,
            ),
            None, "privacy-l", "", settings,
        )  # fmt: skip
    with t_side:
        picture(
            level_chart(
                curves, distance, k, t_here,
                f"k = {thin(k)}: the worst class has t = {rounded(t_here, up=True)} of 1",
                "t, 0 to 1 (↓ better)", 1.0, of=of,
            ),
            None, "privacy-t", "", settings,
        )  # fmt: skip


def numbers_of(work: Work, run: Run, column: str | None) -> None:
    released, threshold = run.recoding.released, work.view(PrivacyView).threshold
    if column is not None:
        st.markdown(f"**Learning the value: {plain(column)}**")
        st.markdown(what_it_means(released, column))
        in_columns(of_attribute(run, column))
    st.markdown("**Finding the record**")
    in_columns(of_risk(released, run.prepared.classes, threshold))
    threshold_side, check_side = st.columns([1, 2], vertical_alignment="bottom")
    threshold_side.select_slider(
        "A risk is high above",
        sorted({*THRESHOLDS, threshold}, reverse=True),
        **bound("privacy-threshold", threshold, "threshold", into=PrivacyView),
        format_func=threshold_text,
        help="1/5 is the risk in a class of five. It is a starting point, not a standard.",
    )
    check_side.markdown(what_was_checked(run))


def classes_of(work: Work, result: Result, run: Run, column: str, k: int) -> int:
    released, view = run.recoding.released, work.view(PrivacyView)
    sensitive = released.sensitive_named(column)
    offered = levels_offered(sensitive)
    by = view.by if view.by in offered else "entropy_l"
    extra = tuple(name for name in view.extra if name in offered)
    st.subheader("Worst classes first")
    sort_side, extra_side = st.columns([1, 2], vertical_alignment="bottom")
    sort_side.selectbox(
        "Worst by",
        offered,
        **bound("privacy-by", by, lambda value: look(by=value, chosen=None)),
        format_func=lambda name: LEVELS[name].heading,
        help=plain(LEVELS[by].card.summary),
    )
    extra_side.multiselect(
        "Also show",
        [name for name in offered if name not in ("entropy_l", "t_variational")],
        **bound("privacy-extra", list(extra), "extra", into=PrivacyView, read=tuple),
        format_func=lambda name: LEVELS[name].heading,
        placeholder="Other measures",
    )
    order, table = state.remembered(
        "worst", (result.settings, k, column, by, extra),
        lambda: worst_classes(released, column, by, extra),
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
                format=number_format(level), help=level.card.summary
            )
            for level in LEVELS.values()
        },
    )
    text = counted(released.n_classes, "class", "classes")
    text += f"; the {MOST_CLASSES} worst are listed." if released.n_classes > len(order) else "."
    reading = (
        "Select a row to see its class. The arrows say which direction is better for the people "
        "in it. l is in values, rounded down; t is the total variation distance from 0 to 1, "
        "rounded up."
    )
    st.caption(f"{text} {reading}")
    if event["selection"]["rows"]:
        # Stored by its labels: at another k the class may still exist.
        row = order[event["selection"]["rows"][0]]
        look(chosen=released_tuple(released, row))
    position = class_named(released, state.work().view(PrivacyView).chosen, order)
    one_class(result, run, column, k, position)
    return position


def one_class(result: Result, run: Run, column: str, k: int, position: int) -> None:
    released = run.recoding.released
    sensitive = released.sensitive_named(column)
    label = released_label(released, position)
    st.markdown(f"**{plain(label)}** — {class_sentence(released, column, position)}")
    inside = sensitive.only(np.array([position])).dense()[0]
    table = distribution_table(
        sensitive.values, sensitive.numeric, {"table": sensitive.total, "class": inside}
    )
    size = thin(int(released.counts[position]))
    whole = Series("table", INK, "whole table")
    about = f"{result.settings}|{k}|{column}|{released.nodes[position].tolist()}"
    chart, records = st.columns([1, 1])
    with chart:
        picture(
            distribution_chart(
                table, whole, [Series("class", AFTER_COLOUR, "this class")],
                "This class against the whole table", f"Share of the {size} records of the class",
            ),
            lambda: table, "privacy-class", about,
            PictureSettings.of_run(state.work(), run.prepared, k),
        )  # fmt: skip
    *both, count = state.remembered(
        "records", (result.settings, k, position), lambda: records_of(run, position)
    )
    with records:
        st.markdown(f"**Its records**, {thin(count)} of {size}")
        tabs = st.tabs(["After", "Before"])
        for tab, name, rows in zip(tabs, ("after", "before"), both[::-1], strict=True):
            tab.dataframe(
                rows,
                height=min(300, 38 + 35 * count),
                hide_index=True,
                column_order=[column, *(c for c in rows.columns if c != column)],
                key=f"class-{name}",
            )


def records_of(run: Run, position: int) -> tuple[Styler, Styler, int]:
    before, after = before_and_after(run, position=position)
    return before, after, len(after.data)


def population(work: Work, result: Result, run: Run, k: int) -> None:
    classes, released = run.prepared.classes, run.recoding.released
    st.markdown(
        "An attacker who does not know whether a person is in the table must consider the whole "
        "population. Upload a table of it, with the same quasi-identifiers under the same names: "
        f"{plain(', '.join(classes.attributes))}. It stays in memory for this session only and "
        "is never written to disk."
    )
    key = f"privacy-population-{work.version}-{work.view(PrivacyView).uploads}"
    upload_field("A table of the population", key=key, on_change=take_population, args=(key,))
    people = work.purpose.population
    if people is None:
        return
    try:
        counted_people = state.remembered(
            "population", (result.settings, people),
            lambda: population_of(classes, people.table),
        )  # fmt: skip
        inside = state.remembered(
            "people below", (result.settings, k, people),
            lambda: people_below(released, counted_people.classes),
        )  # fmt: skip
        numbers = of_population(released, inside, work.view(PrivacyView).threshold)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    in_columns(numbers)
    beyond = counted_people.unplaced
    sentence = f"{plain(people.name)}: {counted(len(people.table), 'person', 'people')}."
    if beyond:
        sentence += " " + one_or_many(
            beyond,
            "{count} of them has a missing value or one that is in no hierarchy. This person "
            "counts only where the release says nothing about that column, so the risk may be "
            "overstated.",
            "{count} of them have a missing value or one that is in no hierarchy. They count only "
            "where the release says nothing about that column, so the risk may be overstated.",
        )
    st.caption(sentence)
    st.button("Delete", icon=":material/delete:", on_click=forget_population)


def forget_population() -> None:
    state.forget("population")
    state.forget("people below")
    state.put(without_population(state.silent()))


def take_population(key: str) -> None:
    file = state.typed(key)
    if file is None:
        forget_population()
        return
    runner.run(people_request, file.getvalue(), file.name, wait=AT_ONCE)


def found_out(work: Work, result: Result) -> None:
    k, run = release_shown(work, result)
    released = run.recoding.released
    if not released.n_classes:
        st.info("Every record was suppressed: the release is empty.")
        choose_k(work, result, k, "privacy-k")
        return
    columns = [sensitive.name for sensitive in released.sensitive]
    column = work.focus if work.focus in columns else None
    levels_of(work, result, run, k, column)
    numbers_of(work, run, column)
    position = None if column is None else classes_of(work, result, run, column, k)
    names, person = attack(work, result, run, column, k)
    with st.expander("A population behind the table: who else could it be?"):
        population(work, result, run, k)
    with st.expander("How it is computed"):
        if column is not None and position is not None:
            st.markdown(how_class(released, column, position))
        st.markdown(how_found(released, work.view(PrivacyView).threshold))
        st.markdown(how_attacked(person, names))


def page() -> None:
    work = head("What can still be found out about someone?", aloud=True)
    stale = outdated(work)
    unready(work)
    if classes_elsewhere(work):
        return
    lacking(work, stale)
    notice(work, stale)
    if work.findings.result is not None:
        with st.container(key="result"):
            found_out(work, work.findings.result)
