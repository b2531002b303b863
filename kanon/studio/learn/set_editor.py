"""An exercise set is made or changed, on the page Learn, in the place of the exercises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import one_or_many
from kanon.errors import KanonError
from kanon.studio.jobs import runner
from kanon.studio.learn.answer_fields import answer_field, is_wide, question_shown, trees_shown
from kanon.studio.learn.set_editor_question import questions_part
from kanon.studio.learn.set_editor_state import (
    SetEditorView,
    begin,
    change_draft,
    checking_request,
    go_back,
    look,
    try_answer,
    with_opened,
)
from kanon.studio.learn.set_editor_tables import tables_part
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import file_button
from kanon.teaching.exercise_draft import SetDraft, draft_of, set_of
from kanon.teaching.exercises import ExerciseSet


def editor_entry(work: Work, exercises: ExerciseSet) -> None:
    """The buttons that open the editor."""
    view = work.view(SetEditorView)
    with st.container(horizontal=True):
        st.button(
            "Edit a copy of this set",
            icon=":material/edit:",
            key="set-copy",
            on_click=lambda: begin(draft_of(exercises, exercises.fingerprint in view.own_sets)),
        )
        st.button(
            "Make a new set",
            icon=":material/add:",
            key="set-new",
            on_click=begin,
            args=(SetDraft(),),
        )
        if view.draft is not None:
            st.button(
                "Go on with the set in the making",
                icon=":material/arrow_forward:",
                key="set-go-on",
                on_click=look,
                kwargs={"open": True},
            )


def show_set_editor(work: Work, opened: ExerciseSet) -> None:
    """Draw the editor; tables can be taken from the opened set."""
    view = work.view(SetEditorView)
    draft = view.draft or SetDraft()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Exercise set in the making**", width="content")
        st.button(
            "Back to the exercises",
            icon=":material/arrow_back:",
            key="set-close",
            on_click=look,
            kwargs={"open": False},
            help="What you made stays here.",
        )
        if view.before:
            st.button(
                "Back to the set made before",
                icon=":material/undo:",
                key="set-before",
                on_click=go_back,
            )
    _head(draft)
    st.subheader("Tables")
    draft = tables_part(work, view, draft, opened)
    st.subheader("Questions")
    questions_part(view, draft)
    if view.question < len(draft.questions):
        _preview(view, draft)
    st.subheader("Check and use")
    _finish(work, view, draft)


def _head(draft: SetDraft) -> None:
    """What is said of the whole set."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Title of the set",
            **bound("set-title", draft.title, "title", into=_into),
            max_chars=100,
            width=340,
        )
        st.text_input(
            "Author, may be empty",
            **bound("set-author", draft.author, "author", into=_into),
            max_chars=100,
            width=220,
        )
        st.toggle(
            "It is an exam",
            **bound("set-exam", draft.exam, "exam", into=_into),
            help="Students cannot check their answers or see solutions before they hand in.",
        )


def _into(**fields: Any) -> None:
    change_draft(lambda draft: replace(draft, **fields))


def _use(exercises: ExerciseSet) -> None:
    state.put(with_opened(state.silent(), exercises))


def _preview(view: SetEditorView, draft: SetDraft) -> None:
    """A question exactly as a student sees it."""
    with st.container(border=True):
        st.caption("As a student sees it")
        place = view.question
        try:
            exercises = state.remembered(
                "set-preview", (draft, place), lambda: set_of(draft, only=place)
            )
            question = exercises.questions[0]
            question_shown(exercises, question, place + 1)
            left = right = st.container()
            if not is_wide(exercises, question):
                left, right = st.columns([7, 5], gap="medium")
            with left:
                answer_field(
                    exercises, view.tried, question, lambda make: try_answer(exercises, make)
                )
            with right:
                trees_shown(exercises, question)
        except KanonError as error:
            st.warning(plain(error.sentence), icon=":material/edit:")


def _finish(work: Work, view: SetEditorView, draft: SetDraft) -> None:
    """Check the set, open it here, save it."""
    found = view.checked
    ready = found.exercises if found is not None and found.draft == draft else None
    first = "Check the set first."
    with st.container(horizontal=True):
        st.button(
            "Check the set",
            icon=":material/fact_check:",
            type="secondary" if ready else "primary",
            disabled="exercises" in work.running,
            key="set-check",
            on_click=runner.run,
            args=(checking_request, draft),
            help="Whether every question can be answered. It may take some seconds.",
        )
        st.button(
            "Use it here",
            icon=":material/play_arrow:",
            type="primary" if ready else "secondary",
            disabled=ready is None,
            key="set-use",
            on_click=_use,
            args=(ready,),
            help=None if ready else first,
        )
        if ready is None:
            st.button(
                "Download the set",
                icon=":material/download:",
                disabled=True,
                key="set-unchecked",
                help=first,
            )
        else:
            file_button(
                "Download the set", lambda: ready.to_json().encode(), "exercises", "json",
                ready.fingerprint, "set-download", draft.own,
            )  # fmt: skip
    if ready is not None:
        st.success(
            one_or_many(
                len(ready.questions),
                "{count} question that can be answered, {points} points.",
                "{count} questions, all of which can be answered, {points} points.",
                points=f"{ready.points:g}",
            ),
            icon=":material/check_circle:",
        )
