"""The marks of a class, on the page Learn: per student, per question, and what is odd."""

from __future__ import annotations

import streamlit as st

from kanon.base.formatting import counted
from kanon.sources.writing import table_bytes
from kanon.studio.jobs import runner
from kanon.studio.learn.exercises import marking_request
from kanon.studio.learn.small_tables import small_table
from kanon.studio.learn.state import ExercisesView
from kanon.studio.session import state
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import file_name
from kanon.studio.widgets.uploads import upload_field
from kanon.teaching.exercises import MEGABYTES, ExerciseSet
from kanon.teaching.marks import ClassMarks
from kanon.teaching.question import heading

_MOST_NAMED = 20  # so many odd files are named above the table, which has all


def class_field(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    """Where the files of a class are put in."""
    key = f"exercise-class-{view.uploads}"
    upload_field(
        "Files of answers to this set, as many as there are",
        MEGABYTES,
        type="json",
        accept_multiple_files=True,
        key=key,
        disabled="marking" in work.running,
        on_change=_take,
        args=(key, exercises),
        help="They are marked on this machine, and kept for this session only.",
    )


def _take(key: str, exercises: ExerciseSet) -> None:
    files = [(file.name, file.getvalue()) for file in state.typed(key) or []]
    if files:
        runner.run(marking_request, exercises, files)


def class_marks(view: ExercisesView, exercises: ExerciseSet) -> None:
    """The marks, if there are some."""
    scores = view.scores
    if scores is None or scores.fingerprint != exercises.fingerprint:
        return
    marks = scores.marks
    failed = int((marks.files["problem"] != "").sum())
    number = len(marks.files) - failed
    marked = counted(number, "file marked", "files marked")
    if failed:
        marked = f"{marked}, {failed} not"
    st.markdown(f"{marked}.")
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
    """The files that the teacher should look at, and why."""
    files = marks.files
    odd = files[(files["problem"] != "") | (files["remark"] != "")]
    lines = [
        f"- {_said(row['file'], row['student'])}: {_said(row['problem'], row['remark'])}"
        for row in odd.head(_MOST_NAMED).to_dict("records")
    ]
    if not lines:
        return
    said = counted(len(odd), "file to look at", "files to look at")
    st.warning("\n".join([f"{said}:\n", *lines]), icon=":material/flag:")


def _said(*parts: str) -> str:
    return plain(" ".join(filter(None, parts)))


def _files(marks: ClassMarks, exercises: ExerciseSet) -> None:
    """A row per file: heads are short, the student stays while the rest is moved sideways."""
    questions = {
        f"question {question.id}": st.column_config.NumberColumn(
            str(number), help=plain(heading(number, question)), width=42, format="%g"
        )
        for number, question in enumerate(exercises.questions, start=1)
    }
    column = st.column_config.Column
    shown = {
        "student": column("student", pinned=True, width=130),
        "points": st.column_config.NumberColumn("points", width=55, format="%g"),
        "percent": st.column_config.NumberColumn("%", width=50, format="%g"),
        **questions,
        "minutes": st.column_config.NumberColumn(
            "min.", width=50, help="Minutes from the opening to the last change."
        ),
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
