"""Two lessons side by side on the page Learn, and the choices of one lesson or of two."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.algorithms.catalogue import algorithm_named, algorithms, uses
from kanon.base.formatting import percent, thin
from kanon.strategies import STRATEGIES
from kanon.studio.learn.lesson import OWN, TableLesson, metrics_of, strategies_of, table_of
from kanon.studio.learn.player import LEGEND, draw_picture, draw_records, player
from kanon.studio.learn.state import LessonsView, StepsView
from kanon.studio.learn.step_sheet import STYLE
from kanon.studio.learn.two_lessons import (
    SIDES,
    Two,
    beside_of,
    choose,
    names_of,
    set_beside,
    two_of,
)
from kanon.studio.session.run_choices import metric_called
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.how import tie_rule
from kanon.teaching.lesson import Step, written
from kanon.teaching.merging import Merge
from kanon.teaching.side_by_side import SideBySide, cost_so_far

_RULES = {
    "merges": (
        "Both stand after the same number of merges; the one that needs fewer waits at its release."
    ),
    "steps": "Both stand at the same step; the one that has fewer steps waits at its release.",
    "share": (
        "The algorithms work differently, so both stand after the same share of their steps, "
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
"""Left and right are as wide, side by side where there is room; else each says whose it is."""

_ENDINGS = {
    "same": "Both end with the same release.",
    "values": "Both end with the same classes, which show other values.",
    "classes": "Their releases differ.",
}


def beside_choices(work: Work, view: StepsView) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.toggle(
            "Compare with another",
            **bound("learn-beside", view.beside is not None, set_beside),
            help="Two lessons side by side, on the same table and with the same k. Changing one "
            "leaves the other where it is.",
        )
        if view.beside is None:
            return
        draw_choices(work, beside_of(view), (st.container() for _ in range(3)), view)


def show_two(work: Work) -> None:
    two, view = two_of(work), work.view(LessonsView).steps
    at = player(view, two.last) if two.last >= 0 else 0
    two_steps(work, two, at)


def two_steps(work: Work, two: Two, at: int) -> None:
    """Both lessons at a place, each kind of thing in a row: left and right begin at one height."""
    view = work.view(LessonsView).steps
    views, own = (view, beside_of(view)), table_of(view) == OWN
    if two.pair is not None:
        _compared(work, views, two.pair)
    st.html(STYLE + _STYLE)
    names = [names_of(work, one, other) for one, other in (views, views[::-1])]

    def row(draw: Callable[[TableLesson, int, str], None], first: bool = False) -> None:
        for place, found, position, side, name in zip(
            st.columns(2, gap="medium"), two.told, two.positions(at), SIDES, names, strict=True
        ):
            with place:
                if first and name:
                    st.markdown(f"#### {plain(name)}")
                if isinstance(found, TableLesson):
                    if not first:
                        st.html(f'<div class="side">{escape(name)}</div>')
                    draw(found, position, side)
                elif first:
                    st.warning(plain(found.sentence), icon=":material/error:")

    with st.container(key="two"):
        row(lambda found, at, side: _said(found, at), first=True)
        row(lambda found, at, side: _numbers(found, at))
        row(lambda found, at, side: draw_picture(found, at, own, f"-{side}"))
        row(lambda found, at, side: draw_records(found, at, own, f"-{side}"))
    st.caption(LEGEND)


# --- what is compared -----------------------------------------------------------------------
def _compared(work: Work, views: tuple[StepsView, StepsView], pair: SideBySide) -> None:
    one, other = (names_of(work, *each, brief=True) for each in (views, views[::-1]))
    if not one:
        said = "Both sides are the same; choose something else for one of them."
        st.info(said, icon=":material/info:")
        return
    st.markdown(plain(f"{_parted(pair, one, other)} {_ENDINGS[pair.ending]}"))
    said = _RULES[pair.rule]
    if pair.one.metric != pair.other.metric:
        said = f"{said} Their metrics count costs in units of their own."
    st.caption(said)


def _parted(pair: SideBySide, one: str, other: str) -> str:
    place = pair.parting
    if place is None:
        return f"{one} and {other} have the same classes all along."
    at, there = pair.positions(place)
    then = f"{_does(one, pair.one.steps[at])}; {_does(other, pair.other.steps[there])}."
    if place == 1:
        return f"They differ from the first step on: {then}"
    if pair.rule == "merges":
        return f"The same up to merge {place - 1}; then {then}"
    if pair.rule == "steps":
        return f"The same classes up to step {place - 1}; then {then}"
    at, there = pair.positions(place - 1)
    return f"The same classes up to step {at} of {one} and step {there} of {other}; then {then}"


def _does(name: str, step: Step) -> str:
    if isinstance(step.detail, Merge):
        return f"{name} takes “{step.detail.picked.label}” with “{step.detail.partner.label}”"
    return f"{name} has “{step.heading}”"


# --- a side ---------------------------------------------------------------------------------
def _said(found: TableLesson, at: int) -> None:
    lesson = found.lesson
    step, last = lesson.steps[at], len(lesson.steps) - 1
    heading = f"Step {at} of {last}: {step.heading}"
    st.markdown(f"**{plain(heading)}**  \n{plain(step.sentence)}")


def _numbers(found: TableLesson, at: int) -> None:
    lesson = found.lesson
    now = lesson.steps[at].numbers
    st.markdown(
        f"Minimum k ↑ **{'none' if now.min_k is None else thin(now.min_k)}** · Cost so far ↓ "
        f"**{written(cost_so_far(lesson, at))}** ({plain(lesson.metric.card.title)}) · "
        f"Alteration ↓ **{percent(now.alteration)}**"
    )


def draw_choices(
    work: Work, view: StepsView, places: Iterator[DeltaGenerator], unlike: StepsView | None = None
) -> None:
    second = unlike is not None

    def draw(
        label: str, field: str, titles: Mapping[str, str], value: str, other: str,
        said: Sequence[str],
    ) -> None:  # fmt: skip
        with next(places):
            st.selectbox(
                label,
                sorted(titles, key=lambda name: second and name == other),
                **bound(
                    f"learn-{field}-beside" if second else f"learn-{field}", value, field,
                    into=partial(choose, second),
                ),
                format_func=lambda name: titles[name],
                help=plain(" ".join(said)),
            )  # fmt: skip

    first, module = unlike or view, algorithm_named(view.algorithm)
    draw(
        "Second algorithm" if second else "Algorithm told", "algorithm",
        {name: one.CARD.title for name, one in algorithms().items()},
        view.algorithm, first.algorithm, [module.CARD.summary, module.CARD.guarantees],
    )  # fmt: skip
    names, metric = metrics_of(work, view)
    about = ["What counts as a loss.", metric_called(work, metric).card.summary]
    if not uses(view.algorithm, "metric"):
        about.append("This algorithm is not guided by it.")
    draw(
        "Second costs by" if second else "Costs by", "metric",
        {name: metric_called(work, name).card.title for name in names},
        metric, metrics_of(work, first)[1], about,
    )  # fmt: skip
    if uses(view.algorithm, "strategy"):
        names, strategy = strategies_of(work, view)
        summary = STRATEGIES[strategy].summary
        draw(
            "Second partner by" if second else "Partner by", "strategy",
            {name: STRATEGIES[name].title for name in names},
            strategy, strategies_of(work, first)[1],
            ["Which class a smallest one is merged with.", summary, tie_rule()],
        )  # fmt: skip
