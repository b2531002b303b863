"""The dashboard: ``streamlit run app.py``."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from kanon.studio.jobs.runner import jobs
from kanon.studio.shell.guard import Guard
from kanon.studio.shell.serving import prepare, settled, until_it_ends


def main() -> None:
    """Draw the frame and the page that was chosen."""
    if not Guard.stands:
        raise RuntimeError("Nothing but the app below may serve the dashboard.")
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
    guide(page)
    first()
    run_page(page)


# Streamlit's server imports this module to serve what is called app; to draw a page, it runs it.
if __name__ == "__main__":
    main()
else:
    prepare()
    app = App(__file__, middleware=[Middleware(Guard)], lifespan=until_it_ends)
