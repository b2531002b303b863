"""A fragment that is asked for as its page ends is drawn after all that the page has to say."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import RerunData

from kanon.studio.shell import serving


class Runner:
    def __init__(self, takes: bool):
        self.takes, self.asked = takes, []

    def request_rerun(self, rerun):
        self.asked.append(rerun)
        return self.takes


@pytest.fixture
def create(monkeypatch):
    """The method of a session that makes a runner, and what has happened."""
    happened = []
    monkeypatch.setattr(AppSession, "_create_scriptrunner", AppSession._create_scriptrunner)
    monkeypatch.setattr(serving, "_create_runner", lambda session, rerun: happened.append("runner"))
    serving.keep_last_events()
    return AppSession._create_scriptrunner, happened


def ask(create, rerun, between=lambda session: None):
    """Ask for a fragment while the last element of its page is on its way."""
    make, happened = create

    async def act():
        loop = asyncio.get_running_loop()
        session = SimpleNamespace(
            _scriptrunner=Runner(takes=False),
            _event_loop=loop,
            _state=AppSessionState.APP_IS_RUNNING,
        )
        loop.call_soon(happened.append, "last element")
        loop.call_soon(between, session)
        make(session, rerun)
        await asyncio.sleep(0.01)
        return session

    # This thread may have a browser's loop, which runs.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(act())).result(), happened


FRAGMENT, PAGE = RerunData(fragment_id="line of progress"), RerunData()


def test_a_fragment_is_drawn_after_the_last_elements_of_its_page(create):
    assert ask(create, FRAGMENT)[1] == ["last element", "runner"]


def test_a_whole_page_is_drawn_at_once(create):
    """What it replaces need not come."""
    assert ask(create, PAGE)[1] == ["runner", "last element"]


def test_a_runner_that_has_come_meanwhile_draws_the_fragment(create):
    def come(session):
        session._scriptrunner = Runner(takes=True)

    session, happened = ask(create, FRAGMENT, come)
    assert happened == ["last element"] and session._scriptrunner.asked == [FRAGMENT]


def test_a_runner_that_has_ended_meanwhile_is_replaced(create):
    def end(session):
        session._scriptrunner = None

    assert ask(create, FRAGMENT, end)[1] == ["last element", "runner"]


def test_nothing_is_drawn_for_a_session_that_has_ended(create):
    def close(session):
        session._state = AppSessionState.SHUTDOWN_REQUESTED

    assert ask(create, FRAGMENT, close)[1] == ["last element"]
