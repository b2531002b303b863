"""The menu below the navigation: save a project, open one, delete all data."""

import contextlib
from dataclasses import replace
from functools import partial

import streamlit as st

from kanon.errors import KanonError
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE, rereading_request
from kanon.studio.session import state
from kanon.studio.session.server import desks
from kanon.studio.session.session_store import new_token
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.shell.project_file import (
    check_savable,
    opened_project,
    reading_asked,
    saved_project,
)
from kanon.studio.shell.tour import invite
from kanon.studio.widgets.controls import closing_popover, upload_field
from kanon.studio.widgets.files import file_button

_FILE = "project-file"


def belongings() -> None:
    with st.sidebar:
        invite()
        work = state.work()
        with closing_popover(
            "Project",
            f"project-{work.version}-{work.shared.uploads}",
            icon=":material/folder_open:",
            width="stretch",
        ):
            _draw_project()
        with st.popover("Delete all my data", icon=":material/delete_forever:", width="stretch"):
            _draw_deletion()


def _draw_project() -> None:
    work = state.work()
    st.markdown(
        "**Save what you chose**: roles, hierarchies, weights, settings, saved configurations and "
        "texts for a report."
    )
    st.write(
        "The file holds no records, but its hierarchies list the values that occur in the table. "
        "If a value alone says something about a person, keep the file as safe as the table."
    )
    try:
        check_savable(work)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
    else:
        fingerprint = state.remembered("project", work, new_token)
        file_button(
            "Save the project",
            lambda: saved_project(work).encode(),  # large trees take a while
            "project",
            "json",
            fingerprint,
            "project-save",
        )
    key = f"{_FILE}-{work.version}-{work.shared.uploads}"
    upload_field(
        "Open a project on this table",
        "plan_megabytes",
        type="json",
        key=key,
        on_change=_open_file,
        args=(key,),
        help="Load the table first. The project replaces what is chosen for it now.",
    )
    state.said_here(_FILE)


def _open_file(key: str) -> None:
    file = state.typed(key)
    if file is not None:
        content = file.getvalue()
        read_settings = None
        with contextlib.suppress(KanonError):  # which opening it says
            read_settings = reading_asked(state.work(), content)
        open_content = partial(_open_project, content)
        if read_settings is None:
            state.attempt(lambda: open_content(state.work()), at=_FILE, carry=False)
            return
        runner.run(
            lambda work: rereading_request(
                work, read_settings, open_content, "project", carry=False, failed=_refuse_project
            ),
            wait=AT_ONCE,
        )


def _open_project(content: bytes, work: Work, again: Work | None = None) -> Work:
    work = opened_project(work, content, again)
    return work.with_parts(replace(work.message, problem_at=_FILE))


def _refuse_project(work: Work, sentence: str) -> Work:
    return work.with_parts(replace(work.message, problem=sentence, problem_at=_FILE))


def _draw_deletion() -> None:
    stay = f"stay there for {desks().lasting} after" if desks().seconds else "are deleted when"
    st.write(
        "Your table, hierarchies, runs and downloads are in the memory of the machine that runs "
        f"kanon. They {stay} you close this page. Delete now deletes them at once, in this tab and "
        "in closed ones; you cannot undo it. Another open tab has its own button, and files that "
        "you saved stay where they are."
    )
    st.button("Delete now", on_click=state.forget_everything, type="primary")
