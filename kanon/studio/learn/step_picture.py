"""The picture of a step of a lesson, each class in the colour that the tables give it."""

from __future__ import annotations

import plotly.graph_objects as go

from kanon.charts.lesson import picture_of
from kanon.charts.lesson_look import PAGE, Room
from kanon.studio.learn.lesson import TableLesson
from kanon.teaching.tables import class_numbers


def step_picture(found: TableLesson, at: int, room: Room = PAGE) -> go.Figure:
    """The picture of the step at a position, for a room."""
    before, after = (
        class_numbers(found.table, found.lesson.steps[place].recoding).tolist()
        for place in (max(at - 1, 0), at)
    )
    return picture_of(found.lesson, at, room, before, after)
