"""An algorithm step by step, on the page Learn."""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from kanon.algorithms.catalogue import uses
from kanon.base.formatting import write_count, write_percent
from kanon.base.sentences import (
    describe_alteration,
    describe_class_numbers,
    describe_smallest_class,
    describe_suppression,
)
from kanon.charts.lesson import draw_running_numbers
from kanon.errors import KanonError
from kanon.strategies import LOOKS_AT, STRATEGIES
from kanon.studio.learn.lesson import (
    FEWEST,
    OWN,
    TableLesson,
    build_table_lesson,
    describe_lesson_settings,
    find_largest_k,
    get_lesson_table_name,
)
from kanon.studio.learn.player import (
    LEGEND,
    draw_picture,
    draw_player,
    draw_prediction,
    draw_records,
    draw_step_figure,
    format_step_records,
    switch_prediction,
)
from kanon.studio.learn.state import LessonsView, StepsView, apply_view
from kanon.studio.learn.step_sheet import (
    STYLE,
    format_choice,
    format_lattice_legend,
    format_sentence,
    format_word,
)
from kanon.studio.learn.two_panel import draw_choices, draw_second_choices, project_two, show_two
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.picture import draw_data_button, show_picture
from kanon.studio.widgets.projector import PLACE, draw_stage, show_on_projector
from kanon.teaching.glossary import load_glossary
from kanon.teaching.lesson import Lesson, write_number
from kanon.teaching.lesson_builder import MOST
from kanon.teaching.presets import PRESETS
from kanon.teaching.tables import build_candidates_table, build_numbers_table

_IN_A_ROW = 3  # so many numbers

_BESIDE = 4  # a table with more columns stands below the picture


def show_steps(work: SessionState) -> None:
    view = work.view(LessonsView).steps
    on_projector = work.shared.on_projector
    if not on_projector:
        _choose_lesson(work, view)
        draw_second_choices(work, view)
    if view.beside is not None:
        (project_two if on_projector else show_two)(work)
        return
    try:
        pair = build_table_lesson(work, view, state.get_or_compute)
    except KanonError as error:
        if on_projector:  # there is nothing to show on it
            show_on_projector(False)
            st.rerun()
        st.warning(escape_markdown(error.sentence), icon=":material/error:")
        return
    last = len(pair.lesson.steps) - 1
    if on_projector:
        _project_step(pair, min(view.step, last), lambda: draw_player(view, last))
        return
    prediction = work.view(LessonsView).prediction
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle(
            "Predict the next step",
            **attach_widget("learn-predict", prediction.on, switch_prediction),
            help="Before each step the lesson asks what comes next. Choose an answer: the rule "
            "that decides tells whether it is right. Answers that tie by the rule are right too.",
        )
        _explain_words(pair.lesson)
    at = draw_player(view, last, can_play=not prediction.on)
    if prediction.on:
        draw_prediction(pair, at, prediction)
    _draw_step(work, pair, at, get_lesson_table_name(view) == OWN)


# --- what is told ---------------------------------------------------------------------------
def _choose_lesson(work: SessionState, view: StepsView) -> None:
    is_own = get_lesson_table_name(view) == OWN
    places = iter(st.columns([26, 27, 18, *([24] if uses(view.algorithm, "strategy") else []), 17]))
    titles = {name: preset.title for name, preset in PRESETS.items()}
    titles[OWN] = "The table I work on"
    about = "Some records of your table." if is_own else PRESETS[get_lesson_table_name(view)].about
    begin = partial(apply_view, "steps", step=0, playing=False)
    until = "Until you choose a table, you see the one that shows the algorithm best."
    next(places).selectbox(
        "Table of the lesson",
        list(titles),
        **attach_widget("learn-table", get_lesson_table_name(view), "table", into=begin),
        format_func=lambda name: titles[name],
        help=escape_markdown(f"{about} {until}"),
    )
    draw_choices(work, view, places)
    most, k = find_largest_k(work, view)
    next(places).number_input(
        "k",
        2,
        most,
        **attach_widget(
            f"learn-k-{get_lesson_table_name(view)}-{most}", k, "k", into=begin, read=int
        ),
        help="Every record has to look like at least k − 1 others.",
    )
    if is_own:
        _choose_records(work, view)


def _choose_records(work: SessionState, view: StepsView) -> None:
    begin = partial(apply_view, "steps", step=0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        most = max(min(MOST, work.table.records.n_records), FEWEST)
        st.number_input(
            "Records of the lesson",
            FEWEST,
            most,
            **attach_widget(
                "learn-records", min(view.records, most), "records", into=begin, read=int
            ),
            width=220,
        )
        st.number_input(
            "Seed of the draw",
            0,
            2**31,
            value=None,
            **attach_widget("learn-seed", view.seed, "seed", into=begin),
            placeholder="the first records",
            help="The same seed draws the same records. Without one, the first records are taken.",
            width=220,
        )


def _explain_words(lesson: Lesson) -> None:
    """What the lesson is about, each word with its meaning."""
    words, card = load_glossary(), lesson.metric.card
    told = words["Quasi-identifier"].told
    names = ", ".join(lesson.task.classes.attributes)
    parts = [f"{format_word('Quasi-identifiers', told)}: {escape(names)}"]
    parts.append(f"{format_word('Metric', words['Metric'].told)}: "
                 f"{format_word(card.title, card.summary)}")  # fmt: skip
    if uses(lesson.algorithm, "strategy"):
        numbered = [strategy for name, strategy in STRATEGIES.items() if name[0] == "s"]
        listed = "\n".join(f"{strategy.title}. {strategy.summary}" for strategy in numbered)
        parts.append(f"Strategy: {format_word(STRATEGIES[lesson.task.strategy].title, listed)}")
    st.html(f'{STYLE}<div class="sentence">{" · ".join(parts)}</div>')


# --- a step ---------------------------------------------------------------------------------
def _draw_step(work: SessionState, pair: TableLesson, at: int, is_own: bool) -> None:
    lesson, about = pair.lesson, f"{pair.key}-{at}"
    step = lesson.steps[at]
    st.subheader(escape_markdown(_format_step_heading(lesson, at)))
    st.html(STYLE + format_sentence(step.sentence))
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
            draw_data_button(
                "Candidates", lambda: build_candidates_table(step), "lesson-candidates", about,
                kind="tertiary", original=is_own,
            )  # fmt: skip
    with records_place:
        draw_records(pair, at, is_own)
        st.caption(LEGEND)
        numbers = _list_step_numbers(lesson, at)
        for start in range(0, len(numbers), _IN_A_ROW):
            for place, number in zip(st.columns(_IN_A_ROW), numbers[start:], strict=False):
                place.metric(number.label, number.value, help=number.help)
        name, settings = "lesson-running", describe_lesson_settings(work, pair)
        running = state.get_or_compute(name, about, lambda: draw_running_numbers(lesson, at))
        show_picture(
            running, lambda: build_numbers_table(lesson), name, pair.key, settings, original=is_own
        )


def _project_step(pair: TableLesson, at: int, buttons: Callable[[], object]) -> None:
    lesson = pair.lesson
    step = lesson.steps[at]
    sums = "".join(
        f"<span>{escape(number.label)} {escape(number.value)}</span>"
        for number in _list_step_numbers(lesson, at)
    )
    sheets = [format_lattice_legend(lesson, at), *_format_choices(pair, at)]
    parts = (
        f'{STYLE}<div class="records" data-fit>{format_step_records(pair, at)}</div>'
        f'<div class="weighed" data-fit>{"".join(sheets)}</div>'
        f'<div class="sums">{sums}</div>'
    )
    about = pair.key, at
    figure = state.get_or_compute(
        "lesson-projected", about, lambda: draw_step_figure(pair, at, PLACE)
    )
    draw_stage(_format_step_heading(lesson, at), step.sentence, parts, buttons, figure)


def _format_step_heading(lesson: Lesson, at: int) -> str:
    return f"Step {at} of {len(lesson.steps) - 1}: {lesson.steps[at].heading}"


def _format_choices(pair: TableLesson, at: int) -> list[str]:
    lesson = pair.lesson
    second = {"l": "l left ↑", "t": "t left ↓", "k": "k left ↑"}.get(
        LOOKS_AT[lesson.task.strategy], ""
    )
    before = lesson.steps[max(at - 1, 0)].recoding
    choices = lesson.steps[at].choices
    return [format_choice(pair.table, before, choice, second) for choice in choices]


def _list_step_numbers(lesson: Lesson, at: int) -> list[Number]:
    n, now = lesson.task.classes.n_records, lesson.steps[at].numbers
    metric = escape_markdown(lesson.metric.card.title)
    told_apart = describe_class_numbers(now.classes, lesson.task.classes.n_classes)
    numbers = [
        Number("Minimum k ↑", "none" if now.min_k is None else write_count(now.min_k),
               describe_smallest_class(now.min_k)),
        Number("Classes ↑", write_count(now.classes), told_apart),
        Number("Suppressed ↓", f"{write_count(now.suppressed)} of {n}",
               describe_suppression(now.suppressed, n)),
        Number("Alteration ↓", write_percent(now.alteration),
               describe_alteration(now.alteration, metric)),
    ]  # fmt: skip
    if lesson.sensitive is not None:
        column = escape_markdown(trim_title(lesson.sensitive, 24))
        numbers += [
            Number(
                "Entropy l ↑", write_number(now.l),
                f"In the least mixed class, {column} is as hard to guess as if it had this many "
                "equally frequent values.",
            ),
            Number(
                "t ↓", f"{write_number(now.t)} of 1",
                f"How far the mix of {column} in the most unusual class is from that of the whole "
                "table: half the sum of the differences in shares (total variation). Norm 1, "
                "which a plan can ask for instead, is twice as large, from 0 to 2.",
            ),
        ]  # fmt: skip
    return numbers
