"""Going through the steps of a lesson, and what a step is drawn with: its picture, its records."""

from collections.abc import Callable
from functools import partial
from itertools import count

import plotly.graph_objects as go
import streamlit as st

from kanon.charts.lesson import picture_of, picture_table
from kanon.charts.lesson_look import PAGE, Room, halved
from kanon.studio.learn.lesson import TableLesson, settings_of_lesson
from kanon.studio.learn.state import LessonsView, StepsView, look
from kanon.studio.learn.step_sheet import records_sheet
from kanon.studio.learn.widgets import icon_button
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.widgets.picture import data_button, picture
from kanon.teaching.tables import class_numbers, records_table

PACE = 2.5  # seconds from one step to the next, where they follow by themselves


def forward(last: int) -> None:
    """Go one step further by itself; at the end, stop."""
    step = min(state.work().view(LessonsView).steps.step + 1, last)
    look("steps", step=step, playing=step < last)


def player(view: StepsView, last: int) -> int:
    """Draw the slider and the buttons; returns the step that is shown."""
    if view.playing and state.typed("learn-next") is None:
        look("steps", playing=False)  # the page was left, or loaded anew, meanwhile
        view = state.work().view(LessonsView).steps
    at = min(view.step, last)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _button("First", "first_page", _go, 0, disabled=at == 0)
        _button("Back", "chevron_left", _move, -1, last, disabled=at == 0)
        if view.playing:
            _button("Pause", "pause", _go, at)
        else:
            start = 0 if at == last else at
            _button("Play", "play_arrow", partial(look, "steps", step=start, playing=True))
        _button("Next", "chevron_right", _move, 1, last, disabled=at == last)
        _button("Last", "last_page", _go, last, disabled=at == last)
        st.caption("Keys: ← → Home End, space bar: play, pause", width="content")
        st.slider(
            "Step",
            0,
            last,
            # Where one step soon follows another, a browser still tells of the value before.
            **bound(f"learn-step-{last}-{at}", at, lambda value: _go(int(value))),
            label_visibility="collapsed",
        )
    if view.playing:
        _clock(last)
    return at


def _move(by: int, last: int) -> None:
    _go(min(max(state.work().view(LessonsView).steps.step + by, 0), last))


def _go(step: int) -> None:
    """Show a step; moving by hand stops the automatic steps."""
    look("steps", step=step, playing=False)


def _button(said: str, icon: str, press: Callable[..., None], *args: int, **how: bool) -> None:
    icon_button(said, icon, f"learn-{said.lower()}", press, *args, **how)


def _clock(last: int) -> None:
    """Draw the page again after a while, one step further; nothing runs once it is left."""
    drawn = count()

    def tick() -> None:
        if next(drawn):  # the first time it is drawn with the page
            forward(last)
            st.rerun()

    st.fragment(tick, run_every=PACE)()


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
