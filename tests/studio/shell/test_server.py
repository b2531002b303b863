"""The server as it is set up: who may connect from where, without a browser."""

import contextlib
import http.client
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit import file_util

from support.browser import AS_IN_README, HERE, serving

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}

NAMES = ("kanon.example.org", "said.example.org", HERE[0])
BEHIND_A_PROXY = (
    *(*AS_IN_README[:-1], "--server.corsAllowedOrigins", "https://said.example.org"),
    *(part for name in NAMES for part in ("--server.allowedHosts", name)),
    AS_IN_README[-1],
)


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield urlsplit(server.url).port


def ask(port, method, path, body=None, **headers):
    """The status of an answer, what it says, and its headers."""
    connection = http.client.HTTPConnection(HERE[0], port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        return answer.status, b"" if answer.status == 101 else answer.read(), answer.headers
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


def test_files_of_the_page_come_from_memory_as_from_the_disk(port):
    folder = Path(file_util.get_static_dir())
    script = min((folder / "static" / "js").glob("index.*.js"))
    path, content = f"/{script.relative_to(folder).as_posix()}", script.read_bytes()
    for _ in range(2):
        status, body, headers = ask(port, "GET", path)
        assert (status, body) == (200, content)
    assert headers["X-Frame-Options"] == "DENY" and "immutable" in headers["Cache-Control"]
    streamlits = ask(port, "HEAD", path)[2]
    for name in ("Cache-Control", "Content-Type", "Content-Length"):
        assert headers[name] == streamlits[name]
    assert ask(port, "GET", path, Range="bytes=0-9")[:2] == (206, content[:10])


def test_no_page_of_another_site_gets_in(port):
    assert connect(port, Origin=f"http://{HERE[0]}:{port}") == 101
    assert connect(port, Origin="http://other.example") == 403


def test_no_page_of_another_program_of_this_machine_gets_in(port):
    """Its host is the same, its port is not."""
    here = f"http://{HERE[0]}"
    for origin in (f"{here}:{port - 1}", here, f"http://localhost:{port}", "null"):
        assert connect(port, Origin=origin) == 403
        for path in ("/", "/_stcore/health", "/media/0123456789abcdef0123456789abcdef.csv"):
            assert ask(port, "GET", path, Origin=origin)[0] == 403
    assert ask(port, "GET", "/_stcore/health", Origin=f"{here}:{port}")[0] == 200


@pytest.mark.nightly
def test_a_proxy_may_give_it_another_name(tmp_path):
    """By handing on what it was asked for; or the operator says so, if it does not."""
    public = NAMES[0]
    with serving(tmp_path, BEHIND_A_PROXY) as server:
        port = urlsplit(server.url).port
        by_tls = {"Host": public, "X_Forwarded_Proto": "https"}
        assert connect(port, Origin=f"https://{public}", **by_tls) == 101
        assert connect(port, Origin=f"https://{public}:8443", **by_tls) == 403
        assert connect(port, Origin=f"http://{public}", **by_tls) == 403, "not by TLS"
        assert connect(port, Origin="https://said.example.org") == 101
        assert connect(port, Origin="https://said.example.org:8443") == 403


def test_every_answer_says_what_a_browser_may_do_with_it(port):
    asked = {"Origin": "http://other.example"}
    for path in (
        "/",
        "/compare",
        "/_stcore/health",
        "/media/none.csv",
        "/static/js/none.js",
        "//x",
    ):
        for headers in ({}, asked):
            said = ask(port, "GET", path, **headers)[2]
            policy = said["Content-Security-Policy"].split("; ")
            asked_for = {"default-src 'self'", "frame-ancestors 'none'", "object-src 'none'"}
            assert asked_for <= {*policy}
            scripts = next(one for one in policy if one.startswith("script-src")).split()
            assert "'unsafe-inline'" not in scripts and "'unsafe-eval'" not in scripts
            assert "http" not in said["Content-Security-Policy"] and "*" not in scripts
            assert said["X-Frame-Options"] == "DENY"
            assert said["X-Content-Type-Options"] == "nosniff"
            assert said["Referrer-Policy"] == "same-origin"


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
    status, told, _ = ask(port, "GET", "/_stcore/host-config")
    assert status == 200 and json.loads(told)["allowedOrigins"] == []


def test_files_have_to_be_known_by_name(port):
    assert ask(port, "GET", "/media/0123456789abcdef0123456789abcdef.csv")[0] == 404
    assert ask(port, "GET", "/media/")[0] == 404
