"""What Streamlit would ask others about this machine, or tell a log of a table, it does not."""

import io
import logging
import threading

import pytest
from streamlit import config, error_util, net_util
from streamlit.elements import exception
from streamlit.testing.v1 import AppTest
from streamlit.web.server.server_util import is_url_from_allowed_origins

from kanon.studio.shell import serving
from kanon.studio.shell.serving import FAILED, keep_quiet, prepare_server
from support.dashboard import APP


def test_a_page_of_another_site_makes_nobody_ask_for_our_address(monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("outside"))
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: None)
    assert config.get_option("server.enableCORS")
    assert not is_url_from_allowed_origins("http://other.example")
    assert asked == ["outside"], "so there is something to keep from"
    keep_quiet()
    assert not is_url_from_allowed_origins("http://other.example")
    assert asked == ["outside"]
    assert is_url_from_allowed_origins("http://localhost:8501")


@pytest.fixture
def log(monkeypatch):
    """What the loggers say that have to do with failures, as a console would show it."""
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    for module, name in [
        (exception, "_GENERIC_UNCAUGHT_EXCEPTION_TEXT"), (error_util, "_print_rich_exception"),
        (threading, "excepthook"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, getattr(module, name))
    before, written = logging.getLogRecordFactory(), io.StringIO()
    logging.setLogRecordFactory(logging.LogRecord)
    handler = logging.StreamHandler(written)
    loggers = [logging.getLogger(name) for name in (error_util.__name__, serving.__name__, "any")]
    for logger in loggers:
        logger.addHandler(handler)
    yield written
    for logger in loggers:
        logger.removeHandler(handler)
    logging.setLogRecordFactory(before)


def failing_page():
    import streamlit as st

    from kanon.studio.shell.serving import keep_quiet

    def fail():
        try:
            int("SECRET cell")
        except ValueError as error:
            raise KeyError("SECRET key") from error

    @st.fragment
    def part():
        if st.session_state["where"] == "a fragment":
            fail()

    keep_quiet()
    where = st.session_state["where"]
    st.button("go", on_click=fail if where == "a callback" else None)
    part()
    if where == "the page":
        fail()


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("where", ["the page", "a callback", "a fragment"])
def test_no_text_of_an_exception_reaches_the_log_or_the_page(log, capfd, where, rich):
    at = AppTest.from_function(failing_page)
    at.session_state["where"] = where
    was = config.get_option("logger.enableRich")
    config.set_option("logger.enableRich", rich)
    try:
        at.run()
        if where == "a callback":
            at.button[0].click().run()
    finally:
        config.set_option("logger.enableRich", was)
    assert [error.message for error in at.exception] == [FAILED]
    assert not at.exception[0].stack_trace
    told = log.getvalue()
    assert "KeyError at " in told and ", after ValueError at " in told, "who mends it sees where"
    assert "SECRET" not in told
    assert "SECRET" not in "".join(capfd.readouterr())


def test_the_server_is_quiet_before_it_draws_anything(log, monkeypatch):
    def fail():
        raise ValueError("SECRET")

    prepare_server()
    monkeypatch.setattr(serving, "check_settings", fail)
    at = AppTest.from_file(str(APP)).run()
    assert [error.message for error in at.exception] == [FAILED]
    assert "ValueError at " in log.getvalue() and "SECRET" not in log.getvalue()


def test_whoever_logs_an_exception_logs_no_text_of_it(log):
    keep_quiet()
    try:
        int("SECRET")
    except ValueError as error:
        logging.getLogger("any").exception("Failed: %s", error)
        logging.getLogger("any").warning("Again", exc_info=True)
    told = log.getvalue()
    assert told.count("ValueError at ") == 3 and "SECRET" not in told


def test_a_thread_fails_without_its_text(log, monkeypatch, capfd):
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    keep_quiet()
    thread = threading.Thread(target=int, args=("SECRET",))
    thread.start()
    thread.join()
    assert "A thread has failed: ValueError at " in log.getvalue()
    assert "SECRET" not in log.getvalue() + "".join(capfd.readouterr())


def test_a_developer_sees_texts_on_request(log, monkeypatch):
    monkeypatch.setenv("KANON_TRACEBACK", "1")
    keep_quiet()
    logging.getLogger("any").error("Failed", exc_info=ValueError("made up"))
    assert "ValueError: made up" in log.getvalue()
