"""One picture for a projector, which fills the window: a step of one story, or of two, on Learn.

Made for 1024 × 720 pixels, it scales up. Text that is too long gets smaller; then the browser
leaves out what ranks last (``data-rank``, the largest first) and says how much.
"""

import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from kanon.charts.lesson_look import Room
from kanon.studio.session import state
from kanon.studio.session.parts import SharedView
from kanon.studio.session.text import trim_title
from kanon.studio.widgets.picture import draw_chart

# The place of its picture, or of each of two; projector.css has the same.
PLACE, PLACE_OF_TWO = Room(560, 320, 16), Room(490, 270, 16)

_HEADING = 85  # a longer heading does not find room in a line; the sentence says it too

_FOLDER = Path(__file__).parent
_STYLE = f"<style>{(_FOLDER / 'projector.css').read_text('utf-8')}</style>"

_fit = st.components.v2.component(
    "kanon_projector", js=(_FOLDER / "projector.js").read_text("utf-8")
)


def show_on_projector(on: bool = True) -> None:
    state.update_fields(SharedView, on_projector=on)


def draw_stage(
    heading: str,
    text: str,
    parts: str,
    buttons: Callable[[], object],
    *figures: go.Figure | None,
) -> None:
    title, kind = escape(trim_title(heading, _HEADING)), " two" * (len(figures) > 1)
    with st.container(key="projector"):
        st.html(_STYLE)
        st.html(
            f'<div class="stage{kind}"><h3 class="head" data-fit>{title}</h3>'
            f'<p class="words" data-fit>{rank_sentences(text)}</p>{parts}</div>'
        )
        for figure, side in zip(figures, ("", "-other"), strict=False):
            if figure is not None:
                with st.container(key=f"projector-picture{side}"):
                    draw_chart(figure, f"lesson-projected{side}", width="content")
        with st.container(key="learn-buttons"):
            buttons()
            _fit(key="projector-fit")
        st.button(
            "Back to the page · Esc",
            key="learn-leave",
            type="tertiary",
            on_click=show_on_projector,
            args=(False,),
        )


def rank_sentences(text: str) -> str:
    """Sentences; where there is no room for all, the last ones are left out first."""
    return " ".join(
        f"<span{f' data-rank={place}' if place else ''}>{escape(sentence)}</span>"
        for place, sentence in enumerate(re.split(r"(?<=\.) ", text))
    )
