"""The download of the Adult table, against a server of our own."""

import hashlib
import http.server
import socket
import tempfile
import threading
from collections.abc import Iterator

import pandas as pd
import pytest

from kanon.errors import TableError
from kanon.sources import opening
from kanon.sources.opening import open_table

RECORDS = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White,"
    b" Male, 2174, 0, 40, United-States, <=50K\n"
    b"54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander,"
    b" Male, 0, 0, 60, South, >50K\n"
    b"\n"
)
HASH = hashlib.sha256(RECORDS).hexdigest()


@pytest.fixture
def server(monkeypatch) -> Iterator[tuple[str, list[str]]]:
    """Its URL, and what it is asked for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if self.path == "/slow":
                done.wait(5)
                return
            found = self.path == "/adult.data"
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(RECORDS) if found else 0))
            self.end_headers()
            self.wfile.write(RECORDS if found else b"")

        def log_message(self, *_: object) -> None:
            pass

    done = threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}", asked
        done.set()
        listening.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The temporary folder of the test, which has to be empty in the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_the_nine_columns_come_in_order(server, capfd):
    file = opening.fetch_adult(f"{server[0]}/adult.data", HASH)
    assert list(file.table.columns) == list(opening.COLUMNS)
    first, second = file.table.to_numpy().tolist()
    assert first == [
        *("Male", "39", "White", "Never-married", "Bachelors", "United-States"),
        *("State-gov", "Adm-clerical", "<=50K"),
    ]
    assert [pd.isna(cell) for cell in second] == [False] * 6 + [True, True, False]
    assert dict(file.missing) == {"workclass": 1, "occupation": 1}
    assert (file.name, file.kind) == ("adult.data", "csv")
    assert file.settings.missing_markers == ("?",)
    assert file.found[0] == "Downloaded from the UCI Machine Learning Repository."
    assert capfd.readouterr() == ("", "")


def test_the_environment_names_the_place_but_not_the_hash(server, monkeypatch):
    url, asked = server
    monkeypatch.setenv("KANON_ADULT_URL", f"{url}/adult.data")
    assert len(opening.fetch_adult(known_hash=HASH).table) == 2
    with pytest.raises(TableError, match="was not used"):
        opening.fetch_adult()
    assert asked == ["/adult.data"] * 2
    with pytest.raises(TableError, match="was not used"):
        opening.fetch_adult(f"{url}/adult.data")


def test_a_missing_page(server):
    with pytest.raises(TableError, match=r"status 404; upload adult\.data instead\.$"):
        opening.fetch_adult(f"{server[0]}/gone", HASH)


def test_a_slow_server(server, monkeypatch):
    monkeypatch.setattr(opening, "_SECONDS", 0.2)
    with pytest.raises(TableError, match=r"did not answer within 0.2 seconds; upload adult"):
        opening.fetch_adult(f"{server[0]}/slow", HASH)


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}/a", "nonsense", "ftp://127.0.0.1/a"])
def test_nobody_there(monkeypatch, address):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(TableError, match=r"cannot be reached; upload adult\.data instead"):
        opening.fetch_adult(address.format(port=port), HASH)


def test_the_file_itself_is_known_by_its_hash(monkeypatch, tmp_path_factory):
    """Uploaded or given on the command line, it needs no header and no ending of a table."""
    monkeypatch.setattr(opening, "ADULT_SHA256", HASH)
    path = tmp_path_factory.mktemp("files") / "adult.data"
    path.write_bytes(RECORDS)
    for file in (open_table(RECORDS, "upload.csv"), open_table(path)):
        assert tuple(file.table.columns) == opening.COLUMNS
        assert len(file.table) == len(RECORDS.strip().splitlines())
    monkeypatch.undo()  # any other one has no known ending
    with pytest.raises(TableError, match=r"adult\.data"):
        open_table(path)
