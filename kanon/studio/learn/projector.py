"""One picture for a projector, which fills the window: a step of a story on the page Learn.

Made for 1024 × 720 pixels, it scales up. Text that is too long gets smaller; then the browser
leaves out what ranks last (``data-rank``, the largest first) and says how much.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from kanon.charts.lesson_look import Room
from kanon.studio.learn.state import LessonsView
from kanon.studio.session import state
from kanon.studio.session.text import trim_title
from kanon.studio.widgets.picture import draw_chart

PLACE = Room(560, 320, 16)  # the place of its picture; projector.css has the same

_HEADING = 85  # a longer heading does not find room in a line; the sentence says it too

_FOLDER = Path(__file__).parent
_STYLE = f"<style>{(_FOLDER / 'projector.css').read_text('utf-8')}</style>"

_fit = st.components.v2.component(
    "kanon_projector", js=(_FOLDER / "projector.js").read_text("utf-8")
)


def show_on_projector(on: bool = True) -> None:
    state.update_sections(replace(state.get_session().view(LessonsView), on_projector=on))


def draw_stage(
    heading: str,
    text: str,
    parts: str,
    buttons: Callable[[], object],
    figure: go.Figure | None = None,
) -> None:
    title = escape(trim_title(heading, _HEADING))
    with st.container(key="projector"):
        st.html(_STYLE)
        st.html(
            f'<div class="stage"><h3 class="head" data-fit>{title}</h3>'
            f'<p class="words" data-fit>{_rank_sentences(text)}</p>{parts}</div>'
        )
        if figure is not None:
            with st.container(key="projector-picture"):
                draw_chart(figure, "lesson-projected", width="content")
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


def _rank_sentences(text: str) -> str:
    """Sentences; where there is no room for all, the last ones are left out first."""
    return " ".join(
        f"<span{f' data-rank={place}' if place else ''}>{escape(sentence)}</span>"
        for place, sentence in enumerate(re.split(r"(?<=\.) ", text))
    )
