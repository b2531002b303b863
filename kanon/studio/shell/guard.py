"""Middleware before Streamlit's server: refuses requests from other sites and adds headers.

Streamlit itself accepts a page of any program of this machine, as it compares names without ports,
and sends none of these headers.
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config, file_util

from kanon.report.scripts import compute_script_hashes


def _list_inline_scripts() -> list[str]:
    """The hashes of the scripts within Streamlit's page; no other inline script runs."""
    page = Path(file_util.get_static_dir(), "index.html").read_bytes()
    scripts = re.findall(rb"<script>(.*?)</script>", page, re.DOTALL)
    return [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts]


# The preview of a report, a page within the page, is held to this policy too. Streamlit loads
# components as blobs, sets styles on elements, and has small pictures and fonts in its files.
POLICY = "; ".join(
    (
        "default-src 'self'",
        f"script-src 'self' blob: {' '.join(_list_inline_scripts())} {compute_script_hashes()}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""What a page may load, run and request: only what this server hands out or made itself."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


def is_own(origin: str | None, host: str | None, secure: bool) -> bool:
    """Whether a request comes from a page of this server, by the browser's headers.

    >>> is_own("http://127.0.0.1:8501", "127.0.0.1:8501", secure=False)
    True
    >>> is_own("http://127.0.0.1:8000", "127.0.0.1:8501", secure=False)
    False
    >>> is_own("http://kanon.example.org", "kanon.example.org", secure=True)
    False
    """
    return origin in (None, f"https://{host}") or (origin == f"http://{host}" and not secure)


class Guard:
    """Refuses what pages from elsewhere ask, and adds the headers to every answer."""

    stands = False

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        Guard.stands = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        origin = headers.get("origin")
        secure = scope["scheme"] in ("https", "wss")
        origins = list(config.get_option("server.corsAllowedOrigins"))  # of a text: its letters
        if is_own(origin, headers.get("host"), secure) or origin in origins:
            await self.app(scope, receive, answer)
        elif scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
        else:
            refusal = PlainTextResponse("Requests from pages of other sites are refused.", 403)
            await refusal(scope, receive, answer)
