"""How does it work? Every algorithm step by step, attacks played out, exercises."""

from functools import partial

import streamlit as st

from kanon.studio.learn.attacks_panel import show_attacks
from kanon.studio.learn.exercises import is_exam_open
from kanon.studio.learn.exercises_panel import show_exercises
from kanon.studio.learn.lesson import OWN, get_lesson_table_name
from kanon.studio.learn.lesson_link import (
    apply_lesson_link,
    build_lesson_link,
    follow_lesson_link,
)
from kanon.studio.learn.state import LessonsView
from kanon.studio.learn.steps_panel import show_steps
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import draw_page_head
from kanon.studio.shell.navigation import get_sidebar_place
from kanon.studio.shell.playlist import draw_playlist_menu
from kanon.studio.widgets.controls import listen_to_keys
from kanon.studio.widgets.projector import show_on_projector

PARTS = {"steps": "Step by step", "attacks": "Attacks", "exercises": "Exercises"}
SHOW = {"steps": show_steps, "attacks": show_attacks, "exercises": show_exercises}


_GRID = ".st-key-exercise-grid"

_NARROW = f"""<style>
.stMain [data-testid="stButtonGroup"] [role="radiogroup"] {{ flex-wrap: wrap; row-gap: 0.3rem; }}
@media (max-width: 1270px) {{
    {_GRID} [data-testid="stHorizontalBlock"] {{ gap: 0.3rem; }}
    {_GRID} [data-testid="stColumn"] [data-testid="stHorizontalBlock"] {{ gap: 0; }}
    {_GRID} [data-testid="stButton"] button {{ padding-inline: 0.15rem; }}
    {_GRID} p {{ font-size: 0.85rem; }}
    {_GRID} [data-testid="stSelectbox"] input {{ padding-inline: 0.3rem; }}
    {_GRID} [data-testid="stSelectbox"] button {{ padding-inline: 0; }}
    {_GRID} [data-testid="stSelectbox"] svg {{ width: 0.9rem; }}
}}
@media (max-width: 640px) {{
    .stMain [data-testid="stHorizontalBlock"]:not({_GRID} *) {{ flex-wrap: wrap; }}
    .stMain [data-testid="stColumn"]:not({_GRID} *) {{ flex: 1 1 100%; }}
}}
</style>"""
"""On narrow screens buttons wrap, the grid scrolls, and on a phone columns are stacked."""

_EXAM_OPEN = (
    "An exam is open under Exercises, so no lesson or attack is shown: it could answer a question. "
    "They open again once the exam is closed with its code, or another set is opened."
)

_BACK, _NEXT = ["learn-back", "attack-back"], ["learn-next", "attack-next"]

_BUTTONS_BY_KEY = {
    "ArrowLeft": _BACK,
    "ArrowRight": _NEXT,
    "Home": ["learn-first"],
    "End": ["learn-last"],
    " ": ["learn-pause", "learn-play"],
}
_PRESENTER = {"PageUp": _BACK, "PageDown": _NEXT}
"""What a presenter's remote sends; on ordinary pages these keys scroll."""


def draw_learn_choices(work: SessionState) -> None:
    view = work.view(LessonsView)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Look at",
            list(PARTS),
            **attach_widget("learn-part", view.part, "part", into=LessonsView, keep=True),
            format_func=lambda name: PARTS[name],
            label_visibility="collapsed",
        )
    with get_sidebar_place():
        if view.part != "exercises":
            st.button(
                "Projector",
                icon=":material/slideshow:",
                key="learn-projector",
                width="stretch",
                on_click=show_on_projector,
                help="One picture that fills the window, with letters large enough for the last "
                "row. Use the keys or a presenter remote to move; Esc brings you back.",
            )
        draw_playlist_menu(build_lesson_link(work), partial(apply_lesson_link, work))


def _is_about_session(view: LessonsView) -> bool:
    return not state.get_session().shared.on_projector and {
        "steps": get_lesson_table_name(view.steps) == OWN, "attacks": view.attack.own,
        "exercises": False,
    }[view.part]  # fmt: skip


def page() -> None:
    follow_lesson_link()
    about = _is_about_session(state.get_session().view(LessonsView))
    work = draw_page_head("How does it work, step by step?", line=about)
    view = work.view(LessonsView)
    part, is_closed = view.part, view.part != "exercises" and is_exam_open(view.exercises)
    on_projector = work.shared.on_projector and part != "exercises" and not is_closed
    if part != "exercises":
        # Here, so that no key is lost while the page becomes one picture.
        keys = _BUTTONS_BY_KEY | ({"Escape": ["learn-leave"]} if on_projector else {})
        has_remote = on_projector and work.shared.playlist is None  # which has it otherwise
        listen_to_keys("learn-keys", keys | (_PRESENTER if has_remote else {}))
    if not on_projector:
        draw_learn_choices(work)
    if part != "steps":
        st.html(_NARROW)
    if is_closed:
        st.info(_EXAM_OPEN, icon=":material/lock:")
    else:
        SHOW[part](work)
