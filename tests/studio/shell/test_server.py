"""The server as it is set up: who may connect from where, without a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest

from support.browser import HERE, serving

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield urlsplit(server.url).port


def ask(port, method, path, body=None, **headers):
    """The status of an answer, and what it says."""
    connection = http.client.HTTPConnection(HERE[0], port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        return answer.status, b"" if answer.status == 101 else answer.read()
    finally:
        connection.close()


def connect(port, **headers):
    """The status of an answer to who wants to work on a page."""
    return ask(port, "GET", "/_stcore/stream", **UPGRADE, **headers)[0]


def own_addresses():
    """Addresses of this machine but the one that it listens at; those that others reach first."""
    found = {"127.0.0.2"}
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; names the way out
        found.add(probe.getsockname()[0])
    return found - {HERE[0]}


def test_no_other_machine_reaches_it(port):
    for address in own_addresses():
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=5)


def test_no_page_of_another_site_gets_in(port):
    assert connect(port, Origin=f"http://{HERE[0]}:{port}") == 101
    assert connect(port, Origin="http://other.example") == 403


def test_no_other_name_leads_in(port):
    """A page may have its own name lead to this machine."""
    for name in ("other.example", f"other.example:{port}", "127.0.0.1.other.example"):
        assert connect(port, Host=name, Origin=f"http://{name}") == 403
        assert connect(port, Host=name) == 403
    assert connect(port, Host=f"localhost:{port}", Origin=f"http://localhost:{port}") == 101


def test_no_other_site_uploads(port):
    for headers in ({}, {"X_Xsrftoken": "x", "Cookie": "_streamlit_xsrf=x"}):
        path = "/_stcore/upload_file/session/file"
        assert ask(port, "PUT", path, b"age\n31\n", **headers)[0] == 403


def test_no_page_around_it_may_steer_it(port):
    status, told = ask(port, "GET", "/_stcore/host-config")
    assert status == 200 and json.loads(told)["allowedOrigins"] == []


def test_files_have_to_be_known_by_name(port):
    assert ask(port, "GET", "/media/0123456789abcdef0123456789abcdef.csv")[0] == 404
    assert ask(port, "GET", "/media/")[0] == 404
