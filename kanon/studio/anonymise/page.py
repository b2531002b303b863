"""What does this k cost? Run an algorithm, then move k and look."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.algorithms.catalogue import algorithms, uses
from kanon.base.formatting import counted, one_or_many, thin
from kanon.charts.curves import alteration_curve, curves_table
from kanon.release.drift import same_levels
from kanon.report.explanations import what_leaves
from kanon.run import Run
from kanon.sources.formats import FORMATS
from kanon.sources.memory import MemoryTable
from kanon.sources.stored_source import StoredSource
from kanon.sources.text_form import PLAIN, TextForm
from kanon.sources.writing import why_not
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from kanon.studio.anonymise.cheaper_release import cheaper
from kanon.studio.anonymise.combined_releases import together
from kanon.studio.anonymise.engine_release import release_by_engine
from kanon.studio.anonymise.release_archive import archive_button
from kanon.studio.anonymise.stored_release import write_controls
from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.jobs.stored_table import preview_rows
from kanon.studio.session import state
from kanon.studio.session.engine_classes import classes_kept
from kanon.studio.session.findings import Result
from kanon.studio.session.parts import RunSettings
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import (
    algorithm_choice,
    head,
    metric_choice,
    sensitive_choice,
    strategy_choice,
    unready,
)
from kanon.studio.widgets.algorithm_options import details, own_choices
from kanon.studio.widgets.files import (
    OF_PLAN,
    content,
    file_name,
    form_choice,
    neutral_choice,
    order_choice,
)
from kanon.studio.widgets.how import (
    how_algorithm,
    how_alteration,
    how_bound,
    what_is_proved,
    what_was_checked,
    which_levels,
    which_parts,
)
from kanon.studio.widgets.lower_bound import how_close
from kanon.studio.widgets.model_editor import also_require
from kanon.studio.widgets.numbers import of_release, worst
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.preview import before_and_after, preview_height
from kanon.studio.widgets.remarks import remarked_release
from kanon.studio.widgets.requirements import others_of, summary
from kanon.studio.widgets.result import (
    checked,
    choose_k,
    name_in_files,
    notice,
    noting,
    release_shown,
    start_button,
)

ALGORITHMS = algorithms()


def choices(work: Work, stale: bool) -> None:
    """What runs and what guides it; under it what is required, and the buttons."""
    looks_at, several = LOOKS_AT[work.strategy_used], len(work.table.sensitive_columns) > 1
    merges = uses(work.settings.algorithm, "strategy")
    widths = [30, 20, 40, *([26] if looks_at else []), *([24] if several else [])]
    algorithm, metric, strategy, *others = st.columns(widths)
    with algorithm:
        algorithm_choice("run-algorithm")
    with metric:
        metric_choice("run-metric")
    with strategy:
        if merges:
            strategy_choice("run-strategy")
        else:
            own_choices(work)
    if looks_at:
        others[0].selectbox(
            f"Whose {looks_at}",
            list(SCOPES),
            **bound("run-scope", work.settings.scope, "scope", into=RunSettings),
            format_func=lambda name: SCOPES[name].title,
            help=plain(SCOPES[work.settings.scope].summary),
        )
    if several:
        with others[-1]:
            sensitive_choice("run-sensitive")
    with st.container(horizontal=True, vertical_alignment="center"):
        also_require(work)
        details(work)
        if classes_kept(work) is None:  # else the release is written at once
            start_button(work, stale, "run")


def unsatisfied(work: Work) -> None:
    """What is chosen but cannot be used with these roles, with a link to where to change it."""
    said, strategy = "", STRATEGIES[work.settings.strategy].title
    if not work.table.sensitive_columns:
        said = "No column is sensitive: strategies that look at one are not offered."
    if not uses(work.settings.algorithm, "strategy"):
        said = ""
        if LOOKS_AT[work.settings.strategy]:
            said = (
                f"{strategy} is not used meanwhile: "
                f"{ALGORITHMS[work.settings.algorithm].CARD.title} picks no partners by it."
            )
    elif work.strategy_used != work.settings.strategy:
        said = (
            f"{strategy} looks at a sensitive column, and no column has that role: S1 is used "
            "meanwhile."
        )
    if said or work.models_lost:
        with st.container(horizontal=True, vertical_alignment="center"):
            for model in work.models_lost:
                st.warning(
                    f"{plain(model.sentence)} is required, and that column is not sensitive.",
                    icon=":material/error:",
                )
            if said:
                st.caption(plain(said), width="content")
            if not work.table.sensitive_columns or work.models_lost:
                st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")


def curve(work: Work, result: Result, k: int) -> None:
    """The curve and the slider under it, or why there is none; and a k that costs less."""
    plan, curves = result.prepared.plan, result.solution.curves
    if curves is not None:
        also, of = summary(others_of(plan)), result.prepared.classes.of
        picture(
            alteration_curve(curves, plan.metric, k, also, of), None, "alteration-curve", "",
            PictureSettings.of_run(work, result.prepared, k),
        )  # fmt: skip
    choose_k(work, result, k, "run-k")
    better = cheaper(curves, plan.metric.name, k)
    if better is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(better.sentence(k), icon=":material/savings:")
            st.button(
                f"Show k = {thin(better.k)}",
                on_click=lambda: state.change(replace(state.work().settings, k=better.k)),
                key="cheaper",
            )


def tables(result: Result, done: Run, k: int) -> None:
    """The first records before and after."""
    before, after = state.remembered("preview", (result, k), lambda: before_and_after(done))
    left, right = st.columns(2)
    left.subheader("Before")
    left.dataframe(before, height=preview_height(done), hide_index=True, key="before")
    least, persons = done.recoding.min_k, done.recoding.released.min_persons
    right.subheader(
        "After"
        if least is None
        else one_or_many(least, "After, at least {count} record", "After, at least {count} alike")
        if persons is None
        else one_or_many(
            persons, "After, at least {count} person", "After, at least {count} people alike"
        )
    )
    right.dataframe(after, height=preview_height(done), hide_index=True, key="after")
    records = done.prepared.classes.n_records
    shown = preview_rows(records, len(done.prepared.plan.columns))
    dropped = done.prepared.dropped
    told = [
        f"The first {thin(shown)} of {thin(records)} records; the release holds all.",
        "Stronger blue: the cell rose further, so it says less.",
    ]
    if dropped:
        told.append(
            counted(
                dropped,
                "record was dropped for missing values.",
                "records were dropped for missing values.",
            )
        )
    st.caption(" ".join(told))


def download_release(
    work: Work, result: Result, done: Run, k: int, stale: bool, name: str, problem: str | None
) -> str | None:
    """The format and the buttons of the released table and of the archive with it."""
    about = done.prepared.plan.to_json()
    kinds = list(FORMATS)
    kind = st.selectbox(
        "Format",
        kinds,
        index=kinds.index(work.table.file.kind) if work.table.file.kind in kinds else 0,
        format_func=str.upper,
        key="download-format",
        width=160,
    )
    form = _form(work, done, kind)
    neutral = neutral_choice("download", kind)
    order_choice(work, "download")
    obstacle = problem or state.remembered(
        "obstacle", (result, k, kind), lambda: why_not(kind, done.released)
    )
    file = file_name(
        f"released-{name}{'-neutralised' if neutral else ''}", kind, f"{about}|{neutral}|{form}"
    )
    make = noting(
        result.settings, done, lambda: done.content(kind, neutral, form), file, kind, form
    )
    st.download_button(
        "Released table of the old settings" if stale else "Released table",
        data=content(make),
        disabled=obstacle is not None,
        file_name=file,
        mime=FORMATS[kind].mime,
        icon=":material/download:",
        on_click="ignore",
        type="secondary" if stale else "primary",
        key="download-release",
    )
    archive_button(done, make, kind, form, f"{name}|{about}|{neutral}", obstacle is not None)
    return obstacle


def _form(work: Work, done: Run, kind: str) -> TextForm:
    """How the release is written as a text file; in UTF-8 where a label needs it."""
    table = work.table.records
    chosen = form_choice("download", kind, table.form if isinstance(table, MemoryTable) else PLAIN)
    form = done.fitting(chosen)
    if form != chosen:
        st.caption(
            f"In UTF-8, as {chosen.encoding.upper()} lacks a character of a hierarchy.",
            width="content",
        )
    return form


def downloads(work: Work, result: Result, done: Run, k: int, stale: bool) -> None:
    """The release, the plan that repeats it, the numbers of the curve."""
    plan, curves = done.prepared.plan, result.solution.curves
    about = plan.to_json()
    name = name_in_files(plan)
    obstacle, source, found = None, done.prepared.source, None
    if isinstance(source, StoredSource):
        st.subheader("Write the release")
        write_controls(work, result.settings, done, source, name, stale)
    else:
        st.subheader("Download")
        found = checked(result, done, k)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if found is not None:
            obstacle = download_release(work, result, done, k, stale, name, found.problem)
        st.download_button(
            "Plan",
            data=about,
            file_name=file_name(f"plan-{name}", "json", about),
            mime="application/json",
            icon=":material/description:",
            on_click="ignore",
            help="Everything that was chosen; python -m kanon run repeats it." + " " + OF_PLAN,
        )
        levels = same_levels(done) if plan.algorithm.name != "levels" else None
        if levels is not None:
            pinned = levels.to_json()
            st.download_button(
                "Plan with these levels",
                data=pinned,
                file_name=file_name(f"levels-{name}", "json", pinned),
                mime="application/json",
                icon=":material/keep:",
                on_click="ignore",
                help=(
                    "Raises next month's table to the levels of this release, so that both can "
                    "be compared; python -m kanon check tells what is new in that table."
                )
                + " "
                + OF_PLAN,
                key="download-levels",
            )
        if curves is not None:
            data_button("Data of the curve", lambda: curves_table(curves), "curve", about)
    if obstacle:
        st.error(plain(obstacle), icon=":material/error:")
    elif found is not None:
        st.caption(plain(found.said))
    together(result.settings, done)


def what_came_of_it(work: Work, result: Result, stale: bool) -> None:
    """The curve, the numbers, the tables and the files of a result."""
    k, done = release_shown(work, result)
    curve(work, result, k)
    close = numbers(work, result, done, k)
    remarked_release(result, done, k)
    tables(result, done, k)
    downloads(work, result, done, k, stale)
    with st.expander("How it is computed"):
        st.markdown(how_alteration(done))
        st.markdown(how_algorithm(done.prepared.plan))
        least = st.container()
    with close:
        gap = how_close(done, (result, k), "anonymise")
    if gap is not None:
        least.markdown(how_bound(gap))


def numbers(work: Work, result: Result, done: Run, k: int) -> DeltaGenerator:
    """What the release lost, its worst class, and what was checked in words."""
    columns = [each.name for each in done.prepared.classes.sensitive]
    focus = work.focus if work.focus in columns else next(iter(columns), None)
    lost = of_release(done)
    for place, number in zip(st.columns(len(lost)), lost, strict=True):
        # Six beside each other have no room for the word; the arrow stays.
        label = number.label if len(lost) < 6 else number.short
        place.metric(label, number.value, help=number.help)
    *places, text = st.columns([*([1] * len(worst(done, focus))), 3])
    for place, number in zip(places, worst(done, focus), strict=True):
        # A column with a long name leaves no room for the word; the arrow stays.
        label = number.label if len(number.label) <= 24 else number.short
        place.metric(label, number.value, help=number.help)
    text.markdown(what_was_checked(done))
    text.markdown(state.remembered("leaves", (result, k), lambda: plain(what_leaves(done))))
    more = [which_levels(done), which_parts(done.about_parts), what_is_proved(done.about_gap)]
    for said in filter(None, more):
        text.markdown(said)
    close = text.container()
    text.page_link(
        "pages/privacy.py",
        label="What can still be found out about someone?",
        icon=":material/visibility:",
    )
    return close


def page() -> None:
    """Draw the page."""
    work = head(f"What does k = {thin(state.work().settings.k)} cost?")
    stale = outdated(work)
    unready(work)
    choices(work, stale)
    unsatisfied(work)
    kept = classes_kept(work)
    if kept is not None:
        release_by_engine(work, kept)
        return
    notice(work, stale)
    if work.findings.result is not None:
        with st.container(key="result"):
            what_came_of_it(work, work.findings.result, stale)
