"""Moving through the steps of a lesson, and drawing a step: its picture, its records."""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from kanon.charts.lesson import build_picture_table, draw_step
from kanon.charts.lesson_look import PAGE, Room, split_title
from kanon.studio.learn.lesson import TableLesson, describe_lesson_settings
from kanon.studio.learn.state import LessonsView, PredictionView, StepsView, apply_view
from kanon.studio.learn.step_sheet import format_records
from kanon.studio.learn.widgets import draw_icon_button
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.widgets.controls import draw_again_after
from kanon.studio.widgets.picture import draw_data_button, show_picture
from kanon.teaching.prediction import StepQuestion, count_right_answers, list_step_questions
from kanon.teaching.tables import build_records_table, get_class_numbers

PACE = 2.5  # seconds from one step to the next, where they follow by themselves


def move_forward(last: int) -> None:
    step = min(state.get_session().view(LessonsView).steps.step + 1, last)
    apply_view("steps", step=step, playing=step < last)


def draw_player(view: StepsView, last: int, can_play: bool = True) -> int:
    if view.playing and state.get_widget_value("learn-next") is None:
        apply_view("steps", playing=False)  # the page was left or reloaded meanwhile
        view = state.get_session().view(LessonsView).steps
    at = min(view.step, last)
    is_last = at == last
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_icon_button("First", "first_page", "learn-first", _show_step_at, 0, disabled=at == 0)
        draw_icon_button("Back", "chevron_left", "learn-back", _move, -1, last, disabled=at == 0)
        if view.playing:
            draw_icon_button("Pause", "pause", "learn-pause", _show_step_at, at)
        else:
            start = 0 if is_last else at
            play = partial(apply_view, "steps", step=start, playing=True)
            draw_icon_button("Play", "play_arrow", "learn-play", play, disabled=not can_play)
        draw_icon_button("Next", "chevron_right", "learn-next", _move, 1, last, disabled=is_last)
        draw_icon_button("Last", "last_page", "learn-last", _show_step_at, last, disabled=is_last)
        st.caption("Keys: ← → Home End, space bar: play, pause", width="content")
        st.slider(
            "Step",
            0,
            last,
            # Where one step soon follows another, a browser still tells of the value before.
            **attach_widget(f"learn-step-{last}-{at}", at, lambda value: _show_step_at(int(value))),
            label_visibility="collapsed",
        )
    if view.playing:
        draw_again_after(PACE, "learn-clock", partial(move_forward, last))
    return at


def _move(by: int, last: int) -> None:
    at = min(state.get_session().view(LessonsView).steps.step, last)
    _show_step_at(min(max(at + by, 0), last))


def _show_step_at(step: int) -> None:
    """Show a step; moving by hand stops the automatic steps."""
    apply_view("steps", step=step, playing=False)


# --- what comes next ------------------------------------------------------------------------
def switch_prediction(on: bool) -> None:
    apply_view("steps", playing=False)
    apply_view("prediction", on=on, answers=())


def draw_prediction(pair: TableLesson, at: int, view: PredictionView) -> None:
    """Ask what the next step decides, one question after the other; the score of all answers."""
    last = len(pair.lesson.steps) - 1
    answers = view.answers if view.lesson == pair.key else ()
    right = count_right_answers(pair.lesson, answers)
    score = f"{right} of {len(answers)} right" if answers else "nothing answered yet"
    questions = list_step_questions(pair.lesson, at + 1) if at < last else ()
    given = {place: option for step, place, option in answers if step == at + 1}
    with st.container(border=True, key="learn-prediction"):
        with st.container(horizontal=True, vertical_alignment="center"):
            title = f"What comes next, in step {at + 1} of {last}?" if at < last else "The end"
            st.markdown(f"**{title}** Score: {score}.")
            if answers:
                again = partial(apply_view, "prediction", answers=())
                st.button("Start the score again", key="learn-score", type="tertiary",
                          on_click=again)  # fmt: skip
        if at < last and not questions:
            st.caption("The next step decides nothing that can be predicted.")
        for place, question in enumerate(questions):
            _ask_question(pair.key, (at + 1, place), question, given.get(place), answers)
            if place not in given:
                break
        else:
            if at < last:
                draw_icon_button("Show the step", "chevron_right", "learn-show", _move, 1, last,
                                 type="primary")  # fmt: skip


def _ask_question(
    lesson: str,
    place: tuple[int, int],
    question: StepQuestion,
    answer: int | None,
    answers: tuple[tuple[int, int, int], ...],
) -> None:
    def take(option: int | None) -> None:
        if option is not None:
            new = (*answers, (*place, int(option)))
            apply_view("prediction", lesson=lesson, answers=new)

    names = [escape_markdown(name) for name in question.options]
    st.radio(
        escape_markdown(question.text),
        range(len(names)),
        index=None,
        **attach_widget(f"learn-guess-{lesson}-{place}", answer, take),
        format_func=names.__getitem__,
        horizontal=True,
        disabled=answer is not None,
    )
    if answer is not None:
        is_right = answer in question.right
        show, icon = (st.success, "check") if is_right else (st.error, "close")
        show(escape_markdown(question.judge(answer)), icon=f":material/{icon}:")


LEGEND = (
    "Records with the same number and colour are in one class. An arrow leads to what a value "
    "became; a frame marks what this step changed."
)

_HALF = Room(320, None, 13)  # a half of the page, at its narrowest


def draw_step_figure(pair: TableLesson, at: int, room: Room = PAGE) -> go.Figure:
    before, after = (
        get_class_numbers(pair.table, pair.lesson.steps[place].recoding).tolist()
        for place in (max(at - 1, 0), at)
    )
    return draw_step(pair.lesson, at, room, before, after)


def draw_picture(pair: TableLesson, at: int, is_own: bool, side: str = "") -> None:
    """The picture of a step; ``own``: the records are the user's, so that a download says so."""
    about, name = f"{pair.key}-{at}", f"lesson-picture{side}"

    def create_picture() -> go.Figure:
        return (
            split_title(draw_step_figure(pair, at, _HALF)) if side else draw_step_figure(pair, at)
        )

    settings = describe_lesson_settings(state.get_session(), pair)
    figure = state.get_or_compute(name, about, create_picture)
    show_picture(
        figure, lambda: build_picture_table(pair.lesson, at), name, about, settings, original=is_own
    )


def format_step_records(pair: TableLesson, at: int) -> str:
    steps = pair.lesson.steps
    return format_records(pair.table, steps[at].recoding, steps[max(at - 1, 0)].recoding)


def draw_records(pair: TableLesson, at: int, is_own: bool, side: str = "") -> None:
    st.html(format_step_records(pair, at))
    name, about = f"lesson-records{side}", f"{pair.key}-{at}"
    rows = partial(build_records_table, pair.table, pair.lesson.steps[at].recoding)
    draw_data_button("Records", rows, name, about, kind="tertiary", original=is_own)
