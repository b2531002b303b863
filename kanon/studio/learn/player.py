"""Going through the steps of a lesson: a slider, buttons with keys, and steps that follow alone."""

from collections.abc import Callable
from functools import partial
from itertools import count

import streamlit as st

from kanon.studio.learn.state import LessonsView, StepsView, look
from kanon.studio.learn.widgets import icon_button
from kanon.studio.session import state
from kanon.studio.session.state import bound

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
