"""With settings that cannot be read, every page shows only what is wrong with them."""

import streamlit as st

from kanon.errors import SettingsError
from kanon.settings import settings


def settled() -> bool:
    """Whether the settings are known; if not, what is wrong is said on every page."""
    try:
        settings()
    except SettingsError as error:
        # These take most of the imports, which the workers are not to wait for.
        from kanon.studio.session.text import plain
        from kanon.studio.shell.navigation import set_up_page

        sentence = plain(error.sentence)

        def said() -> None:
            st.error(sentence, icon=":material/error:")

        set_up_page()
        # The one page there is: beside a folder called pages, Streamlit would offer what is in it.
        st.navigation([st.Page(said, title="Settings", default=True)], position="hidden").run()
        return False
    return True
