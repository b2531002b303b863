"""The questions of an exercise set in the making: which there are, and what each asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.errors import KanonError
from kanon.metrics import METRICS
from kanon.schema import Role
from kanon.studio.learn.exercises_state import Attempt
from kanon.studio.learn.set_editor_state import SetEditorView, change_draft, look
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.teaching.exercise_draft import (
    SetDraft,
    TableDraft,
    called,
    moved,
    put_at,
    tree_of,
    with_question,
)
from kanon.teaching.exercises import MOST_QUESTIONS
from kanon.teaching.questions import KINDS, NumberQuestion
from kanon.teaching.small_tables import MOST_RECORDS

_KINDS = {
    "recode": "Recode the table by hand",
    "levels": "Choose a level for each column",
    "number": "Work out a number",
    "choice": "Choose a class",
}
_CHOICES = {
    "smallest": "The class that GAA takes",
    "partner": "The class with which it is merged",
}
_HIGHEST = 20  # the highest level that can be typed while a tree is none yet


def questions_part(view: SetEditorView, draft: SetDraft) -> None:
    """Draw the questions, and the fields of the one that is shown."""
    place, count = view.question, len(draft.questions)
    if count:
        st.pills(
            "Question",
            range(count),
            **bound(f"set-shown-{count}", place, "question", into=_to, keep=True),
            format_func=lambda at: plain(called(at + 1, draft.questions[at])),
            label_visibility="collapsed",
        )
    with st.container(horizontal=True):
        st.button(
            "Add a question", icon=":material/add:", key="set-question-add",
            disabled=count >= MOST_QUESTIONS or not draft.tables,
            on_click=lambda: change_draft(with_question, question=count, tried=Attempt()),
        )  # fmt: skip
        if place >= count:
            return
        for label, icon, step in (
            ("Earlier", "arrow_upward", -1),
            ("Later", "arrow_downward", 1),
        ):
            st.button(
                label, icon=f":material/{icon}:", key=f"set-move{step}",
                disabled=not 0 <= place + step < count, on_click=_move, args=(place, step),
            )  # fmt: skip
        st.button(
            "Remove this question", icon=":material/delete:", key="set-question-remove",
            on_click=_remove, args=(place,),
        )  # fmt: skip
    _fields(draft, place)


def _to(**fields: Any) -> None:
    look(**fields, tried=Attempt())


def _move(place: int, step: int) -> None:
    change_draft(
        lambda draft: replace(draft, questions=moved(draft.questions, place, step)),
        question=place + step,
    )


def _remove(place: int) -> None:
    change_draft(
        lambda draft: replace(draft, questions=put_at(draft.questions, place)),
        question=max(place - 1, 0),
        tried=Attempt(),
    )


def _fields(draft: SetDraft, place: int) -> None:
    """What every question has, then what its kind has."""
    question = draft.questions[place]
    tables = {table.name: table for table in draft.tables}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Kind", KINDS, **_bound(question, place, "kind", "recode"),
            format_func=lambda kind: _KINDS[kind], width=280,
        )  # fmt: skip
        st.selectbox(
            "About the table",
            list(dict.fromkeys([*tables, question["table"]])),
            **_bound(question, place, "table", ""),
            width=220,
        )
        st.number_input(
            "Points", min_value=0.01, max_value=1000.0, step=0.5, format="%g",
            **_bound(question, place, "points", 1.0), width=120,
        )  # fmt: skip
        _of_kind(question, place, tables.get(question["table"]))
    st.text_input(
        "Title, may be empty",
        **_bound(question, place, "title", ""),
        max_chars=60,
    )
    st.text_area(
        "What you say before it, may be empty",
        **_bound(question, place, "text", ""),
        max_chars=1000,
        height=80,
    )


def _of_kind(question: Mapping[str, Any], place: int, table: TableDraft | None) -> None:
    match question["kind"]:
        case "recode" | "levels":
            st.number_input(
                "k asked for", min_value=2, max_value=MOST_RECORDS,
                **_bound(question, place, "k", 2), width=120,
            )  # fmt: skip
            _metric(question, place)
        case "number":
            st.selectbox(
                "Number", list(NumberQuestion.TITLES),
                **_bound(question, place, "number", "k"),
                format_func=lambda name: NumberQuestion.TITLES[name], width=240,
            )  # fmt: skip
            if question.get("number") == "alteration":
                _metric(question, place)
            if question.get("number") in ("entropy-l", "distinct-l", "t"):
                _sensitive(question, place, table)
            st.number_input(
                "Tolerance, may be empty", min_value=0.0, step=0.01, format="%g",
                **_bound(question, place, "tolerance", None), placeholder="usual", width=200,
            )  # fmt: skip
            _levels(question, place, table)
        case "choice":
            st.selectbox(
                "Which class", list(_CHOICES),
                **_bound(question, place, "choose", "smallest"),
                format_func=lambda name: _CHOICES[name], width=280,
            )  # fmt: skip
            st.number_input(
                "After how many merges", min_value=0, max_value=MOST_RECORDS - 1,
                **_bound(question, place, "merges", 0), width=200,
            )  # fmt: skip
            _metric(question, place)


def _metric(question: Mapping[str, Any], place: int) -> None:
    st.selectbox(
        "Costs by", list(METRICS), **_bound(question, place, "metric", "nllm"),
        format_func=lambda name: METRICS[name].card.title, width=200,
    )  # fmt: skip


def _sensitive(question: Mapping[str, Any], place: int, table: TableDraft | None) -> None:
    columns = table.columns if table else ()
    known = [column.name for column in columns if column.role is Role.SENSITIVE]
    now = question.get("sensitive")
    st.selectbox(
        "Sensitive column",
        [None, *dict.fromkeys([*known, *([now] if now else [])])],
        **_bound(question, place, "sensitive", None),
        format_func=lambda name: "The only one" if name is None else name,
        width=220,
    )


def _levels(question: Mapping[str, Any], place: int, table: TableDraft | None) -> None:
    """The level that each column is raised to before the number is worked out."""
    now: Mapping[str, int] = question.get("levels", {})
    for at, column in enumerate(table.columns if table else ()):
        if table is None or column.role is not Role.QUASI_IDENTIFIER:
            continue
        try:
            highest = tree_of(table, at).height - 1
        except KanonError:
            highest = _HIGHEST
        level = now.get(column.name, 0)
        st.number_input(
            f"Raise {plain(column.name)} to level",
            min_value=0,
            max_value=max(highest, level),
            **bound(f"set-level-{place}-{at}", level, _raise, place, column.name),
            width=200,
        )


def _raise(place: int, column: str, level: int) -> None:
    now = (state.work().view(SetEditorView).draft or SetDraft()).questions[place]
    levels = {**now.get("levels", {}), column: level}
    _set(place, levels={name: one for name, one in levels.items() if one})


def _bound(question: Mapping[str, Any], place: int, key: str, usual: object) -> dict[str, Any]:
    """What binds a widget to a key of a question."""
    return bound(
        f"set-{key}-{place}",
        question.get(key, usual),
        lambda value: _set(place, **{key: value}),
    )


def _set(place: int, **keys: Any) -> None:
    """Change keys of a question; an empty one goes."""

    def made(draft: SetDraft) -> SetDraft:
        found = {**draft.questions[place], **keys}
        kept = {name: value for name, value in found.items() if value is not None}
        return replace(draft, questions=put_at(draft.questions, place, kept))

    change_draft(made, tried=Attempt())
