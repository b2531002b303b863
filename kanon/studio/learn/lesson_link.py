"""Links to the page Learn: to a step of one lesson or of two, to an attack, to the exercises."""

from dataclasses import fields, replace
from typing import Any

import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.errors import PlanError
from kanon.studio.learn.attacks_panel import STEPS
from kanon.studio.learn.lesson import (
    OWN,
    build_table_lesson,
    find_largest_k,
    get_lesson_table_name,
    list_lesson_metrics,
    list_lesson_strategies,
)
from kanon.studio.learn.state import AttackView, LessonsView, OtherLesson, StepsView
from kanon.studio.learn.two_panel import get_other_settings
from kanon.studio.session import state
from kanon.studio.session.work import SessionState
from kanon.teaching.attacks import ATTACKS
from kanon.teaching.playlist import Link, read_lesson_address

_GUIDES = ("algorithm", "metric", "strategy")


def build_lesson_link(work: SessionState) -> Link | None:
    """The link to what the page shows; None on the user's own table."""
    view, steps = work.view(LessonsView), work.view(LessonsView).steps
    is_own = view.attack.own if view.part == "attacks" else get_lesson_table_name(steps) == OWN
    if view.part == "exercises":
        return Link(page="learn", title="Exercises", exercises=True)
    if is_own:
        return None
    if view.part == "attacks":
        kind, step = view.attack.kind, view.attack.step
        title = f"{ATTACKS[kind].title}, step {step}"
        return Link(page="learn", title=title, attack=kind, step=step)
    content: dict[str, Any] = _list_guides(work, steps)
    if steps.beside:
        second = _list_guides(work, get_other_settings(steps))
        content |= {f"second_{name}": value for name, value in second.items()}
    return Link(
        page="learn",
        title=f"{short_title(steps.algorithm)}, step {steps.step}",
        table=get_lesson_table_name(steps),
        k=find_largest_k(work, steps)[1],
        step=steps.step,
        **content,
    )


def _list_guides(work: SessionState, view: StepsView) -> dict[str, str]:
    metric, strategy = list_lesson_metrics(work, view)[1], list_lesson_strategies(work, view)[1]
    return dict(zip(_GUIDES, (view.algorithm, metric, strategy), strict=True))


def apply_lesson_link(work: SessionState, link: Link) -> SessionState:
    """The session at what a link names; PlanError says what of it the page cannot show."""
    view = replace(work.view(LessonsView), part="steps")
    last = len(STEPS)
    if link.exercises:
        return work.replace_sections(replace(view, part="exercises"))
    if link.attack:
        attack = AttackView(link.attack, step=max(link.step or 1, 1))
        new = work.replace_sections(replace(view, part="attacks", attack=attack))
    else:
        known = {field.name for field in fields(StepsView)}
        named = link.model_dump(exclude_defaults=True)
        steps = StepsView(**{name: value for name, value in named.items() if name in known})
        if any(f"second_{name}" in named for name in _GUIDES):
            other = {name: named.get(f"second_{name}", getattr(steps, name)) for name in _GUIDES}
            steps = replace(steps, table=get_lesson_table_name(steps), beside=OtherLesson(**other))
        new = work.replace_sections(replace(view, steps=steps))
        both = (steps, get_other_settings(steps)) if steps.beside else (steps,)
        last = max(_count_steps(new, settings) for settings in both)
    wanted = max(link.step or 0, link.last_step or 0)
    if wanted > last:
        raise PlanError(f"Step {wanted} is not there; the last step is {last}.")
    return new


def _count_steps(work: SessionState, view: StepsView) -> int:
    """The last step of a lesson; PlanError if its table has not the metric or the strategy."""
    for name, (usable, _) in (
        ("metric", list_lesson_metrics(work, view)),
        ("strategy", list_lesson_strategies(work, view)),
    ):
        if getattr(view, name) and getattr(view, name) not in usable:
            names = ", ".join(usable)
            raise PlanError(f"The lesson has no {name} {getattr(view, name)}; choose from {names}.")
    lesson = build_table_lesson(work, view, state.get_or_compute).lesson
    return len(lesson.steps) - 1


def follow_lesson_link() -> None:
    """Open what the address asks for; it replaces nothing but what the page shows."""
    parts = st.query_params.to_dict()
    if parts and "sample" not in parts:
        st.query_params.clear()
        state.try_update(lambda: apply_lesson_link(state.get_session(), read_lesson_address(parts)))
