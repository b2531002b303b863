"""The dashboard: ``streamlit run app.py``."""

from pathlib import Path

import streamlit as st

from kanon.studio.shared import jobs

# A file: Streamlit would fetch the picture of an icon name from another host.
ICON = Path(__file__).parent / "kanon" / "studio" / "icon.png"


def main() -> None:
    """Draw the frame and the page that was chosen."""
    jobs()  # the worker gets ready while this process imports the rest
    from kanon.studio import running, state
    from kanon.studio.navigation import chosen_page

    st.set_page_config(page_title="kanon", page_icon=str(ICON), layout="wide")
    page = chosen_page()
    state.enter()
    running.first()
    page.run()


# A worker process that imports the server's main module must not run the page again.
if __name__ == "__main__":
    main()
