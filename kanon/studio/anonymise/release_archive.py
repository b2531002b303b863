"""The archive of the release on screen, for its recipient."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import streamlit as st

from kanon.report.archive import archive
from kanon.report.released_file import ReleasedFile
from kanon.run import Run
from kanon.sources.text_form import TextForm
from kanon.studio.widgets.files import content, file_name, publish_choice


def archive_button(
    done: Run, make: Callable[[], bytes], kind: str, form: TextForm, about: str, held: bool
) -> None:
    """The button that makes the archive of a release, and what else is said in it."""
    date, publish = datetime.date.today(), publish_choice("archive-publish")

    def made() -> bytes:
        file = ReleasedFile(make(), kind, form, done.released(index=True))
        return archive(done, file, date, publish)

    st.download_button(
        "Release archive",
        data=content(made),
        file_name=file_name("release", "zip", f"{about}|{kind}|{form}|{date}|{publish}"),
        mime="application/zip",
        icon=":material/folder_zip:",
        disabled=held,
        on_click="ignore",
        help="For the recipient of the release: the table, what was asked of it, the report for "
        "publication, checksums, and a short script that checks k, l and t without kanon. Of "
        "the original table it tells no more than the release, but for the names of columns; "
        "your texts for the report are left out.",
        key="download-archive",
    )
