"""Values that look like spellings of one: proposed, and joined in the tree when asked."""

from collections.abc import Collection

import streamlit as st

from kanon.base.formatting import counted, one_or_many, thin
from kanon.hierarchy.spellings import TIMES
from kanon.studio.session import state
from kanon.studio.session.text import plain, shortened, with_blanks_seen
from kanon.studio.session.work import Work
from kanon.studio.widgets import tree_edits

_AT_ONCE = 20  # each line has a button


def spellings_panel(work: Work, column: str) -> None:
    found = tree_edits.proposed_spellings(work, column)
    if not found:
        return
    title = f"Values that look like spellings of one: {counted(len(found), 'group')}"
    with st.expander(title, icon=":material/spellcheck:"):
        st.caption(
            "Joined, they share a group just above them, named after the most frequent "
            "spelling, with other capitals; the table stays as it is. Words with one or two "
            f"letters wrong are proposed where one spelling has at least {TIMES} times the "
            "records of the other: look through them, as another word may be meant. Undo "
            "takes the last press back."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.button(
                one_or_many(len(found), "Join {count} group", "Join all {count} groups"),
                key="spellings-all",
                type="primary",
                icon=":material/join:",
                on_click=_join,
                args=(column, {one.name for one in found}),
            )
            first = 0
            if len(found) > _AT_ONCE:
                first = st.selectbox(
                    "Groups shown",
                    range(0, len(found), _AT_ONCE),
                    format_func=lambda start: f"{start + 1} to {min(start + _AT_ONCE, len(found))}",
                    key=f"spellings-shown-{work.version}-{column}-{len(found)}",
                    width=160,
                )
        shown = found[first : first + _AT_ONCE]
        if any(with_blanks_seen(value) != value for one in shown for value in one.records):
            st.caption("␣ is a blank: one of several, or of another kind than the usual one.")
        for place, one in enumerate(shown):
            text, button = st.columns([8, 1], vertical_alignment="center")
            members = [
                f"{shortened(with_blanks_seen(value))} ({thin(n)})"
                for value, n in one.records.items()
            ]
            text.markdown(plain(", ".join(members)))  # all of them, as all are joined
            button.button(
                "Join", key=f"spellings-{place}", on_click=_join, args=(column, {one.name})
            )


def _join(column: str, names: Collection[str]) -> None:
    def done() -> Work:
        work = state.work()
        found = tree_edits.proposed_spellings(work, column)
        chosen = [one for one in found if one.name in names]
        return tree_edits.with_spellings_joined(work, column, chosen)

    state.attempt(done)
