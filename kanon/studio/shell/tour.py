"""The guided tour: five steps through the pages, each with what to look at there."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

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


STEPS = (
    TourStop(
        "pages/anonymise.py",
        "What it costs",
        (
            (
                ".st-key-alteration-curve",
                "In the released table every record looks like at least k − 1 others in the "
                "columns that could single a person out. This curve shows how much detail that "
                "costs for every k. Move the slider below it: the picture, the numbers and the "
                "table change with it.",
            ),
            (
                ".st-key-after",
                "In this table every record looks like at least k − 1 others in the columns that "
                "could single a person out. The numbers above it say how much detail that costs.",
            ),
            (
                ".st-key-run",
                "Press Anonymise: every record will look like at least k − 1 others in the columns "
                "that could single a person out, and numbers say how much detail that costs.",
            ),
        ),
    ),
    TourStop(
        "pages/data.py",
        "Who could be found",
        (
            (
                "[class*='st-key-role-']",
                "Each column has a role. Identifiers are never released. Others may know the "
                "quasi-identifiers, so these are generalised. Nobody should learn a person's "
                "sensitive value. Change a role: the numbers that show the exposure change too.",
            ),
        ),
    ),
    TourStop(
        "pages/hierarchies.py",
        "How values are generalised",
        (
            (
                ".st-key-tree-editor",
                "A tree shows what a value can become: the higher the group, the less it says. "
                "Drag a value to another group, or select some and press g to group them; Undo "
                "takes it back.",
            ),
            (
                "[data-testid=stDataFrame]",
                "This table shows the tree, and what a value can become: the higher the group, "
                "the less it says. Type over a group to move a value; Undo takes it back.",
            ),
        ),
    ),
    TourStop(
        "pages/compare.py",
        "Which choice is better",
        (
            (
                ".st-key-compared",
                "Here are several metrics, strategies or algorithms at every k. One cursor moves "
                "in all pictures; the table below says which line is best, and where that is "
                "undecided.",
            ),
            (
                ".st-key-compare",
                "Press Compare: it tries several metrics, strategies or algorithms and shows "
                "all of them at every k.",
            ),
        ),
    ),
    TourStop(
        "pages/privacy.py",
        "What can still be learnt",
        (
            (
                "[class*='st-key-privacy-known-']",
                "Large classes are not enough: if everyone in a class has the same illness, "
                "everyone's illness is known. Choose what an attacker knows, and see which "
                "records match and what they reveal. The setting “Also require” on the "
                "Anonymise page adds models that prevent this.",
            ),
            (
                ".st-key-privacy-run",
                "Press Anonymise to see what can still be found out from the release.",
            ),
        ),
    ),
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
