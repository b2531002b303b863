"""The guided tour: five steps through the pages, each with what to look at there."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from kanon.base.language import say
from kanon.studio.session import state


@dataclass(frozen=True)
class TourStop:
    """A stop of the tour.

    Attributes
    ----------
    page
        The file of its page.
    title
        What the page is about, in a few words.
    look
        What to look at there and to try; true of any table.
    """

    page: str
    title: str
    look: str


STEPS = (
    TourStop(
        "pages/anonymise.py",
        say("What it costs"),
        say(
            "In the table on the right, every record looks like at least k − 1 others in the "
            "columns that could single somebody out. The curve says how much detail that costs for "
            "every k at once. Move the slider below it: the picture, the numbers and the table "
            "follow."
        ),
    ),
    TourStop(
        "pages/data.py",
        say("Who could be found"),
        say(
            "Each column has a role. An identifier never leaves; quasi-identifiers are what others "
            "may know, so they are blurred; a sensitive column is what must not come out. Change a "
            "role: the picture beside it says how many records are one of a kind."
        ),
    ),
    TourStop(
        "pages/hierarchies.py",
        say("How values are blurred"),
        say(
            "A tree says what a value may become: the higher, the less it says. Drag a value to "
            "another group, or select some and press g to group them; Undo takes it back."
        ),
    ),
    TourStop(
        "pages/compare.py",
        say("Which choice is better"),
        say(
            "Compare runs several metrics, strategies or algorithms and shows all of them at every "
            "k. One cursor goes through all pictures; the table below says which is best, and "
            "where it is undecided."
        ),
    ),
    TourStop(
        "pages/privacy.py",
        say("What still comes out"),
        say(
            "Many alike are not enough: where all of them share one illness, it is known of each. "
            "Pick what an attacker knows, and see who fits and what follows. Also require, on the "
            "page Anonymise, adds what prevents it."
        ),
    ),
)
"""The tour, in its order."""


def invite() -> None:
    """Offer the tour, where none is under way."""
    if not state.work().shared.tour and st.button(
        say("Tour in five steps"), icon=":material/explore:", width="stretch"
    ):
        _go_to(1)


def guide() -> None:
    """Draw the step that the tour is at, with the ways on, back and out."""
    at = state.work().shared.tour
    if not at:
        return
    step = STEPS[at - 1]
    head = say("Tour, {step} of {steps}: {title}.", step=at, steps=len(STEPS), title=step.title)
    with st.container(border=True, key="tour"):
        st.markdown(f"**{head}** {step.look}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if at > 1 and st.button(say("Back"), icon=":material/arrow_back:", key="tour-back"):
                _go_to(at - 1)
            if at < len(STEPS) and st.button(
                say("Next"), icon=":material/arrow_forward:", type="primary", key="tour-next"
            ):
                _go_to(at + 1)
            st.button(
                say("End the tour"),
                type="primary" if at == len(STEPS) else "tertiary",
                key="tour-end",
                on_click=lambda: state.change(tour=0),
            )


def _go_to(at: int) -> None:
    state.change(tour=at)
    st.switch_page(STEPS[at - 1].page)
