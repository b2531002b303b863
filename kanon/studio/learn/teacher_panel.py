"""For the teacher, on the page Learn: a set is handed out, printed, and a class is marked."""

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

_MOST_NAMED = 20  # so many odd files are named above the table, which has all


def for_the_teacher(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    editor = work.view(LessonsView).editor
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Hand out**")
        _handed_out(view, exercises, exercises.fingerprint in editor.own_sets)
        editor_entry(editor, exercises)
    with right:
        st.markdown("**Mark a class**")
        json_field(
            "Files of answers to this set, as many as there are",
            f"exercise-class-{view.uploads}",
            lambda given: runner.run(
                marking_request, exercises, [(file.name, file.getvalue()) for file in given]
            ),
            accept_multiple_files=True,
            disabled="marking" in work.running,
            help="They are marked on this machine, and kept for this session only.",
        )
    if view.scores is not None and view.scores.fingerprint == exercises.fingerprint:
        _class_marks(view.scores.marks, exercises)


def _handed_out(view: ExercisesView, exercises: ExerciseSet, own: bool) -> None:
    """The set as a file and as a sheet to print; ``own``: it has records of the session's table."""
    file_button(
        "Download the exercise set", lambda: exercises.to_json().encode(), "exercises",
        "json", exercises.fingerprint, "exercise-set", own,
        help="Students open it under “Another exercise set, saved answers”. No answer stands in "
        "it.",
    )  # fmt: skip
    into = partial(look, "exercises")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Costs on the handout",
            ["", *METRICS],
            **bound("exercise-metric", view.metric, "metric", into=into),
            format_func=lambda name: (
                METRICS[name].card.title if name else "Those that the questions go by"
            ),
            width=280,
        )
        st.checkbox(
            "With solutions", **bound("exercise-solutions", view.solutions, "solutions", into=into)
        )
    about = (exercises.fingerprint, view.metric, view.solutions)

    def make() -> str:
        return handout(exercises, view.metric or None, solutions=view.solutions)

    try:
        page = state.remembered("handout", about, make)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    file_button(
        "Download the handout to print", lambda: page.encode(), "handout", "html",
        repr(about), "exercise-handout", own,
        help="A page that opens without a network. Print it from the browser.",
    )  # fmt: skip


# --- the marks of a class -------------------------------------------------------------------
def _class_marks(marks: ClassMarks, exercises: ExerciseSet) -> None:
    failed = int((marks.files["problem"] != "").sum())
    marked = counted(len(marks.files) - failed, "file marked", "files marked")
    st.markdown(f"{marked}, {failed} not." if failed else f"{marked}.")
    _odd(marks)
    _files(marks, exercises)
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


def _odd(marks: ClassMarks) -> None:
    files = marks.files
    odd = files[(files["problem"] != "") | (files["remark"] != "")]
    lines = [
        f"- {_said(row['file'], row['student'])}: {_said(row['problem'], row['remark'])}"
        for row in odd.head(_MOST_NAMED).to_dict("records")
    ]
    if lines:
        said = counted(len(odd), "file to look at", "files to look at")
        st.warning("\n".join([f"{said}:\n", *lines]), icon=":material/flag:")


def _said(*parts: str) -> str:
    return plain(" ".join(filter(None, parts)))


def _files(marks: ClassMarks, exercises: ExerciseSet) -> None:
    """A row per file: heads are short, the student stays while the rest is moved sideways."""
    column, number = st.column_config.Column, st.column_config.NumberColumn
    questions = {
        f"question {question.id}": number(
            str(place), help=plain(heading(place, question)), width=42, format="%g"
        )
        for place, question in enumerate(exercises.questions, start=1)
    }
    shown = {
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
        column_order=list(shown),
        column_config=shown,
        key="exercise-scores",
    )
