"""The pages, in the order of the work."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

__all__ = ["chosen_page"]


def chosen_page() -> StreamlitPage:
    """Draw the navigation; returns the page that was chosen."""
    return st.navigation(
        {
            "Prepare": [
                st.Page("pages/data.py", title="Data", icon=":material/table:", url_path="data")
            ],
            "Anonymise": [
                st.Page(
                    "pages/anonymise.py",
                    title="Anonymise",
                    icon=":material/shield:",
                    url_path="anonymise",
                    default=True,
                )
            ],
        }
    )
