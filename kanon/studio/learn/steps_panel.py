"""An algorithm step by step, on the page Learn."""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from kanon.algorithms.catalogue import uses
from kanon.base.formatting import percent, thin
from kanon.base.sentences import classes_told_apart, left_out, lost, smallest_class
from kanon.charts.lesson import running_chart
from kanon.errors import KanonError
from kanon.strategies import LOOKS_AT
from kanon.studio.learn.lesson import (
    FEWEST,
    OWN,
    TableLesson,
    largest_k,
    settings_of_lesson,
    table_of,
    told,
)
from kanon.studio.learn.player import (
    LEGEND,
    draw_picture,
    draw_records,
    player,
    step_picture,
    step_records,
)
from kanon.studio.learn.projector import PLACE, project, stage
from kanon.studio.learn.state import LessonsView, StepsView, look
from kanon.studio.learn.step_sheet import STYLE, choice_sheet
from kanon.studio.learn.two_panel import beside_choices, draw_choices, show_two
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.picture import data_button, picture
from kanon.teaching.lesson import Lesson, written
from kanon.teaching.lesson_builder import MOST
from kanon.teaching.presets import PRESETS
from kanon.teaching.tables import candidates_table, numbers_table

_IN_A_ROW = 3  # so many numbers

_BESIDE = 4  # a table with more columns stands below the picture

_WHICH = {"first": "The first ones", "drawn": "Drawn at random"}
"""Which records of the session's table a lesson is about."""


def show_steps(work: Work) -> None:
    view = work.view(LessonsView).steps
    on_projector = work.view(LessonsView).projected
    if not on_projector:
        _choose_lesson(work, view)
        beside_choices(work, view)
    if view.beside is not None:
        show_two(work)
        return
    try:
        pair = told(work, state.remembered)
    except KanonError as error:
        if on_projector:  # there is nothing to show on it
            project(False)
            st.rerun()
        st.warning(plain(error.sentence), icon=":material/error:")
        return
    last = len(pair.lesson.steps) - 1
    if on_projector:
        _project_step(pair, min(view.step, last), lambda: player(view, last))
    else:
        _draw_step(work, pair, player(view, last), table_of(view) == OWN)


# --- what is told ---------------------------------------------------------------------------
def _choose_lesson(work: Work, view: StepsView) -> None:
    is_own = table_of(view) == OWN
    places = iter(st.columns([26, 27, 18, *([24] if uses(view.algorithm, "strategy") else []), 17]))
    titles = {name: preset.title for name, preset in PRESETS.items()}
    titles[OWN] = "The table I work on"
    about = "Some records of your table." if is_own else PRESETS[table_of(view)].about
    begin = partial(look, "steps", step=0, playing=False)
    until = "Until you choose one, it is the table that shows the algorithm best."
    next(places).selectbox(
        "Table of the lesson",
        list(titles),
        **bound("learn-table", table_of(view), "table", into=begin),
        format_func=lambda name: titles[name],
        help=plain(f"{about} {until}"),
    )
    draw_choices(work, view, places)
    most, k = largest_k(work, view)
    next(places).number_input(
        "k",
        2,
        most,
        **bound(f"learn-k-{table_of(view)}-{most}", k, "k", into=begin, read=int),
        help="Every record has to look like at least k − 1 others.",
    )
    if is_own:
        _choose_records(work, view)


def _choose_records(work: Work, view: StepsView) -> None:
    begin = partial(look, "steps", step=0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        most = max(min(MOST, work.table.records.n_records), FEWEST)
        st.number_input(
            "Records of the lesson",
            FEWEST,
            most,
            **bound("learn-records", min(view.records, most), "records", into=begin, read=int),
            width=220,
        )
        st.segmented_control(
            "Which records",
            list(_WHICH),
            **bound(
                "learn-which", "first" if view.seed is None else "drawn", "seed", into=begin,
                read=lambda value: 0 if value == "drawn" else None,
            ),
            format_func=lambda name: _WHICH[name],
        )  # fmt: skip
        if view.seed is not None:
            st.number_input(
                "Seed of the draw",
                0,
                2**31,
                **bound(
                    "learn-seed", view.seed, "seed", into=begin, read=lambda value: int(value or 0)
                ),
                help="The same seed draws the same records.",
                width=220,
            )


# --- a step ---------------------------------------------------------------------------------
def _draw_step(work: Work, pair: TableLesson, at: int, is_own: bool) -> None:
    lesson, about = pair.lesson, f"{pair.key}-{at}"
    step = lesson.steps[at]
    st.subheader(plain(_format_step_heading(lesson, at)))
    st.markdown(plain(step.sentence))
    st.html(STYLE)
    columns = len(pair.table.classes.attributes) + len(pair.table.classes.sensitive)
    below = columns > _BESIDE
    picture_place, records_place = (
        (st.container(), st.container()) if below else st.columns([55, 45])
    )
    with picture_place:
        draw_picture(pair, at, is_own)
        for sheet in _format_choices(pair, at):
            st.html(sheet)
        if step.choices:
            data_button(
                "Candidates", lambda: candidates_table(step), "lesson-candidates", about,
                kind="tertiary", original=is_own,
            )  # fmt: skip
    with records_place:
        draw_records(pair, at, is_own)
        st.caption(LEGEND)
        numbers = _list_step_numbers(lesson, at)
        for start in range(0, len(numbers), _IN_A_ROW):
            for place, number in zip(st.columns(_IN_A_ROW), numbers[start:], strict=False):
                place.metric(number.label, number.value, help=number.help)
        name, settings = "lesson-running", settings_of_lesson(work, pair)
        running = state.remembered(name, about, lambda: running_chart(lesson, at))
        picture(running, lambda: numbers_table(lesson), name, pair.key, settings, original=is_own)


def _project_step(pair: TableLesson, at: int, buttons: Callable[[], object]) -> None:
    lesson = pair.lesson
    step = lesson.steps[at]
    sums = "".join(
        f"<span>{escape(number.label)} {escape(number.value)}</span>"
        for number in _list_step_numbers(lesson, at)
    )
    parts = (
        f'{STYLE}<div class="records" data-fit>{step_records(pair, at)}</div>'
        f'<div class="weighed" data-fit>{"".join(_format_choices(pair, at))}</div>'
        f'<div class="sums">{sums}</div>'
    )
    about = pair.key, at
    figure = state.remembered("lesson-projected", about, lambda: step_picture(pair, at, PLACE))
    stage(_format_step_heading(lesson, at), step.sentence, parts, buttons, figure)


def _format_step_heading(lesson: Lesson, at: int) -> str:
    return f"Step {at} of {len(lesson.steps) - 1}: {lesson.steps[at].heading}"


def _format_choices(pair: TableLesson, at: int) -> list[str]:
    lesson = pair.lesson
    second = {"l": "l left ↑", "t": "t left ↓", "k": "k left ↑"}.get(
        LOOKS_AT[lesson.task.strategy], ""
    )
    before = lesson.steps[max(at - 1, 0)].recoding
    choices = lesson.steps[at].choices
    return [choice_sheet(pair.table, before, choice, second) for choice in choices]


def _list_step_numbers(lesson: Lesson, at: int) -> list[Number]:
    n, now = lesson.task.classes.n_records, lesson.steps[at].numbers
    metric = plain(lesson.metric.card.title)
    told_apart = classes_told_apart(now.classes, lesson.task.classes.n_classes)
    numbers = [
        Number("Minimum k ↑", "none" if now.min_k is None else thin(now.min_k),
               smallest_class(now.min_k)),
        Number("Classes ↑", thin(now.classes), told_apart),
        Number("Suppressed ↓", f"{thin(now.suppressed)} of {n}", left_out(now.suppressed, n)),
        Number("Alteration ↓", percent(now.alteration), lost(now.alteration, metric)),
    ]  # fmt: skip
    if lesson.sensitive is not None:
        column = plain(shortened(lesson.sensitive, 24))
        numbers += [
            Number(
                "Entropy l ↑", written(now.l),
                f"In the least mixed class, {column} is as hard to guess as among this many "
                "equally frequent values.",
            ),
            Number(
                "t ↓", f"{written(now.t)} of 1",
                f"How far the shares of {column} in the most unusual class are from those of the "
                "whole table: half the sum of the differences (total variation). In norm 1, which "
                "plans can ask for, it is twice as much, of 2.",
            ),
        ]  # fmt: skip
    return numbers
