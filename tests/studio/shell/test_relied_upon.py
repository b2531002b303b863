"""What privacy rests on of other packages' insides: without any of it the server does not start."""

import atexit
import os
import subprocess

import pytest
from starlette import requests
from starlette.formparsers import MultiPartParser
from streamlit import config, error_util, net_util
from streamlit.elements import exception
from streamlit.runtime import memory_media_file_storage
from streamlit.starlette import App
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_routes

from kanon.errors import SettingsError
from kanon.studio.shell.guard import Guard
from kanon.studio.shell.relied_upon import REQUIRED_INTERNALS, check_required_internals
from support.browser import AS_IN_README
from support.dashboard import APP, WORK
from support.paths import ROOT


class DeafParser(MultiPartParser):
    """Has the limit, and writes to a disk all the same."""

    def on_headers_finished(self):
        super().on_headers_finished()
        self._current_part.file.file.rollover()


def by_content(data, mimetype, filename=None):
    return "one"


def no_such_option(name):
    raise RuntimeError(name)


# Per reliance, in their order, how an update could take it away: by another value, or altogether.
GONE = [
    [
        (MultiPartParser, "spool_max_size"),
        (MultiPartParser, "on_headers_finished", DeafParser.on_headers_finished),
    ],
    [(requests, "MultiPartParser", DeafParser), (starlette_routes, "create_upload_routes", len)],
    [(App, "_create_runtime", by_content)],
    [
        (memory_media_file_storage, "_calculate_file_id", by_content),
        (memory_media_file_storage, "_calculate_file_id"),
    ],
    [(net_util, "get_external_ip")],
    [(exception, "_GENERIC_UNCAUGHT_EXCEPTION_TEXT")],
    [(error_util, "_print_rich_exception")],
    [(config, "get_option", no_such_option)],
    [(atexit, "_run_exitfuncs")],
]


@pytest.mark.nightly
def test_all_is_there():
    check_required_internals()


TAKEN = [
    (why, place) for why, places in zip(REQUIRED_INTERNALS, GONE, strict=True) for place in places
]


@pytest.mark.parametrize(
    ("why", "place"),
    [TAKEN[0], *(pytest.param(*taken, marks=pytest.mark.nightly) for taken in TAKEN[1:])],
)
def test_what_is_gone_is_named(why, place, monkeypatch):
    owner, name, *instead = place
    if instead:
        monkeypatch.setattr(owner, name, *instead)
    else:
        monkeypatch.delattr(owner, name)
    with pytest.raises(SettingsError) as failed:
        check_required_internals()
    assert why in failed.value.sentence


def test_no_page_is_drawn_where_nothing_stands_before_the_server(monkeypatch):
    monkeypatch.setattr(Guard, "stands", False)
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    assert len(at.exception) == 1 and not at.title and WORK not in at.session_state


@pytest.mark.nightly
def test_a_server_without_it_does_not_start(tmp_path):
    gone = "from starlette.formparsers import MultiPartParser\ndel MultiPartParser.spool_max_size\n"
    (tmp_path / "sitecustomize.py").write_text(gone, "utf-8")
    ended = subprocess.run(
        [*AS_IN_README, "0"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1 and next(iter(REQUIRED_INTERNALS)) in ended.stderr
    assert "Traceback" not in ended.stderr
