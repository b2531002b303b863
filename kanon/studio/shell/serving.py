"""How the server begins and ends."""

import atexit
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streamlit.starlette import App

from kanon.errors import SettingsError
from kanon.studio.shell.download_grace import keep_old_addresses
from kanon.studio.shell.log_privacy import keep_quiet
from kanon.studio.shell.relied_upon import check_relied_upon


def prepare() -> None:
    """Get ready to serve, or end with a sentence where that would not be safe."""
    try:
        check_relied_upon()
    except SettingsError as error:
        sys.exit(error.sentence)
    keep_quiet()
    keep_old_addresses()


@asynccontextmanager
async def until_it_ends(_: App) -> AsyncIterator[None]:
    """End as a program does: what an interrupted release left goes, and the status is 0.

    The server would raise the signal that has ended it once more, which no program survives.
    """
    yield
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
