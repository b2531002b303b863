"""The files of the release on screen: the released table, its archive, the plan that repeats it."""

import datetime
from collections.abc import Callable

import streamlit as st

from kanon.charts.curves import curves_table
from kanon.release.drift import same_levels
from kanon.report.archive import archive
from kanon.report.origin import ReleasedFile
from kanon.run import Run
from kanon.sources.formats import FORMATS
from kanon.sources.memory import MemoryTable
from kanon.sources.stored_source import StoredSource
from kanon.sources.text_form import PLAIN, TextForm
from kanon.sources.writing import why_not
from kanon.studio.anonymise.combined_releases import together
from kanon.studio.anonymise.stored_release import write_controls
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
from kanon.studio.widgets.picture import data_button
from kanon.studio.widgets.result import checked, name_in_files, noting


def downloads(work: Work, result: Result, done: Run, k: int, stale: bool) -> None:
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
            obstacle = _release_buttons(work, result, done, k, stale, name, found.problem)
        plan_button(about, f"plan-{name}", "download-plan")
        levels = same_levels(done) if plan.algorithm.name != "levels" else None
        if levels is not None:
            plan_button(
                levels.to_json(),
                f"levels-{name}",
                "download-levels",
                "Plan with these levels",
                icon="keep",
                help="Raises next month's table to the levels of this release, so that both can "
                "be compared; python -m kanon check tells what is new in that table.",
            )
        if curves is not None:
            data_button("Data of the curve", lambda: curves_table(curves), "curve", about)
    if obstacle:
        st.error(plain(obstacle), icon=":material/error:")
    elif found is not None:
        st.caption(plain(found.said))
    together(result.settings, done)


def _release_buttons(
    work: Work, result: Result, done: Run, k: int, stale: bool, name: str, problem: str | None
) -> str | None:
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
    save_button(
        "Released table of the old settings" if stale else "Released table",
        make,
        file,
        "download-release",
        disabled=obstacle is not None,
        type="secondary" if stale else "primary",
    )
    _archive_button(done, make, kind, form, f"{name}|{about}|{neutral}", obstacle is not None)
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


def _archive_button(
    done: Run, make: Callable[[], bytes], kind: str, form: TextForm, about: str, held: bool
) -> None:
    date, publish = datetime.date.today(), publish_choice("archive-publish")

    def made() -> bytes:
        file = ReleasedFile(make(), kind, form, done.released(index=True))
        return archive(done, file, date, publish)

    file_button(
        "Release archive",
        made,
        "release",
        "zip",
        f"{about}|{kind}|{form}|{date}|{publish}",
        "download-archive",
        icon="folder_zip",
        disabled=held,
        help="For the recipient of the release: the table, what was asked of it, the report for "
        "publication, checksums, and a short script that checks k, l and t without kanon. Of "
        "the original table it tells no more than the release, but for the names of columns; "
        "your texts for the report are left out.",
    )
