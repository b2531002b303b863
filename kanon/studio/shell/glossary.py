"""The glossary, at hand on every page."""

import streamlit as st

from kanon.base.formatting import count_noun
from kanon.studio.session.text import escape_markdown
from kanon.teaching.glossary import Term, find_terms, load_glossary

_MOST_TERMS = 12  # words; who finds more types more


def draw_glossary() -> None:
    """Draw the control below the navigation; while it is closed, nothing is looked up."""
    with st.sidebar:
        _draw_control()


@st.fragment  # what is looked up draws nothing of the page again
def _draw_control() -> None:
    place = st.popover(
        "Glossary", icon=":material/menu_book:", width="stretch", key="glossary", on_change="rerun"
    )
    if place.open:
        with place:
            _search_terms()


def _search_terms() -> None:
    typed = st.text_input(
        "Look up a word",
        key="glossary-word",
        placeholder="such as class, NLLM or attack",
        help="Type a word or part of it. Below you see what it means here and where it is used.",
    )
    with st.container(height=420, border=False):
        if not (typed or "").strip():
            st.caption(" · ".join(escape_markdown(name) for name in load_glossary()))
            return
        terms = find_terms(typed)
        if not terms:
            st.info("There is no such word here; try part of it, or another word.")
        for term in terms[:_MOST_TERMS]:
            st.markdown(_format_term(term))
        if len(terms) > _MOST_TERMS:
            st.caption(
                f"And {count_noun(len(terms) - _MOST_TERMS, 'more word')}: type more letters."
            )


def _format_term(term: Term) -> str:
    parts = [f"Used on {', '.join(term.where)}."]
    if term.related_terms:
        parts.append(f"See {'; '.join(term.related_terms)}.")
    if term.source:
        parts.append(f"Source: {term.source}.")
    name, explanation = escape_markdown(term.name), escape_markdown(term.told)
    return f"**{name}**: {explanation}  \n:small[{escape_markdown(' '.join(parts))}]"
