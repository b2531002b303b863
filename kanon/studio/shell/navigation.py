"""The pages, in the order of the work."""

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from kanon.errors import KanonError
from kanon.studio.session.text import escape_markdown

# The groups, in the order of the work: the file of each page, and its icon.
_PAGES = {
    "Prepare": {"data": "table", "hierarchies": "account_tree", "metrics": "grid_on"},
    "Anonymise": {"anonymise": "shield", "lattice": "lan"},
    "Understand": {
        "compare": "stacked_line_chart",
        "privacy": "visibility",
        "utility": "query_stats",
        "decide": "balance",
    },
    "Share": {"report": "description", "learn": "school"},
}

# A file: Streamlit would fetch the picture of an icon's name from another host.
_ICON = str(Path(__file__).parent / "icon.png")


def set_up_page() -> None:
    st.set_page_config(page_title="kanon", page_icon=_ICON, layout="wide")


def show_only_page(draw: Callable[[], None], title: str) -> None:
    """Show one page; beside a folder called pages, Streamlit would offer what is in it."""
    set_up_page()
    st.navigation([st.Page(draw, title=title, default=True)], position="hidden").run()


def select_page() -> StreamlitPage:
    set_up_page()
    return st.navigation(
        {
            group: [_build_page(name, icon) for name, icon in pages.items()]
            for group, pages in _PAGES.items()
        }
    )


def _build_page(name: str, icon: str) -> StreamlitPage:
    return st.Page(
        f"pages/{name}.py",
        title=name.capitalize(),
        icon=f":material/{icon}:",
        url_path=name,
        default=name == "anonymise",
    )


_sidebar_place: ContextVar[DeltaGenerator] = ContextVar("sidebar_place")


def reserve_sidebar_place() -> None:
    """Keep a place for the controls of the page above those that every page has."""
    _sidebar_place.set(st.sidebar.container())


def get_sidebar_place() -> DeltaGenerator:
    return _sidebar_place.get(st.sidebar)


def run_page(page: StreamlitPage) -> None:
    try:
        page.run()
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
