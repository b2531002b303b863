"""The pages, in the order of the work."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from kanon.errors import KanonError
from kanon.studio.session.text import plain

# A file: Streamlit would fetch the picture of an icon's name from another host.
_ICON = str(Path(__file__).parent / "icon.png")


def set_up_page() -> None:
    st.set_page_config(page_title="kanon", page_icon=_ICON, layout="wide")


def chosen_page() -> StreamlitPage:
    set_up_page()
    return st.navigation(
        {
            "Prepare": [
                st.Page("pages/data.py", title="Data", icon=":material/table:", url_path="data"),
                st.Page(
                    "pages/hierarchies.py",
                    title="Hierarchies",
                    icon=":material/account_tree:",
                    url_path="hierarchies",
                ),
                st.Page(
                    "pages/metrics.py",
                    title="Metrics",
                    icon=":material/grid_on:",
                    url_path="metrics",
                ),
            ],
            "Anonymise": [
                st.Page(
                    "pages/anonymise.py",
                    title="Anonymise",
                    icon=":material/shield:",
                    url_path="anonymise",
                    default=True,
                ),
                st.Page(
                    "pages/lattice.py",
                    title="Lattice",
                    icon=":material/lan:",
                    url_path="lattice",
                ),
            ],
            "Understand": [
                st.Page(
                    "pages/compare.py",
                    title="Compare",
                    icon=":material/stacked_line_chart:",
                    url_path="compare",
                ),
                st.Page(
                    "pages/privacy.py",
                    title="Privacy",
                    icon=":material/visibility:",
                    url_path="privacy",
                ),
                st.Page(
                    "pages/utility.py",
                    title="Utility",
                    icon=":material/query_stats:",
                    url_path="utility",
                ),
                st.Page(
                    "pages/decide.py",
                    title="Decide",
                    icon=":material/balance:",
                    url_path="decide",
                ),
            ],
            "Pass on": [
                st.Page(
                    "pages/report.py",
                    title="Report",
                    icon=":material/description:",
                    url_path="report",
                ),
                st.Page(
                    "pages/learn.py",
                    title="Learn",
                    icon=":material/school:",
                    url_path="learn",
                ),
            ],
        }
    )


def run_page(page: StreamlitPage) -> None:
    try:
        page.run()
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
