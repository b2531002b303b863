"""The dashboard: ``streamlit run app.py``."""

import threading
from contextlib import suppress
from importlib import import_module

from starlette.middleware import Middleware
from streamlit.starlette import App

from kanon.errors import SettingsError
from kanon.studio.jobs.runner import get_jobs
from kanon.studio.shell.guard import Guard
from kanon.studio.shell.page_files import PageFiles
from kanon.studio.shell.serving import check_settings, end_cleanly, prepare_server


def main() -> None:
    """Draw the frame and the page that was chosen."""
    if not Guard.stands:
        raise RuntimeError("Nothing but the app below may serve the dashboard.")
    if not check_settings():
        return
    from kanon.studio.jobs.anonymisation import run_first_time
    from kanon.studio.session import state
    from kanon.studio.session.server import collect_garbage_regularly, take_turn
    from kanon.studio.shell import reconnect
    from kanon.studio.shell.glossary import draw_glossary
    from kanon.studio.shell.link import follow_link
    from kanon.studio.shell.login import check_login
    from kanon.studio.shell.navigation import reserve_sidebar_place, run_page, select_page
    from kanon.studio.shell.playlist import draw_playlist
    from kanon.studio.shell.project_menu import draw_project_menu
    from kanon.studio.shell.tour import draw_tour

    collect_garbage_regularly()
    with take_turn():
        if not check_login():
            return
        page = select_page()
        reconnect.restore_or_start()
        state.mark(state.ENTERED)
        follow_link(page)
        draw_playlist()
        reserve_sidebar_place()
        draw_glossary()
        draw_project_menu()
        draw_tour(page)
        run_first_time()
        run_page(page)


def get_ready() -> None:
    """Start a worker, and import the first pages meanwhile, so that no visitor waits for them."""
    with suppress(SettingsError):  # every page says so
        get_jobs()
    for name in ("anonymise", "learn"):
        import_module(f"kanon.studio.{name}.page")


# Streamlit's server imports this module to serve what is called app; to draw a page, it runs it.
if __name__ == "__main__":
    main()
else:
    prepare_server()
    threading.Thread(target=get_ready, name="kanon-ready", daemon=True).start()
    app = App(__file__, middleware=[Middleware(Guard), Middleware(PageFiles)], lifespan=end_cleanly)
