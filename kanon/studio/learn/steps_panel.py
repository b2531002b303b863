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
    projected = work.view(LessonsView).projected
    if not projected:
        _choices(work, view)
        beside_choices(work, view)
    if view.beside is not None:
        show_two(work)
        return
    try:
        found = told(work, state.remembered)
    except KanonError as error:
        if projected:  # there is nothing to show on it
            project(False)
            st.rerun()
        st.warning(plain(error.sentence), icon=":material/error:")
        return
    last = len(found.lesson.steps) - 1
    if projected:
        _projected(found, min(view.step, last), lambda: player(view, last))
    else:
        _draw_step(work, found, player(view, last), table_of(view) == OWN)


# --- what is told ---------------------------------------------------------------------------
def _choices(work: Work, view: StepsView) -> None:
    own = table_of(view) == OWN
    places = iter(st.columns([26, 27, 18, *([24] if uses(view.algorithm, "strategy") else []), 17]))
    titles = {name: one.title for name, one in PRESETS.items()}
    titles[OWN] = "The table I work on"
    about = "Some records of your table." if own else PRESETS[table_of(view)].about
    begin = partial(look, "steps", step=0, playing=False)
    until = "Until you choose one, it is the table on which the algorithm is seen best."
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
        "k asked for",
        2,
        most,
        **bound(f"learn-k-{table_of(view)}-{most}", k, "k", into=begin, read=int),
        help="Every record is to look like at least k − 1 others.",
    )
    if own:
        _records(work, view)


def _records(work: Work, view: StepsView) -> None:
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
def _draw_step(work: Work, found: TableLesson, at: int, own: bool) -> None:
    lesson, about = found.lesson, f"{found.key}-{at}"
    step = lesson.steps[at]
    st.subheader(plain(_heading(lesson, at)))
    st.markdown(plain(step.sentence))
    st.html(STYLE)
    columns = len(found.table.classes.attributes) + len(found.table.classes.sensitive)
    below = columns > _BESIDE
    left, right = (st.container(), st.container()) if below else st.columns([55, 45])
    with left:
        draw_picture(found, at, own)
        for sheet in _weighed(found, at):
            st.html(sheet)
        if step.choices:
            data_button(
                "Candidates", lambda: candidates_table(step), "lesson-candidates", about,
                kind="tertiary", original=own,
            )  # fmt: skip
    with right:
        draw_records(found, at, own)
        st.caption(LEGEND)
        shown = _numbers(lesson, at)
        for start in range(0, len(shown), _IN_A_ROW):
            for place, number in zip(st.columns(_IN_A_ROW), shown[start:], strict=False):
                place.metric(number.label, number.value, help=number.help)
        name, settings = "lesson-running", settings_of_lesson(work, found)
        running = state.remembered(name, about, lambda: running_chart(lesson, at))
        picture(running, lambda: numbers_table(lesson), name, found.key, settings, original=own)


def _projected(found: TableLesson, at: int, buttons: Callable[[], object]) -> None:
    lesson = found.lesson
    step = lesson.steps[at]
    sums = "".join(
        f"<span>{escape(number.label)} {escape(number.value)}</span>"
        for number in _numbers(lesson, at)
    )
    parts = (
        f'{STYLE}<div class="records" data-fit>{step_records(found, at)}</div>'
        f'<div class="weighed" data-fit>{"".join(_weighed(found, at))}</div>'
        f'<div class="sums">{sums}</div>'
    )
    about = found.key, at
    figure = state.remembered("lesson-projected", about, lambda: step_picture(found, at, PLACE))
    stage(_heading(lesson, at), step.sentence, parts, buttons, figure)


def _heading(lesson: Lesson, at: int) -> str:
    return f"Step {at} of {len(lesson.steps) - 1}: {lesson.steps[at].heading}"


def _weighed(found: TableLesson, at: int) -> list[str]:
    lesson = found.lesson
    second = {"l": "l left ↑", "t": "t left ↓", "k": "k left ↑"}.get(
        LOOKS_AT[lesson.task.strategy], ""
    )
    before = lesson.steps[max(at - 1, 0)].recoding
    choices = lesson.steps[at].choices
    return [choice_sheet(found.table, before, choice, second) for choice in choices]


def _numbers(lesson: Lesson, at: int) -> list[Number]:
    n, now = lesson.task.classes.n_records, lesson.steps[at].numbers
    metric = plain(lesson.metric.card.title)
    told_apart = classes_told_apart(now.classes, lesson.task.classes.n_classes)
    shown = [
        Number("Minimum k ↑", "none" if now.min_k is None else thin(now.min_k),
               smallest_class(now.min_k)),
        Number("Classes ↑", thin(now.classes), told_apart),
        Number("Suppressed ↓", f"{thin(now.suppressed)} of {n}", left_out(now.suppressed, n)),
        Number("Alteration ↓", percent(now.alteration), lost(now.alteration, metric)),
    ]  # fmt: skip
    if lesson.sensitive is not None:
        column = plain(shortened(lesson.sensitive, 24))
        shown += [
            Number(
                "Entropy l ↑", written(now.l),
                f"In the class that tells most, {column} is as hard to guess as among so many "
                "equally frequent values.",
            ),
            Number(
                "t ↓", f"{written(now.t)} of 1",
                f"How far the shares of {column} in the class that tells most are from those of "
                "the whole table: half of the differences added up (total variation). By norm 1, "
                "which plans can ask for, it is twice as much, of 2.",
            ),
        ]  # fmt: skip
    return shown
