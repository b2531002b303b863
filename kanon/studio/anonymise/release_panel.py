"""A result: curve over k, numbers, tables before and after, files."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.base.formatting import one_or_many, percent, thin
from kanon.charts.curves import alteration_curve, curves_table
from kanon.measures.along import Curves, Points
from kanon.release.drift import same_levels
from kanon.report.archive import archive
from kanon.report.explanations import what_leaves
from kanon.report.origin import ReleasedFile
from kanon.run import Run
from kanon.sources.formats import FORMATS
from kanon.sources.memory import MemoryTable
from kanon.sources.stored_source import StoredSource
from kanon.sources.text_form import PLAIN, TextForm
from kanon.sources.writing import why_not
from kanon.studio.anonymise.combined_releases import together
from kanon.studio.anonymise.stored_release import write_controls
from kanon.studio.jobs.stored_table import preview_rows
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import (
    file_button,
    file_name,
    form_choice,
    neutral_choice,
    order_choice,
    plan_button,
    publish_choice,
    save_button,
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
from kanon.studio.widgets.numbers import how_close, of_release, said_dropped, worst
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.remarks import remarked_release
from kanon.studio.widgets.requirements import others_of, summary
from kanon.studio.widgets.result import checked, choose_k, name_in_files, noting, release_shown
from kanon.studio.widgets.tables import before_and_after, preview_height

NOTICEABLE = 0.1  # percentage points of alteration; by less, a release is not called cheaper


def show_release(work: Work, result: Result, stale: bool) -> None:
    k, run = release_shown(work, result)
    _show_curve(work, result, k)
    close = _show_numbers(work, result, run, k)
    remarked_release(result, run, k)
    _show_tables(result, run, k)
    downloads(work, result, run, k, stale)
    with st.expander("How it is computed"):
        st.markdown(how_alteration(run))
        st.markdown(how_algorithm(run.prepared.plan))
        least = st.container()
    with close:
        gap = how_close(run, (result, k), "anonymise")
    if gap is not None:
        least.markdown(how_bound(gap))


def _show_curve(work: Work, result: Result, k: int) -> None:
    plan, curves = result.prepared.plan, result.solution.curves
    if curves is not None:
        models, unit = summary(others_of(plan)), result.prepared.classes.of
        picture(
            alteration_curve(curves, plan.metric, k, models, unit), None, "alteration-curve", "",
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


def _show_numbers(work: Work, result: Result, run: Run, k: int) -> DeltaGenerator:
    columns = [sensitive.name for sensitive in run.prepared.classes.sensitive]
    focus = work.focus if work.focus in columns else next(iter(columns), None)
    numbers = of_release(run)
    for place, number in zip(st.columns(len(numbers)), numbers, strict=True):
        # Six beside each other have no room for the word; the arrow stays.
        label = number.label if len(numbers) < 6 else number.short
        place.metric(label, number.value, help=number.help)
    *places, text = st.columns([*([1] * len(worst(run, focus))), 3])
    for place, number in zip(places, worst(run, focus), strict=True):
        # A column with a long name leaves no room for the word; the arrow stays.
        label = number.label if len(number.label) <= 24 else number.short
        place.metric(label, number.value, help=number.help)
    text.markdown(what_was_checked(run))
    text.markdown(state.remembered("leaves", (result, k), lambda: plain(what_leaves(run))))
    paragraphs = [which_levels(run), which_parts(run.about_parts), what_is_proved(run.about_gap)]
    for paragraph in filter(None, paragraphs):
        text.markdown(paragraph)
    close = text.container()
    text.page_link(
        "pages/privacy.py",
        label="What can still be found out about someone?",
        icon=":material/visibility:",
    )
    return close


def _show_tables(result: Result, run: Run, k: int) -> None:
    before, after = state.remembered("preview", (result, k), lambda: before_and_after(run))
    before_side, after_side = st.columns(2)
    before_side.subheader("Before")
    before_side.dataframe(before, height=preview_height(run), hide_index=True, key="before")
    least, persons = run.recoding.min_k, run.recoding.released.min_persons
    after_side.subheader(
        "After"
        if least is None
        else one_or_many(least, "After, at least {count} record", "After, at least {count} alike")
        if persons is None
        else one_or_many(
            persons, "After, at least {count} person", "After, at least {count} people alike"
        )
    )
    after_side.dataframe(after, height=preview_height(run), hide_index=True, key="after")
    records = run.prepared.classes.n_records
    preview_count = preview_rows(records, len(run.prepared.plan.columns))
    dropped = run.prepared.dropped
    sentences = [
        f"The first {thin(preview_count)} of {thin(records)} records; the release holds all.",
        "Stronger blue: the cell is generalised further, so it says less.",
    ]
    if dropped:
        sentences.append(said_dropped(dropped))
    st.caption(" ".join(sentences))


class CheaperRelease(NamedTuple):
    k: int
    cost: float  # its alteration in percent
    here: float  # the alteration of the release on screen, in percent

    def sentence(self, k: int) -> str:
        """
        >>> print(CheaperRelease(100, 62.1, 100.0).sentence(5))
        k = 100 loses less here: 62.1 % instead of 100.0 %. Its release is also valid for k = 5: \
its classes are large enough and meet the same other models.
        """
        return (
            f"k = {thin(self.k)} loses less here: {percent(self.cost)} instead of "
            f"{percent(self.here)}. Its release is also valid for k = {thin(k)}: its classes are "
            "large enough and meet the same other models."
        )


def cheaper(curves: Curves | Points | None, metric: str, k: int) -> CheaperRelease | None:
    """The cheapest release for a larger k, if it loses noticeably less than the one for k.

    >>> import numpy as np
    >>> numbers = {"k": np.array([2, 5, 9]), "alteration_nllm": np.array([50.0, 100.0, 62.0])}
    >>> cheaper(Points(numbers), "nllm", 5)
    CheaperRelease(k=9, cost=62.0, here=100.0)
    >>> cheaper(Points(numbers), "nllm", 2) is None
    True
    """
    if not isinstance(curves, Points):
        return None
    ks, altered = curves.numbers["k"], curves.numbers[f"alteration_{metric}"]
    suppressed = curves.suppressed_at(ks.tolist())
    here = float(altered[ks == k][0])
    larger = (ks > k) & (suppressed <= suppressed[ks == k][0])
    if not larger.any():
        return None
    least = float(altered[larger].min())
    if here - least < NOTICEABLE:
        return None
    return CheaperRelease(int(ks[larger & (altered <= least + 1e-9)].max()), least, here)


# --- its files --------------------------------------------------------------------------------
def downloads(work: Work, result: Result, run: Run, k: int, stale: bool) -> None:
    plan, curves = run.prepared.plan, result.solution.curves
    about = plan.to_json()
    name = name_in_files(plan)
    obstacle, source, check = None, run.prepared.source, None
    if isinstance(source, StoredSource):
        st.subheader("Write the release")
        write_controls(work, result.settings, run, source, name, stale)
    else:
        st.subheader("Download")
        check = checked(result, run, k)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if check is not None:
            obstacle = _show_release_buttons(work, result, run, k, stale, name, check.problem)
        plan_button(about, f"plan-{name}", "download-plan")
        levels = same_levels(run) if plan.algorithm.name != "levels" else None
        if levels is not None:
            plan_button(
                levels.to_json(),
                f"levels-{name}",
                "download-levels",
                "Plan with these levels",
                icon="keep",
                help="Generalises next month's table to the levels of this release, so that both "
                "can be compared. python -m kanon check lists what is new in that table.",
            )
        if curves is not None:
            data_button("Data of the curve", lambda: curves_table(curves), "curve", about)
    if obstacle:
        st.error(plain(obstacle), icon=":material/error:")
    elif check is not None:
        st.caption(plain(check.said))
    together(result.settings, run)


def _show_release_buttons(
    work: Work, result: Result, run: Run, k: int, stale: bool, name: str, problem: str | None
) -> str | None:
    about = run.prepared.plan.to_json()
    kinds = list(FORMATS)
    kind = st.selectbox(
        "Format",
        kinds,
        index=kinds.index(work.table.file.kind) if work.table.file.kind in kinds else 0,
        format_func=str.upper,
        key="download-format",
        width=160,
    )
    form = _choose_text_form(work, run, kind)
    neutral = neutral_choice("download", kind)
    order_choice(work, "download")
    obstacle = problem or state.remembered(
        "obstacle", (result, k, kind), lambda: why_not(kind, run.released)
    )
    file = file_name(
        f"released-{name}{'-neutralised' if neutral else ''}", kind, f"{about}|{neutral}|{form}"
    )
    make = noting(result.settings, run, lambda: run.content(kind, neutral, form), file, kind, form)
    save_button(
        "Released table (old settings)" if stale else "Released table",
        make,
        file,
        "download-release",
        disabled=obstacle is not None,
        type="secondary" if stale else "primary",
    )
    _show_archive_button(run, make, kind, form, f"{name}|{about}|{neutral}", obstacle is not None)
    return obstacle


def _choose_text_form(work: Work, run: Run, kind: str) -> TextForm:
    table = work.table.records
    wanted = form_choice("download", kind, table.form if isinstance(table, MemoryTable) else PLAIN)
    form = run.fitting(wanted)
    if form != wanted:
        st.caption(
            f"In UTF-8, as {wanted.encoding.upper()} lacks a character of a hierarchy.",
            width="content",
        )
    return form


def _show_archive_button(
    run: Run, make_table: Callable[[], bytes], kind: str, form: TextForm, about: str, disabled: bool
) -> None:
    date, publish = datetime.date.today(), publish_choice("archive-publish")

    def build_archive() -> bytes:
        file = ReleasedFile(make_table(), kind, form, run.released(index=True))
        return archive(run, file, date, publish)

    file_button(
        "Release archive",
        build_archive,
        "release",
        "zip",
        f"{about}|{kind}|{form}|{date}|{publish}",
        "download-archive",
        icon="folder_zip",
        disabled=disabled,
        help="For the recipient: the release, its requirements, the report for publication, "
        "checksums, and a short script that checks k, l and t without kanon. Of the original "
        "table it reveals nothing beyond the release except the names of columns. Your texts "
        "for the report are left out.",
    )
