"""For the teacher, on the page Learn: hand out a set, print it, and mark a class."""

from functools import partial

import streamlit as st

from kanon.base.formatting import count_noun
from kanon.errors import KanonError
from kanon.metrics import METRICS
from kanon.sources.writing import table_bytes
from kanon.studio.jobs import runner
from kanon.studio.learn.exercises import create_marking_request
from kanon.studio.learn.set_editor import draw_editor_entry
from kanon.studio.learn.state import ExercisesView, LessonsView, apply_view
from kanon.studio.learn.widgets import draw_json_field, draw_small_table
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.files import draw_file_button, get_file_name
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.handout import write_handout
from kanon.teaching.marks import ClassMarks
from kanon.teaching.question import format_question_heading

_MOST_LISTED = 20  # so many odd files are named above the table, which has all


def show_teacher_panel(work: SessionState, view: ExercisesView, exercises: ExerciseSet) -> None:
    editor = work.view(LessonsView).editor
    hand_out_place, marking_place = st.columns(2, gap="medium")
    with hand_out_place:
        st.markdown("**Hand out**")
        _draw_hand_out(view, exercises, exercises.fingerprint in editor.own_sets)
        draw_editor_entry(editor, exercises)
    with marking_place:
        st.markdown("**Mark a class**")
        draw_json_field(
            "Files of answers to this set, any number",
            f"exercise-class-{view.uploads}",
            lambda files: runner.run_request(
                create_marking_request, exercises, [(file.name, file.getvalue()) for file in files]
            ),
            accept_multiple_files=True,
            disabled="marking" in work.running,
            help="They are marked on this machine and kept for this session only.",
        )
    if view.scores is not None and view.scores.fingerprint == exercises.fingerprint:
        _show_class_marks(view.scores, exercises)


def _draw_hand_out(view: ExercisesView, exercises: ExerciseSet, has_own_records: bool) -> None:
    draw_file_button(
        "Download the exercise set", lambda: exercises.to_json().encode(), "exercises",
        "json", exercises.fingerprint, "exercise-set", has_own_records,
        help="Students open it under “Another exercise set, saved answers”. It holds no answers.",
    )  # fmt: skip
    into = partial(apply_view, "exercises")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Costs on the handout",
            ["", *METRICS],
            **attach_widget("exercise-metric", view.metric, "metric", into=into),
            format_func=lambda name: (
                METRICS[name].card.title if name else "The metrics of the questions"
            ),
            width=280,
        )
        st.checkbox(
            "With solutions",
            **attach_widget("exercise-solutions", view.solutions, "solutions", into=into),
        )
    about = (exercises.fingerprint, view.metric, view.solutions)

    def create_handout() -> str:
        return write_handout(exercises, view.metric or None, solutions=view.solutions)

    try:
        page = state.get_or_compute("handout", about, create_handout)
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    draw_file_button(
        "Download the handout to print", lambda: page.encode(), "handout", "html",
        repr(about), "exercise-handout", has_own_records,
        help="A page that opens offline. Print it from the browser.",
    )  # fmt: skip


# --- the marks of a class -------------------------------------------------------------------
def _show_class_marks(marks: ClassMarks, exercises: ExerciseSet) -> None:
    n_failed = int((marks.files["problem"] != "").sum())
    marked_text = count_noun(len(marks.files) - n_failed, "file marked", "files marked")
    st.markdown(f"{marked_text}, {n_failed} not." if n_failed else f"{marked_text}.")
    _show_odd_files(marks)
    _show_files(marks, exercises)
    st.markdown("**Question by question**")
    draw_small_table(marks.questions.assign(of=marks.questions["of"].map("{:g}".format)))
    content = table_bytes(marks.files, "csv", neutral=True)
    st.download_button(
        "Download the scores as CSV",
        data=content,
        file_name=get_file_name("scores", "csv", content.decode()),
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
        title = count_noun(len(odd_files), "file to look at", "files to look at")
        st.warning("\n".join([f"{title}:\n", *lines]), icon=":material/flag:")


def _join_texts(*parts: str) -> str:
    return escape_markdown(" ".join(filter(None, parts)))


def _show_files(marks: ClassMarks, exercises: ExerciseSet) -> None:
    """A row per file: heads are short, the student stays while the rest is moved sideways."""
    column, number = st.column_config.Column, st.column_config.NumberColumn
    questions = {
        f"question {question.id}": number(
            str(place),
            help=escape_markdown(format_question_heading(place, question)),
            width=42,
            format="%g",
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
