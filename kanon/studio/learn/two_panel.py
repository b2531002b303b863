"""Two lessons side by side on the page Learn, and the choices of one lesson or of two."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from typing import Any

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
from kanon.studio.learn.player import LEGEND, draw_picture, draw_player, draw_records
from kanon.studio.learn.state import LessonsView, OtherLesson, StepsView, apply_view
from kanon.studio.learn.step_sheet import STYLE
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, get_metric
from kanon.studio.widgets.how import explain_ties
from kanon.teaching.lesson import Step, write_number
from kanon.teaching.merging import Merge
from kanon.teaching.side_by_side import SideBySide, sum_cost_so_far

SIDES = ("one", "other")  # their names in keys


@dataclass(frozen=True, eq=False)
class TwoLessons:
    told: tuple[TableLesson | KanonError, TableLesson | KanonError]  # or why it cannot be told

    @cached_property
    def pair(self) -> SideBySide | None:
        first, second = self.told
        if isinstance(first, TableLesson) and isinstance(second, TableLesson):
            return SideBySide(first.lesson, second.lesson)
        return None

    @property
    def last(self) -> int:
        if self.pair is not None:
            return self.pair.last
        return max(
            len(side.lesson.steps) - 1 if isinstance(side, TableLesson) else -1
            for side in self.told
        )

    def place(self, step: int) -> int:
        """The place that is shown, at most the last one; where nothing is, what was asked for."""
        return min(step, self.last) if self.last >= 0 else step

    def get_positions(self, place: int) -> tuple[int, int]:
        """The position of each lesson at a place; one that stands alone has its steps as places."""
        return self.pair.get_positions(place) if self.pair is not None else (place, place)

    def find_first_place(self, side: int, position: int) -> int:
        return self.pair.find_first_place(side, position) if self.pair is not None else position


def get_other_settings(view: StepsView) -> StepsView:
    """The settings of the lesson beside the first; those of the first where there is none."""
    if view.beside is None:
        return view
    return replace(view, table=get_lesson_table_name(view), **vars(view.beside))


def build_two_lessons(work: SessionState) -> TwoLessons:
    view = work.view(LessonsView).steps
    return TwoLessons(
        (_build_side(work, SIDES[0], view), _build_side(work, SIDES[1], get_other_settings(view)))
    )


def _build_side(work: SessionState, side: str, view: StepsView) -> TableLesson | KanonError:
    def load_side(name: str, key: Hashable, make: Callable[[], TableLesson]) -> TableLesson:
        return state.get_or_compute(f"{name}-{side}", key, make)

    try:
        return build_table_lesson(set_steps_view(work, view), load_side)
    except KanonError as error:
        return error


def set_steps_view(work: SessionState, view: StepsView) -> SessionState:
    return work.replace_sections(replace(work.view(LessonsView), steps=view))


def name_lesson(work: SessionState, view: StepsView, other: StepsView, brief: bool = False) -> str:
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
            title = STRATEGIES[first].title
            names.append(title.partition(":")[0] if brief else title)
    return ", ".join(names)


# --- what is changed ------------------------------------------------------------------------
def update_lesson(second: bool, **fields: Any) -> None:
    """Change a lesson's settings: a single one starts again; of two, the other stays in place."""
    work = state.get_session()
    view = work.view(LessonsView).steps
    if view.beside is None:
        apply_view("steps", **fields, step=0, playing=False)
        return
    now = build_two_lessons(work)
    kept_side = 0 if second else 1
    position = now.get_positions(now.place(view.step))[kept_side]
    fields_to_change = {"beside": replace(view.beside, **fields)} if second else fields
    changed_view = replace(view, **fields_to_change)
    step = build_two_lessons(set_steps_view(work, changed_view)).find_first_place(
        kept_side, position
    )
    apply_view("steps", **vars(replace(changed_view, step=step, playing=False)))


def set_beside(on: bool) -> None:
    work = state.get_session()
    view = work.view(LessonsView).steps
    if not on:
        now = build_two_lessons(work)
        step = now.get_positions(now.place(view.step))[0]
        apply_view("steps", beside=None, step=step, playing=False)
        return
    # The table stays, whatever algorithm is chosen.
    changed = replace(
        view, table=get_lesson_table_name(view), beside=_find_unlike(work, view), playing=False
    )
    step = build_two_lessons(set_steps_view(work, changed)).find_first_place(0, view.step)
    apply_view("steps", **vars(replace(changed, step=step)))


def _find_unlike(work: SessionState, view: StepsView) -> OtherLesson:
    first = None
    for beside in _list_others(work, view):
        view_of_two = replace(view, table=get_lesson_table_name(view), beside=beside)
        pair = build_two_lessons(set_steps_view(work, view_of_two)).pair
        first = first or beside
        if pair is not None and pair.parting_place is not None:
            return beside
    assert first is not None, "there are several algorithms"
    return first


def _list_others(work: SessionState, view: StepsView) -> Iterator[OtherLesson]:
    metrics, metric = list_lesson_metrics(work, view)
    strategies, strategy = list_lesson_strategies(work, view)
    same = OtherLesson(view.algorithm, metric, strategy)
    yield from (replace(same, strategy=name) for name in strategies if name != strategy)
    if uses(view.algorithm, "metric"):
        yield from (replace(same, metric=name) for name in metrics if name != metric)
    family = algorithm_named(view.algorithm).CARD.family
    ordered = sorted(algorithms().items(), key=lambda name: family != name[1].CARD.family)
    yield from (replace(same, algorithm=name) for name, _ in ordered if name != view.algorithm)


# --- the panel ------------------------------------------------------------------------------
_RULES = {
    "merges": (
        "Both have made the same number of merges; the one that needs fewer waits at its release."
    ),
    "steps": "Both are at the same step; the one with fewer steps waits at its release.",
    "share": (
        "The algorithms work differently, so both have done the same share of their steps, "
        "rounded down to a whole step."
    ),
}
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

_ENDINGS = {
    "same": "Both end with the same release.",
    "values": "Both end with the same classes, but these show different values.",
    "classes": "Their releases differ.",
}


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


def show_two(work: SessionState) -> None:
    two, view = build_two_lessons(work), work.view(LessonsView).steps
    at = draw_player(view, two.last) if two.last >= 0 else 0
    draw_two_steps(work, two, at)


def draw_two_steps(work: SessionState, two: TwoLessons, at: int) -> None:
    view = work.view(LessonsView).steps
    views, is_own = (view, get_other_settings(view)), get_lesson_table_name(view) == OWN
    if two.pair is not None:
        _describe_comparison(work, views, two.pair)
    st.html(STYLE + _STYLE)
    names = [name_lesson(work, first, second) for first, second in (views, views[::-1])]

    def draw_row(draw: Callable[[TableLesson, int, str], None], first: bool = False) -> None:
        for place, side_lesson, position, side, name in zip(
            st.columns(2, gap="medium"), two.told, two.get_positions(at), SIDES, names, strict=True
        ):
            with place:
                if first and name:
                    st.markdown(f"#### {escape_markdown(name)}")
                if isinstance(side_lesson, TableLesson):
                    if not first:
                        st.html(f'<div class="side">{escape(name)}</div>')
                    draw(side_lesson, position, side)
                elif first:
                    st.warning(escape_markdown(side_lesson.sentence), icon=":material/error:")

    with st.container(key="two"):
        draw_row(lambda side_lesson, at, side: _show_step(side_lesson, at), first=True)
        draw_row(lambda side_lesson, at, side: _show_step_numbers(side_lesson, at))
        draw_row(lambda side_lesson, at, side: draw_picture(side_lesson, at, is_own, f"-{side}"))
        draw_row(lambda side_lesson, at, side: draw_records(side_lesson, at, is_own, f"-{side}"))
    st.caption(LEGEND)


# --- what is compared -----------------------------------------------------------------------
def _describe_comparison(
    work: SessionState, views: tuple[StepsView, StepsView], pair: SideBySide
) -> None:
    first, second = (name_lesson(work, *settings, brief=True) for settings in (views, views[::-1]))
    if not first:
        text = "Both sides are the same; choose other settings for one of them."
        st.info(text, icon=":material/info:")
        return
    st.markdown(
        escape_markdown(f"{_describe_parting(pair, first, second)} {_ENDINGS[pair.ending]}")
    )
    text = _RULES[pair.rule]
    if pair.one.metric != pair.other.metric:
        text = f"{text} Each metric counts costs in its own unit."
    st.caption(text)


def _describe_parting(pair: SideBySide, first: str, second: str) -> str:
    place = pair.parting_place
    if place is None:
        return f"{first} and {second} have the same classes at every step."
    at, second_at = pair.get_positions(place)
    steps = pair.one.steps[at], pair.other.steps[second_at]
    then = f"{_describe_step(first, steps[0])}; {_describe_step(second, steps[1])}."
    if place == 1:
        return f"They differ from the first step on: {then}"
    if pair.rule == "merges":
        return f"They do the same up to merge {place - 1}; then {then}"
    if pair.rule == "steps":
        return f"They have the same classes up to step {place - 1}; then {then}"
    at, second_at = pair.get_positions(place - 1)
    return (
        f"They have the same classes up to step {at} of {first} and step {second_at} of {second}; "
        f"then {then}"
    )


def _describe_step(name: str, step: Step) -> str:
    if isinstance(step.detail, Merge):
        return f"{name} merges “{step.detail.picked.label}” with “{step.detail.partner.label}”"
    return f"{name} shows “{step.heading}”"


# --- a side ---------------------------------------------------------------------------------
def _show_step(table_lesson: TableLesson, at: int) -> None:
    lesson = table_lesson.lesson
    step, last = lesson.steps[at], len(lesson.steps) - 1
    heading = f"Step {at} of {last}: {step.heading}"
    st.markdown(f"**{escape_markdown(heading)}**  \n{escape_markdown(step.sentence)}")


def _show_step_numbers(table_lesson: TableLesson, at: int) -> None:
    lesson = table_lesson.lesson
    now = lesson.steps[at].numbers
    st.markdown(
        f"Minimum k ↑ **{'none' if now.min_k is None else write_count(now.min_k)}** "
        f"· Cost so far ↓ **{write_number(sum_cost_so_far(lesson, at))}** "
        f"({escape_markdown(lesson.metric.card.title)}) · "
        f"Alteration ↓ **{write_percent(now.alteration)}**"
    )


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
