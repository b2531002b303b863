"""The files of Streamlit's page, sent from memory: a class that comes at once asks for thousands.

Streamlit has each read from the disk in threads, which wait for the pages that are being drawn.
"""

from mimetypes import guess_type
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util
from streamlit.web.server.starlette.starlette_server_config import (
    STATIC_ASSET_CACHE_MAX_AGE_SECONDS as SECONDS,
)


class PageFiles:
    """Answers what Streamlit would answer to a request for one of its files as a whole."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        folder = Path(file_util.get_static_dir())
        self._files = {
            f"/{file.relative_to(folder).as_posix()}": file
            for file in folder.glob("static/**/*")
            if file.is_file()
        }
        self._contents: dict[str, bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if (
            path not in self._files
            or scope["type"] != "http"
            or scope["method"] != "GET"
            or "range" in Headers(scope=scope)
        ):
            await self.app(scope, receive, send)
            return
        if path not in self._contents:
            self._contents[path] = self._files[path].read_bytes()
        # Its name has a hash of what is in it.
        kept = {"Cache-Control": f"public, immutable, max-age={SECONDS}"}
        answer = Response(self._contents[path], headers=kept, media_type=guess_type(path)[0])
        await answer(scope, receive, send)
