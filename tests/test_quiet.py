"""What Streamlit would ask of others, and write down, is not asked and not written."""

from __future__ import annotations

import asyncio

import pytest
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from streamlit import config, net_util
from streamlit.web.server.server_util import is_url_from_allowed_origins

from kanon.studio.quiet import keep_quiet


@pytest.fixture
def loud(monkeypatch):
    """Streamlit as it is; what is switched off is switched on again after the test."""
    asked = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("outside"))
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: None)
    monkeypatch.setattr(MultiPartParser, "spool_max_size", MultiPartParser.spool_max_size)
    return asked


def test_a_page_of_another_site_makes_nobody_ask_for_our_address(loud):
    assert config.get_option("server.enableCORS")
    assert not is_url_from_allowed_origins("http://other.example")
    assert loud == ["outside"], "so there is something to keep from"
    keep_quiet()
    assert not is_url_from_allowed_origins("http://other.example")
    assert loud == ["outside"]
    assert is_url_from_allowed_origins("http://localhost:8501")


def on_disk(megabytes):
    """Whether an upload of that size is held in a file while it is received."""
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="t.csv"\r\n\r\n'
    body = head + b"a" * (megabytes << 20) + b"\r\n--x--\r\n"

    async def receive():
        return {"type": "http.request", "body": body}

    async def received():
        kind = (b"content-type", b"multipart/form-data; boundary=x")
        async with Request({"type": "http", "headers": [kind]}, receive).form() as form:
            return form["f"].file._rolled

    return asyncio.run(received())


def test_an_upload_is_held_in_memory(loud):
    assert on_disk(2), "so there is something to keep off the disk"
    keep_quiet()
    assert not on_disk(2) and not on_disk(20)
