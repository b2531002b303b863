"""After a reload or a dropped connection, people find their work as it was."""

from pathlib import Path

import streamlit as st
from streamlit import runtime

from kanon.studio.session import state
from kanon.studio.session.server import desks, seat

_KEY = "tab"

_tab = st.components.v2.component(
    "kanon_tab", js=(Path(__file__).parent / "tab.js").read_text("utf-8")
)


def welcome() -> None:
    if not runtime.exists():  # a test: no tab, and nothing that outlives it
        return
    seat()  # so that the end of this connection is noticed
    if state.forgotten():
        _tab(key=_KEY, data={"forgotten": True})
        st.caption("All your data are deleted. Reload the page to start again.")
        st.stop()
    if desks().seconds:
        waiting = not state.settled() and desks().any_left
        tab_data = {"token": state.token(), "settled": state.settled(), "waiting": waiting}
        _tab(key=_KEY, data=tab_data, on_before_change=_receive_token)
        if waiting:
            st.caption("Looking for the earlier work of this tab …")
            st.button("Start again", on_click=state.settle)
            st.stop()
    state.settle()
    if state.lost():
        _warn_of_loss()
        st.stop()


def _warn_of_loss() -> None:
    """Warn, or the sample would be taken for the user's table."""
    st.warning(
        f"This tab's earlier work is deleted: it is kept for {desks().lasting}, or until "
        "the server stops. Load your table again. If you saved a project file, open it under "
        "Project to get your choices back.",
        icon=":material/info:",
    )
    with st.container(horizontal=True):
        if st.button("Load the table again", type="primary", on_click=state.begin_anew):
            st.switch_page("pages/data.py")
        st.button("Start again with a sample", on_click=state.begin_anew)


def _receive_token() -> None:
    """Take the token of the earlier session; a browser may send anything."""
    earlier_token = state.typed(_KEY).get("before")
    if isinstance(earlier_token, str) and earlier_token and not state.come_back(earlier_token):
        state.lose()
    state.settle()
