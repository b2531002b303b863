"""The dashboard: ``streamlit run app.py``."""

from kanon.studio.jobs.server_pool import jobs
from kanon.studio.shell.log_privacy import keep_quiet
from kanon.studio.shell.settings_gate import settled


def main() -> None:
    """Draw the frame and the page that was chosen."""
    keep_quiet()
    if not settled():
        return
    jobs()  # the worker gets ready while this process imports the rest
    from kanon.studio.jobs.anonymisation import first
    from kanon.studio.session import state
    from kanon.studio.session.server import imports_set_aside
    from kanon.studio.shell import reconnect
    from kanon.studio.shell.glossary import glossary_control
    from kanon.studio.shell.login import admit
    from kanon.studio.shell.navigation import chosen_page, run_page
    from kanon.studio.shell.project_menu import belongings
    from kanon.studio.shell.tour import guide

    imports_set_aside()
    if not admit():
        return
    page = chosen_page()
    reconnect.welcome()
    state.enter()
    glossary_control()
    belongings()
    guide()
    first()
    run_page(page)


# A worker process that imports the server's main module must not run the page again.
if __name__ == "__main__":
    main()
