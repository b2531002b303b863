"""The guided tour: five steps through the pages, each with what to look at there."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from kanon.base.data_files import read_data
from kanon.studio.session import state
from kanon.studio.session.parts import SharedView

_text = st.components.v2.component(
    "kanon_tour",
    html='<p class="tour-text" role="status"><strong></strong> <span></span></p>',
    css=".tour-text { margin: 0; font-family: var(--st-font); color: var(--st-text-color); }",
    js=(Path(__file__).parent / "tour.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class TourStop:
    page: str  # the file of its page
    title: str  # what the page is about, in a few words
    # CSS selectors and what to try there, true of any table; the first on the page counts
    looks: tuple[tuple[str, str], ...]


STEPS = tuple(
    TourStop(
        stop["page"], stop["title"], tuple((look["at"], look["try"]) for look in stop["looks"])
    )
    for stop in read_data(__file__)["stops"]
)

_STYLE = f"<style>{(Path(__file__).parent / 'tour.css').read_text('utf-8')}</style>"


def draw_tour_offer() -> None:
    if not state.get_session().shared.tour and st.button(
        "Tour in five steps", icon=":material/explore:", width="stretch"
    ):
        _show_step(1)


def draw_tour(page: StreamlitPage) -> None:
    at = state.get_session().shared.tour
    if not at:
        return
    step = STEPS[at - 1]
    here = step.page == f"pages/{page.url_path or 'anonymise'}.py"  # the first page has no path
    st.html(_STYLE)
    with st.container(border=True, key="tour"):
        _text(
            key="tour-text",
            data={
                "head": f"Tour, {at} of {len(STEPS)}: {step.title}.",
                "looks": step.looks if here else (),
                "otherwise": "" if here else "This step is on another page.",
            },
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            if at > 1 and st.button("Back", icon=":material/arrow_back:", key="tour-back"):
                _show_step(at - 1)
            if not here and st.button("Go there", type="primary", key="tour-there"):
                _show_step(at)
            if at < len(STEPS) and st.button(
                "Next",
                icon=":material/arrow_forward:",
                type="primary" if here else "secondary",
                key="tour-next",
            ):
                _show_step(at + 1)
            st.button(
                "End the tour",
                type="primary" if here and at == len(STEPS) else "tertiary",
                key="tour-end",
                on_click=state.update_fields,
                args=(SharedView,),
                kwargs={"tour": 0},
            )


def _show_step(at: int) -> None:
    state.update_fields(SharedView, tour=at)
    st.switch_page(STEPS[at - 1].page)
