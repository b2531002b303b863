"""Values that look like spellings of the same thing, to join in the tree."""

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
    proposals = tree_edits.proposed_spellings(work, column)
    if not proposals:
        return
    title = f"Values that look like spellings of the same thing: {counted(len(proposals), 'group')}"
    with st.expander(title, icon=":material/spellcheck:"):
        st.caption(
            "Joined values share a new group just above them, named after the most frequent "
            "spelling with different capitals. The table does not change. Words that differ in "
            f"one or two letters are proposed where one spelling has at least {TIMES} times the "
            "records of the other. Check them: they may be different words. Undo takes back the "
            "last press."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.button(
                one_or_many(len(proposals), "Join {count} group", "Join all {count} groups"),
                key="spellings-all",
                type="primary",
                icon=":material/join:",
                on_click=_join_spellings,
                args=(column, {proposal.name for proposal in proposals}),
            )
            first = 0
            if len(proposals) > _AT_ONCE:
                first = st.selectbox(
                    "Groups",
                    range(0, len(proposals), _AT_ONCE),
                    format_func=lambda start: (
                        f"{start + 1} to {min(start + _AT_ONCE, len(proposals))}"
                    ),
                    key=f"spellings-shown-{work.version}-{column}-{len(proposals)}",
                    width=160,
                )
        visible_proposals = proposals[first : first + _AT_ONCE]
        if any(
            with_blanks_seen(value) != value
            for proposal in visible_proposals
            for value in proposal.records
        ):
            st.caption("␣ is a blank: one of several in a row, or an unusual kind of blank.")
        for place, proposal in enumerate(visible_proposals):
            text, button = st.columns([8, 1], vertical_alignment="center")
            members = [
                f"{shortened(with_blanks_seen(value))} ({thin(n)})"
                for value, n in proposal.records.items()
            ]
            text.markdown(plain(", ".join(members)))  # all of them, as all are joined
            button.button(
                "Join",
                key=f"spellings-{place}",
                on_click=_join_spellings,
                args=(column, {proposal.name}),
            )


def _join_spellings(column: str, names: Collection[str]) -> None:
    def join() -> Work:
        work = state.work()
        proposals = tree_edits.proposed_spellings(work, column)
        wanted = [proposal for proposal in proposals if proposal.name in names]
        return tree_edits.with_spellings_joined(work, column, wanted)

    state.attempt(join)
