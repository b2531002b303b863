"""The menu below the navigation: save a project, open one, delete all data."""

import contextlib
from dataclasses import replace
from functools import partial

import streamlit as st

from kanon.errors import KanonError
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE, request_rereading
from kanon.studio.session import state
from kanon.studio.session.server import get_session_store
from kanon.studio.session.session_store import create_token
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.shell.link import draw_link
from kanon.studio.shell.project_file import (
    check_savable,
    export_project,
    get_project_reading,
    open_project,
)
from kanon.studio.shell.tour import draw_tour_offer
from kanon.studio.widgets.controls import draw_upload_field, open_closing_popover
from kanon.studio.widgets.files import draw_file_button

_FILE = "project-file"


def draw_project_menu() -> None:
    with st.sidebar:
        draw_tour_offer()
        work = state.get_session()
        with open_closing_popover(
            "Project",
            f"project-{work.version}-{work.shared.uploads}",
            icon=":material/folder_open:",
            width="stretch",
        ):
            _draw_project()
        with st.popover("Delete all my data", icon=":material/delete_forever:", width="stretch"):
            _draw_deletion()


def _draw_project() -> None:
    work = state.get_session()
    st.markdown(
        "**Save what you chose**: roles, hierarchies, weights, settings, saved configurations, "
        "kept comparisons and texts for a report."
    )
    st.write(
        "The file contains no records, but its hierarchies list the values that occur in the "
        "table, and its repairs the values that they name, even of identifiers. If a single "
        "value says something about a person, keep the file as safe as the table."
    )
    try:
        check_savable(work)
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
    else:
        fingerprint = state.get_or_compute("project", work, create_token)
        draw_file_button(
            "Save the project",
            lambda: export_project(work).encode(),  # large trees take a while
            "project",
            "json",
            fingerprint,
            "project-save",
        )
    key = f"{_FILE}-{work.version}-{work.shared.uploads}"
    draw_upload_field(
        "Open a project on this table",
        "plan_megabytes",
        type="json",
        key=key,
        on_change=_open_file,
        args=(key,),
        help="Load the table first. The project replaces all current choices for it.",
    )
    state.show_message_at(_FILE)
    draw_link()


def _open_file(key: str) -> None:
    file = state.get_widget_value(key)
    if file is not None:
        content = file.getvalue()
        read_settings = None
        with contextlib.suppress(KanonError):  # which opening it says
            read_settings = get_project_reading(state.get_session(), content)
        open_content = partial(_open_project, content)
        if read_settings is None:
            state.try_update(
                lambda: open_content(state.get_session()), problem_at=_FILE, carry=False
            )
            return
        runner.run_request(
            lambda work: request_rereading(
                work,
                read_settings,
                open_content,
                "project",
                keep_user_items=False,
                handle_failure=_refuse_project,
            ),
            wait=AT_ONCE,
        )


def _open_project(
    content: bytes, work: SessionState, again: SessionState | None = None
) -> SessionState:
    work = open_project(work, content, again)
    return work.replace_sections(replace(work.message, problem_at=_FILE))


def _refuse_project(work: SessionState, sentence: str) -> SessionState:
    return work.replace_sections(replace(work.message, problem=sentence, problem_at=_FILE))


def _draw_deletion() -> None:
    stay = (
        f"stay there for {get_session_store().keep_time_text} after"
        if get_session_store().seconds
        else "are deleted when"
    )
    st.write(
        "Your table, hierarchies, runs and downloads are in the memory of the machine that runs "
        f"kanon. They {stay} you close this page. Delete now deletes them at once, in this tab and "
        "in closed ones; you cannot undo it. Another open tab has its own button, and files that "
        "you saved stay where they are."
    )
    st.button("Delete now", on_click=state.delete_all_data, type="primary")
