"""The command ``app``: where it answers, whose settings hold, and how it ends."""

import http.client
import os
import signal
import socket
import sys
from urllib.parse import urlsplit

import pytest

from support.browser import HERE, serving
from support.command_line import check_failure
from support.paths import ROOT

APP = (sys.executable, "-P", "-m", "kanon", "app", "--port")


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_port_has_to_be_one(kanon, port):
    check_failure(kanon("app", "--port", port), 2, [f"--port: {port} is not a port", "1 to 65535"])


def test_a_port_that_is_taken_is_told_of(kanon):
    with socket.create_server((HERE[0], 0)) as other:
        port = str(other.getsockname()[1])
        check_failure(
            kanon("app", "--port", port), 2, [f"--port: {port} is reserved, or taken by another"]
        )


@pytest.fixture
def interruptible():
    """Nothing that ignores interruptions, as what runs in the background does, is inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch, interruptible):
    """A folder with settings that let another site in."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / ".streamlit").mkdir()
    allowed = '[server]\ncorsAllowedOrigins = ["http://other.example"]\nallowedHosts = ["*"]\n'
    (tmp_path / ".streamlit" / "config.toml").write_text(allowed, "utf-8")
    return tmp_path


def status(url, **headers):
    """The status of an answer to who wants to work on a page."""
    wanted = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    try:
        connection.request("GET", "/_stcore/stream", headers=wanted | headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
def test_its_own_settings_hold_and_an_interruption_ends_it(elsewhere):
    with serving(elsewhere, APP, elsewhere) as server:
        assert status(server.url, Origin=server.url) == 101
        assert status(server.url, Origin="http://other.example") == 403
        assert status(server.url, Host="other.example") == 403
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(10) == 0
