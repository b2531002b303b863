"""The editor of exercise sets, on the page Learn, in place of the exercises."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kanon.base.formatting import choose_plural
from kanon.errors import KanonError
from kanon.hierarchy.outline import write_outline
from kanon.metrics import METRICS
from kanon.schema import Role
from kanon.settings import get_settings
from kanon.studio.jobs import runner
from kanon.studio.jobs.worker import Progress
from kanon.studio.learn.answer_fields import draw_question
from kanon.studio.learn.exercises import set_answer, set_exercises
from kanon.studio.learn.form import Choices, draw_form
from kanon.studio.learn.lesson import take_exercise_table
from kanon.studio.learn.state import (
    Attempt,
    CheckedDraft,
    EditorView,
    LessonsView,
    apply_view,
    update_view,
)
from kanon.studio.learn.widgets import draw_icon_button
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.controls import open_closing_popover
from kanon.studio.widgets.files import draw_file_button
from kanon.studio.widgets.tables import draw_typed_table
from kanon.teaching.exam_code import hash_code
from kanon.teaching.exercise_draft import (
    EMPTY,
    EMPTY_COLUMN,
    EMPTY_TABLE,
    ColumnFields,
    Draft,
    TableFields,
    build_column_tree,
    build_exercise_set,
    build_new_question,
    check_draft,
    draft_set,
    draft_small_table,
    find_free_name,
    get_draft_heading,
    list_form_fields,
    list_records,
    put_in,
    rename_table,
    replace_records,
)
from kanon.teaching.exercises import MOST_QUESTIONS, ExerciseSet
from kanon.teaching.presets import PRESETS, load_preset_table
from kanon.teaching.questions import KINDS
from kanon.teaching.small_tables import MOST_COLUMNS, MOST_RECORDS

_HIGHEST = 20  # the highest level that can be typed while a tree is none yet


# --- from one state to the next -------------------------------------------------------------
def _get_view() -> EditorView:
    return state.get_session().view(LessonsView).editor


def _get_draft() -> Draft:
    return _get_view().draft or EMPTY


def _put_in_draft(value: object, *path: str | int, **view_fields: Any) -> None:
    apply_view("editor", draft=put_in(_get_draft(), value, *path), tried=Attempt(), **view_fields)


def _put_list(items: Sequence[Draft], place: int, *path: str | int) -> None:
    view_fields = {"tables": {"table": place}, "questions": {"question": place}}.get(
        str(path[-1]), {}
    )
    _put_in_draft(items, *path, **view_fields, began=_get_view().began + 1)


def _begin(draft: Draft, before: Sequence[Draft]) -> None:
    apply_view(
        "editor", open=True, draft=draft, before=before, table=0, question=0,
        began=_get_view().began + 1, tried=Attempt(), checked=None,
    )  # fmt: skip


def show_draft_check(progress: Progress, draft: Draft) -> CheckedDraft:
    return CheckedDraft(draft, check_draft(draft, progress))


def create_checking_request(_: SessionState, draft: Draft) -> JobRequest:
    return JobRequest(
        "exercises", show_draft_check, (draft,),
        lambda work, checked: update_view(work, "editor", checked=checked),
    )  # fmt: skip


def _open_set(exercises: ExerciseSet) -> None:
    view = _get_view()
    own_fingerprints = {exercises.fingerprint} if view.draft and _is_own(view.draft) else set()
    work = set_exercises(state.get_session_without_message(), exercises)
    state.set_session(
        update_view(work, "editor", open=False, own_sets=view.own_sets | own_fingerprints)
    )


def _is_own(draft: Draft) -> bool:
    return any(table["own"] for table in draft["tables"])


# --- the page -------------------------------------------------------------------------------
def draw_editor_entry(view: EditorView, exercises: ExerciseSet) -> None:
    before = view.before if view.draft is None else (view.draft, *view.before)
    has_own_records = exercises.fingerprint in view.own_sets
    with st.container(horizontal=True):

        def copy() -> None:
            _begin(draft_set(exercises, has_own_records), before)

        draw_icon_button("Edit a copy of this set", "edit", "set-copy", copy)
        draw_icon_button("Make a new set", "add", "set-new", _begin, EMPTY, before)
        if view.draft is not None:
            continue_editing = partial(apply_view, "editor", open=True)
            draw_icon_button(
                "Continue editing the set", "arrow_forward", "set-go-on", continue_editing
            )


def show_set_editor(work: SessionState) -> None:
    view = work.view(LessonsView).editor
    draft = view.draft or EMPTY
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Exercise set being edited**", width="content")
        draw_icon_button(
            "Back to the exercises", "arrow_back", "set-close",
            partial(apply_view, "editor", open=False), help="Your set stays here.",
        )  # fmt: skip
        if view.before:
            first, *others = view.before
            label = "Back to the set made before"
            draw_icon_button(label, "undo", "set-before", _begin, first, (*others, draft))
    draw_form(ExerciseSet, draft, "set", lambda name, value: _put_in_draft(value, name))
    if draft["exam"]:
        _draw_code_field(draft)
    st.subheader("Tables")
    draft = _draw_tables(view, draft)
    st.subheader("Questions")
    _draw_questions(view, draft)
    if view.question < len(draft["questions"]):
        _draw_preview(view, draft)
    st.subheader("Check and use")
    _draw_check_and_use(work, view, draft)


def _draw_code_field(draft: Draft) -> None:
    """A field that hands on only the hash of the code."""
    key = f"set-code-{draft['code'][:8]}"  # another one once a code is set, so it is empty

    def take() -> None:
        try:
            _put_in_draft(hash_code(state.get_widget_value(key) or ""), "code")
        except KanonError as error:
            state.update_sections(Message(problem=error.sentence))

    st.text_input(
        "Code of the exam",
        type="password",
        key=key,
        on_change=take,
        placeholder="A code is set" if draft["code"] else "",
        help="Marks, solutions and closing the exam ask for it. Nobody can look it up later: "
        "write it down.",
        width=340,
    )


def _remove_button(label: str, items: Sequence[Draft], place: int, *path: str | int) -> None:
    rest = [*items[:place], *items[place + 1 :]]
    key = f"set-remove-{'-'.join(map(str, path))}-{place}"
    off = len(path) > 1 and not rest  # a table has a column
    draw_icon_button(label, "delete", key, _put_list, rest, max(place - 1, 0), *path, disabled=off)


# --- tables ---------------------------------------------------------------------------------
def _draw_tables(view: EditorView, draft: Draft) -> Draft:
    tables = draft["tables"]
    place = min(view.table, len(tables) - 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(tables) > 1:
            key, into = f"set-table-{len(tables)}", partial(apply_view, "editor")
            st.segmented_control(
                "Table",
                range(len(tables)),
                **attach_widget(key, place, "table", into=into, keep=True),
                format_func=lambda at: escape_markdown(trim_title(tables[at]["name"])),
                label_visibility="collapsed",
            )
        with open_closing_popover(
            "Add a table", f"set-add-{len(tables)}-{view.began}", icon=":material/add:"
        ):
            _draw_table_sources(view)
        if place >= 0:
            _remove_button("Remove this table", tables, place, "tables")
    if place < 0:
        st.caption("Add a table first: an empty one to type in, or an existing one.")
        return draft
    table, key = tables[place], f"set-table-{place}-{view.began}"
    draw_form(
        TableFields, table, key,
        lambda _, name: apply_view("editor", draft=rename_table(_get_draft(), place, name)),
    )  # fmt: skip
    above = st.container()
    table = _draw_records_editor(view, place, table)
    with above:
        _draw_columns(place, table["columns"], key)
    return put_in(draft, table, "tables", place)


def _draw_table_sources(view: EditorView) -> None:
    def draw_source(label: str, key: str, make: Callable[[], Draft], **how: Any) -> None:
        st.button(
            escape_markdown(label), key=f"set-add-{key}", on_click=_add_table, args=(make,), **how
        )

    draw_source("An empty table", "empty", lambda: EMPTY_TABLE, width="stretch")
    st.caption("With its roles and hierarchies")
    for name, preset in PRESETS.items():
        make = partial(lambda name: draft_small_table(name, load_preset_table(name)), name)
        draw_source(preset.title, name, make, width="stretch")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "First records",
            min_value=2,
            max_value=MOST_RECORDS,
            **attach_widget(
                "set-own-records", view.records, "records", into=partial(apply_view, "editor")
            ),
            width=120,
        )
        is_allowed = get_settings().original_values_downloads
        draw_source(
            "Of the table I work on",
            "own",
            lambda: draft_small_table(
                "my table", take_exercise_table(state.get_session(), _get_view().records), own=True
            ),
            disabled=not is_allowed,
            help=(
                "Its quasi-identifiers and sensitive columns, unchanged: anyone who gets the set "
                "gets these records."
            )
            if is_allowed
            else "Files with original values are switched off on this server.",
        )


def _add_table(make: Callable[[], Draft]) -> None:
    tables = _get_draft()["tables"]
    try:
        table = make()
    except KanonError as error:
        state.update_sections(Message(problem=error.sentence))
        return
    name = find_free_name(table["name"], [existing["name"] for existing in tables])
    _put_list([*tables, {**table, "name": name}], len(tables), "tables")


def _draw_columns(place: int, columns: Sequence[Draft], key: str) -> None:
    path = ("tables", place, "columns")
    for first in range(0, len(columns), 3):
        for cell, at in zip(st.columns(3), range(first, len(columns)), strict=False):
            with cell.container(border=True):
                column, put_field = (
                    columns[at],
                    lambda name, value, at=at: _put_in_draft(value, *path, at, name),
                )
                draw_form(ColumnFields, column, f"{key}-{at}", put_field)
                if column["role"] == Role.QUASI_IDENTIFIER:
                    _draw_tree_help(column, f"set-flat-{at}", partial(put_field, "tree"))
                _remove_button(f"Remove column {at + 1}", columns, at, *path)
    longer = [*columns, {**EMPTY_COLUMN, "cells": [""] * len(columns[0]["cells"])}]
    draw_icon_button(
        "Add a column", "add", "set-column-add", _put_list, longer, len(columns), *path,
        disabled=len(columns) >= MOST_COLUMNS,
    )  # fmt: skip


def _draw_tree_help(column: Draft, key: str, put_tree: Callable[[str], None]) -> None:
    try:
        tree = build_column_tree(column)
    except KanonError as error:
        if column["cells"]:
            st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    if not column["tree"].strip():
        st.button(
            "Start with its values",
            type="tertiary",
            key=key,
            help="Then put groups between the root and the values.",
            on_click=put_tree,
            args=(write_outline(tree),),
        )


def _draw_records_editor(view: EditorView, place: int, table: Draft) -> Draft:
    columns = {str(at): column for at, column in enumerate(table["columns"])}
    typed_cells = draw_typed_table(
        "set-records", (view.began, place),
        lambda: pd.DataFrame(list_records(table), columns=list(columns), dtype="str"),
        column_config={  # by their places, as names that are typed may be equal
            at: st.column_config.TextColumn(column["name"] or f"column {int(at) + 1}")
            for at, column in columns.items()
        },
    )  # fmt: skip
    st.caption(
        f"One record per line, up to {MOST_RECORDS}; you can paste cells from a spreadsheet."
    )
    changed_table = replace_records(table, typed_cells.current_table)
    if changed_table != table:
        _put_in_draft(changed_table, "tables", place)
    return changed_table


# --- questions ------------------------------------------------------------------------------
def _draw_questions(view: EditorView, draft: Draft) -> None:
    place, questions = view.question, draft["questions"]
    count = len(questions)
    if count:
        key, into = f"set-shown-{count}", partial(apply_view, "editor", tried=Attempt())
        st.pills(
            "Question",
            range(count),
            **attach_widget(key, place, "question", into=into, keep=True),
            format_func=lambda at: escape_markdown(get_draft_heading(at + 1, questions[at])),
            label_visibility="collapsed",
        )
    with st.container(horizontal=True):
        draw_icon_button(
            "Add a question", "add", "set-question-add",
            lambda: _put_list([*questions, build_new_question(_get_draft())], count, "questions"),
            disabled=count >= MOST_QUESTIONS or not draft["tables"],
        )  # fmt: skip
        if place >= count:
            return
        rest = [*questions[:place], *questions[place + 1 :]]
        for label, icon, to in ("Earlier", "upward", place - 1), ("Later", "downward", place + 1):
            reordered, is_disabled = [*rest[:to], questions[place], *rest[to:]], not 0 <= to < count
            draw_icon_button(
                label, f"arrow_{icon}", f"set-{label}", _put_list, reordered, to, "questions",
                disabled=is_disabled,
            )  # fmt: skip
        _remove_button("Remove this question", questions, place, "questions")

    def put(name: str, value: object) -> None:
        _put_in_draft(value, "questions", place, name)

    question, key = questions[place], f"set-question-{place}"
    st.selectbox(
        "Kind",
        KINDS,
        **attach_widget(f"{key}-kind", question["kind"], partial(put, "kind")),
        format_func=lambda kind: list_form_fields(KINDS[kind])["kind"]["title"],
        width=280,
    )
    draw_form(KINDS[question["kind"]], question, key, put, _list_choices(draft, question))


def _list_choices(draft: Draft, question: Draft) -> Choices:
    tables = {table["name"]: table for table in draft["tables"]}
    columns = tables.get(question["table"], {"columns": []})["columns"]
    return {
        "tables": {name: name for name in tables},
        "metrics": {name: metric.card.title for name, metric in METRICS.items()},
        "sensitive columns": {
            column["name"]: column["name"] for column in columns if column["role"] == "sensitive"
        },
        "quasi-identifiers": {
            column["name"]: _find_highest_level(column)
            for column in columns
            if column["role"] == Role.QUASI_IDENTIFIER.value
        },
    }


def _find_highest_level(column: Draft) -> int:
    try:
        return build_column_tree(column).height - 1
    except KanonError:
        return _HIGHEST


def _draw_preview(view: EditorView, draft: Draft) -> None:
    place = view.question
    with st.container(border=True):
        st.caption("As a student sees it")
        try:
            exercises = state.get_or_compute(
                "set-preview", (draft, place), lambda: build_exercise_set(draft, only=place)
            )
            question = exercises.questions[0]

            def give(answer: Any) -> None:
                apply_view("editor", tried=set_answer(_get_view().tried, question.id, answer))

            draw_question(exercises, view.tried, question, place + 1, give)
        except KanonError as error:
            st.warning(escape_markdown(error.sentence), icon=":material/edit:")


# --- check and use --------------------------------------------------------------------------
def _draw_check_and_use(work: SessionState, view: EditorView, draft: Draft) -> None:
    checked = view.checked
    ready = checked.exercises if checked is not None and checked.draft == draft else None
    with st.container(horizontal=True):
        draw_icon_button(
            "Check the set", "fact_check", "set-check", runner.run_request, create_checking_request,
            draft, type="secondary" if ready else "primary", disabled="exercises" in work.running,
            help="Checks whether every question can be answered. This may take a few seconds.",
        )  # fmt: skip
        draw_icon_button(
            "Use it here", "play_arrow", "set-use", _open_set, ready, disabled=ready is None,
            type="primary" if ready else "secondary",
            help=None if ready else "Check the set first.",
        )  # fmt: skip
        if ready is not None:
            draw_file_button(
                "Download the set", lambda: ready.to_json().encode(), "exercises", "json",
                ready.fingerprint, "set-download", _is_own(draft),
            )  # fmt: skip
    if ready is not None:
        st.success(
            choose_plural(
                len(ready.questions),
                "The question can be answered: {points} points.",
                "All {count} questions can be answered: {points} points.",
                points=f"{ready.points:g}",
            ),
            icon=":material/check_circle:",
        )
