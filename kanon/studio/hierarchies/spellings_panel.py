"""Values that look like spellings of the same thing, to join in the tree."""

from collections.abc import Collection

import streamlit as st

from kanon.base.formatting import choose_plural, count_noun, write_count
from kanon.hierarchy.spellings import TIMES
from kanon.studio.session import state
from kanon.studio.session.text import escape_markdown, mark_odd_blanks, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.widgets import tree_edits

_AT_ONCE = 20  # each line has a button


def show_spellings(work: SessionState, column: str) -> None:
    groups = tree_edits.find_proposed_spellings(work, column)
    if not groups:
        return
    title = f"Values that look like spellings of the same thing: {count_noun(len(groups), 'group')}"
    with st.expander(title, icon=":material/spellcheck:"):
        st.caption(
            "Joined values share a new group just above them. It is named after the most "
            "frequent spelling, written so that the name differs from every value. The table does "
            "not change. Words that differ in one or two letters are proposed where one spelling "
            f"has at least {TIMES} times as many records as the other. Check them: they may be "
            "different words. Undo reverses the last press."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.button(
                choose_plural(len(groups), "Join {count} group", "Join all {count} groups"),
                key="spellings-all",
                type="primary",
                icon=":material/join:",
                on_click=state.try_step,
                args=(_join_spellings, column, {group.name for group in groups}),
            )
            first = 0
            if len(groups) > _AT_ONCE:
                first = st.selectbox(
                    "Groups",
                    range(0, len(groups), _AT_ONCE),
                    format_func=lambda start: (
                        f"{start + 1} to {min(start + _AT_ONCE, len(groups))}"
                    ),
                    key=f"spellings-shown-{work.version}-{column}-{len(groups)}",
                    width=160,
                )
        visible = groups[first : first + _AT_ONCE]
        if any(mark_odd_blanks(value) != value for group in visible for value in group.records):
            st.caption("␣ is a blank: one of several in a row, or an unusual kind of blank.")
        for place, group in enumerate(visible):
            text, button = st.columns([8, 1], vertical_alignment="center")
            members = [
                f"{trim_title(mark_odd_blanks(value))} ({write_count(n)})"
                for value, n in group.records.items()
            ]
            text.markdown(escape_markdown(", ".join(members)))  # all of them, as all are joined
            button.button(
                "Join",
                key=f"spellings-{place}",
                on_click=state.try_step,
                args=(_join_spellings, column, {group.name}),
            )


def _join_spellings(work: SessionState, column: str, names: Collection[str]) -> SessionState:
    groups = tree_edits.find_proposed_spellings(work, column)
    wanted = [group for group in groups if group.name in names]
    return tree_edits.join_tree_spellings(work, column, wanted)
