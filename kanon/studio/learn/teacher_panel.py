"""For the teacher, on the page Learn: hand out a set, print it, and mark a class."""

from functools import partial

import streamlit as st

from kanon.base.formatting import counted
from kanon.errors import KanonError
from kanon.metrics import METRICS
from kanon.sources.writing import table_bytes
from kanon.studio.jobs import runner
from kanon.studio.learn.exercises import marking_request
from kanon.studio.learn.set_editor import editor_entry
from kanon.studio.learn.state import ExercisesView, LessonsView, look
from kanon.studio.learn.widgets import json_field, small_table
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import file_button, file_name
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.handout import handout
from kanon.teaching.marks import ClassMarks
from kanon.teaching.question import heading

_MOST_LISTED = 20  # so many odd files are named above the table, which has all


def for_the_teacher(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    editor = work.view(LessonsView).editor
    hand_out_place, marking_place = st.columns(2, gap="medium")
    with hand_out_place:
        st.markdown("**Hand out**")
        _draw_hand_out(view, exercises, exercises.fingerprint in editor.own_sets)
        editor_entry(editor, exercises)
    with marking_place:
        st.markdown("**Mark a class**")
        json_field(
            "Files of answers to this set, any number",
            f"exercise-class-{view.uploads}",
            lambda files: runner.run(
                marking_request, exercises, [(file.name, file.getvalue()) for file in files]
            ),
            accept_multiple_files=True,
            disabled="marking" in work.running,
            help="They are marked on this machine and kept for this session only.",
        )
    if view.scores is not None and view.scores.fingerprint == exercises.fingerprint:
        _show_class_marks(view.scores.marks, exercises)


def _draw_hand_out(view: ExercisesView, exercises: ExerciseSet, has_own_records: bool) -> None:
    file_button(
        "Download the exercise set", lambda: exercises.to_json().encode(), "exercises",
        "json", exercises.fingerprint, "exercise-set", has_own_records,
        help="Students open it under “Another exercise set, saved answers”. It holds no answers.",
    )  # fmt: skip
    into = partial(look, "exercises")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Costs on the handout",
            ["", *METRICS],
            **bound("exercise-metric", view.metric, "metric", into=into),
            format_func=lambda name: (
                METRICS[name].card.title if name else "The metrics of the questions"
            ),
            width=280,
        )
        st.checkbox(
            "With solutions", **bound("exercise-solutions", view.solutions, "solutions", into=into)
        )
    about = (exercises.fingerprint, view.metric, view.solutions)

    def create_handout() -> str:
        return handout(exercises, view.metric or None, solutions=view.solutions)

    try:
        page = state.remembered("handout", about, create_handout)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    file_button(
        "Download the handout to print", lambda: page.encode(), "handout", "html",
        repr(about), "exercise-handout", has_own_records,
        help="A page that opens offline. Print it from the browser.",
    )  # fmt: skip


# --- the marks of a class -------------------------------------------------------------------
def _show_class_marks(marks: ClassMarks, exercises: ExerciseSet) -> None:
    n_failed = int((marks.files["problem"] != "").sum())
    marked_text = counted(len(marks.files) - n_failed, "file marked", "files marked")
    st.markdown(f"{marked_text}, {n_failed} not." if n_failed else f"{marked_text}.")
    _show_odd_files(marks)
    _show_files(marks, exercises)
    st.markdown("**Question by question**")
    small_table(marks.questions.assign(of=marks.questions["of"].map("{:g}".format)))
    content = table_bytes(marks.files, "csv", neutral=True)
    st.download_button(
        "Download the scores as CSV",
        data=content,
        file_name=file_name("scores", "csv", content.decode()),
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="exercise-scores-csv",
    )


def _show_odd_files(marks: ClassMarks) -> None:
    files = marks.files
    odd_files = files[(files["problem"] != "") | (files["remark"] != "")]
    columns = ["file", "student", "problem", "remark"]
    lines = [
        f"- {_join_texts(file, student)}: {_join_texts(problem, remark)}"
        for file, student, problem, remark in odd_files[columns].head(_MOST_LISTED).to_numpy()
    ]
    if lines:
        title = counted(len(odd_files), "file to look at", "files to look at")
        st.warning("\n".join([f"{title}:\n", *lines]), icon=":material/flag:")


def _join_texts(*parts: str) -> str:
    return plain(" ".join(filter(None, parts)))


def _show_files(marks: ClassMarks, exercises: ExerciseSet) -> None:
    """A row per file: heads are short, the student stays while the rest is moved sideways."""
    column, number = st.column_config.Column, st.column_config.NumberColumn
    questions = {
        f"question {question.id}": number(
            str(place), help=plain(heading(place, question)), width=42, format="%g"
        )
        for place, question in enumerate(exercises.questions, start=1)
    }
    columns = {
        "student": column("student", pinned=True, width=130),
        "points": number("points", width=55, format="%g"),
        "percent": number("%", width=50, format="%g"),
        **questions,
        "minutes": number("min.", width=50, help="Minutes from the opening to the last change."),
        "fingerprint": column("fingerprint", width=140),
        "file": column("file", width=160),
        "problem": column("problem"),
        "remark": column("remark"),
    }
    st.dataframe(
        marks.files,
        hide_index=True,
        column_order=list(columns),
        column_config=columns,
        key="exercise-scores",
    )
