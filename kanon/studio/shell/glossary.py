"""The glossary, at hand on every page."""

import streamlit as st

from kanon.base.formatting import counted
from kanon.studio.session.text import plain
from kanon.teaching.glossary import Term, glossary, looked_up

_SHOWN = 12  # words; who finds more types more


def glossary_control() -> None:
    """Draw the control below the navigation; while it is closed nothing is looked up."""
    with st.sidebar:
        _control()


@st.fragment  # what is looked up draws nothing of the page again
def _control() -> None:
    place = st.popover(
        "Glossary", icon=":material/menu_book:", width="stretch", key="glossary", on_change="rerun"
    )
    if place.open:
        with place:
            _look_up()


def _look_up() -> None:
    typed = st.text_input(
        "Look up a word",
        key="glossary-word",
        placeholder="such as class, NLLM or attack",
        help="A word, or a part of one. What it means here is below, with where it is met.",
    )
    with st.container(height=420, border=False):
        if not (typed or "").strip():
            st.caption(" · ".join(plain(name) for name in glossary()))
            return
        found = looked_up(typed)
        if not found:
            st.info("There is no such word here; try a part of it, or another one.")
        for term in found[:_SHOWN]:
            st.markdown(_said(term))
        if len(found) > _SHOWN:
            st.caption(f"And {counted(len(found) - _SHOWN, 'more word')}: type more of it.")


def _said(term: Term) -> str:
    parts = [f"Met on {', '.join(term.where)}."]
    if term.see:
        parts.append(f"See {'; '.join(term.see)}.")
    if term.source:
        parts.append(f"Source: {term.source}.")
    name, told = plain(term.name), plain(term.told)
    return f"**{name}**: {told}  \n:small[{plain(' '.join(parts))}]"
