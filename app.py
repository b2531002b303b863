"""The dashboard: ``streamlit run app.py``."""

from kanon.studio.quiet import keep_quiet
from kanon.studio.settled import settled
from kanon.studio.shared import imports_set_aside, jobs


def main() -> None:
    """Draw the frame and the page that was chosen."""
    keep_quiet()
    if not settled():
        return
    jobs()  # the worker gets ready while this process imports the rest
    from kanon.studio import returning, running, state
    from kanon.studio.belongings import belongings
    from kanon.studio.login import admit
    from kanon.studio.lookup import glossary_control
    from kanon.studio.navigation import chosen_page, run_page
    from kanon.studio.tour import guide

    imports_set_aside()
    if not admit():
        return
    page = chosen_page()
    returning.welcome()
    state.enter()
    glossary_control()
    belongings()
    guide()
    running.first()
    run_page(page)


# A worker process that imports the server's main module must not run the page again.
if __name__ == "__main__":
    main()
