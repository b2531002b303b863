"""What a step of a lesson is drawn with, alone or in half of the page: its picture, its records."""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from kanon.charts.lesson import picture_of, picture_table
from kanon.charts.lesson_look import PAGE, Room, halved
from kanon.studio.learn.lesson import TableLesson, settings_of_lesson
from kanon.studio.learn.step_sheet import records_sheet
from kanon.studio.session import state
from kanon.studio.widgets.picture import data_button, picture
from kanon.teaching.tables import class_numbers, records_table

LEGEND = (
    "Equal numbers and colours are one class. Behind an arrow stands what a value became; in a "
    "frame, what this step changed."
)

_HALF = Room(320, None, 13)  # a half of the page, at its narrowest


def step_picture(found: TableLesson, at: int, room: Room = PAGE) -> go.Figure:
    """The picture of the step at a position, each class in the colour that the tables give it."""
    before, after = (
        class_numbers(found.table, found.lesson.steps[place].recoding).tolist()
        for place in (max(at - 1, 0), at)
    )
    return picture_of(found.lesson, at, room, before, after)


def draw_picture(found: TableLesson, at: int, own: bool, side: str = "") -> None:
    """The picture of a step; ``own``: the records are the user's, so that a download says so."""
    about, name = f"{found.key}-{at}", f"lesson-picture{side}"

    def make() -> go.Figure:
        return halved(step_picture(found, at, _HALF)) if side else step_picture(found, at)

    settings = settings_of_lesson(state.work(), found)
    figure = state.remembered(name, about, make)
    picture(figure, lambda: picture_table(found.lesson, at), name, about, settings, original=own)


def step_records(found: TableLesson, at: int) -> str:
    steps = found.lesson.steps
    return records_sheet(found.table, steps[at].recoding, steps[max(at - 1, 0)].recoding)


def draw_records(found: TableLesson, at: int, own: bool, side: str = "") -> None:
    st.html(step_records(found, at))
    name, about = f"lesson-records{side}", f"{found.key}-{at}"
    rows = partial(records_table, found.table, found.lesson.steps[at].recoding)
    data_button("Records", rows, name, about, kind="tertiary", original=own)
