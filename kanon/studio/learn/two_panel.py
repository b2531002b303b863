"""Two lessons side by side on the page Learn, and the choices of one lesson or of two."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.algorithms.catalogue import algorithm_named, algorithms, uses
from kanon.base.formatting import write_count, write_percent
from kanon.errors import KanonError
from kanon.strategies import STRATEGIES
from kanon.studio.learn.lesson import (
    OWN,
    TableLesson,
    build_table_lesson,
    get_lesson_table_name,
    list_lesson_metrics,
    list_lesson_strategies,
)
from kanon.studio.learn.player import (
    LEGEND,
    draw_picture,
    draw_player,
    draw_records,
    draw_step_figure,
    format_step_records,
)
from kanon.studio.learn.state import LessonsView, OtherLesson, StepsView, apply_view
from kanon.studio.learn.step_sheet import STYLE, format_lattice_legend
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState, get_metric
from kanon.studio.widgets.how import explain_ties
from kanon.studio.widgets.projector import (
    PLACE_OF_TWO,
    draw_stage,
    rank_sentences,
    show_on_projector,
)
from kanon.teaching.lesson import Lesson, Step
from kanon.teaching.merging import Merge
from kanon.teaching.side_by_side import SideBySide

SIDES = ("one", "other")  # their names in keys


Side = TableLesson | KanonError  # a lesson, or why there is none


def get_other_settings(view: StepsView) -> StepsView:
    """The settings of the lesson beside the first; those of the first where there is none."""
    if view.beside is None:
        return view
    return replace(view, table=get_lesson_table_name(view), **vars(view.beside))


def build_two_lessons(work: SessionState) -> tuple[Side, Side]:
    view = work.view(LessonsView).steps
    first, second = zip(SIDES, (view, get_other_settings(view)), strict=True)
    return _build_side(work, *first), _build_side(work, *second)


def _build_side(work: SessionState, side: str, view: StepsView) -> Side:
    def load_side(name: str, key: Hashable, make: Callable[[], TableLesson]) -> TableLesson:
        return state.get_or_compute(f"{name}-{side}", key, make)

    try:
        return build_table_lesson(work, view, load_side)
    except KanonError as error:
        return error


def name_lesson(work: SessionState, view: StepsView, other: StepsView) -> str:
    """A lesson's name beside another: what they differ in; empty if they do not."""
    names = []
    if view.algorithm != other.algorithm:
        names.append(algorithm_named(view.algorithm).CARD.title)
    first, second = (list_lesson_metrics(work, settings)[1] for settings in (view, other))
    if first != second:
        names.append(get_metric(work, first).card.title)
    if all(uses(settings.algorithm, "strategy") for settings in (view, other)):
        first, second = (list_lesson_strategies(work, settings)[1] for settings in (view, other))
        if first != second:
            names.append(STRATEGIES[first].title.partition(":")[0])
    return ", ".join(names)


# --- what is changed ------------------------------------------------------------------------
def update_lesson(second: bool, **fields: Any) -> None:
    """Change a lesson's settings: a single one starts again; two stay at their step."""
    view = state.get_session().view(LessonsView).steps
    if second and view.beside is not None:
        fields = {"beside": replace(view.beside, **fields)}
    step = 0 if view.beside is None else view.step
    apply_view("steps", **fields, step=step, playing=False)


def set_beside(on: bool) -> None:
    work = state.get_session()
    view = work.view(LessonsView).steps
    beside = _suggest_other(work, view) if on else None
    table = get_lesson_table_name(view) if on else view.table  # whatever algorithm is chosen
    apply_view("steps", table=table, beside=beside, playing=False)


def _suggest_other(work: SessionState, view: StepsView) -> OtherLesson:
    """The first algorithm that works in another way, with the same settings."""
    family = algorithm_named(view.algorithm).CARD.family
    others = (name for name, other in algorithms().items() if other.CARD.family != family)
    metric, strategy = list_lesson_metrics(work, view)[1], list_lesson_strategies(work, view)[1]
    return OtherLesson(next(others), metric, strategy)


# --- the panel ------------------------------------------------------------------------------
_STYLE = """<style>
.st-key-two [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; }
.st-key-two [data-testid="stColumn"] { flex: 1 1 0; min-width: 0; }
.st-key-two .lesson th, .st-key-two .lesson td { padding: 0.15rem 0.3rem; }
.st-key-two [data-testid="stElementContainer"]:has(> * > .side) { display: none; }
@media (max-width: 640px) {
    .st-key-two [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
    .st-key-two [data-testid="stColumn"] { flex-basis: 100%; }
    .st-key-two [data-testid="stElementContainer"]:has(> * > .side) { display: block; }
    .side { font-weight: 600; }
}
</style>"""
"""Equal halves where there is room; else one below the other, each with its name."""


def draw_second_choices(work: SessionState, view: StepsView) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.toggle(
            "Compare with another",
            **attach_widget("learn-beside", view.beside is not None, set_beside),
            help="Two lessons side by side, on the same table and "
            "with the same k. Changing one leaves the other as it is.",
        )
        if view.beside is None:
            return
        draw_choices(work, get_other_settings(view), (st.container() for _ in range(3)), view)


def _name_both(work: SessionState, view: StepsView) -> list[str]:
    views = (view, get_other_settings(view))
    return [name_lesson(work, first, second) for first, second in (views, views[::-1])]


def _count_steps(sides: Sequence[Side]) -> int:
    """The last step of the longer lesson; 0 without any."""
    return max((len(s.lesson.steps) - 1 for s in sides if isinstance(s, TableLesson)), default=0)


def show_two(work: SessionState) -> None:
    sides, view = build_two_lessons(work), work.view(LessonsView).steps
    is_own, names = get_lesson_table_name(view) == OWN, _name_both(work, view)
    lessons = [side.lesson for side in sides if isinstance(side, TableLesson)]
    at = draw_player(view, _count_steps(sides)) if lessons else 0
    if len(lessons) == 2:
        _describe_comparison(SideBySide(*lessons), *names)
    st.html(STYLE + _STYLE)

    def draw_row(draw: Callable[[TableLesson, int, str], None], first: bool = False) -> None:
        places = st.columns(2, gap="medium")
        for place, side_lesson, side, name in zip(places, sides, SIDES, names, strict=True):
            with place:
                if first and name:
                    st.markdown(f"#### {escape_markdown(name)}")
                if isinstance(side_lesson, TableLesson):
                    if not first:
                        st.html(f'<div class="side">{escape(name)}</div>')
                    draw(side_lesson, min(at, len(side_lesson.lesson.steps) - 1), side)
                elif first:
                    st.warning(escape_markdown(side_lesson.sentence), icon=":material/error:")

    with st.container(key="two"):
        draw_row(lambda side_lesson, at, side: _show_step(side_lesson.lesson, at), first=True)
        draw_row(lambda side_lesson, at, side: draw_picture(side_lesson, at, is_own, f"-{side}"))
        draw_row(lambda side_lesson, at, side: draw_records(side_lesson, at, is_own, f"-{side}"))
    st.caption(LEGEND)


def project_two(work: SessionState) -> None:
    """Both lessons as one picture; where there is none, back to the page that says why."""
    sides, view = build_two_lessons(work), work.view(LessonsView).steps
    last = _count_steps(sides)
    if not last:
        show_on_projector(False)
        st.rerun()
    at, parts = min(view.step, last), []
    figures: list[go.Figure | None] = []
    for pair, side, name in zip(sides, SIDES, _name_both(work, view), strict=True):
        if not isinstance(pair, TableLesson):
            parts.append(f'<div class="side alone">{escape(pair.sentence)}</div>')
            figures.append(None)
            continue
        place = min(at, len(pair.lesson.steps) - 1)
        draw = partial(draw_step_figure, pair, place, PLACE_OF_TWO)
        figures.append(state.get_or_compute(f"lesson-projected-{side}", (pair.key, place), draw))
        parts.append(_format_side(pair, place, name))
    title = f"Step {at} of {last}, two lessons side by side"
    player = partial(draw_player, view, last)
    draw_stage(title, "", STYLE + "".join(parts), player, *figures)


def _format_side(pair: TableLesson, at: int, name: str) -> str:
    step = pair.lesson.steps[at]
    heading = trim_title(": ".join(filter(None, [name, step.heading])), 58)
    smallest, alteration = _list_sums(pair.lesson, at)
    return (
        f'<div class="side"><h4 data-fit>{escape(heading)}</h4>'
        f'<p class="words" data-fit>{rank_sentences(step.sentence)}</p>'
        f'<div class="records" data-fit>{format_lattice_legend(pair.lesson, at)}'
        f"{format_step_records(pair, at)}</div>"
        f'<div class="sums"><span>Minimum k ↑ {smallest}</span>'
        f"<span>Alteration ↓ {alteration}</span></div></div>"
    )


# --- what is compared -----------------------------------------------------------------------
def _describe_comparison(pair: SideBySide, first: str, second: str) -> None:
    if not first:
        text = "Both sides are the same; choose other settings for one of them."
        st.info(text, icon=":material/info:")
        return
    ending = "Their releases differ."
    if pair.has_same_release:
        ending = "Both end with the same release."
    st.markdown(escape_markdown(f"{_describe_parting(pair, first, second)} {ending}"))
    st.caption("Both are at the same step; the one with fewer steps waits at its release.")


def _describe_parting(pair: SideBySide, first: str, second: str) -> str:
    place = pair.parting_place
    if place is None:
        return f"{first} and {second} have the same classes at every step."
    steps = (
        lesson.steps[at]
        for lesson, at in zip((pair.one, pair.other), pair.get_positions(place), strict=True)
    )
    then = "; ".join(map(_describe_step, (first, second), steps))
    if place == 1:
        return f"They differ from the first step on: {then}."
    return f"They have the same classes up to step {place - 1}; then {then}."


def _describe_step(name: str, step: Step) -> str:
    if isinstance(step.detail, Merge):
        return f"{name} merges “{step.detail.picked.label}” with “{step.detail.partner.label}”"
    return f"{name} shows “{step.heading}”"


# --- a side ---------------------------------------------------------------------------------
def _show_step(lesson: Lesson, at: int) -> None:
    step, last = lesson.steps[at], len(lesson.steps) - 1
    heading = f"Step {at} of {last}: {step.heading}"
    st.markdown(f"**{escape_markdown(heading)}**  \n{escape_markdown(step.sentence)}")
    smallest, alteration = _list_sums(lesson, at)
    st.markdown(
        f"Minimum k ↑ **{smallest}** "
        f"· Alteration ↓ **{alteration}** ({escape_markdown(lesson.metric.card.title)})"
    )


def _list_sums(lesson: Lesson, at: int) -> tuple[str, str]:
    """The minimum k and the alteration after a step."""
    now = lesson.steps[at].numbers
    return "none" if now.min_k is None else write_count(now.min_k), write_percent(now.alteration)


def draw_choices(
    work: SessionState,
    view: StepsView,
    places: Iterator[DeltaGenerator],
    unlike: StepsView | None = None,
) -> None:
    is_second = unlike is not None

    def draw(
        label: str, field: str, titles: Mapping[str, str], value: str, other: str,
        help_texts: Sequence[str],
    ) -> None:  # fmt: skip
        with next(places):
            st.selectbox(
                label,
                sorted(titles, key=lambda name: is_second and name == other),
                **attach_widget(
                    f"learn-{field}-beside" if is_second else f"learn-{field}", value, field,
                    into=partial(update_lesson, is_second),
                ),
                format_func=lambda name: titles[name],
                help=escape_markdown(" ".join(help_texts)),
            )  # fmt: skip

    first, module = unlike or view, algorithm_named(view.algorithm)
    draw(
        "Second algorithm" if is_second else "Algorithm", "algorithm",
        {name: module_of.CARD.title for name, module_of in algorithms().items()},
        view.algorithm, first.algorithm, [module.CARD.summary, module.CARD.guarantees],
    )  # fmt: skip
    names, metric = list_lesson_metrics(work, view)
    about = ["How cost and loss are counted.", get_metric(work, metric).card.summary]
    if not uses(view.algorithm, "metric"):
        about.append("The metric does not guide this algorithm.")
    draw(
        "Second metric" if is_second else "Metric", "metric",
        {name: get_metric(work, name).card.title for name in names},
        metric, list_lesson_metrics(work, first)[1], about,
    )  # fmt: skip
    if uses(view.algorithm, "strategy"):
        names, strategy = list_lesson_strategies(work, view)
        summary = STRATEGIES[strategy].summary
        draw(
            "Second strategy" if is_second else "Strategy", "strategy",
            {name: STRATEGIES[name].title for name in names},
            strategy, list_lesson_strategies(work, first)[1],
            ["Which class the smallest one is merged with.", summary, explain_ties()],
        )  # fmt: skip
