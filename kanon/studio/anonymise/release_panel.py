"""A result: curve over k, numbers, tables before and after, files."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.base.formatting import choose_plural, write_count, write_percent
from kanon.charts.curves import build_curves_table, draw_alteration_curve
from kanon.measures.along import Curves, Points
from kanon.release.drift import build_pinned_plan
from kanon.report.archive import build_archive_file
from kanon.report.explanations import describe_released_columns
from kanon.report.origin import ReleasedFile
from kanon.run import Run
from kanon.sources.formats import FORMATS
from kanon.sources.memory import MemoryTable
from kanon.sources.stored_source import StoredSource
from kanon.sources.text_form import PLAIN, TextForm
from kanon.sources.writing import explain_unwritable
from kanon.studio.anonymise.alternatives import (
    list_alternatives,
    run_behind,
    show_alternative,
)
from kanon.studio.anonymise.combined_releases import show_combination
from kanon.studio.anonymise.stored_release import write_controls
from kanon.studio.jobs.stored_table import count_preview_rows
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.run_plan import list_further_models
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.files import (
    draw_code_buttons,
    draw_file_button,
    draw_form_choice,
    draw_neutral_choice,
    draw_order_choice,
    draw_plan_button,
    draw_publish_choice,
    draw_save_button,
    get_file_name,
)
from kanon.studio.widgets.how import (
    explain_algorithm,
    explain_alteration,
    explain_bound,
    explain_check,
    explain_levels,
    format_parts,
    format_proof,
)
from kanon.studio.widgets.numbers import (
    describe_dropped,
    list_release_numbers,
    list_worst_numbers,
    show_gap,
)
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, show_picture
from kanon.studio.widgets.remarks import show_release_remarks
from kanon.studio.widgets.requirements import describe_models
from kanon.studio.widgets.result import (
    check_shown_release,
    draw_k_slider,
    format_plan_for_file,
    get_shown_release,
    list_script_k,
    record_download,
    show_column_losses,
)
from kanon.studio.widgets.tables import build_before_and_after, get_preview_height

NOTICEABLE = 0.1  # percentage points of alteration; by less, a release is not called cheaper


def show_release(work: SessionState, result: AnonymisationResult, stale: bool) -> None:
    k, run = get_shown_release(work, result)
    alternatives = [] if stale else list_alternatives(work, result)
    _show_curve(work, result, k)
    show_alternative(work, alternatives, run, k)
    close = _show_numbers(work, result, run, k)
    show_column_losses(work, result, run, k)
    show_release_remarks(result, run, k)
    _show_tables(result, run, k)
    show_release_downloads(work, result, run, k, stale)
    with st.expander("How it is computed"):
        st.markdown(explain_alteration(run))
        st.markdown(explain_algorithm(run.prepared.plan))
        least = st.container()
        released = f"released.{work.table.file.kind}"
        settings = {"KS": list_script_k(result, k), "RELEASED": released}
        draw_code_buttons("anonymise", lambda: run.prepared.plan, settings)
    with close:
        gap = show_gap(run, (result.prepared, k), "anonymise")
    if gap is not None:
        least.markdown(explain_bound(gap))
    if not stale:
        run_behind(result, alternatives, k)


def _show_curve(work: SessionState, result: AnonymisationResult, k: int) -> None:
    plan, curves = result.prepared.plan, result.solution.curves
    if curves is not None:
        most = max(result.list_offered_k(k) or [0])  # so that the axis stays while points arrive
        models, unit = describe_models(list_further_models(plan)), result.prepared.classes.of
        show_picture(
            draw_alteration_curve(curves, plan.metric, k, models, unit, most), None,
            "alteration-curve", "", PictureSettings.from_run(work, result.prepared, k),
        )  # fmt: skip
    draw_k_slider(work, result, k, "run-k")
    better = find_cheaper_release(curves, plan.metric.name, k)
    if better is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(better.sentence(k), icon=":material/savings:")
            st.button(
                f"Show k = {write_count(better.k)}",
                on_click=lambda: state.update_sections(
                    replace(state.get_session().settings, k=better.k)
                ),
                key="cheaper",
            )


def _show_numbers(
    work: SessionState, result: AnonymisationResult, run: Run, k: int
) -> DeltaGenerator:
    columns = [sensitive.name for sensitive in run.prepared.classes.sensitive]
    focus = work.focus if work.focus in columns else next(iter(columns), None)
    numbers = list_release_numbers(run)
    for place, number in zip(st.columns(len(numbers)), numbers, strict=True):
        # Six beside each other have no room for the word; the arrow stays.
        label = number.label if len(numbers) < 6 else number.short
        place.metric(label, number.value, help=number.help)
    *places, text = st.columns([*([1] * len(list_worst_numbers(run, focus))), 3])
    for place, number in zip(places, list_worst_numbers(run, focus), strict=True):
        # A column with a long name leaves no room for the word; the arrow stays.
        label = number.label if len(number.label) <= 24 else number.short
        place.metric(label, number.value, help=number.help)
    text.markdown(explain_check(run))
    text.markdown(
        state.get_or_compute(
            "leaves", (result.prepared, k), lambda: escape_markdown(describe_released_columns(run))
        )
    )
    paragraphs = [
        *(explain_levels(run), format_parts(run.about_parts), format_proof(run.about_gap)),
        *map(escape_markdown, (run.about_models, run.prepared.about_population)),
    ]
    for paragraph in filter(None, paragraphs):
        text.markdown(paragraph)
    close = text.container()
    text.page_link(
        "pages/privacy.py",
        label="What can still be found out about someone?",
        icon=":material/visibility:",
    )
    return close


def _show_tables(result: AnonymisationResult, run: Run, k: int) -> None:
    before, after = state.get_or_compute(
        "preview", (result.prepared, k), lambda: build_before_and_after(run)
    )
    before_side, after_side = st.columns(2)
    before_side.subheader("Before")
    before_side.dataframe(before, height=get_preview_height(run), hide_index=True, key="before")
    least, persons = run.recoding.min_k, run.recoding.released.min_persons
    after_side.subheader(
        "After"
        if least is None
        else choose_plural(least, "After, at least {count} record", "After, at least {count} alike")
        if persons is None
        else choose_plural(
            persons, "After, at least {count} person", "After, at least {count} people alike"
        )
    )
    after_side.dataframe(after, height=get_preview_height(run), hide_index=True, key="after")
    records = run.prepared.classes.n_records
    preview_count = count_preview_rows(records, len(run.prepared.plan.columns))
    dropped = run.prepared.dropped
    sentences = [
        (
            f"The first {write_count(preview_count)} of {write_count(records)} records; "
            "the release contains them all."
        ),
        "Stronger blue: the cell is generalised further, so it says less.",
    ]
    if dropped:
        sentences.append(describe_dropped(dropped))
    st.caption(" ".join(sentences))


class CheaperRelease(NamedTuple):
    k: int
    cost: float  # its alteration in percent
    here: float  # the alteration of the release on screen, in percent

    def sentence(self, k: int) -> str:
        return (
            f"k = {write_count(self.k)} loses less here: {write_percent(self.cost)} instead of "
            f"{write_percent(self.here)}. Its release is also valid for k = "
            f"{write_count(k)}: its classes are large enough and also meet the other models."
        )


def find_cheaper_release(
    curves: Curves | Points | None, metric: str, k: int
) -> CheaperRelease | None:
    """The cheapest release for a larger k, if it loses noticeably less than the one for k.

    >>> import numpy as np
    >>> numbers = {"k": np.array([2, 5, 9]), "alteration_nllm": np.array([50.0, 100.0, 62.0])}
    >>> find_cheaper_release(Points(numbers), "nllm", 5)
    CheaperRelease(k=9, cost=62.0, here=100.0)
    >>> find_cheaper_release(Points(numbers), "nllm", 2) is None
    True
    """
    if not isinstance(curves, Points):
        return None
    ks, altered = curves.numbers["k"], curves.numbers[f"alteration_{metric}"]
    suppressed = curves.get_suppressed(ks.tolist())
    here = float(altered[ks == k][0])
    larger = (ks > k) & (suppressed <= suppressed[ks == k][0])
    if not larger.any():
        return None
    least = float(altered[larger].min())
    if here - least < NOTICEABLE:
        return None
    return CheaperRelease(int(ks[larger & (altered <= least + 1e-9)].max()), least, here)


# --- its files --------------------------------------------------------------------------------
def show_release_downloads(
    work: SessionState, result: AnonymisationResult, run: Run, k: int, stale: bool
) -> None:
    plan, curves = run.prepared.plan, result.solution.curves
    about = plan.to_json()
    name = format_plan_for_file(plan)
    obstacle, source, check = None, run.prepared.source, None
    if isinstance(source, StoredSource):
        st.subheader("Write the release")
        write_controls(work, result.settings, run, source, name, stale)
    else:
        st.subheader("Download")
        check = check_shown_release(result, run, k)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if check is not None:
            obstacle = _show_release_buttons(work, result, run, k, stale, name, check.problem)
        draw_plan_button(about, f"plan-{name}", "download-plan")
        levels = build_pinned_plan(run) if plan.algorithm.name != "levels" else None
        if levels is not None:
            draw_plan_button(
                levels.to_json(),
                f"levels-{name}",
                "download-levels",
                "Plan with these levels",
                icon="keep",
                help="Generalises next month's table to the levels of this release, so that the "
                "two can be compared. python -m kanon check lists what is new in that table.",
            )
        if curves is not None:
            draw_data_button(
                "Data of the curve",
                lambda: build_curves_table(curves),
                "curve",
                f"{about}|{result.known}",
            )
    if obstacle:
        st.error(escape_markdown(obstacle), icon=":material/error:")
    elif check is not None:
        st.caption(escape_markdown(check.said))
    show_combination(result.settings, run)


def _show_release_buttons(
    work: SessionState,
    result: AnonymisationResult,
    run: Run,
    k: int,
    stale: bool,
    name: str,
    problem: str | None,
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
    neutral = draw_neutral_choice("download", kind)
    draw_order_choice(work, "download")
    obstacle = problem or state.get_or_compute(
        "obstacle", (result.prepared, k, kind), lambda: explain_unwritable(kind, run.released)
    )
    file = get_file_name(
        f"released-{name}{'-neutralised' if neutral else ''}", kind, f"{about}|{neutral}|{form}"
    )
    make = record_download(
        result.settings, run, lambda: run.content(kind, neutral, form), file, kind, form
    )
    draw_save_button(
        "Released table (old settings)" if stale else "Released table",
        make,
        file,
        "download-release",
        disabled=obstacle is not None,
        type="secondary" if stale else "primary",
    )
    _show_archive_button(run, make, kind, form, f"{name}|{about}|{neutral}", obstacle is not None)
    return obstacle


def _choose_text_form(work: SessionState, run: Run, kind: str) -> TextForm:
    table = work.table.records
    wanted = draw_form_choice(
        "download", kind, table.form if isinstance(table, MemoryTable) else PLAIN
    )
    form = run.fitting(wanted)
    if form != wanted:
        st.caption(
            f"Saved in UTF-8: {wanted.encoding.upper()} lacks a character used in a hierarchy.",
            width="content",
        )
    return form


def _show_archive_button(
    run: Run, make_table: Callable[[], bytes], kind: str, form: TextForm, about: str, disabled: bool
) -> None:
    date, publish = datetime.date.today(), draw_publish_choice("archive-publish")

    def build_archive() -> bytes:
        file = ReleasedFile(make_table(), kind, form, run.released(index=True))
        return build_archive_file(run, file, date, publish)

    draw_file_button(
        "Release archive",
        build_archive,
        "release",
        "zip",
        f"{about}|{kind}|{form}|{date}|{publish}",
        "download-archive",
        icon="folder_zip",
        disabled=disabled,
        help="For the recipient: the release, its requirements, the report for publication, "
        "checksums, and a short script that checks k, l and t without kanon. It reveals nothing "
        "about the original table beyond the release, except the names of columns. Your texts for "
        "the report are left out.",
    )
