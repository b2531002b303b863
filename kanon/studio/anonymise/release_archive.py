"""The archive of the release on screen, for who receives it: its report is made in a worker."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kanon.base.language import say
from kanon.report.archive import archive
from kanon.report.origin import canonical_plan
from kanon.run import Run
from kanon.studio.jobs import runner
from kanon.studio.jobs.reporting import reporting
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import content, file_name

"""What is done while the report for an archive is made."""


def archive_button(
    work: Work, done: Run, make: Callable[[], bytes], kind: str, about: str, held: bool
) -> None:
    """The button that makes the report of a release in memory; once it is made, the archive's.

    Parameters
    ----------
    make
        Makes the released file, and notes that it was handed out.
    about
        All that decides its content.
    held
        Whether the release may not be had.
    """
    plan, reported = done.prepared.plan, work.findings.reported
    what = say(
        "For who receives the release: the table, what was asked of it, the report for "
        "publication, checksums, and a short script that checks k, l and t without kanon. Names "
        "of columns and counts of the original table are in it, original values are not; your "
        "texts for the report are left out."
    )
    if reported is None or reported.plan != canonical_plan(plan):
        st.button(
            say("Make the release archive"),
            icon=":material/folder_zip:",
            disabled=held or "archiving" in work.running,
            on_click=runner.run,
            args=(lambda now: reporting("archiving", now, plan),),
            help=what,
            key="make-archive",
        )
        return
    st.download_button(
        say("Release archive"),
        data=content(lambda: archive(reported, done, make(), kind)),
        file_name=file_name("release", "zip", f"{about}|{kind}|{reported.made}"),
        mime="application/zip",
        icon=":material/folder_zip:",
        disabled=held,
        on_click="ignore",
        help=what,
        key="download-archive",
    )
