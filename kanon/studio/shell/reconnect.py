"""After a reload or a dropped connection, people find their work as it was."""

from pathlib import Path

import streamlit as st
from streamlit import runtime

from kanon.studio.session import state
from kanon.studio.session.server import get_connection, get_session_store

_KEY = "tab"

_tab = st.components.v2.component(
    "kanon_tab", js=(Path(__file__).parent / "tab.js").read_text("utf-8")
)


def restore_or_start() -> None:
    if not runtime.exists():  # a test: no tab, and nothing that outlives it
        return
    get_connection()  # so that the end of this connection is noticed
    if state.is_marked(state.DELETED):
        _tab(key=_KEY, data={"forgotten": True})
        st.caption("All your data are deleted. Reload the page to start again.")
        st.stop()
    if get_session_store().seconds:
        settled = state.is_marked(state.SETTLED)
        waiting = not settled and get_session_store().has_abandoned_sessions
        tab_data = {"token": state.get_token(), "settled": settled, "waiting": waiting}
        _tab(key=_KEY, data=tab_data, on_before_change=_receive_token)
        if waiting:
            st.caption("Looking for the earlier work of this tab …")
            st.button("Start again", on_click=state.mark_settled)
            st.stop()
    state.mark_settled()
    if state.is_marked(state.LOST):
        _warn_of_loss()
        st.stop()


def _warn_of_loss() -> None:
    """Warn, or the sample would be taken for the user's table."""
    st.warning(
        "This tab's earlier work has been deleted: work is kept for "
        f"{get_session_store().keep_time_text}, or until the server stops. Load your table again. "
        "If you saved a project file, open it under Project to get your choices back.",
        icon=":material/info:",
    )
    with st.container(horizontal=True):
        if st.button("Load the table again", type="primary", on_click=state.start_again):
            st.switch_page("pages/data.py")
        st.button("Start again with a sample", on_click=state.start_again)


def _receive_token() -> None:
    """Take the token of the earlier session; a browser may send anything."""
    earlier_token = (state.get_widget_value(_KEY) or {}).get("before")
    if (
        isinstance(earlier_token, str)
        and earlier_token
        and not state.restore_session(earlier_token)
        and not get_session_store().was_mere_visit(earlier_token)  # then there is nothing to miss
    ):
        state.mark(state.LOST)
    state.mark_settled()
